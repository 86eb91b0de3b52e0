package find

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

const (
	defaultGrep = 50
	maxLine     = 200 // bytes of a line that grep shows

	// An expression takes steps × bytes in the worst case, and cannot be
	// interrupted within a text.
	maxPattern = 4096  // bytes
	maxProgram = 10000 // steps
	bySteps    = 300   // beyond which texts are searched line by line, with a look at the clock
	grepTime   = 10 * time.Second
)

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
	x, err := compile(pattern, ignoreCase)
	if err != nil {
		return GrepReply{}, err
	}
	s, err := open()
	if err != nil {
		return GrepReply{}, err
	}
	defer s.Release()
	t, notes := &s.Targets[0], s.Notes
	paths, err := t.Index.Documents(ctx, "")
	if err != nil {
		return GrepReply{}, err
	}
	g := scan{t: t, paths: paths, match: match, limit: limit, until: time.Now().Add(cmp.Or(a.Config.GrepTime, grepTime)), cut: -1}
	g.r = GrepReply{Store: t.Label, Matches: []GrepMatch{}}
	if err := g.run(ctx, x); err != nil {
		return GrepReply{}, err
	}
	// Who escapes means a regular expression.
	if literal := regexp.QuoteMeta(pattern); g.r.Total == 0 && g.cut < 0 && literal != pattern && !strings.Contains(pattern, `\`) {
		x.re = regexp.MustCompile(x.flags + literal)
		if err := g.run(ctx, x); err != nil {
			return GrepReply{}, err
		}
		if g.r.Total > 0 {
			notes = append(notes, "as a regular expression it matches nothing; these lines hold it literally, as "+literal+" finds them")
		}
	}
	g.r.Marks = func(line string) [][]int { return x.re.FindAllStringIndex(line, -1) }
	g.r.Note = strings.Join(append(notes, g.notes()...), "; ")
	return g.r, nil
}

// expression is what lines are matched with.
type expression struct {
	re    *regexp.Regexp
	flags string // before the pattern
	large bool   // more than bySteps
}

// compile refuses a pattern that does not parse, or would take too long.
func compile(pattern string, ignoreCase bool) (x expression, err error) {
	if pattern == "" {
		return x, kb.Errorf(kb.Invalid, "the pattern is empty").WithHint("give a regular expression, as in func \\w+Handler")
	}
	if len(pattern) > maxPattern {
		return x, kb.Errorf(kb.TooLarge, "the pattern has %d bytes, more than %d", len(pattern), maxPattern).WithHint("use a shorter pattern")
	}
	x.flags = "(?m)"
	if ignoreCase {
		x.flags = "(?mi)"
	}
	expr := x.flags + pattern
	if x.re, err = regexp.Compile(expr); err != nil {
		why := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), expr, pattern)
		return x, kb.Errorf(kb.Invalid, "the pattern %q does not parse: %s", pattern, why).
			WithHint("the syntax is RE2; put \\ before signs that are meant literally")
	}
	size := programSize(expr)
	if size > maxProgram {
		return x, kb.Errorf(kb.TooLarge, "the pattern compiles to %d steps, more than %d", size, maxProgram).
			WithHint("use shorter repetitions, as in x{1,100}, or fewer alternatives")
	}
	x.large = size > bySteps
	return x, nil
}

// scan looks through the documents of a store.
type scan struct {
	t      *search.Target
	paths  []string
	match  func(path string) bool
	limit  int // of lines that are shown
	until  time.Time
	cut    int // number of the document at which time was up, -1 for none
	orders bool
	r      GrepReply
}

// run adds the lines that match.
func (g *scan) run(ctx context.Context, x expression) error {
	var shown strings.Builder // of one document
	for i, p := range g.paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !g.match(p) {
			continue
		}
		d, err := g.t.Index.Document(ctx, p)
		if err != nil {
			return err
		}
		inTime := func() bool { return time.Now().Before(g.until) }
		if ok := grepText(x.re, d.Body, x.large, inTime, func(line int, text string) {
			if g.r.Total++; len(g.r.Matches) < g.limit {
				g.r.Matches = append(g.r.Matches, GrepMatch{Path: p, Line: line, Text: text})
				shown.WriteString(text + "\n")
				g.orders = g.orders || g.t.Orders(p, text)
			}
		}); !ok {
			g.cut = i
			return nil
		}
		if g.orders = g.orders || g.t.Orders(p, shown.String()); !g.orders {
			shown.Reset()
		}
	}
	return nil
}

// notes says what is not among the lines that are shown, and what they hold.
func (g *scan) notes() (notes []string) {
	if g.cut >= 0 {
		notes = append(notes, fmt.Sprintf("cut: time was up after %d of %d documents; this is what was found so far; "+
			"narrow the glob or simplify the pattern", g.cut, len(g.paths)))
	}
	if g.orders {
		notes = append(notes, visible.Orders)
	}
	if g.r.Total > len(g.r.Matches) {
		notes = append(notes, fmt.Sprintf("the first %d of %d lines; narrow the pattern or the glob, or raise limit", len(g.r.Matches), g.r.Total))
	}
	switch {
	case g.r.Total > 0 || g.cut >= 0:
	case len(g.paths) == 0 && app.Barren(g.t.Store) != "":
		notes = append(notes, app.Barren(g.t.Store))
	default:
		notes = append(notes, fmt.Sprintf("no line of %s matches", g.t.Label))
	}
	return notes
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
		f(line, kb.Clip(text, maxLine))
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
