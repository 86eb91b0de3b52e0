package graph

import (
	"math"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Arc joins two nodes, by their numbers.
type Arc struct {
	A, B   int
	Weight float64
}

// spreadRounds is how often what lies at the nodes moves on: by then it hardly
// changes.
const spreadRounds = 6

// Spread returns how near each node is to those where something lies at first,
// in [0,1]: a personalised PageRank over arcs in both directions,
//
//	p = (1 - onward)·start + onward·W·p
//
// without the node's own start, relative to the highest. An arc counts its
// weight over the root of what the arcs at both its ends weigh together: what
// everything uses is near to nothing.
func Spread(start []float64, arcs []Arc, onward float64) []float64 {
	sum, weight := 0.0, make([]float64, len(start))
	for _, x := range start {
		sum += x
	}
	for _, a := range arcs {
		weight[a.A] += a.Weight
		weight[a.B] += a.Weight
	}
	near, next := make([]float64, len(start)), make([]float64, len(start))
	if sum == 0 {
		return near
	}
	base := func(i int) float64 { return (1 - onward) * start[i] / sum }
	for i := range near {
		near[i] = start[i] / sum
	}
	for range spreadRounds {
		for i := range next {
			next[i] = base(i)
		}
		for _, a := range arcs {
			w := onward * a.Weight / math.Sqrt(weight[a.A]*weight[a.B])
			next[a.A] += w * near[a.B]
			next[a.B] += w * near[a.A]
		}
		near, next = next, near
	}
	top := 0.0
	for i := range near {
		near[i] = max(0, near[i]-base(i))
		top = max(top, near[i])
	}
	for i := range near {
		if top > 0 {
			near[i] /= top
		}
	}
	return near
}

// Between calls f with the edges between documents as they were linked, without the
// names of the declarations around uses. Documents that the view does not know
// or that changed have none.
func (v *View) Between(paths []string, f func(kb.Edge)) error {
	return v.guard(func() error {
		rows := map[int32][]row{}
		var docs []int
		for _, p := range paths {
			doc := v.core.doc(p)
			if doc < 0 {
				continue
			}
			changed, _, err := v.changed(doc)
			if err != nil {
				return err
			}
			if changed {
				continue
			}
			docs = append(docs, doc)
			if rows[int32(doc)], err = v.core.places(doc); err != nil {
				return err
			}
		}
		for _, doc := range docs {
			as, err := v.core.arrowsTo(doc, func(r ref) bool { return rows[r.doc] != nil })
			if err != nil {
				return err
			}
			for _, a := range as {
				to := rows[a.target.doc]
				if int(a.target.decl) >= len(to) {
					continue
				}
				f(kb.Edge{
					From: kb.Spot{Path: v.core.paths[doc], Line: a.line},
					To:   kb.Spot{Path: v.core.paths[a.target.doc], Line: to[a.target.decl].line},
					Kind: a.kind, Confidence: float64(a.conf) / 100,
				})
			}
		}
		return nil
	})
}
