package kdd

// restingTypes are the relations in which a document rests on another: what
// changes there may be wrong here.
const restingTypes = "DEPENDS_ON IMPLEMENTS VALIDATES EXTENDS INVOKES CONSUMES"

// Rest is a relation in which a document rests on another one of its store.
type Rest struct {
	Doc, On *Doc
	Type    string
	Line    int // where Doc says it; 0 where On does
}

// Phrase puts the relation into words: "depends on".
func (r *Rest) Phrase() string { return phrase(r.Type) }

// Resting returns the relations in which a document rests on another, one for
// each two documents. What front matter refers to counts, too: "traces_to".
func (g *Graph) Resting() []Rest {
	var out []Rest
	type two struct{ doc, on int32 }
	seen := map[two]bool{}
	for i := range g.edges {
		e := &g.edges[i]
		typ := g.strings.list[e.typ]
		stated := typ == "REFERENCES" && methods[e.method] == "frontmatter"
		if int(e.to) >= len(g.docs) || !stated && !within(restingTypes, typ) {
			continue
		}
		doc, line := e.from, int(e.line)
		if int(doc) >= len(g.docs) { // a part of a document, such as a scenario
			doc = e.doc
		} else if doc != e.doc {
			line = 0
		}
		x, d, on := two{doc, e.to}, g.docs[doc], g.docs[e.to]
		if d == on || seen[x] || d.Source != on.Source || d.Archived() || within("superseded deprecated", d.Lifecycle) {
			continue
		}
		seen[x] = true
		out = append(out, Rest{Doc: d, On: on, Type: typ, Line: line})
	}
	return out
}
