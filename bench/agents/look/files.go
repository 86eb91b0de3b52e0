package main

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
)

// wanted is what a grep is asked for.
type wanted struct {
	re            *regexp.Regexp
	below, globs  []string // any of the folders; see chosen
	names         bool
	before, after int
}

// parseGrep reads arguments in the way of grep and rg: flags anywhere, short ones
// joined, what it does anyway (-r, -n, -E, -H) left alone.
func parseGrep(args []string) (w wanted, err error) {
	var words []string
	prefix, whole, fixed := "", false, false
	for i := 0; i < len(args); i++ {
		a := args[i]
		value := func(flag string) string {
			if rest := strings.TrimPrefix(strings.TrimPrefix(a, flag), "="); rest != "" {
				return rest
			}
			if i++; i < len(args) {
				return args[i]
			}
			return ""
		}
		switch {
		case strings.HasPrefix(a, "--include"):
			w.globs = append(w.globs, value("--include"))
		case strings.HasPrefix(a, "--glob"):
			w.globs = append(w.globs, value("--glob"))
		case strings.HasPrefix(a, "-g"):
			w.globs = append(w.globs, value("-g"))
		case strings.HasPrefix(a, "-e"):
			words = append([]string{value("-e")}, words...)
		case len(a) > 1 && a[0] == '-' && strings.IndexByte("ABC", a[1]) >= 0:
			n, err := strconv.Atoi(value(a[:2]))
			if err != nil {
				return w, fmt.Errorf("%s needs a number", a[:2])
			}
			if a[1] != 'A' {
				w.before = n
			}
			if a[1] != 'B' {
				w.after = n
			}
		case len(a) > 1 && a[0] == '-' && strings.Trim(a[1:], "rnEHiwlFRP") == "":
			whole, w.names = whole || strings.Contains(a, "w"), w.names || strings.Contains(a, "l")
			fixed = fixed || strings.Contains(a, "F")
			if strings.Contains(a, "i") {
				prefix = "(?i)"
			}
		case len(a) > 1 && a[0] == '-' && len(words) > 0:
			return w, fmt.Errorf("no flag %s; there are -i -w -l -F -A -B -C -g", a)
		default:
			words = append(words, a)
		}
	}
	if len(words) == 0 {
		return w, errors.New("a pattern is needed")
	}
	expr := strings.ReplaceAll(words[0], `\|`, "|")
	if fixed {
		expr = regexp.QuoteMeta(words[0])
	}
	if whole {
		expr = `\b(?:` + expr + `)\b`
	}
	for _, below := range words[1:] {
		w.below = append(w.below, strings.Trim(path.Clean("/"+below), "/"))
	}
	w.re, err = regexp.Compile(prefix + expr)
	return w, err
}

// grep prints lines as "grep -rn -E" does: path:line:text, those around them
// path-line-text.
func grep(t *window.Tree, args []string) (string, error) {
	w, err := parseGrep(args)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range t.Paths {
		if w.within(p) && chosen(w.globs, p) {
			w.file(&b, p, t.Lines[p])
		}
		if b.Len() > mostReply {
			break
		}
	}
	if b.Len() == 0 {
		return "no line matches\n", nil
	}
	return b.String(), nil
}

func (w wanted) file(b *strings.Builder, p string, lines []string) {
	shown := 0 // the last line that was printed
	for i, l := range lines {
		if !w.re.MatchString(l) {
			continue
		}
		if w.names {
			b.WriteString(p + "\n")
			return
		}
		for n := max(shown+1, i+1-w.before); n <= min(len(lines), i+1+w.after); n++ {
			mark := "-"
			if w.re.MatchString(lines[n-1]) {
				mark = ":"
			}
			fmt.Fprintf(b, "%s%s%d%s%s\n", p, mark, n, mark, lines[n-1])
			shown = n
		}
	}
}

// within reports whether a path lies below one of the folders.
func (w *wanted) within(p string) bool {
	return len(w.below) == 0 || slices.ContainsFunc(w.below, func(below string) bool { return within(p, below) })
}

// within reports whether a path lies below a folder or is it.
func within(p, below string) bool {
	return below == "" || below == "." || p == below || strings.HasPrefix(p, below+"/")
}

// chosen reports whether globs choose a path, as those of rg -g: the last one
// that matches decides, a "!" before it leaves out; without a match it is chosen
// when all leave out.
func chosen(globs []string, p string) bool {
	in := !slices.ContainsFunc(globs, func(g string) bool { return !strings.HasPrefix(g, "!") })
	for _, g := range globs {
		if not, ok := strings.CutPrefix(g, "!"); matches(not, p) {
			in = !ok
		}
	}
	return in
}

// matches reports whether a path matches a glob, by its last element where the
// glob has no slash; ** means any folders, {a,b} either.
func matches(glob, p string) bool {
	if !strings.Contains(glob, "/") {
		p = path.Base(p)
	}
	expr := regexp.QuoteMeta(glob)
	if strings.ContainsRune(glob, '{') {
		expr = strings.ReplaceAll(expr, ",", "|")
	}
	for _, r := range [][2]string{{`\*\*/`, "(?:.*/)?"}, {`\*\*`, ".*"}, {`\*`, "[^/]*"}, {`\?`, "[^/]"}, {`\{`, "(?:"}, {`\}`, ")"}} {
		expr = strings.ReplaceAll(expr, r[0], r[1])
	}
	ok, err := regexp.MatchString("^"+expr+"$", p)
	return ok && err == nil
}

// list prints the paths below a folder or that match a glob.
func list(t *window.Tree, args []string) (string, error) {
	of := strings.TrimSuffix(strings.Join(args, " "), "/")
	var b strings.Builder
	for _, p := range t.Paths {
		if within(p, of) || strings.ContainsAny(of, "*?{") && matches(of, p) {
			b.WriteString(p + "\n")
		}
	}
	if b.Len() == 0 {
		return "no path matches\n", nil
	}
	return b.String(), nil
}

var (
	rangeRE = regexp.MustCompile(`^(\d+)(?:[-,](\d+)p?)?$`)
	placeRE = regexp.MustCompile(`^(.*):(\d+(?:-\d+)?)$`)
)

// read prints lines of a file: "read PATH 10-40", "read PATH:10-40", and what
// sed -n '10,40p' PATH says. Without lines it is the whole file.
func read(t *window.Tree, args []string) (string, error) {
	s := window.Span{From: 1, To: 1 << 30}
	for _, a := range args[1:] {
		if m := placeRE.FindStringSubmatch(a); m != nil && t.Lines[a] == nil {
			s.Path, a = m[1], m[2]
		}
		if m := rangeRE.FindStringSubmatch(a); m != nil {
			s.From, _ = strconv.Atoi(m[1])
			if s.To, _ = strconv.Atoi(m[2]); m[2] == "" {
				s.To = s.From
			}
		} else if a != "-n" {
			s.Path = a
		}
	}
	s.Path = strings.TrimPrefix(path.Clean("/"+s.Path), "/")
	if t.Lines[s.Path] == nil {
		return "", fmt.Errorf("no file %q", s.Path)
	}
	_, text, _ := strings.Cut(t.Numbered(s), "\n") // the path is known to who asked
	return text, nil
}
