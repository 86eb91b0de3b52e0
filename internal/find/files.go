package find

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

const (
	readBytes    = 40_000 // of one reply of read
	defaultFiles = 200
	defaultGrep  = 50
	maxLine      = 200 // bytes of a line that grep shows

	// An expression takes steps × bytes in the worst case, and cannot be
	// interrupted within a text.
	maxPattern = 4096  // bytes
	maxProgram = 10000 // steps
	bySteps    = 300   // beyond which texts are searched line by line, with a look at the clock
	grepTime   = 10 * time.Second
)

// Read returns lines of one document of a store; lines is "", "12", "12-40",
// "12-" or "-40".
func Read(ctx context.Context, a *app.App, store, path, lines string, w app.Waiting) (FileText, error) {
	if _, _, err := parseLines(lines); err != nil {
		return FileText{}, err
	}
	s, err := a.One(ctx, store, w)
	if err != nil {
		return FileText{}, err
	}
	defer s.Release()
	return read(ctx, s, path, lines, func(path string) search.Asked { return search.Asked{Path: app.PlainPath(path)} })
}

// ReadHere is Read for a document of the folder of the work tree that asks,
// else of the other stores in scope.
func ReadHere(ctx context.Context, a *app.App, path, lines string, w app.Waiting) (FileText, error) {
	if _, _, err := parseLines(lines); err != nil {
		return FileText{}, err
	}
	s, err := a.ScopeFromHere(ctx, w)
	if err != nil {
		return FileText{}, err
	}
	defer s.Release()
	return read(ctx, s, path, lines, func(path string) search.Asked { return a.Asked(path, w.Person) })
}

// read finds a document and returns its lines.
func read(ctx context.Context, s *app.Shelves, written, lines string, asked func(string) search.Asked) (FileText, error) {
	at, fragment, err := find(ctx, s, asked(written))
	if err != nil {
		// A place, as hits and compilers write it.
		file, _, isPlace := search.ParsePlace(written)
		if kb.CodeOf(err) != kb.NotFound || !isPlace || lines != "" {
			return FileText{}, err
		}
		if whole, quoted := visible.Unquote(strings.TrimSpace(written)); quoted {
			written = whole
		}
		lines = strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(written, file), ":"), "L", "")
		lines, _, _ = strings.Cut(lines, ":")
		if at, fragment, err = find(ctx, s, asked(file)); err != nil {
			return FileText{}, err
		}
	}
	from, to, err := parseLines(lines)
	if err != nil {
		return FileText{}, err
	}
	t := &s.Targets[at.Target]
	d, err := t.Index.Document(ctx, at.Path)
	if err == nil && fragment != "" && lines == "" {
		from, to, err = section(&d, fragment)
	}
	if err != nil {
		return FileText{}, err
	}
	all := strings.Split(strings.TrimSuffix(d.Body, "\n"), "\n")
	r := FileText{Store: t.Label, Path: d.Path, Lines: len(all)}
	if t.Store.Head != nil {
		r.Commit = t.Store.Head.Commit
	}
	if from == 0 {
		from = 1
	}
	if to == 0 || to > len(all) {
		to = len(all)
	}
	if from > len(all) {
		return FileText{}, kb.Errorf(kb.Invalid, "%q has %d lines; line %d is beyond its end", d.Path, len(all), from).WithHint("ask for lines 1-%d", len(all))
	}
	n, size := from-1, 0
	for n < to && (n == from-1 || size+len(all[n]) < readBytes) {
		size += len(all[n]) + 1
		n++
	}
	r.Start, r.End, r.Text = from, n, strings.Join(all[from-1:n], "\n")
	notes := s.Notes
	if n < to {
		notes = append(notes, fmt.Sprintf("cut here; go on with lines %d-%d", n+1, to))
	}
	if t.Fresh != nil {
		if s := t.Fresh(d.Path, d.Stamp); s != "" {
			notes = append(notes, s)
		}
	}
	if t.Page != nil {
		if page, ok := t.Page(d.Path); ok {
			r.URL = page.URL
			notes = append(notes, search.Untrusted)
		}
	}
	r.Note = t.Mark(strings.Join(notes, "; "), d.Path, r.Text)
	return r, nil
}

// find returns the document that is meant by what somebody wrote: a path in
// any of its spellings, or the address of a page.
func find(ctx context.Context, s *app.Shelves, asked search.Asked) (search.Located, string, error) {
	for i := range s.Targets {
		if p, fragment := s.Core.PagePath(s.Targets[i].Store, asked.Path); p != asked.Path || fragment != "" {
			at, err := s.Targets[i].Index.Documents(ctx, p)
			if err != nil {
				return search.Located{}, "", err
			}
			if len(at) == 1 && at[0] == p {
				return search.Located{Target: i, Path: p}, fragment, nil
			}
		}
	}
	found, err := search.Locate(ctx, s.Targets, asked)
	if err != nil {
		return search.Located{}, "", err
	}
	return found[0], "", nil
}

// section returns the lines of the section that a fragment names.
func section(d *kb.DocumentText, fragment string) (from, to int, err error) {
	names := []string{"#" + fragment}
	if plain, err := url.PathUnescape(fragment); err == nil {
		names = append(names, "#"+plain)
	}
	var all []string
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			if s := &d.Chunks[i].Symbols[j]; slices.Contains(names, s.Signature) {
				return s.Start, s.End, nil
			} else if strings.HasPrefix(s.Signature, "#") {
				all = append(all, s.Signature)
			}
		}
	}
	e := kb.Errorf(kb.NotFound, "the page has no section #%s", fragment)
	if len(all) == 0 {
		return 0, 0, e.WithHint("leave the fragment out to read the whole page")
	}
	return 0, 0, e.WithHint("there are: %s", strings.Join(all[:min(len(all), 20)], " "))
}

// parseLines reads a range; 0 stands for an open end.
func parseLines(s string) (from, to int, err error) {
	bad := kb.Errorf(kb.Invalid, "%q is no range of lines", s).WithHint("write 12, 12-40, 12- or -40")
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, 0, nil
	}
	number := func(s string) int {
		n, e := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(s), "L"))
		if e != nil || n < 1 {
			err = bad
		}
		return n
	}
	a, b, isRange := strings.Cut(s, "-")
	switch {
	case !isRange:
		from = number(s)
		to = from
	case a == "" && b == "":
		return 0, 0, bad
	default:
		if a != "" {
			from = number(a)
		}
		if b != "" {
			to = number(b)
		}
	}
	if err == nil && to > 0 && from > to {
		err = bad
	}
	return from, to, err
}

// Files lists the paths of a store's documents; glob understands * ? [] and **.
func Files(ctx context.Context, a *app.App, store, glob string, limit int, w app.Waiting) (FileList, error) {
	return files(ctx, a, glob, limit, func() (*app.Shelves, error) { return a.One(ctx, store, w) })
}

// FilesHere is Files of the folder of the work tree that asks.
func FilesHere(ctx context.Context, a *app.App, glob string, limit int, w app.Waiting) (FileList, error) {
	if w.Person {
		glob = fromHere(a, glob)
	}
	return files(ctx, a, glob, limit, func() (*app.Shelves, error) { return a.Here(ctx, w) })
}

func files(ctx context.Context, a *app.App, glob string, limit int, open func() (*app.Shelves, error)) (FileList, error) {
	match, err := globMatcher(glob)
	if err != nil {
		return FileList{}, err
	}
	if limit, err = app.CheckLimit(limit, defaultFiles); err != nil {
		return FileList{}, err
	}
	s, err := open()
	if err != nil {
		return FileList{}, err
	}
	defer s.Release()
	t, missing := &s.Targets[0], s.Notes
	paths, err := t.Index.Documents(ctx, "")
	if err != nil {
		return FileList{}, err
	}
	r := FileList{Store: t.Label, Files: []string{}}
	// A folder stands for what lies below it.
	if folder := app.PlainPath(glob); glob != "" && !strings.ContainsAny(glob, "*?[") && !slices.Contains(paths, folder) {
		below, err := t.Index.Documents(ctx, folder)
		if err != nil {
			return FileList{}, err
		}
		if len(below) > 0 {
			paths, match = below, func(string) bool { return true }
		}
	}
	for _, p := range paths {
		if match(p) {
			if r.Total++; len(r.Files) < limit {
				r.Files = append(r.Files, p)
			}
		}
	}
	if r.Total > len(r.Files) {
		missing = append(missing, fmt.Sprintf("the first %d of %d; narrow the glob or raise limit", len(r.Files), r.Total))
	}
	switch {
	case r.Total > 0:
	case len(paths) == 0 && app.Barren(t.Store) != "":
		missing = append(missing, app.Barren(t.Store))
	default:
		missing = append(missing, fmt.Sprintf("no path of %s matches %q", t.Label, glob))
	}
	r.Note = strings.Join(missing, "; ")
	return r, nil
}

// fromHere turns a pattern that begins with ./ or ../, which a person wrote as
// seen from the working directory, into one of the folder's own paths.
func fromHere(a *app.App, glob string) string {
	if !strings.HasPrefix(glob, "./") && !strings.HasPrefix(glob, "../") {
		return glob
	}
	as := a.Asked(glob, true)
	return as.Spellings[0]
}

// globMatcher compiles a pattern: ** is any number of directories, * and ?
// stay within one, [a-z] and [!a-z] are classes. A pattern without a slash
// matches the last element anywhere.
func globMatcher(glob string) (func(string) bool, error) {
	if glob == "" || glob == "**" {
		return func(string) bool { return true }, nil
	}
	if len(glob) > 1000 {
		return nil, kb.Errorf(kb.TooLarge, "the glob has %d bytes", len(glob)).WithHint("use a shorter pattern")
	}
	glob = strings.TrimPrefix(glob, "./")
	var b strings.Builder
	b.WriteString("^")
	if !strings.Contains(glob, "/") {
		b.WriteString("(?:.*/)?")
	}
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			if strings.HasPrefix(glob[i:], "**/") {
				b.WriteString("(?:.*/)?")
				i += 2
			} else if strings.HasPrefix(glob[i:], "**") {
				b.WriteString(".*")
				i++
			} else {
				b.WriteString("[^/]*")
			}
		case '?':
			b.WriteString("[^/]")
		case '[':
			j := strings.IndexByte(glob[i:], ']')
			if j < 2 {
				return nil, kb.Errorf(kb.Invalid, "the glob %q has a [ without its ]", glob).WithHint("close the class, or write [[] for the sign itself")
			}
			cls := glob[i+1 : i+j]
			if cls[0] == '!' {
				cls = "^" + cls[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(cls, `\`, `\\`) + "]")
			i += j
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString("$")
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "the glob %q does not parse", glob).WithHint("use * ? [] and **, as in src/**/*.go")
	}
	return re.MatchString, nil
}

// Grep finds lines of a store that match an RE2 expression. Where none does, and
// lines hold the expression's own characters, it returns these and says so: a
// line of code pasted as a pattern is not absent because it has parentheses.
func Grep(ctx context.Context, a *app.App, store, pattern, glob string, ignoreCase bool, limit int, w app.Waiting) (GrepReply, error) {
	return grep(ctx, a, pattern, glob, ignoreCase, limit, func() (*app.Shelves, error) { return a.One(ctx, store, w) })
}

// GrepHere is Grep in the folder of the work tree that asks.
func GrepHere(ctx context.Context, a *app.App, pattern, glob string, ignoreCase bool, limit int, w app.Waiting) (GrepReply, error) {
	if w.Person {
		glob = fromHere(a, glob)
	}
	return grep(ctx, a, pattern, glob, ignoreCase, limit, func() (*app.Shelves, error) { return a.Here(ctx, w) })
}

func grep(ctx context.Context, a *app.App, pattern, glob string, ignoreCase bool, limit int, open func() (*app.Shelves, error)) (GrepReply, error) {
	match, err := globMatcher(glob)
	if err != nil {
		return GrepReply{}, err
	}
	if limit, err = app.CheckLimit(limit, defaultGrep); err != nil {
		return GrepReply{}, err
	}
	if pattern == "" {
		return GrepReply{}, kb.Errorf(kb.Invalid, "the pattern is empty").WithHint("give a regular expression, as in func \\w+Handler")
	}
	if len(pattern) > maxPattern {
		return GrepReply{}, kb.Errorf(kb.TooLarge, "the pattern has %d bytes, more than %d", len(pattern), maxPattern).WithHint("use a shorter pattern")
	}
	expr := "(?m)" + pattern
	if ignoreCase {
		expr = "(?mi)" + pattern
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return GrepReply{}, kb.Errorf(kb.Invalid, "the pattern %q does not parse: %s", pattern, strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), expr, pattern)).WithHint("the syntax is RE2; put \\ before signs that are meant literally")
	}
	size := programSize(expr)
	if size > maxProgram {
		return GrepReply{}, kb.Errorf(kb.TooLarge, "the pattern compiles to %d steps, more than %d", size, maxProgram).WithHint("use shorter repetitions, as in x{1,100}, or fewer alternatives")
	}
	large := size > bySteps
	s, err := open()
	if err != nil {
		return GrepReply{}, err
	}
	defer s.Release()
	t, missing := &s.Targets[0], s.Notes
	paths, err := t.Index.Documents(ctx, "")
	if err != nil {
		return GrepReply{}, err
	}
	r := GrepReply{Store: t.Label, Matches: []GrepMatch{}}
	until, cut := time.Now().Add(cmp.Or(a.Config.GrepTime, grepTime)), -1
	var orders bool           // among the lines shown
	var shown strings.Builder // of one document
	scan := func(re *regexp.Regexp) error {
		for i, p := range paths {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !match(p) {
				continue
			}
			d, err := t.Index.Document(ctx, p)
			if err != nil {
				return err
			}
			if ok := grepText(re, d.Body, large, func() bool { return time.Now().Before(until) }, func(line int, text string) {
				if r.Total++; len(r.Matches) < limit {
					r.Matches = append(r.Matches, GrepMatch{Path: p, Line: line, Text: text})
					shown.WriteString(text + "\n")
					if t.Orders(p, text) {
						orders = true
					}
				}
			}); !ok {
				cut = i
				break
			}
			if orders = orders || t.Orders(p, shown.String()); !orders {
				shown.Reset()
			}
		}
		return nil
	}
	if err := scan(re); err != nil {
		return GrepReply{}, err
	}
	// Who escapes means a regular expression.
	if literal := regexp.QuoteMeta(pattern); r.Total == 0 && cut < 0 && literal != pattern && !strings.Contains(pattern, `\`) {
		if err := scan(regexp.MustCompile(strings.TrimSuffix(expr, pattern) + literal)); err != nil {
			return GrepReply{}, err
		}
		if r.Total > 0 {
			missing = append(missing, "as a regular expression it matches nothing; these lines hold it literally, as "+literal+" finds them")
		}
	}
	if cut >= 0 {
		missing = append(missing, fmt.Sprintf("cut: time was up after %d of %d documents; this is what was found so far; narrow the glob or simplify the pattern", cut, len(paths)))
	}
	if orders {
		missing = append(missing, visible.Orders)
	}
	if r.Total > len(r.Matches) {
		missing = append(missing, fmt.Sprintf("the first %d of %d lines; narrow the pattern or the glob, or raise limit", len(r.Matches), r.Total))
	}
	switch {
	case r.Total > 0 || cut >= 0:
	case len(paths) == 0 && app.Barren(t.Store) != "":
		missing = append(missing, app.Barren(t.Store))
	default:
		missing = append(missing, fmt.Sprintf("no line of %s matches", t.Label))
	}
	r.Note = strings.Join(missing, "; ")
	return r, nil
}

// grepText calls f once for every line that matches, taken by itself and
// without the \r of a Windows line end. It ends, with false, when more is false:
// that is asked at the beginning, and of a large expression before each line.
func grepText(re *regexp.Regexp, body string, large bool, more func() bool, f func(line int, text string)) bool {
	if !more() {
		return false
	}
	if strings.Contains(body, "\r\n") {
		body = strings.ReplaceAll(body, "\r\n", "\n")
	}
	found := func(line int, text string) {
		if len(text) > maxLine {
			text = strings.ToValidUTF8(text[:maxLine], "") + "…"
		}
		f(line, text)
	}
	if body == "" {
		return true
	}
	if large || spansLines(re.String()) {
		line := 0
		for text := range strings.SplitSeq(strings.TrimSuffix(body, "\n"), "\n") {
			if large && !more() {
				return false
			}
			if line++; re.MatchString(text) {
				found(line, text)
			}
		}
		return true
	}
	// Searching the whole text skips what does not match several times faster.
	line, at := 1, 0
	for at < len(body) {
		m := re.FindStringIndex(body[at:])
		if m == nil || at+m[0] == len(body) {
			return true // nothing, or the empty line behind the last newline
		}
		start := strings.LastIndexByte(body[:at+m[0]], '\n') + 1
		line += strings.Count(body[at:start], "\n")
		end := len(body)
		if i := strings.IndexByte(body[start:], '\n'); i >= 0 {
			end = start + i
		}
		found(line, body[start:end])
		at = end + 1
		line++
	}
	return true
}

// programSize returns the steps of the program that an expression becomes.
func programSize(expr string) int {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}

// spansLines reports whether an expression may match a line's end, or asks
// for the ends of the text: then what matches in a text is not what matches
// in its lines.
func spansLines(expr string) bool {
	tree, err := syntax.Parse(expr, syntax.Perl)
	return err != nil || spans(tree)
}

func spans(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpAnyChar, syntax.OpBeginText, syntax.OpEndText:
		return true
	case syntax.OpLiteral:
		return slices.Contains(tree.Rune, '\n')
	case syntax.OpCharClass: // pairs of first and last
		for i := 0; i+1 < len(tree.Rune); i += 2 {
			if tree.Rune[i] <= '\n' && '\n' <= tree.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(tree.Sub, spans)
}
