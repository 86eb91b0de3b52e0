package kdd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// modelEdge is an edge of the naive model: ids, as documents state them.
type modelEdge struct{ from, to, typ, statedBy string }

// TestAgainstModel holds walks over random graphs, cycles, drafts and several
// edges between two documents included, against the obvious way to do them.
func TestAgainstModel(t *testing.T) {
	types := []string{"MENTIONS", "DEPENDS_ON", "INVOKES", "REFERENCES"}
	statuses := []string{"", "active", "draft", "superseded", "deprecated"}
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		n := 2 + rnd.IntN(14)
		var list []kb.SpecEntry
		var edges []modelEdge
		lifecycle := map[string]string{}
		id := func(i int) string { return fmt.Sprintf("BR-%03d", i) }
		for i := range n {
			d := &kb.SpecDoc{Kind: "business-rule", ID: id(i), Title: "t", Status: statuses[rnd.IntN(len(statuses))]}
			lifecycle[id(i)] = Lifecycle(d.Status)
			for range rnd.IntN(5) {
				to, typ := rnd.IntN(n), types[rnd.IntN(len(types))]
				e := kb.SpecEdge{Target: id(to), Type: typ, Method: "wiki_link", Line: 1, Confidence: 0.9}
				m := modelEdge{id(i), id(to), typ, id(i)}
				if rnd.IntN(5) == 0 { // stated the other way round
					e.From, e.Target = e.Target, ""
					m.from, m.to = m.to, m.from
				}
				d.Edges = append(d.Edges, e)
				if m.from == m.to {
					continue
				}
				switch i := slices.IndexFunc(edges, func(o modelEdge) bool { return o.from == m.from && o.to == m.to && o.typ == m.typ }); {
				case i < 0:
					edges = append(edges, m)
				case hides(lifecycle[edges[i].statedBy]) && !hides(lifecycle[m.statedBy]):
					edges[i] = m
				}
			}
			list = append(list, kb.SpecEntry{Path: fmt.Sprintf("x/d%03d.md", i), Spec: d})
		}
		g := join(t, source("s", list...))
		if s := g.Stats(); s.Edges != len(edges) {
			t.Fatalf("seed %d: %d edges, want %d", seed, s.Edges, len(edges))
		}
		for range 6 {
			q := Query{Entity: id(rnd.IntN(n)), Depth: 1 + rnd.IntN(3), Limit: 1000}
			if rnd.IntN(2) == 0 {
				q.Types = types[:1+rnd.IntN(3)]
			}
			if rnd.IntN(3) == 0 {
				q.Seen.Statuses = []string{"draft"}
			}
			follows := func(e modelEdge) bool {
				return (q.Types == nil || slices.Contains(q.Types, e.typ)) && (e.statedBy == q.Entity || q.Seen.sees(lifecycle[e.statedBy]))
			}
			for _, both := range []bool{true, false} {
				want := map[string]int{q.Entity: 0}
				front := []string{q.Entity}
				for depth := 1; depth <= q.Depth; depth++ {
					var next []string
					for _, at := range front {
						for _, e := range edges {
							other := ""
							switch {
							case e.to == at:
								other = e.from
							case both && e.from == at:
								other = e.to
							}
							if other == "" || !follows(e) || !q.Seen.sees(lifecycle[other]) {
								continue
							}
							if _, met := want[other]; !met {
								want[other] = depth
								next = append(next, other)
							}
						}
					}
					front = next
				}
				delete(want, q.Entity)
				got := map[string]int{}
				if both {
					r := g.Related(q)
					last := 0
					for _, x := range r.Related {
						if _, twice := got[x.Node.Name]; twice || x.Distance < last {
							t.Errorf("seed %d: %s again, or out of order", seed, x.Node.Name)
						}
						last = x.Distance
						got[x.Node.Name] = x.Distance
						ends := []*Node{x.Edge.From, x.Edge.To}
						if !x.Outgoing {
							slices.Reverse(ends)
						}
						if ends[0] != x.Via || ends[1] != x.Node {
							t.Errorf("seed %d: the edge to %s does not lead from %s", seed, x.Node.Name, x.Via.Name)
						}
					}
					if short := g.Related(Query{Entity: q.Entity, Depth: q.Depth, Types: q.Types, Seen: q.Seen, Limit: 2}); short.Total != r.Total || len(short.Related) != min(2, r.Total) || len(short.Related) > 0 && short.Related[0] != r.Related[0] {
						t.Errorf("seed %d: a limit changes more than the length", seed)
					}
				} else {
					r := g.Impact(q)
					for _, x := range append(r.Direct, r.Transitive...) {
						got[x.Node.Name] = len(x.Path)
						at := x.Node
						for _, e := range x.Path {
							if e.From != at {
								t.Errorf("seed %d: the path of %s is torn", seed, x.Node.Name)
							}
							at = e.To
						}
						if at.Name != q.Entity {
							t.Errorf("seed %d: the path of %s ends at %s", seed, x.Node.Name, at.Name)
						}
					}
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("seed %d, %+v, both %v (-want +got):\n%s", seed, q, both, d)
				}
			}
		}
	}
}

// TestOrderOfDocuments: what a graph answers depends on the documents alone,
// however their facts came to be spread.
func TestOrderOfDocuments(t *testing.T) {
	whole := join(t, parsed(t, "shop", shop))
	again := join(t, parsed(t, "shop", shop))
	for _, d := range whole.Docs() {
		for depth := 1; depth <= MaxDepth; depth++ {
			q := Query{Entity: d.NodeID, Depth: depth, Seen: Seen{All: true}, Limit: 100}
			if d := cmp.Diff(lines(whole.Related(q)), lines(again.Related(q))); d != "" {
				t.Errorf("%s: %s", q.Entity, d)
			}
		}
	}
}
