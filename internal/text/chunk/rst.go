package chunk

import (
	"strings"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// splitRST finds the sections of reStructuredText by its underlined titles,
// with or without a line above. The levels of the styles of lines are the
// order in which the styles appear. Directives that describe an object
// (class::, autofunction::) are headings too; those of some length
// begin sections of their own. What other directives, comments and literal
// blocks hold is kept whole where possible.
func splitRST(_ kb.Text, ls *lines) (outline, bool) {
	r := rst{sections: newSections(ls), inside: -1, literal: -1}
	for i := 0; i < ls.len(); i++ {
		i = r.line(i)
	}
	r.close(ls.len(), 0)
	return r.o, true
}

type rst struct {
	*sections
	styles  []string // "=" underlined, "==" also overlined; the level is the index + 1
	inside  int      // indentation of the directive whose text this is, or -1
	literal int      // the same of a paragraph that ended in "::", until the block below it begins
	objects []int    // indentation of the open objects
	text    bool     // the line above is text
	ended   bool     // an object ended above the current line, which began nothing so far
}

// Objects are the levels behind all those of titles; deeper ones are not followed.
const (
	rstObject    = 100
	rstObjectMax = 8
	rstObjectTop = 6 // lines from which on an object is a section
)

// line takes line i and returns the last line it used.
func (r *rst) line(i int) int {
	ind, s := markdown.Indent(r.ls.text(i))
	if s == "" {
		r.text = false
		return i
	}
	if r.inside >= 0 {
		if ind > r.inside {
			r.o.class[i] = classInside
			return i
		}
		r.inside = -1
	}
	if r.literal >= 0 && !r.text {
		if ind > r.literal {
			r.inside = r.literal
			r.o.class[i] = classInside
			r.literal = -1
			return i
		}
		r.literal = -1
	}
	r.ended = r.dedent(i, ind)
	if last := r.title(i, ind, s); last > 0 {
		r.text = false
		return last
	}
	if strings.HasPrefix(s, ".. ") || s == ".." {
		r.text = false
		r.directive(i, ind, s)
	} else {
		r.text = true
		if strings.HasSuffix(strings.TrimRight(s, " \t"), "::") {
			r.literal = ind
		}
	}
	if !strings.HasPrefix(s, ".. _") {
		r.back(i)
	}
	return i
}

// back goes on with what encloses the object that ended above line i.
func (r *rst) back(i int) {
	if r.ended {
		r.resume(i)
		r.ended = false
	}
}

// dedent ends the objects that a line indented by ind does not belong to and
// reports whether there were any.
func (r *rst) dedent(i, ind int) bool {
	n := len(r.objects)
	for n > 0 && r.objects[n-1] >= ind {
		n--
	}
	if n == len(r.objects) {
		return false
	}
	r.objects = r.objects[:n]
	r.close(i, rstObject+n)
	return true
}

// title begins a section if line i begins a title; it returns the title's
// last line, or 0.
func (r *rst) title(i, ind int, s string) int {
	if ind > 0 || r.text {
		return 0
	}
	n := r.ls.len()
	at, last, style := i, 0, ""
	if c, over := adornment(s); over > 0 {
		if i+2 >= n || r.ls.blank(i+1) {
			return 0
		}
		if d, under := adornment(r.ls.text(i + 2)); d != c || under != over {
			return 0
		}
		at, last, style = i+1, i+2, string([]byte{c, c})
		if t := strings.TrimSpace(r.ls.text(at)); utf8.RuneCountInString(t) > over+4 {
			return 0
		}
	} else {
		if i+1 >= n || strings.HasPrefix(s, ".. ") {
			return 0
		}
		c, under := adornment(r.ls.text(i + 1))
		if under == 0 || under < 4 && under < utf8.RuneCountInString(strings.TrimSpace(s)) {
			return 0
		}
		last, style = i+1, string(c)
	}
	level := 0
	for level < len(r.styles) && r.styles[level] != style {
		level++
	}
	if level == len(r.styles) {
		r.styles = append(r.styles, style)
	}
	first, anchor := r.labels(i)
	r.objects = r.objects[:0]
	r.begin(first, at, last, level+1, rstText(strings.TrimSpace(r.ls.text(at))), anchor)
	return last
}

// adornment returns the character that a line of nothing else repeats and how
// often; 0 for another line.
func adornment(s string) (byte, int) {
	s = strings.TrimRight(s, " \t")
	if len(s) < 2 || strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[0]) < 0 || run(s, s[0]) != len(s) {
		return 0, 0
	}
	if len(s) == 2 && (s[0] == '.' || s[0] == ':') {
		return 0, 0 // a comment, a literal block
	}
	return s[0], len(s)
}

// labels returns the line at which the title on line i begins: with the labels right
// above it, the first of which is its anchor.
func (r *rst) labels(i int) (int, string) {
	const far = 12
	first, anchor := i, ""
	for j := i - 1; j >= 0 && i-j <= far; j-- {
		s := r.ls.text(j)
		if strings.TrimSpace(s) == "" {
			continue
		}
		name, ok := strings.CutPrefix(s, ".. _")
		if !ok {
			break
		}
		name = strings.TrimSpace(name)
		if !strings.HasSuffix(name, ":") {
			break // a link
		}
		first, anchor = j, "#"+strings.Trim(name[:len(name)-1], "`")
	}
	return first, anchor
}

// rstText returns the text of a title without the marks of roles and literals.
func rstText(s string) string {
	if !strings.ContainsAny(s, "`*") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '`', '*':
			if s[i] == '*' && (i == 0 || s[i-1] == ' ') && (i+1 == len(s) || s[i+1] == ' ') {
				b.WriteByte('*')
			}
		case ':':
			if n := strings.IndexByte(s[i+1:], '`'); n > 1 && s[i+n] == ':' && !strings.ContainsAny(s[i+1:i+n], " .") {
				i += n
				continue
			}
			b.WriteByte(':')
		default:
			b.WriteByte(s[i])
		}
	}
	return strings.TrimSpace(b.String())
}

// rstObjects are the directives that describe an object; true says that its
// name ends at the first white space.
var rstObjects = map[string]bool{
	"class": false, "function": false, "method": false, "classmethod": false, "staticmethod": false,
	"attribute": false, "property": false, "data": false, "exception": false, "decorator": false,
	"decoratormethod": false, "coroutinefunction": false, "coroutinemethod": false, "cofunction": false,
	"comethod": false, "abstractmethod": false, "interface": false, "type": false, "macro": false,
	"struct": false, "union": false, "enum": false, "enumerator": false, "var": false, "member": false,
	"concept": false, "autoclass": false, "autofunction": false, "automethod": false, "autoexception": false,
	"autodata": false, "autoattribute": false, "autodecorator": false, "autoproperty": false, "automodule": false,
	"option": true, "cmdoption": true, "confval": true, "setting": true, "envvar": true, "describe": true,
	"object": true, "directive": true, "role": true,
}

// directive takes a line that begins with "..".
func (r *rst) directive(i, ind int, s string) {
	name, args, ok := strings.Cut(strings.TrimSpace(s[2:]), "::")
	if !ok || name == "" || len(name) > 40 || strings.ContainsAny(name, " |") {
		if !strings.HasPrefix(s, ".. _") && !strings.HasPrefix(s, ".. |") && !strings.HasPrefix(s, ".. [") {
			r.inside = ind // a comment
		}
		return
	}
	domain := ""
	if n := strings.LastIndexByte(name, ':'); n >= 0 {
		domain, name = name[:n], name[n+1:]
	}
	first, isObject := rstObjects[name]
	object := ""
	if isObject {
		object = rstName(strings.TrimSpace(args), first, domain == "c" || domain == "cpp")
	}
	if object == "" {
		switch name {
		case "module", "currentmodule", "note", "warning", "tip", "important", "hint", "only", "tab", "tabs", "tab-set", "tab-item", "seealso":
		default:
			r.inside = ind
		}
		return
	}
	sig := strings.TrimSpace(args)
	lines, end := 0, i
	for j := i + 1; j < r.ls.len() && j <= i+2*rstObjectTop; j++ {
		if c, t := markdown.Indent(r.ls.text(j)); t != "" {
			if c <= ind {
				break
			}
			lines, end = lines+1, j
		}
	}
	if lines >= rstObjectTop && len(r.objects) < rstObjectMax {
		from, _ := r.labels(i)
		r.begin(from, i, i, rstObject+len(r.objects), object, sig)
		r.objects = append(r.objects, ind)
		r.ended = false
		return
	}
	r.back(i)
	u := &r.o.units[len(r.o.units)-1]
	u.symbols = append(u.symbols, symbol{
		Symbol: kb.Symbol{Name: fold(object, noteBytes), Kind: "heading", Signature: fold(sig, noteBytes), Start: i + 1, End: end + 1},
		line:   i,
	})
}

// rstName returns the name in the signature of an object.
func rstName(sig string, first, last bool) string {
	if !first {
		sig, _, _ = strings.Cut(sig, "(")
	}
	f := strings.Fields(sig)
	if len(f) == 0 {
		return ""
	}
	name := f[0]
	if last || !first && (name == "class" || name == "async" || name == "final" || name == "abstract") {
		name = f[len(f)-1]
	}
	return strings.Trim(name, "*&,;:")
}
