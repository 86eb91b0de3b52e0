package specdoc

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// scanStrictDoc reads a document of StrictDoc: its sections and requirements
// are the sections, with what they say they come from.
func scanStrictDoc(body string) *page {
	r := sdoc{page: newPage(body), depth: 1, at: -1}
	r.front = []field{{key: "kind", values: []string{"requirement"}}}
	for i := 0; i < len(r.lines); i++ {
		r.line(i, strings.TrimSpace(r.lines[i]))
	}
	r.end()
	return r.page
}

type sdoc struct {
	*page
	depth   int    // level of the headings of what is within
	element string // DOCUMENT, SECTION, TEXT, REQUIREMENT, …
	at      int    // line at which it began, -1 before the first
	uid     string
	title   string
	links   []needLink
	typ     string // of the relation that is read
	many    bool   // within a text of several lines
	literal bool   // behind a line there that announces an example
	listed  bool   // within a list of relations
}

// open are the marks that begin an element: [REQUIREMENT], [[SECTION]].
func sdocMark(s string) (name string, composite, closing, ok bool) {
	if len(s) < 3 || s[0] != '[' || s[len(s)-1] != ']' {
		return "", false, false, false
	}
	name = strings.TrimSuffix(strings.TrimPrefix(s[1:len(s)-1], "["), "]")
	name, closing = strings.CutPrefix(name, "/")
	for i := range len(name) {
		if c := name[i]; !(c >= 'A' && c <= 'Z' || c == '_' || c >= '0' && c <= '9') {
			return "", false, false, false
		}
	}
	return name, strings.HasPrefix(s, "[["), closing, name != ""
}

func (r *sdoc) line(i int, s string) {
	if r.many {
		switch {
		case strings.HasPrefix(r.lines[i], "<<<"):
			r.many, r.class[i] = false, markdown.Fence
		case r.literal && (s == "" || r.lines[i][0] == ' '): // an example, often of this very format
			r.class[i] = markdown.Fence
		default:
			r.literal = strings.HasSuffix(s, "::") || strings.HasPrefix(s, ".. code")
			r.inline(i, s)
		}
		return
	}
	if name, composite, closing, ok := sdocMark(s); ok {
		r.end()
		r.class[i] = markdown.Fence
		switch {
		case closing && (composite || name == "SECTION"):
			r.depth = max(1, r.depth-1)
		case !closing:
			if r.element, r.at = name, i; name == "DOCUMENT" {
				r.at = i
			}
			if composite || name == "SECTION" {
				r.depth++
			}
		}
		return
	}
	key, value, ok := strings.Cut(s, ":")
	if r.element == "FREETEXT" || !ok || key != strings.ToUpper(key) || strings.ContainsAny(key, " `") && !strings.HasPrefix(key, "- ") {
		if r.listed || r.element == "GRAMMAR" {
			r.class[i] = markdown.Fence
		}
		return
	}
	r.set(i, strings.TrimPrefix(key, "- "), strings.TrimSpace(value))
}

// set takes a field of the open element.
func (r *sdoc) set(i int, key, value string) {
	r.class[i] = markdown.Fence
	switch key {
	case "STATEMENT", "RATIONALE", "COMMENT", "CONTENT":
		if r.listed = false; value == ">>>" {
			r.many = true
		} else {
			r.class[i], r.lines[i] = markdown.Text, value
			r.inline(i, value)
		}
	case "UID":
		r.uid = value
	case "TITLE":
		if r.element != "GRAMMAR" {
			r.title = value
		}
	case "RELATIONS", "REFS":
		r.listed = true
	case "TYPE":
		r.typ = value
	case "VALUE":
		r.relation(i, value)
	case "ROLE":
		if n := len(r.links); n > 0 && r.listed {
			if typ, known := needType(value); known {
				r.links[n-1].typ = typ
			}
		}
	case "VERSION", "STATUS", "TAGS":
		if r.element == "DOCUMENT" {
			r.field(strings.ToLower(key), value, i)
		}
	default:
		r.many = value == ">>>"
	}
}

func (r *sdoc) relation(i int, value string) {
	if !r.listed || value == "" {
		return
	}
	switch r.typ {
	case "File":
		r.links = append(r.links, needLink{target: value, typ: "File", line: i})
	case "Child":
		r.links = append(r.links, needLink{target: value, typ: "<IMPLEMENTS", line: i, method: "frontmatter"})
	default:
		r.links = append(r.links, needLink{target: value, typ: "IMPLEMENTS", line: i, method: "frontmatter"})
	}
}

// inline takes links within a text: [LINK: UID].
func (r *sdoc) inline(i int, s string) {
	for {
		_, rest, ok := strings.Cut(s, "[LINK:")
		if !ok {
			return
		}
		target, after, ok := strings.Cut(rest, "]")
		if !ok {
			return
		}
		r.page.links = append(r.page.links, needLink{target: strings.TrimSpace(target), typ: "REFERENCES", line: i, method: "pattern"})
		s = after
	}
}

// end takes the open element as it is known now.
func (r *sdoc) end() {
	defer func() { r.element, r.uid, r.title, r.links, r.typ, r.listed = "", "", "", nil, "", false }()
	switch {
	case r.element == "" || r.element == "GRAMMAR":
		return
	case r.element == "DOCUMENT":
		if r.title != "" {
			r.head(r.at, r.at, 1, r.title)
		}
		if r.uid != "" {
			r.field("id", r.uid, r.at)
		}
		return
	}
	name := r.title
	if name == "" {
		name = r.uid
	}
	level := r.depth + 1
	if r.element == "SECTION" {
		level = r.depth
	}
	if name != "" && r.element != "TEXT" {
		r.head(r.at, r.at, level, name)
	}
	if r.uid == "" {
		return
	}
	typ := "requirement"
	if r.element == "SECTION" || r.element == "TEXT" {
		typ = "section"
	}
	n := need{id: r.uid, typ: typ, line: r.at}
	for _, l := range r.links {
		if l.typ == "File" {
			r.files = append(r.files, needLink{target: l.target, line: l.line})
		} else {
			n.links = append(n.links, l)
		}
	}
	r.needs = append(r.needs, n)
}
