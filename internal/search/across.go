package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Across finds uses that lead from one store into another.
type Across interface {
	// Leaving returns what a declaration of a store uses of other stores, in order of line.
	Leaving(ctx context.Context, from kb.StoreID, s kb.Spot) ([]graph.Crossing, error)
	// Arriving returns where other stores use a declaration of one, store by
	// store, each in order of path and line.
	Arriving(ctx context.Context, to kb.StoreID, s kb.Spot) ([]graph.Crossing, error)
	// Target returns a store that an edge of these leads to or comes from, with
	// its references; nil when it is not there any more. It is given back with the others.
	Target(ctx context.Context, id kb.StoreID) (*Target, error)
}

// step is one use that is found: the place that is shown, at, and the line of
// the use, from, may be in two stores.
type step struct {
	graph.Call
	at, from *placer
}

// steps are the uses of a declaration that a request asks for, through the
// borders of stores.
func (p *placer) steps(ctx context.Context, d graph.Decl, r CodeRequest) ([]step, error) {
	near, err := p.uses(d, r)
	if err != nil || r.What == Definition {
		return nil, err
	}
	if p.t.Across == nil {
		return p.here(near), nil
	}
	w := &crosser{across: p.t.Across, what: r.What, kind: r.Kind, placers: map[kb.StoreID]*placer{p.t.Store.ID: p}}
	far, err := w.beside(ctx, p, d.Spot())
	if err != nil {
		return nil, err
	}
	if r.What == References || r.Depth <= 1 {
		return w.merge(p.here(near), far), nil
	}
	return w.walk(ctx, p, d.Spot(), r.Depth)
}

// here makes steps of uses within a store.
func (p *placer) here(calls []graph.Call) []step {
	out := make([]step, len(calls))
	for i, c := range calls {
		out[i] = step{c, p, p}
	}
	return out
}

// crosser follows uses over the borders of stores.
type crosser struct {
	across  Across
	what    string
	kind    string // of references; "" is all
	placers map[kb.StoreID]*placer
}

// placer returns what shows places of a store, nil for one that is gone.
func (w *crosser) placer(ctx context.Context, id string) (*placer, error) {
	if p, ok := w.placers[kb.StoreID(id)]; ok {
		return p, nil
	}
	t, err := w.across.Target(ctx, kb.StoreID(id))
	if err != nil || t == nil {
		return nil, err
	}
	p := &placer{t: t, docs: map[string]*kb.DocumentText{}}
	w.placers[kb.StoreID(id)] = p
	return p, nil
}

// beside returns the uses of a declaration of p's store that lead out of it or
// come from others.
func (w *crosser) beside(ctx context.Context, p *placer, s kb.Spot) ([]step, error) {
	find := w.across.Arriving
	if w.what == Callees {
		find = w.across.Leaving
	}
	found, err := find(ctx, p.t.Store.ID, s)
	if err != nil {
		return nil, err
	}
	var out []step
	for _, c := range found {
		if w.what != References && c.Kind != kb.UseCall || w.kind != "" && w.kind != c.Kind.String() {
			continue
		}
		if len(out) == maxUses {
			break
		}
		x := step{Call: graph.Call{Depth: 1, Edge: kb.Edge{From: c.From.Spot, To: c.To.Spot, Kind: c.Kind, Confidence: c.Confidence}}, at: p, from: p}
		switch w.what {
		case Callees:
			x.at, err = w.placer(ctx, c.To.Store)
		default:
			x.at, err = w.placer(ctx, c.From.Store)
			x.from = x.at
		}
		if err != nil {
			return nil, err
		}
		if x.at != nil {
			out = append(out, x)
		}
	}
	return out, nil
}

// merge puts the uses of one declaration in order: of callees by line, else those
// of its own store first and those in tests last.
func (w *crosser) merge(near, far []step) []step {
	out := append(near, far...)
	slices.SortStableFunc(out, func(a, b step) int {
		if w.what == Callees {
			return cmp.Compare(a.Edge.From.Line, b.Edge.From.Line)
		}
		return testsLast(a.Edge.From.Path, b.Edge.From.Path)
	})
	return out
}

// walk follows calls to a depth, breadth first, each declaration once.
func (w *crosser) walk(ctx context.Context, p *placer, s kb.Spot, depth int) ([]step, error) {
	type node struct {
		p *placer
		s kb.Spot
	}
	seen := map[node]bool{{p, s}: true}
	level := []node{{p, s}}
	var out []step
	for d := 1; d <= depth && len(level) > 0; d++ {
		var next []node
		for _, n := range level {
			var near []graph.Call
			var err error
			if n.p.t.View != nil {
				near, err = n.p.uses(graph.Decl{Path: n.s.Path, Line: n.s.Line, Qualified: n.s.Decl}, CodeRequest{What: w.what, Depth: 1})
			}
			if err != nil {
				return nil, err
			}
			far, err := w.beside(ctx, n.p, n.s)
			if err != nil {
				return nil, err
			}
			for _, x := range w.merge(n.p.here(near), far) {
				if len(out) == maxUses {
					return out, nil
				}
				to := node{x.at, x.Edge.To}
				if w.what == Callers {
					if to.s = (kb.Spot{}); x.at.t.View != nil {
						if to.s, err = x.at.t.View.Enclosing(x.Edge.From); err != nil {
							return nil, err
						}
					}
				}
				if seen[to] && d > 1 {
					continue
				}
				x.Depth = d
				out = append(out, x)
				if to.s.Path != "" && !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		level = next
	}
	return out, nil
}

// farLinks adds to the callers or callees of a declaration those in other
// stores, as far as most leaves room for them; more counts what is not shown.
func (p *placer) farLinks(ctx context.Context, d graph.Decl, what string, links []Link, more, most int) ([]Link, int, error) {
	if p.t.Across == nil || most <= 0 {
		return links, more, nil
	}
	w := &crosser{across: p.t.Across, what: what, placers: map[kb.StoreID]*placer{p.t.Store.ID: p}}
	far, err := w.beside(ctx, p, d.Spot())
	if err != nil {
		return nil, 0, err
	}
	far = w.merge(nil, far)
	type place struct{ store, path, decl string }
	seen := map[place]bool{}
	for _, x := range far {
		at := x.Edge.From
		if what == Callees {
			at = x.Edge.To
		}
		key := place{x.at.t.Label, at.Path, at.Decl}
		if seen[key] {
			continue
		}
		seen[key] = true
		if len(links) >= most {
			more++
			continue
		}
		l, err := x.at.link(ctx, at, x.Edge)
		if err == nil && what == Callers {
			err = x.at.quote(ctx, &l)
		}
		if err != nil {
			return nil, 0, err
		}
		l.Store = x.at.t.Store.Label()
		links = append(links, l)
	}
	return links, more, nil
}
