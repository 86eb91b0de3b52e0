package kdd

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// Graph is the join of the specifications of some stores.
type Graph struct {
	docs  []*Doc
	nodes []Node // the documents' first, in their order
	names names
	// others finds the nodes that are no documents, by folded name.
	others  map[string][]int32
	edges   []edge  // by from, to, type
	out, in []int32 // where the edges of each node begin, in edges and inward; one more at the end
	inward  []int32 // edges by target
	strings *interner
	orphans []orphan
	selfs   []self
	refs    []refs // by document
	said    []mention
	byText  lazyMentions

	foldOnce sync.Once
	folded   []folded
}

// edge is a relation between two nodes, by number.
type edge struct {
	from, to  int32
	doc, line int32
	typ       int32 // strings
	label     int32
	method    uint8 // methods
	sure      uint8 // percent
	violation bool
	rank      uint16 // see rankOf
}

var methods = []string{"frontmatter", "wiki_link", "link", "id", "table", "pattern"}

func methodOf(s string) uint8 { return uint8(max(0, slices.Index(methods, s))) }

// refs is how many edges of a document name a target, orphans included.
type refs struct{ doc, n int32 }

// self is a relation of a document to itself.
type self struct{ doc, line, typ int32 }

type orphan struct {
	doc, line int32
	target    int32
	typ       int32
	method    uint8
	reason    string
}

// index orders the edges by node, keeps of equal ones the surest, and notes
// where those of each node lie.
func (g *Graph) index(found []edge) {
	n := len(g.nodes)
	g.out = make([]int32, n+1)
	for i := range found {
		g.out[found[i].from+1]++
	}
	for i := range n {
		g.out[i+1] += g.out[i]
	}
	sorted := make([]edge, len(found))
	next := slices.Clone(g.out)
	for i := range found {
		from := found[i].from
		sorted[next[from]] = found[i]
		next[from]++
	}
	types := g.strings.list
	kept := sorted[:0]
	for i := range n {
		bucket := sorted[g.out[i]:g.out[i+1]]
		kb.SortFunc(bucket, func(a, b edge) int {
			switch {
			case a.to != b.to:
				return cmp.Compare(a.to, b.to)
			case a.typ != b.typ:
				return strings.Compare(types[a.typ], types[b.typ])
			}
			// An edge of an approved document counts, also when a draft has the same.
			if x, y := hides(g.docs[a.doc].Lifecycle), hides(g.docs[b.doc].Lifecycle); x != y {
				return cmp.Compare(btoi(x), btoi(y))
			}
			return cmp.Or(cmp.Compare(b.sure, a.sure), cmp.Compare(a.method, b.method), cmp.Compare(a.doc, b.doc), cmp.Compare(a.line, b.line))
		})
		g.out[i] = int32(len(kept))
		for k := range bucket {
			if last := len(kept) - 1; k == 0 || kept[last].to != bucket[k].to || kept[last].typ != bucket[k].typ {
				kept = append(kept, bucket[k])
			}
		}
	}
	g.out[n] = int32(len(kept))
	g.edges = slices.Clone(kept)
	g.in = make([]int32, n+1)
	for i := range g.edges {
		e := &g.edges[i]
		e.rank = g.rankOf(e)
		g.in[e.to+1]++
	}
	for i := range n {
		g.in[i+1] += g.in[i]
	}
	g.inward = make([]int32, len(g.edges))
	next = slices.Clone(g.in)
	for i := range g.edges {
		to := g.edges[i].to
		g.inward[next[to]] = int32(i)
		next[to]++
	}
}

// rankOf orders edges by how much they say: typed ones before those that only
// mention, then the surer.
func (g *Graph) rankOf(e *edge) uint16 {
	w := weak[g.strings.list[e.typ]]
	if g.hub(e.to) {
		w = weak["CONTAINS"] // tags and domains, like parts, come behind what documents say of each other
	}
	return uint16(w)<<8 | uint16(100-e.sure)
}

// Docs returns all documents, in order of source and path.
func (g *Graph) Docs() []*Doc { return g.docs }

// Doc returns the document at a path of a store, nil without one.
func (g *Graph) Doc(store kb.StoreID, path string) *Doc {
	for _, paths := range g.names.paths {
		if n, ok := paths[path]; ok && g.docs[n].Store == store {
			return g.docs[n]
		}
	}
	return nil
}

// spot returns the place of a line.
func (d *Doc) spot(line int) Spot {
	s := Spot{Doc: d, Line: line}
	if i := d.SectionAt(line); i >= 0 && len(d.Sections[i].Path) > 0 {
		s.Section, s.Anchor = d.Sections[i].Path[len(d.Sections[i].Path)-1], d.Sections[i].Anchor
	}
	return s
}

// Section returns the index into d.Sections of an anchor: of those that a
// forge gives or of folded ones, whichever the address that it is from has
// first, then of what is nearly the same, or a heading as written; -1 without one.
func (d *Doc) Section(anchor string, forge bool) int {
	anchor = strings.TrimLeft(anchor, "# ")
	for _, style := range []bool{forge, !forge} {
		if i := slices.Index(specdoc.Anchors(d.Sections, style), anchor); i >= 0 && anchor != "" {
			return i
		}
	}
	return specdoc.Find(specdoc.Anchors(d.Sections, false), anchor)
}

// SectionAt returns the index of the section that a line lies in, -1 before the first.
func (d *Doc) SectionAt(line int) int {
	return sort.Search(len(d.Sections), func(i int) bool { return d.Sections[i].Start > line }) - 1
}

// Until returns the last line of section i with all that lies below it.
func (d *Doc) Until(i int) int {
	if i < 0 || i >= len(d.Sections) {
		return 0
	}
	end := d.Sections[i].End
	if d.Sections[i].Level == 0 {
		return end
	}
	for k := i + 1; k < len(d.Sections) && d.Sections[k].Level > d.Sections[i].Level; k++ {
		end = d.Sections[k].End
	}
	return end
}

// IDs returns what other documents and code call a document: its id, else its
// file's name, and aliases that look like ids.
func (d *Doc) IDs() []string {
	var out []string
	add := func(s string) {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	add(d.ID)
	if stem := specdoc.Stem(d.Path); d.ID == "" && d.Kind != "" || shorter(stem+"-x") == stem {
		add(stem)
	}
	for _, a := range d.Aliases {
		if specdoc.KnownID(a) {
			add(a)
		}
	}
	return out
}

// Codes returns the ids by which code may name a document: those with a
// number, and without the words behind it.
func (d *Doc) Codes() []string {
	var out []string
	for _, id := range append(d.IDs(), specdoc.Stem(d.Path)) {
		for ; id != ""; id = shorter(id) {
			if strings.ContainsAny(id, "0123456789") && strings.Contains(id, "-") && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// Nodes returns all nodes, the documents' first.
func (g *Graph) Nodes() []*Node {
	all := make([]*Node, len(g.nodes))
	for i := range g.nodes {
		all[i] = &g.nodes[i]
	}
	return all
}
