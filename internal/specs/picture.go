package specs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/diagram"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// PictureReply is the reply of kdd:graph.
type PictureReply struct {
	Entity      string           `json:"entity"`
	Format      string           `json:"format"`
	Nodes       int              `json:"nodes"`
	Edges       int              `json:"edges"`
	Text        string           `json:"text,omitempty"`  // the picture
	Graph       *GraphData       `json:"graph,omitempty"` // of format json
	Message     string           `json:"message,omitempty"`
	Suggestions []kdd.Suggestion `json:"suggestions,omitempty"`
	Warnings    []string         `json:"warnings,omitempty"`
}

// asData is the format of a picture that a program draws itself.
const asData = "json"

// Picture draws what is related to an entity, in one of diagram.Formats or as
// data; as data alone the whole graph, too, where no entity is named.
func Picture(ctx context.Context, a *app.App, q RelatedQuery, format string) (PictureReply, error) {
	if format == "" {
		format = diagram.Formats[0]
	}
	if format != asData && !slices.Contains(diagram.Formats, format) {
		return PictureReply{}, kb.Errorf(kb.Invalid, "%q is no format of a picture", app.ClipRunes(format, 40)).WithHint("choose one of %s, %s", strings.Join(diagram.Formats, ", "), asData)
	}
	if format == asData && strings.TrimSpace(q.Entity) == "" {
		return wholeGraph(ctx, a, q)
	}
	asked := q.Depth
	if err := q.check(1); err != nil {
		return PictureReply{}, err
	}
	s, err := open(ctx, a, q.Scope)
	if err != nil {
		return PictureReply{}, err
	}
	defer s.Release()
	out := PictureReply{Entity: q.Entity, Format: format}
	err = s.ask(ctx, func([]search.Target) error {
		r := s.graph.Related(kdd.Query{Entity: q.Entity, Depth: q.Depth, Types: q.EdgeTypes, Limit: q.Limit, Seen: s.seen})
		out = PictureReply{Entity: q.Entity, Format: format}
		if r.Node == nil {
			out.Message, out.Suggestions = fmt.Sprintf("No entity found matching '%s'.", app.ClipRunes(q.Entity, 80)), r.Suggestions
			return nil
		}
		g := s.picture(r, q.EdgeTypes)
		out.Entity, out.Nodes, out.Edges = r.Node.Name, len(g.Nodes), len(g.Edges)
		if format == asData {
			out.Graph = dataOf(g)
		} else {
			out.Text = diagram.Draw(g, format)
		}
		if asked > r.Depth {
			out.Warnings = append(out.Warnings, fmt.Sprintf("depth %d is more than %d, which is used", asked, r.Depth))
		}
		if r.Total > len(r.Related) {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the nearest %d of %d; raise limit for more", len(r.Related), r.Total))
		}
		if note := hiddenNote(r.Hidden, "related specifications"); note != "" {
			out.Warnings = append(out.Warnings, note)
		}
		return nil
	})
	out.Warnings = append(out.Warnings, s.Notes...)
	return out, err
}

// mentions is the relation of a mere link.
const mentions = "MENTIONS"

// picture puts what points at the entity on its left and what it points at on
// its right, each as far away as its distance: with the relations that lead
// there, and of the others among them those that are more than a link.
func (s *specs) picture(r kdd.Reply, types []string) diagram.Graph {
	var g diagram.Graph
	at := map[*kdd.Node]int{}
	add := func(n *kdd.Node, column int) {
		if _, ok := at[n]; ok {
			return
		}
		at[n] = len(g.Nodes)
		g.Nodes = append(g.Nodes, s.box(n, column))
	}
	add(r.Node, 0)
	column := map[*kdd.Node]int{r.Node: 0}
	via := map[*kdd.Node]*kdd.Node{}
	nodes := []*kdd.Node{r.Node}
	for _, x := range r.Related { // the nearest first
		c := x.Distance
		if before := column[x.Via]; before < 0 || before == 0 && !x.Outgoing {
			c = -x.Distance
		}
		column[x.Node], via[x.Node] = c, x.Via
		add(x.Node, c)
		nodes = append(nodes, x.Node)
	}
	g.Edges = s.arrows(nodes, at, types, func(from, to *kdd.Node) bool { return via[from] == to || via[to] == from })
	return g
}

// box is a node as it is drawn.
func (s *specs) box(n *kdd.Node, column int) diagram.Node {
	under := strings.ReplaceAll(kindOfNode(n), "_", " ")
	if n.Doc != nil && n.Doc.Title != "" && n.Doc.Title != n.Name {
		under += " · " + strings.TrimLeft(strings.TrimPrefix(n.Doc.Title, n.Name), " —–:-")
	}
	if st := statusOf(n.Doc); st != "" {
		under += " · " + st
	}
	return diagram.Node{Label: n.Name, Under: under, Class: n.Type, URL: s.nodeURL(n), Column: column, Faded: statusOf(n.Doc) != ""}
}

// arrows are the relations among nodes, which at numbers: those of the types,
// or all, without a mere link where there is more between the two or where
// linked does not want it.
func (s *specs) arrows(nodes []*kdd.Node, at map[*kdd.Node]int, types []string, linked func(from, to *kdd.Node) bool) []diagram.Edge {
	var arrows []diagram.Edge
	for _, n := range nodes {
		out, _ := s.graph.Edges(n)
		named := map[*kdd.Node]bool{} // by more than a link
		for _, e := range out {
			named[e.To] = named[e.To] || e.Type != mentions
		}
		for _, e := range out {
			to, ok := at[e.To]
			if !ok || len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, e.Type) }) {
				continue
			}
			if len(types) == 0 && e.Type == mentions && (named[e.To] || !linked(n, e.To)) {
				continue
			}
			name := e.Type
			if e.Label != "" && len(e.Label) <= 24 {
				name = e.Label
			}
			arrows = append(arrows, diagram.Edge{From: at[n], To: to, Label: name, Faded: e.Violation})
		}
	}
	return arrows
}
