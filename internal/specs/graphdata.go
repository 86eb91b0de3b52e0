package specs

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/diagram"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// GraphData is a graph for who draws it.
type GraphData struct {
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
}

// GraphNode is a specification, or what specifications name.
type GraphNode struct {
	Name  string `json:"name"`
	Type  string `json:"type"`            // ENTITY, RULE, CONCEPT, …
	About string `json:"about,omitempty"` // kind, title and lifecycle
	URL   string `json:"url,omitempty"`
	Faded bool   `json:"faded,omitempty"` // not approved
}

// GraphEdge is a relation, by the places of its ends in Nodes.
type GraphEdge struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Type  string `json:"type"`
	Wrong bool   `json:"wrong,omitempty"` // from a lower layer to a higher one
}

func dataOf(g diagram.Graph) *GraphData {
	d := &GraphData{Nodes: make([]GraphNode, 0, len(g.Nodes)), Edges: make([]GraphEdge, 0, len(g.Edges))}
	for _, n := range g.Nodes {
		d.Nodes = append(d.Nodes, GraphNode{Name: n.Label, Type: n.Class, About: n.Under, URL: n.URL, Faded: n.Faded})
	}
	for _, e := range g.Edges {
		d.Edges = append(d.Edges, GraphEdge{From: e.From, To: e.To, Type: e.Label, Wrong: e.Faded})
	}
	return d
}

const (
	defaultWhole = 500
	maxWhole     = 2000
)

// wholeGraph returns the nodes that have most relations, and these.
func wholeGraph(ctx context.Context, a *app.App, q RelatedQuery) (PictureReply, error) {
	limit := cmp.Or(q.Limit, defaultWhole)
	if limit < 0 || limit > maxWhole {
		return PictureReply{}, kb.Errorf(kb.Invalid, "limit must lie between 1 and %d, not %d", maxWhole, limit).WithHint("leave it out for %d", defaultWhole)
	}
	s, err := open(ctx, a, q.Scope)
	if err != nil {
		return PictureReply{}, err
	}
	defer s.Release()
	out := PictureReply{Format: asData}
	err = s.ask(ctx, func([]search.Target) error {
		nodes, total := s.related(limit)
		g := s.joined(nodes, q.EdgeTypes)
		out = PictureReply{Format: asData, Nodes: len(g.Nodes), Edges: len(g.Edges), Graph: dataOf(g)}
		if total > len(nodes) {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the %d most related of %d; raise limit for more", len(nodes), total))
		}
		if why := s.noSpecs(); why != "" {
			out.Warnings = append(out.Warnings, why)
		}
		return nil
	})
	out.Warnings = append(out.Warnings, s.Notes...)
	return out, err
}

// related returns the specifications that are seen and what they name, those
// with most relations first, and how many there are.
func (s *specs) related(limit int) ([]*kdd.Node, int) {
	var nodes []*kdd.Node
	degree := map[*kdd.Node]int{}
	for _, n := range s.graph.Nodes() {
		out, in := s.graph.Edges(n)
		if !s.seen.Sees(n.Doc) || len(out)+len(in) == 0 && (n.Doc == nil || n.Doc.Kind == "") {
			continue
		}
		nodes, degree[n] = append(nodes, n), len(out)+len(in)
	}
	slices.SortStableFunc(nodes, func(a, b *kdd.Node) int { return degree[b] - degree[a] })
	return nodes[:min(limit, len(nodes))], len(nodes)
}

// joined returns nodes with the relations among them, one of a type for a pair.
func (s *specs) joined(nodes []*kdd.Node, types []string) diagram.Graph {
	var g diagram.Graph
	at := map[*kdd.Node]int{}
	for i, n := range nodes {
		at[n] = i
		g.Nodes = append(g.Nodes, s.box(n, 0))
	}
	g.Edges = s.arrows(nodes, at, types, func(_, _ *kdd.Node) bool { return true })
	return g
}
