package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Neighbourhood is the documents around one: those whose declarations it uses,
// and those that use its own, and so on.
type Neighbourhood struct {
	Store string      `json:"store"`
	Path  string      `json:"path"`
	Nodes []Neighbour `json:"nodes"` // the document itself first, then the nearest and most used
	Edges []Arrow     `json:"edges"`
	More  int         `json:"more,omitempty"` // documents that were left out
	Notes []string    `json:"notes,omitempty"`
}

// Neighbour is one document of a Neighbourhood.
type Neighbour struct {
	Path string `json:"path"`
	// Distance counts the uses between it and the document asked about.
	Distance int `json:"distance"`
}

// Arrow says that one document uses what another declares; the numbers are
// those of Nodes.
type Arrow struct {
	From     int `json:"from"`
	To       int `json:"to"`
	Calls    int `json:"calls,omitempty"`    // lines that call
	Types    int `json:"types,omitempty"`    // lines that name a type
	Inherits int `json:"inherits,omitempty"` // lines that name a base
	Others   int `json:"others,omitempty"`   // other lines
}

// MaxAround is the largest number of documents around one.
const MaxAround = 2000

// Around returns the documents around one of a target, at most so many uses
// away and at most limit of them.
func Around(ctx context.Context, t *Target, path string, depth, limit int) (Neighbourhood, error) {
	switch {
	case depth < 0 || depth > MaxDepth:
		return Neighbourhood{}, kb.Errorf(kb.Invalid, "depth must lie between 1 and %d, not %d", MaxDepth, depth).WithHint("leave it out for 1")
	case limit < 1 || limit > MaxAround:
		return Neighbourhood{}, kb.Errorf(kb.Invalid, "limit must lie between 1 and %d, not %d", MaxAround, limit).WithHint("leave it out")
	}
	d, err := t.Index.Document(ctx, path)
	if err != nil {
		return Neighbourhood{}, err
	}
	out := Neighbourhood{Store: t.Label, Path: d.Path, Nodes: []Neighbour{{Path: d.Path}}, Edges: []Arrow{}}
	if t.View == nil {
		out.Notes = append(out.Notes, "the references of "+t.Label+" are not resolved yet")
		return out, nil
	}
	near := []string{d.Path}
	seen := map[string]bool{d.Path: true}
	for away := 1; away <= max(depth, 1) && len(near) > 0; away++ {
		next, err := neighbours(ctx, t.View, near, seen)
		if err != nil {
			return Neighbourhood{}, err
		}
		room := max(0, limit-len(out.Nodes)+1)
		out.More += max(0, len(next)-room)
		near = next[:min(len(next), room)]
		for _, p := range near {
			out.Nodes = append(out.Nodes, Neighbour{Path: p, Distance: away})
		}
	}
	if out.Edges, err = arrows(t.View, out.Nodes); err != nil {
		return Neighbourhood{}, err
	}
	return out, nil
}

// neighbours returns the documents that use something of paths, or that these
// use, and marks them as seen: those joined by most lines first.
func neighbours(ctx context.Context, v *graph.View, paths []string, seen map[string]bool) ([]string, error) {
	lines := map[string]int{}
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		uses, err := v.Out(kb.Spot{Path: p})
		if err != nil {
			return nil, err
		}
		for _, e := range uses {
			lines[e.To.Path]++
		}
		decls, err := v.Symbols(p)
		if err != nil {
			return nil, err
		}
		for _, d := range decls {
			used, err := v.Into(d.Spot())
			if err != nil {
				return nil, err
			}
			for _, e := range used {
				lines[e.From.Path]++
			}
		}
	}
	var next []string
	for p := range lines {
		if !seen[p] {
			seen[p] = true
			next = append(next, p)
		}
	}
	slices.SortFunc(next, func(a, b string) int { return cmp.Or(lines[b]-lines[a], cmp.Compare(a, b)) })
	return next, nil
}

// arrows joins the nodes, in order of their numbers.
func arrows(v *graph.View, nodes []Neighbour) ([]Arrow, error) {
	number, paths := map[string]int{}, make([]string, len(nodes))
	for i, n := range nodes {
		number[n.Path], paths[i] = i, n.Path
	}
	at := map[[2]int]*Arrow{}
	err := v.Between(paths, func(e kb.Edge) {
		key := [2]int{number[e.From.Path], number[e.To.Path]}
		if key[0] == key[1] {
			return
		}
		a := at[key]
		if a == nil {
			a = &Arrow{From: key[0], To: key[1]}
			at[key] = a
		}
		switch e.Kind {
		case kb.UseCall:
			a.Calls++
		case kb.UseType:
			a.Types++
		case kb.UseInherit:
			a.Inherits++
		default:
			a.Others++
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]Arrow, 0, len(at))
	for _, a := range at {
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b Arrow) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	return out, nil
}
