package specs_test

import (
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
)

// TestGraphAsData has the graph as nodes and edges: the whole, some of it, and
// what surrounds one entity.
func TestGraphAsData(t *testing.T) {
	_, a := newSpecs(t)
	scope := specs.Scope{Statuses: []string{"all"}, Waiting: person}
	whole, err := specs.Picture(t.Context(), a, specs.RelatedQuery{Scope: scope}, "json")
	if err != nil || whole.Graph == nil || whole.Text != "" {
		t.Fatalf("%+v, %v", whole, err)
	}
	g := whole.Graph
	if len(g.Nodes) < 10 || len(g.Edges) < 10 || whole.Nodes != len(g.Nodes) || whole.Edges != len(g.Edges) {
		t.Fatalf("%d nodes and %d edges", len(g.Nodes), len(g.Edges))
	}
	at := slices.IndexFunc(g.Nodes, func(n specs.GraphNode) bool { return n.Name == "Pedido" })
	if at < 0 || g.Nodes[at].Type != "ENTITY" || g.Nodes[at].URL == "" {
		t.Fatalf("Pedido is not among %+v", g.Nodes)
	}
	for _, e := range g.Edges {
		if e.From < 0 || e.From >= len(g.Nodes) || e.To < 0 || e.To >= len(g.Nodes) || e.Type == "" {
			t.Errorf("an edge leads nowhere: %+v", e)
		}
	}
	few, err := specs.Picture(t.Context(), a, specs.RelatedQuery{Limit: 3, Scope: scope}, "json")
	if err != nil || len(few.Graph.Nodes) != 3 || len(few.Warnings) == 0 {
		t.Errorf("of at most three: %+v, %v", few, err)
	}
	one, err := specs.Picture(t.Context(), a, specs.RelatedQuery{Entity: "Pedido", Scope: scope}, "json")
	if err != nil || one.Graph == nil || one.Graph.Nodes[0].Name != "Pedido" || len(one.Graph.Nodes) >= len(g.Nodes) {
		t.Errorf("around Pedido: %+v, %v", one, err)
	}
	if _, err := specs.Picture(t.Context(), a, specs.RelatedQuery{Limit: 2001, Scope: scope}, "json"); kb.CodeOf(err) != kb.Invalid {
		t.Errorf("2001 nodes: %v", err)
	}
	if _, err := specs.Picture(t.Context(), a, specs.RelatedQuery{Scope: scope}, "svg"); kb.CodeOf(err) != kb.Invalid {
		t.Errorf("a picture of nothing: %v", err)
	}
}
