package kdd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// Problem is something wrong with a document as a specification, or with a
// few of them together.
type Problem struct {
	Doc  *Doc
	Line int    // 1-based; 0 for the document as a whole
	Text string // one clause, which does not name the document
}

// Problems returns what is wrong with the documents that a filter selects and
// sees: words that nothing knows, an id that two have, a circle of
// dependencies. It is ordered by store and path.
func (g *Graph) Problems(f Filter) []Problem {
	var out []Problem
	byID := map[string][]int{}
	looked := func(i int) bool { return f.matches(g.docs[i]) && f.sees(g.docs[i]) }
	for i, d := range g.docs {
		if d.ID != "" && specKind(d.Kind) {
			byID[d.NodeID] = append(byID[d.NodeID], i)
		}
		if !looked(i) {
			continue
		}
		if near := nearKind(d.Kind); near != "" && !specKind(d.Kind) {
			out = append(out, Problem{Doc: d, Text: fmt.Sprintf("its kind %q is none: did you mean %s?", d.Kind, near)})
		}
		if d.Status != "" && specKind(d.Kind) && !means(d.Status) {
			out = append(out, Problem{Doc: d, Text: fmt.Sprintf("its status %q is none, and counts as approved; there are %s", d.Status, strings.Join(Lifecycles, ", "))})
		}
	}
	for _, same := range byID {
		for n, i := range same {
			if len(same) > 1 && looked(i) {
				other := g.docs[same[(n+1)%len(same)]]
				out = append(out, Problem{Doc: g.docs[i], Text: fmt.Sprintf("its id %s is also that of %s", g.docs[i].ID, other.Path)})
			}
		}
	}
	for _, circle := range g.circles("DEPENDS_ON") {
		if !looked(int(circle[0].from)) {
			continue
		}
		names := make([]string, 0, len(circle)+1)
		for _, e := range circle {
			names = append(names, g.nodes[e.from].Name)
		}
		text := "depends on itself"
		if len(circle) > 1 {
			text = "depends on itself in a circle: " + strings.Join(append(names, names[0]), " → ")
		}
		out = append(out, Problem{Doc: g.docs[circle[0].from], Line: int(circle[0].line), Text: text})
	}
	kb.SortFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Doc.Source, b.Doc.Source), strings.Compare(a.Doc.Path, b.Doc.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	return out
}

// specKind reports whether a kind is one of specifications.
func specKind(kind string) bool {
	return slices.ContainsFunc(specdoc.Kinds, func(k specdoc.Kind) bool { return k.Name == kind })
}

// nearKind names the kind that was probably meant, "" for none: documents may
// be of other kinds than those of specifications.
func nearKind(word string) string {
	names := make([]string, len(specdoc.Kinds))
	for i, k := range specdoc.Kinds {
		names[i] = k.Name
	}
	return kb.Nearest(word, names)
}

// means reports whether a status as written has a word that Lifecycle knows.
func means(status string) bool {
	k := key(status)
	first, _, _ := strings.Cut(k, "-")
	return KnownStatus(k) || KnownStatus(strings.Trim(first, ".,:;()"))
}

// circles returns the circles of edges of one type between documents, each
// once, found from its first document: of every group that depends on itself
// the shortest way round.
func (g *Graph) circles(typ string) [][]edge {
	n := len(g.docs)
	next := make([][]edge, n)
	for i := range g.edges {
		e := &g.edges[i]
		if int(e.from) < n && int(e.to) < n && g.strings.list[e.typ] == typ {
			next[e.from] = append(next[e.from], *e)
		}
	}
	for removed := true; removed; { // what nothing points at, and what points nowhere, is in no circle
		removed = false
		in := make([]int, n)
		for from := range next {
			for _, e := range next[from] {
				in[e.to]++
			}
		}
		for from := range next {
			kept := slices.DeleteFunc(next[from], func(e edge) bool { return in[from] == 0 || len(next[e.to]) == 0 })
			removed = removed || len(kept) < len(next[from])
			next[from] = kept
		}
	}
	var out [][]edge
	done := make([]bool, n) // has been in a circle that was reported
	for start := range int32(n) {
		if done[start] || len(next[start]) == 0 {
			continue
		}
		// Breadth first from start: the first edge that returns closes the shortest circle.
		by := map[int32]edge{}
		queue := []int32{start}
	search:
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			for _, e := range next[at] {
				if e.to != start {
					if _, seen := by[e.to]; !seen {
						by[e.to] = e
						queue = append(queue, e.to)
					}
					continue
				}
				circle := []edge{e}
				for v := at; v != start; v = by[v].from {
					circle = append(circle, by[v])
				}
				slices.Reverse(circle)
				for _, x := range circle {
					done[x.from] = true
				}
				out = append(out, circle)
				break search
			}
		}
	}
	return out
}
