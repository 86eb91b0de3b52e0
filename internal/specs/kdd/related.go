package kdd

import (
	"cmp"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// weak are the types that say little about why two nodes are connected, and
// what a node itself consists of, its attributes and states; of several edges
// between two nodes the strongest is shown, and weak ones come last.
var weak = map[string]int{"EXTRACTED_FROM": 4, "CONTAINS": 3, "MENTIONS": 2, "REFERENCES": 1, "RELATED_TO": 1}

// EdgeType returns an edge type in the spelling of the graph: "depends on" is
// DEPENDS_ON, and RELATES_TO another word for RELATED_TO.
func EdgeType(s string) string {
	s = strings.ToUpper(strings.ReplaceAll(key(s), "-", "_"))
	switch s {
	case "RELATES_TO":
		return "RELATED_TO"
	case "WIKI_LINK":
		return "MENTIONS"
	}
	return s
}

// typeSet returns the numbers of edge types, nil for all.
func (g *Graph) typeSet(types []string) map[int32]bool {
	if len(types) == 0 {
		return nil
	}
	set := map[int32]bool{}
	for _, t := range types {
		if n, ok := g.strings.ids[EdgeType(t)]; ok {
			set[n] = true
		}
	}
	return set
}

// hub reports whether a node is a tag or a domain, which connects documents
// that have nothing else to do with each other.
func (g *Graph) hub(n int32) bool { return int(n) >= len(g.docs) && g.nodes[n].Type == "CONCEPT" }

// step is one way to a node.
type step struct {
	node, via int32
	edge      int32
	outgoing  bool
	distance  int
}

// better orders two ways to the same node, or two nodes at the same distance:
// by what the edges say, then those that point away.
func (g *Graph) better(a, b *step) int {
	x, y := g.edges[a.edge].rank, g.edges[b.edge].rank
	switch {
	case x != y:
		return cmp.Compare(x, y)
	case a.outgoing != b.outgoing:
		return cmp.Compare(btoi(!a.outgoing), btoi(!b.outgoing))
	case a.node != b.node:
		return cmp.Compare(a.node, b.node)
	case a.via != b.via:
		return cmp.Compare(a.via, b.via)
	}
	return cmp.Compare(a.edge, b.edge)
}

// Related returns what is connected with an entity, in both directions, the
// nearest first.
func (g *Graph) Related(q Query) Reply {
	r := Reply{Depth: min(max(q.Depth, 1), MaxDepth), Hidden: map[string]int{}}
	start, also, suggestions := g.start(q)
	if start < 0 {
		r.Suggestions = suggestions
		return r
	}
	r.Node, r.Also = &g.nodes[start], also
	types := g.typeSet(q.Types)
	const unmet, shut = 0, -1            // shut: the start, and what is hidden
	place := make([]int32, len(g.nodes)) // node → its place in found + 1
	place[start] = shut
	hidden := g.hidden(q.Seen)
	var found []step
	front := []int32{start}
	for depth := 1; depth <= r.Depth && len(front) > 0; depth++ {
		first := int32(len(found))
		for _, n := range front {
			if n != start && g.hub(n) {
				continue
			}
			take := func(e, other int32, outgoing bool) {
				i := place[other]
				if i == shut || i != unmet && i <= first {
					return // nearer
				}
				if at := g.edges[e].doc; at != start && hidden[at] && at != other {
					return // only a draft says so
				}
				s := step{other, n, e, outgoing, depth}
				switch {
				case i != unmet:
					if g.better(&s, &found[i-1]) < 0 {
						found[i-1] = s
					}
				case int(other) < len(g.docs) && hidden[other]:
					r.Hidden[g.docs[other].Lifecycle]++
					place[other] = shut
				default:
					found = append(found, s)
					place[other] = int32(len(found))
				}
			}
			g.each(n, types, take)
		}
		level := found[first:]
		kb.SortFunc(level, func(a, b step) int { return g.better(&a, &b) })
		front = front[:0]
		for i := range level {
			place[level[i].node] = first + int32(i) + 1
			front = append(front, level[i].node)
		}
	}
	r.Total = len(found)
	limit := cmp.Or(max(q.Limit, 0), defaultLimit)
	r.Related = make([]Related, 0, min(limit, len(found)))
	for i := range found[:min(limit, len(found))] {
		s := &found[i]
		r.Related = append(r.Related, Related{&g.nodes[s.node], g.edge(s.edge), s.outgoing, s.distance, &g.nodes[s.via]})
	}
	return r
}

// hidden returns which documents are not seen.
func (g *Graph) hidden(seen Seen) []bool {
	shut := map[string]bool{}
	for _, l := range Lifecycles {
		shut[l] = !seen.sees(l)
	}
	out := make([]bool, len(g.docs))
	for i, d := range g.docs {
		out[i] = shut[d.Lifecycle]
	}
	return out
}

// start returns the node that a query begins at, -1 with suggestions for none.
// A document that is hidden can still be asked about by its name.
func (g *Graph) start(q Query) (int32, []*Node, []Suggestion) {
	list := g.lookup(q.Entity)
	if len(list) == 0 {
		return -1, nil, g.suggest(q.Entity, Filter{Seen: q.Seen})
	}
	kb.SortStableFunc(list, func(a, b int32) int {
		return cmp.Compare(btoi(!q.Seen.Sees(g.nodes[a].Doc)), btoi(!q.Seen.Sees(g.nodes[b].Doc)))
	})
	var also []*Node
	for _, n := range list[1:min(len(list), 1+maxSuggestions)] {
		also = append(also, &g.nodes[n])
	}
	return list[0], also, nil
}

// each calls f for every edge of a node, outgoing ones first.
func (g *Graph) each(n int32, types map[int32]bool, f func(edge, other int32, outgoing bool)) {
	for e := g.out[n]; e < g.out[n+1]; e++ {
		if types == nil || types[g.edges[e].typ] {
			f(e, g.edges[e].to, true)
		}
	}
	for _, e := range g.inward[g.in[n]:g.in[n+1]] {
		if types == nil || types[g.edges[e].typ] {
			f(e, g.edges[e].from, false)
		}
	}
}

// edge returns an edge as callers see it.
func (g *Graph) edge(n int32) Edge {
	e := &g.edges[n]
	return Edge{
		From: &g.nodes[e.from], To: &g.nodes[e.to], Type: g.strings.list[e.typ], Method: methods[e.method], Label: g.strings.list[e.label],
		Confidence: float64(e.sure) / 100, At: g.docs[e.doc].spot(int(e.line)), Violation: e.violation,
	}
}

// number returns the number of a node of this graph, -1 for another's.
func (g *Graph) number(n *Node) int32 {
	if n == nil {
		return -1
	}
	if n.Doc != nil {
		if n.Doc.Source >= len(g.names.paths) {
			return -1
		}
		if i, ok := g.names.paths[n.Doc.Source][n.Doc.Path]; ok {
			return i
		}
		return -1
	}
	for _, i := range g.others[key(n.Name)] {
		if &g.nodes[i] == n || g.nodes[i].ID == n.ID && g.nodes[i].In[0].Doc == n.In[0].Doc {
			return i
		}
	}
	return -1
}

// Edges returns the edges out of and into a node, by the node at their other
// end and type.
func (g *Graph) Edges(n *Node) (out, in []Edge) {
	i := g.number(n)
	if i < 0 {
		return nil, nil
	}
	g.each(i, nil, func(e, _ int32, outgoing bool) {
		if outgoing {
			out = append(out, g.edge(e))
		} else {
			in = append(in, g.edge(e))
		}
	})
	return out, in
}

// Node returns the node of a document of this graph.
func (g *Graph) Node(d *Doc) *Node {
	if d == nil {
		return nil
	}
	if i := g.number(&Node{Doc: d}); i >= 0 {
		return &g.nodes[i]
	}
	return nil
}

// Impact returns what points at an entity, directly and through others, each
// node once, by the shortest way. Without a depth it goes MaxDepth far.
func (g *Graph) Impact(q Query) ImpactReply {
	r := ImpactReply{Depth: MaxDepth, Hidden: map[string]int{}}
	if q.Depth > 0 {
		r.Depth = min(q.Depth, MaxDepth)
	}
	start, _, suggestions := g.start(q)
	if start < 0 {
		r.Suggestions = suggestions
		return r
	}
	r.Node = &g.nodes[start]
	types := g.typeSet(q.Types)
	way := map[int32]step{start: {node: start, edge: -1}}
	hidden := g.hidden(q.Seen)
	front := []int32{start}
	for depth := 1; depth <= r.Depth && len(front) > 0; depth++ {
		var level []step
		at := map[int32]int{}
		for _, n := range front {
			for _, e := range g.inward[g.in[n]:g.in[n+1]] {
				x := &g.edges[e]
				if types != nil && !types[x.typ] || x.doc != start && hidden[x.doc] && x.doc != x.from {
					continue
				}
				if _, met := way[x.from]; met {
					continue
				}
				if int(x.from) < len(g.docs) && hidden[x.from] {
					r.Hidden[g.docs[x.from].Lifecycle]++
					way[x.from] = step{edge: -1}
					continue
				}
				s := step{x.from, n, e, true, depth}
				if i, ok := at[x.from]; !ok {
					at[x.from] = len(level)
					level = append(level, s)
				} else if g.better(&s, &level[i]) < 0 {
					level[i] = s
				}
			}
		}
		kb.SortFunc(level, func(a, b step) int { return g.better(&a, &b) })
		front = front[:0]
		for _, s := range level {
			way[s.node] = s
			front = append(front, s.node)
			i := Impacted{Node: &g.nodes[s.node]}
			for at := s; at.edge >= 0 && at.node != start; at = way[at.via] {
				i.Path = append(i.Path, g.edge(at.edge))
			}
			if depth == 1 {
				r.Direct = append(r.Direct, i)
			} else {
				r.Transitive = append(r.Transitive, i)
			}
		}
	}
	return r
}
