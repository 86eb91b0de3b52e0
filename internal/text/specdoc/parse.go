package specdoc

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/markdown"
)

// Bounds on what is kept of one document.
const (
	maxSections = 4000
	maxNodes    = 1000
	maxEdges    = 2000
	maxMentions = 300
	maxName     = 120 // bytes of a name; longer ones are text
)

// Parse reads a Markdown document. It never fails: what it does not
// understand is left out. The result is nil for a text without headings,
// front matter and links: nothing could be said about it.
func Parse(body string) *kb.SpecDoc { return parse(scanMarkdown(body)) }

func parse(p *page) *kb.SpecDoc {
	x := extractor{page: p, doc: &kb.SpecDoc{}, edges: map[edgeKey]int{}, nodes: map[nodeKey]int{}, mentions: map[string]bool{}}
	x.head()
	x.sections()
	x.needs()
	x.body()
	d := x.doc
	if len(p.headings) == 0 && len(p.front) == 0 && len(d.Edges)+len(d.Nodes)+len(d.Mentions) == 0 {
		return nil
	}
	return d
}

type edgeKey struct{ from, target, typ string }

type nodeKey struct{ typ, name string }

// extractor makes a SpecDoc of a page.
type extractor struct {
	*page
	doc      *kb.SpecDoc
	name     string // of what the document is about: its title without id and kind
	edges    map[edgeKey]int
	nodes    map[nodeKey]int
	mentions map[string]bool
	selves   []kb.SpecEdge // relations of front matter to the document itself, which are left out
}

// SelfReferences returns the relations that the front matter of a document
// states to the document itself, which Parse leaves out.
func SelfReferences(body string) []kb.SpecEdge {
	x := extractor{page: scan(body), doc: &kb.SpecDoc{}, edges: map[edgeKey]int{}, nodes: map[nodeKey]int{}, mentions: map[string]bool{}}
	x.head()
	x.frontEdges()
	return x.selves
}

// head reads front matter and title.
func (x *extractor) head() {
	d := x.doc
	for i := range x.front {
		x.field(&x.front[i])
	}
	if d.Status == "" {
		d.Status = x.bodyStatus()
	}
	heading := ""
	if len(x.headings) > 0 {
		heading = x.headings[0].text
	}
	if d.Title == "" {
		d.Title = atMost(heading, 300)
	}
	x.name = d.Title
	for _, s := range []string{heading, d.Title} {
		x.title(s)
	}
	if d.Kind == "" && d.ID != "" {
		if k, ok := idKind(d.ID); ok {
			d.Kind = k.Name
		}
	}
	if d.Kind == "" {
		d.Kind = x.shape()
	}
	x.frontEdges()
}

// field takes a field of front matter.
func (x *extractor) field(f *field) {
	d := x.doc
	v := ""
	if len(f.values) > 0 {
		v = f.values[0]
	}
	switch f.key {
	case "kind", "type", "tipo", "doc_type", "document_type":
		if d.Kind == "" && v != "" {
			if k, ok := KindNamed(v); ok {
				d.Kind = k.Name
			} else if f.key == "kind" && len(v) <= 40 {
				d.Kind = kindWord(v)
			}
		}
	case "id", "identifier", "identificador":
		if t := target(v); d.ID == "" && t != "" {
			d.ID = t
		}
	case "title", "titulo", "name", "nombre":
		if d.Title == "" && v != "" && len(v) <= 300 {
			d.Title = Plain(v)
		}
	case "status", "estado", "state":
		if d.Status == "" {
			// A template lists all: "draft | approved".
			if !strings.Contains(v, "|") {
				d.Status = strings.ToLower(atMost(v, 40))
			}
		}
	case "version":
		if d.Version == "" {
			d.Version = atMost(v, 40)
		}
	case "domain", "dominio", "bounded_context":
		if d.Domain == "" {
			d.Domain = atMost(v, 80)
		}
	case "aliases", "alias":
		d.Aliases = appendNames(d.Aliases, f.values)
	case "tags", "etiquetas", "keywords":
		d.Tags = appendNames(d.Tags, f.values)
	}
}

// title takes id, kind and name from a title: "RULE-7: Refunds", "Entity: User".
func (x *extractor) title(s string) {
	d := x.doc
	id, rest := titleID(s)
	if id != "" {
		if d.ID == "" && !placeholder(id) {
			d.ID = id
		}
		if s == d.Title && rest != "" {
			x.name = rest
		}
		if d.Kind == "" {
			if k, ok := idKind(id); ok {
				d.Kind = k.Name
			}
		}
	} else if label, rest, ok := strings.Cut(s, ":"); ok && rest != "" {
		if k, ok := KindNamed(label); ok && strings.TrimSpace(rest) != "" {
			if d.Kind == "" {
				d.Kind = k.Name
			}
			if s == d.Title {
				x.name = strings.TrimSpace(rest)
			}
		}
	}
}

// statusWords begin the status of a document that says it in its text: a
// section or a line "Status", as decision records do without front matter.
var statusWords = lists["status words"]

// bodyStatus returns the status that the text states, "" for none.
func (x *extractor) bodyStatus() string {
	const far = 40 // lines of text; a status is near the top
	h, seen := 0, 0
	for i := 0; i < len(x.lines) && seen < far; i++ {
		if h < len(x.headings) && x.headings[h].first == i {
			g := &x.headings[h]
			h++
			if a := Anchor(g.text); a == "status" || a == "estado" {
				for j := g.last + 1; j < len(x.lines) && x.class[j] == markdown.Text; j++ {
					if s := strings.TrimSpace(x.lines[j]); s != "" {
						return statusOf(s)
					}
				}
			}
			continue
		}
		if x.class[i] != markdown.Text {
			continue
		}
		seen++
		s := strings.TrimSpace(x.lines[i])
		s = strings.Trim(s[markdown.ItemMark(s):], "*_ ")
		if len(s) > 7 && (strings.EqualFold(s[:6], "status") || strings.EqualFold(s[:6], "estado")) {
			if rest, ok := strings.CutPrefix(strings.TrimLeft(s[6:], "*_ "), ":"); ok {
				return statusOf(rest)
			}
		}
	}
	return ""
}

// statusOf returns the status that a line begins with: "superseded" of
// "Superseded by [9. Files](0009-files.md)".
func statusOf(s string) string {
	s = strings.Trim(s[markdown.ItemMark(s):], "*_`[ ")
	n := strings.IndexAny(s, " ,.;:(*_`]")
	if n < 0 {
		n = len(s)
	}
	if w := strings.ToLower(s[:n]); statusWords[w] {
		return w
	}
	return ""
}

// titleID parts an id off a title: "ADR-0004: MCP", "CMD-001 — Index",
// "[BR-1] Rule".
func titleID(s string) (id, rest string) {
	s = strings.TrimLeft(s, "[ ")
	id, n := spacedID(s)
	if n == 0 {
		n = idLength(s)
		id = s[:n]
	}
	if n == 0 {
		return "", s
	}
	rest = strings.TrimLeft(s[n:], "]):.—–- \t")
	if _, ok := idKind(id); !ok && strings.TrimLeft(s[n:], " ") != "" && !strings.ContainsAny(s[n:min(len(s), n+5)], ":—–-") {
		return "", s // "UTF-8 everywhere" has no id
	}
	return id, rest
}

func appendNames(list, more []string) []string {
	for _, s := range more {
		for _, t := range strings.Split(s, ",") { // "a, b" as a scalar
			if t = strings.Trim(target(t), "#"); t != "" && len(list) < 50 {
				list = append(list, t)
			}
		}
	}
	return list
}

// atMost returns a value that is short enough to be one, else "".
func atMost(s string, limit int) string {
	if len(s) > limit {
		return ""
	}
	return s
}

// sections fills in the sections.
func (x *extractor) sections() {
	type open struct {
		level int
		text  string
	}
	var path []open
	n := len(x.lines)
	add := func(h *heading, start, end int) {
		s := kb.SpecSection{Start: start + 1, End: end}
		if h != nil {
			for len(path) > 0 && path[len(path)-1].level >= h.level {
				path = path[:len(path)-1]
			}
			path = append(path, open{h.level, h.text})
			s.Level, s.Anchor = h.level, Anchor(h.text)
			s.Path = make([]string, len(path))
			for i, o := range path {
				s.Path[i] = o.text
			}
			s.Type = x.sectionType(h, h.last+1, end)
		} else {
			s.Type = x.sectionType(nil, start, end)
		}
		x.doc.Sections = append(x.doc.Sections, s)
	}
	first := n
	if len(x.headings) > 0 {
		first = x.headings[0].first
	}
	for i := 0; i < first; i++ {
		if x.class[i] != markdown.Front && strings.TrimSpace(x.lines[i]) != "" {
			add(nil, i, first)
			break
		}
	}
	for i := range x.headings {
		if len(x.doc.Sections) >= maxSections {
			break
		}
		end := n
		if i+1 < len(x.headings) {
			end = x.headings[i+1].first
		}
		add(&x.headings[i], x.headings[i].first, end)
	}
}
