package specdoc

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// rstRole are the roles that point at documents, labels and needs.
var rstRole = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(":(need|ref|doc|need_incoming|need_outgoing):`([^`]+)`")
})

// scanRST reads reStructuredText: its titles, the needs of sphinx-needs with
// their options, which are sections too, and roles that point elsewhere.
func scanRST(body string) *page {
	r := rst{page: newPage(body)}
	for i := 0; i < len(r.lines); i++ {
		i = r.line(i)
	}
	if len(r.needs) == 1 || len(r.needs) > 0 && strings.HasPrefix(r.first, "doc") {
		n := &r.needs[0]
		n.whole = true
		r.front = append(r.front, field{key: "id", values: []string{n.id}, line: n.line})
	}
	if len(r.labels) > 0 {
		r.front = append(r.front, field{key: "aliases", values: r.labels})
	}
	if len(r.tags) > 0 {
		r.front = append(r.front, field{key: "tags", values: r.tags})
	}
	if len(r.needs) > 0 {
		r.front = append(r.front, field{key: "kind", values: []string{"requirement"}})
	}
	return r.page
}

type rst struct {
	*page
	styles []string
	labels []string
	tags   []string // of its needs
	first  string   // the first need's directive
	text   bool     // the line above is text
}

// line takes line i and returns the last one it used.
func (r *rst) line(i int) int {
	ind, s := markdown.Indent(r.lines[i])
	if s == "" {
		r.text = false
		return i
	}
	if ind == 0 && !r.text {
		if last := r.title(i, s); last >= 0 {
			return last
		}
	}
	if strings.HasPrefix(s, ".. ") || s == ".." {
		r.text = false
		return r.directive(i, ind, strings.TrimSpace(s[2:]))
	}
	r.roles(i, s)
	r.text = true
	if strings.HasSuffix(s, "::") { // a literal block
		r.text = false
		return r.skip(i, ind)
	}
	return i
}

// title takes a title that begins on line i and returns its last line, -1 for none.
func (r *rst) title(i int, s string) int {
	at, style := i, ""
	switch c, over := adornment(s); {
	case over > 0 && i+2 < len(r.lines):
		if d, under := adornment(r.lines[i+2]); d != c || under != over || strings.TrimSpace(r.lines[i+1]) == "" {
			return -1
		}
		at, style = i+1, string([]byte{c, c})
	case over == 0 && i+1 < len(r.lines) && !strings.HasPrefix(s, ".. "):
		d, under := adornment(r.lines[i+1])
		if under == 0 || under < 4 && under < utf8.RuneCountInString(s) {
			return -1
		}
		style = string(d)
	default:
		return -1
	}
	level := slices.Index(r.styles, style) + 1
	if level == 0 {
		r.styles = append(r.styles, style)
		level = len(r.styles)
	}
	last := at + 1
	r.head(i, last, level, plainRST(strings.TrimSpace(r.lines[at])))
	r.text = false
	return last
}

// adornment returns the sign that a line repeats and how often, 0 for another line.
func adornment(s string) (byte, int) {
	s = strings.TrimRight(s, " \t")
	if len(s) < 2 || strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[0]) < 0 || strings.Trim(s, s[:1]) != "" {
		return 0, 0
	}
	if len(s) == 2 && (s[0] == '.' || s[0] == ':') {
		return 0, 0
	}
	return s[0], len(s)
}

// skip marks what is indented below line i as code and returns its last line.
func (r *rst) skip(i, ind int) int {
	last := i
	for j := i + 1; j < len(r.lines); j++ {
		in, s := markdown.Indent(r.lines[j])
		if s != "" && in <= ind {
			break
		}
		r.class[j] = markdown.Fence
		if s != "" {
			last = j
		}
	}
	return last
}

// plainDirectives hold text of the document itself.
var plainDirectives = list("note warning tip important hint admonition seealso attention caution danger topic sidebar only")

// directive takes what begins with "..".
func (r *rst) directive(i, ind int, s string) int {
	r.class[i] = markdown.Fence
	if label, ok := strings.CutPrefix(s, "_"); ok {
		if label, ok = strings.CutSuffix(label, ":"); ok && label != "" && len(r.labels) < 50 {
			r.labels = append(r.labels, strings.Clone(strings.Trim(label, "`")))
		}
		return i
	}
	name, title, ok := strings.Cut(s, "::")
	if !ok || strings.ContainsAny(name, " \t") || name == "" {
		return r.skip(i, ind)
	}
	if name == "toctree" {
		return r.toctree(i, ind)
	}
	options, last := r.options(i, ind)
	at := slices.IndexFunc(options, func(f field) bool { return f.key == "id" })
	if at < 0 || len(options[at].values) == 0 {
		if slices.Contains(plainDirectives, name) {
			return last
		}
		return r.skip(i, ind)
	}
	n := need{id: options[at].values[0], typ: "requirement", line: i}
	level := len(r.styles) + 1
	if k := len(r.headings); k > 0 && !r.headings[k-1].need {
		level = r.headings[k-1].level + 1
	} else if k > 0 {
		level = r.headings[k-1].level
	}
	if title = strings.TrimSpace(title); title == "" {
		title = n.id
	}
	r.head(i, i, level, plainRST(title))
	r.headings[len(r.headings)-1].need = true
	for _, f := range options {
		r.option(&n, f)
	}
	if len(r.needs) == 0 {
		r.first = name
	}
	r.needs = append(r.needs, n)
	return last
}

// toctree takes the documents that are listed below a directive.
func (r *rst) toctree(i, ind int) int {
	last := r.skip(i, ind)
	for j := i + 1; j <= last; j++ {
		s := strings.TrimSpace(r.lines[j])
		if _, inner, ok := strings.Cut(s, "<"); ok {
			s = strings.TrimSuffix(inner, ">")
		}
		if s != "" && s[0] != ':' && !strings.ContainsAny(s, ":* ") && len(s) <= maxName {
			r.links = append(r.links, needLink{target: strings.Clone(s), typ: "CONTAINS", line: j, method: "pattern"})
		}
	}
	return last
}

// options reads the options below a directive, and returns the last line of them.
func (r *rst) options(i, ind int) (out []field, last int) {
	last = i
	for j := i + 1; j < len(r.lines); j++ {
		in, s := markdown.Indent(r.lines[j])
		if s == "" || in <= ind {
			break
		}
		key, value, ok := strings.Cut(strings.TrimPrefix(s, ":"), ":")
		switch {
		case s[0] == ':' && ok && !strings.ContainsAny(key, " `"):
			out = append(out, field{key: key, line: j})
			if value = strings.TrimSpace(value); value != "" {
				out[len(out)-1].values = []string{value}
			}
		case len(out) > 0 && in > ind: // goes on
			f := &out[len(out)-1]
			f.values = append(f.values, s)
		default:
			return out, last
		}
		r.class[j] = markdown.Fence
		last = j
	}
	return out, last
}

// needID is what the ids of needs look like: REQ_1, gd_req__arch_model.
var needID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(?:[_.-]+[A-Za-z0-9]+)+$`)
})

// option takes an option of a need: ids in it are links.
func (r *rst) option(n *need, f field) {
	switch f.key {
	case "id", "status", "version", "title", "style", "layout", "template", "collapse", "hide", "delete", "jinja_content":
		return
	case "tags":
		for _, v := range f.values {
			for t := range strings.FieldsFuncSeq(v, func(c rune) bool { return c == ',' || c == ';' || c == ' ' }) {
				if len(r.tags) < 20 && !slices.Contains(r.tags, t) {
					r.tags = append(r.tags, strings.Clone(t))
				}
			}
		}
		return
	}
	typ, known := needType(f.key)
	method := "frontmatter"
	if !known {
		method = "pattern"
	}
	for _, v := range f.values {
		for t := range strings.FieldsFuncSeq(v, func(c rune) bool { return c == ',' || c == ';' || c == ' ' }) {
			t, _, _ = strings.Cut(t, "[")
			if needID().MatchString(t) && len(n.links) < 200 {
				n.links = append(n.links, needLink{target: strings.Clone(t), typ: typ, line: f.line, method: method})
			}
		}
	}
}

// roles takes the roles of a line of text.
func (r *rst) roles(i int, s string) {
	if !strings.Contains(s, ":`") {
		return
	}
	for _, m := range rstRole().FindAllStringSubmatch(s, -1) {
		target := m[2]
		if _, inner, ok := strings.Cut(target, "<"); ok {
			target = strings.TrimSuffix(inner, ">")
		}
		target, _, _ = strings.Cut(strings.TrimSpace(target), "[")
		if target == "" || len(target) > maxName {
			continue
		}
		l := needLink{target: strings.Clone(target), typ: "REFERENCES", line: i, method: "pattern"}
		if m[1] == "doc" {
			if strings.HasPrefix(target, "/") {
				continue // from the root of the documentation, which is not known
			}
			l.target, l.method = target+".rst", "link"
		}
		r.links = append(r.links, l)
	}
	r.lines[i] = plainRST(r.lines[i])
}

// plainRST takes the marks of roles and literals off a line.
func plainRST(s string) string {
	if !strings.ContainsAny(s, "`*|") {
		return s
	}
	s = rstMark().ReplaceAllString(s, "$1")
	return strings.NewReplacer("``", "", "`_", "", "`", "", "**", "", "|", "").Replace(s)
}

var rstMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(":[a-z_:-]+:`([^`<]*)(?: *<[^>]*>)?`")
})
