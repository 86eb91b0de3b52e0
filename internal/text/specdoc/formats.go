package specdoc

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// format reads the texts of one language into a page.
type format func(body string) *page

// formats are the languages that specifications are written in, as package
// lang names them.
var formats = map[string]format{
	"markdown":  scanMarkdown,
	"mdx":       scanMarkdown,
	"gherkin":   scanGherkin,
	"rst":       scanRST,
	"strictdoc": scanStrictDoc,
}

// Reads reports whether specifications are written in a language.
func Reads(language string) bool { return formats[language] != nil }

// MayRead reports whether a file is of a language that specifications are
// written in, by its name.
func MayRead(path string) bool {
	switch strings.ToLower(path[strings.LastIndexByte(path, '.')+1:]) {
	case "md", "mdx", "markdown", "rst", "feature", "sdoc":
		return true
	}
	return false
}

// ParseAs reads a document of a language that Reads knows.
func ParseAs(language, body string) *kb.SpecDoc {
	if f := formats[language]; f != nil {
		return parse(f(body))
	}
	return nil
}

// scanMarkdown reads Markdown, with the requirements of lists that begin with
// an id in bold, as EARS is written: "- **REQ-1** When …". One alone is no list.
func scanMarkdown(body string) *page {
	p := scan(body)
	for i, l := range p.lines {
		if p.class[i] != markdown.Text {
			continue
		}
		t := strings.TrimSpace(l)
		mark := markdown.ItemMark(t)
		if mark == 0 {
			continue
		}
		t, ok := strings.CutPrefix(t[mark:], "**")
		if n := idLength(t); ok && n > 0 && !placeholder(t[:n]) && strings.IndexByte(":*. ", (t + " ")[n]) >= 0 {
			p.needs = append(p.needs, need{id: strings.Clone(t[:n]), typ: "requirement", line: i, named: true})
		}
	}
	if len(p.needs) == 1 {
		p.needs = nil
	}
	return p
}

// need is one of several things that a document holds each with an id of its
// own: a requirement of StrictDoc, a need of sphinx-needs, a scenario.
type need struct {
	id    string
	typ   string // of its node
	line  int    // 0-based
	named bool   // in a list, which may only name documents of their own
	whole bool   // it is what the document itself is
	links []needLink
}

// needLink points from a need at another.
type needLink struct {
	target, typ string // a "<" before the type says that it points back
	line        int
	// method is how it was found: "frontmatter", "id", "link" for a path, and
	// "pattern" where the target may be something else, so that one which does not exist is left out.
	method string
}

// needs takes what a document holds with ids of their own.
func (x *extractor) needs() {
	for i := range x.page.needs {
		n := &x.page.needs[i]
		from := n.id
		if n.whole || x.own(n.id) {
			from = ""
		} else {
			x.node(n.typ, n.id, n.line, sureFront)
			if !n.named {
				x.edge("", n.id, "CONTAINS", "table", "", n.line, sureTable)
			}
		}
		for _, l := range n.links {
			if typ, back := strings.CutPrefix(l.typ, "<"); back {
				x.edge(l.target, from, typ, l.method, "", l.line, sures[l.method])
			} else {
				x.edge(from, l.target, l.typ, l.method, "", l.line, sures[l.method])
			}
		}
	}
	for _, f := range x.page.files {
		x.mention(f.target, f.line)
	}
	for _, l := range x.page.links {
		x.edge("", l.target, l.typ, l.method, "", l.line, sures[l.method])
	}
}

// sures are the confidences of needLink.method.
var sures = map[string]float64{"frontmatter": sureFront, "id": sureLink, "link": sureLink, "pattern": surePattern}

// newPage returns a page of a text that is not Markdown: all of it is text.
func newPage(body string) *page {
	body = strings.TrimPrefix(body, "\ufeff")
	p := &page{plain: true, lines: make([]string, 0, strings.Count(body, "\n")+1)}
	for line := range strings.Lines(body) {
		p.lines = append(p.lines, kb.Cut(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), longLine))
	}
	p.class = make([]markdown.Kind, len(p.lines))
	return p
}

// head adds a heading on one line.
func (p *page) head(line, last, level int, text string) {
	p.headings = append(p.headings, heading{text: strings.Clone(text), level: min(level, 6), first: line, last: last})
	for i := line; i <= last; i++ {
		p.class[i], p.lines[i] = markdown.Heading, "" // marks of the format name nothing
	}
}

// field adds a field as front matter has it.
func (p *page) field(key, value string, line int) {
	if value = strings.TrimSpace(value); value != "" {
		p.front = append(p.front, field{key: key, values: []string{strings.Clone(value)}, line: line})
	}
}

// needType returns the type of the edge that a field of a need states, and
// whether the field is known for it.
func needType(name string) (typ string, known bool) {
	key := strings.ReplaceAll(Anchor(name), "-", "_")
	if t := fieldEdges[key]; t != "" {
		return t, true
	}
	if t := needFields[key]; t != "" {
		return t, true
	}
	return "RELATED_TO", false
}

// needFields are fields of needs, and roles of relations, beyond those of
// front matter.
var needFields = byWord(map[string]string{
	"IMPLEMENTS": "complies refines derives derived_from satisfy fulfils realises covers",
	"<CONTAINS":  "partof",
	"VALIDATES":  "checks test_of verify tested verifying",
	"CONSUMES":   "input inputs",
	"PRODUCES":   "output",
	"CONTAINS":   "has parent_needs_back includes",
	"<PERFORMS":  "responsible approved_by supported_by",
	"DEPENDS_ON": "parent_needs blocks parents",
})
