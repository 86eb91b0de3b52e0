package chunk

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// splitWindow is the splitter for every language without one of its own. It
// reads structure from indentation: a declaration reaches from its line to the
// last line before the next one that is indented no further and does not
// merely close it. The language's row in rulesOf says what begins a
// declaration; without a row the text is one unit, which the finishing pass cuts
// at low indentation.
func splitWindow(t kb.Text, ls *lines) outline {
	r := rulesOf[lang.Get(t.Language).Lines]
	if r == nil {
		return outline{units: []unit{{kind: "block"}}}
	}
	w := window{ls: ls, r: r, decor: -1, last: -1}
	w.o.class = classify(ls, &r.syntax)
	w.o.units = []unit{{kind: "block"}}
	w.fresh = true
	for i := range w.o.class {
		if w.o.class[i] == classCode {
			w.code(i)
		} else if w.o.class[i] == classInside {
			w.last = i
		}
	}
	w.pop(-1)
	w.endFlat()
	return w.o
}

// scope is a declaration that encloses the current line.
type scope struct {
	indent int
	member int // indentation of its members, -1 before the first
	path   []string
	kind   string
	body   bool // may hold declarations; false for functions and values
	closed bool // its closing line was seen
	unit   int  // index of its unit, -1 for a scope without one
}

type window struct {
	ls *lines
	r  *rules
	o  outline

	open  []scope
	last  int  // last line that was neither blank nor comment
	fresh bool // the current unit holds no code yet
	flat  bool // the current unit reaches to the next declaration
	over  bool // a declaration ended: other code begins a unit

	decor, decorIndent int // first line of pending decorators, or -1
	skip               int // last line of a macro that goes on over several
}

// code takes one line of code.
func (w *window) code(i int) {
	if i <= w.skip && i > 0 {
		w.last = i
		return
	}
	ind, s := markdown.Indent(w.ls.text(i))
	if w.r.keep != nil && w.r.keep(s) {
		w.kept(i, ind, s)
		return
	}
	if w.decor >= 0 && ind > w.decorIndent {
		w.last = i
		return // arguments of a decorator
	}
	if w.closing(s) {
		w.pop(ind + 1)
		if n := len(w.open); n > 0 && w.open[n-1].indent == ind {
			w.open[n-1].closed = true
		}
		w.last = i
		return
	}
	w.pop(ind)
	if n := len(w.open); n > 0 {
		top := &w.open[n-1]
		top.closed = false
		if !top.body {
			w.last = i
			return
		}
		if top.member < 0 {
			top.member = ind
		}
	}
	rest := s
	if w.r.decorator != nil {
		n, only := w.r.decorator(s)
		if only {
			if w.decor < 0 {
				w.decor, w.decorIndent = i, ind
			}
			w.o.class[i] = classDecorator
			w.last = i
			return
		}
		rest = s[n:]
	}
	f, ok := w.r.match(w, i, ind, rest)
	switch {
	case ok:
		w.declare(i, ind, rest, f)
	case w.isImport(s):
		w.imports(i, ind)
	default:
		u := &w.o.units[len(w.o.units)-1]
		if w.over || w.decor >= 0 || u.kind == "imports" && len(w.open) == 0 {
			w.begin(i, ind, unit{kind: "block"})
		}
		w.fresh = false
	}
	w.decor = -1
	w.last = i
}

// closing reports whether a line only ends or continues the one above it.
func (w *window) closing(s string) bool {
	switch s[0] {
	case '}', ')', ']':
		return true
	case '{':
		return !w.r.looseBraces
	}
	first, _ := word(s)
	return slices.Contains(w.r.ends, first)
}

// kept takes a line that ends nothing however little it is indented, such as
// one of the preprocessor.
func (w *window) kept(i, ind int, s string) {
	for n := len(w.open); n > 0 && w.open[n-1].closed; n = len(w.open) {
		w.pop(w.open[n-1].indent)
	}
	defer func() { w.last = max(i, w.skip) }()
	if n := len(w.open); n > 0 && !w.open[n-1].body {
		return
	}
	if f, ok := w.r.match(w, i, ind, s); ok && f.name != "" {
		w.declare(i, ind, s, f)
		sc := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		for w.skip = i; w.skip+1 < w.ls.len() && strings.HasSuffix(w.ls.text(w.skip), "\\"); {
			w.skip++
		}
		if u := &w.o.units[sc.unit]; len(u.symbols) > 0 {
			u.symbols[0].End = w.skip + 1
		}
		w.decor, w.over = -1, true
		return
	}
	if len(w.open) > 0 {
		return
	}
	if w.isImport(s) {
		w.imports(i, ind)
	} else if strings.HasPrefix(s, "#if") {
		if w.over && w.decor < 0 {
			w.decor, w.decorIndent = i, 1<<30 // goes with what follows
			w.decor, _ = w.lead(i, ind)
		}
	}
}

// pop ends the scopes indented by at least ind.
func (w *window) pop(ind int) {
	for n := len(w.open); n > 0 && w.open[n-1].indent >= ind; n = len(w.open) {
		sc := w.open[n-1]
		w.open = w.open[:n-1]
		if sc.unit < 0 {
			continue
		}
		w.over = true
		u := &w.o.units[sc.unit]
		u.end = w.last
		if len(u.symbols) > 0 {
			u.symbols[0].End = max(u.symbols[0].End, w.last+1)
		}
	}
}

// endFlat ends the symbol of a unit that reaches to the next one.
func (w *window) endFlat() {
	if !w.flat {
		return
	}
	w.flat = false
	if u := &w.o.units[len(w.o.units)-1]; len(u.symbols) > 0 {
		u.symbols[0].End = max(u.symbols[0].End, w.last+1)
	}
}

// path returns the declaration path of what encloses the current line.
func (w *window) path() []string {
	if n := len(w.open); n > 0 {
		return w.open[n-1].path
	}
	return nil
}

// lead returns where what begins on line i really begins: with the comments
// above it (unit), and with those that no blank line parts from it (doc).
// A comment at the very top of a file that a blank line follows speaks of the
// file and stays out.
func (w *window) lead(i, ind int) (unit, doc int) {
	j := w.comments(i, ind)
	unit, doc = j, j
	for j > 0 {
		k := j
		for k > 0 && w.o.class[k-1] == classBlank {
			k--
		}
		if k == j || k == 0 {
			break
		}
		if j = w.comments(k, ind); j == k {
			break
		}
		unit = j
	}
	if unit == 0 && doc > 0 {
		unit = doc
	}
	return unit, doc
}

// comments returns the first of the comment lines that end right above line i
// and are indented like it.
func (w *window) comments(i, ind int) int {
	first := i
	for j := i - 1; j >= 0; j-- {
		switch w.o.class[j] {
		case classCommentInside:
			continue
		case classComment:
			if c, _ := markdown.Indent(w.ls.text(j)); c == ind {
				first = j
				continue
			}
		}
		break
	}
	return first
}

// begin starts a unit at line i, or where its decorators and comments begin.
// It returns the line at which its documentation begins.
func (w *window) begin(i, ind int, u unit) int {
	w.endFlat()
	at := i
	if w.decor >= 0 && w.decor < i {
		at = w.decor
	}
	start, doc := w.lead(at, ind)
	u.start = start
	u.level = len(w.open)
	if u.path == nil {
		u.path = w.path()
	}
	w.over = false
	w.fresh = false
	k := len(w.o.units) - 1
	if start <= w.o.units[k].start && len(w.o.units[k].symbols) == 0 {
		u.start = w.o.units[k].start
		w.o.units[k] = u
	} else {
		w.o.units = append(w.o.units, u)
	}
	return doc
}

func (w *window) isImport(s string) bool {
	if len(w.open) > 0 {
		return false
	}
	first, rest := word(s)
	if first == "" && s[0] == '#' {
		first, _ = word(strings.TrimLeft(s[1:], " \t"))
		first = "#" + first
	}
	for _, m := range w.r.imports {
		if first == m {
			return rest == "" || rest[0] != '(' && !strings.HasPrefix(strings.TrimLeft(rest, " "), "=")
		}
	}
	return w.r.isImport != nil && w.r.isImport(first, s)
}

// imports takes a line that imports something.
func (w *window) imports(i, ind int) {
	u := &w.o.units[len(w.o.units)-1]
	switch {
	case u.kind == "imports" && !w.over:
	case w.fresh && len(u.symbols) == 0 && w.o.class[0] != classComment && w.o.class[0] != classCommentInside:
		u.kind = "imports"
	default:
		w.begin(i, ind, unit{kind: "imports"})
	}
	w.fresh = false
}
