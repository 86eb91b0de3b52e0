package graph

import "github.com/seed-4f2d999b/knowledge/internal/kb"

// Into returns the edges into a declaration: where it is called, referred to,
// inherited. In order of path and line.
func (v *View) Into(s kb.Spot) ([]kb.Edge, error) {
	var out []kb.Edge
	err := v.guard(func() error {
		t, i, err := v.locate(s)
		if err != nil || i < 0 {
			return err
		}
		out, err = v.into(t, i)
		return err
	})
	return out, err
}

func (v *View) into(t *table, i int) ([]kb.Edge, error) {
	docs, err := v.core.users(t.doc, i)
	if err != nil {
		return nil, err
	}
	var out []kb.Edge
	to := ref{int32(t.doc), int32(i)}
	for _, doc := range docs {
		from := t
		if doc != t.doc {
			if from, err = v.table(doc); err != nil {
				return nil, err
			}
		}
		if from.changed {
			continue
		}
		as, err := v.core.arrowsTo(doc, func(r ref) bool { return r == to })
		if err != nil {
			return nil, err
		}
		es, err := v.shown(from, as, t)
		if err != nil {
			return nil, err
		}
		out = append(out, es...)
	}
	return out, nil
}

// Callers returns who calls a declaration, line by line, then who calls those,
// each calling declaration once, and so on to depth (at least 1), breadth
// first; at most limit calls, 0 for no limit.
func (v *View) Callers(s kb.Spot, depth, limit int) ([]Call, error) {
	return v.walk(s, depth, limit, func(s kb.Spot) ([]kb.Edge, error) { return v.Into(s) }, func(e kb.Edge) (kb.Spot, error) {
		if e.From.Decl == "" {
			return kb.Spot{}, nil
		}
		return v.Enclosing(e.From)
	})
}

// Callees is Callers in the other direction.
func (v *View) Callees(s kb.Spot, depth, limit int) ([]Call, error) {
	return v.walk(s, depth, limit, func(s kb.Spot) ([]kb.Edge, error) { return v.Out(s) }, func(e kb.Edge) (kb.Spot, error) { return e.To, nil })
}

func (v *View) walk(s kb.Spot, depth, limit int, edges func(kb.Spot) ([]kb.Edge, error), far func(kb.Edge) (kb.Spot, error)) ([]Call, error) {
	var out []Call
	seen := map[kb.Spot]bool{s: true}
	level := []kb.Spot{s}
	for d := 1; d <= max(depth, 1) && len(level) > 0; d++ {
		var next []kb.Spot
		for _, at := range level {
			es, err := edges(at)
			if err != nil {
				return nil, err
			}
			for _, e := range es {
				if e.Kind != kb.UseCall {
					continue
				}
				if limit > 0 && len(out) == limit {
					return out, nil
				}
				to, err := far(e)
				if err != nil {
					return nil, err
				}
				if to.Path == "" {
					out = append(out, Call{Edge: e, Depth: d})
					continue
				}
				if seen[to] && d > 1 {
					continue
				}
				out = append(out, Call{Edge: e, Depth: d})
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		level = next
	}
	return out, nil
}

// Enclosing returns the declaration around a place, as a spot; an empty one at
// top level and for a document that the view does not know.
func (v *View) Enclosing(at kb.Spot) (kb.Spot, error) {
	var out kb.Spot
	err := v.guard(func() error {
		doc := v.core.doc(at.Path)
		if doc < 0 {
			return nil
		}
		t, err := v.table(doc)
		if err != nil {
			return err
		}
		if i := t.around(at.Line); i >= 0 {
			if d, ok := t.decl(i); ok {
				out = d.Spot()
			}
		}
		return nil
	})
	return out, err
}
