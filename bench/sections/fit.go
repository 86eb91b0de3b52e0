package main

import (
	"math"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

const (
	temperature = 12  // of the softmax over scores
	pull        = 0.3 // towards equal weights
	rounds      = 150
)

// scores are the figures of some questions.
type scores struct {
	n                     int
	top, hard, mrr, there float64 // shares; hard is top of the hard ones alone
}

// score ranks each question with the weights for it.
func score(ex []*example, weights func(*example) []float64) scores {
	s := scores{n: len(ex)}
	hard := 0.0
	for _, e := range ex {
		n := e.rank(weights(e))
		if n > 0 {
			s.mrr += 1 / float64(n)
		}
		if n > 0 && n <= 3 {
			s.top++
			if e.Hard {
				s.hard++
			}
		}
		if e.Hard {
			hard++
		}
		if slices.Contains(e.right, true) {
			s.there++
		}
	}
	n := max(1, float64(len(ex)))
	s.top, s.mrr, s.there, s.hard = s.top/n, s.mrr/n, s.there/n, s.hard/max(1, hard)
	return s
}

// total returns what each section scores.
func (e *example) total(w []float64) []float64 {
	out := make([]float64, len(e.values))
	for i, row := range e.values {
		for k, x := range row {
			out[i] += w[k] * x
		}
		out[i] *= e.factors[i]
	}
	return out
}

// rank returns the place of the first right section, from 1; 0 without one.
func (e *example) rank(w []float64) int {
	for n, i := range rank.SectionOrder(e.kept, e.total(w)) {
		if e.right[i] {
			return n + 1
		}
	}
	return 0
}

// descend minimises the cross entropy of the best right section under a
// softmax over the scores, plus pull times the squared distance from equal
// weights, by gradient descent with Adam's steps. The weights sum to 1.
func descend(ex []*example, n int) []float64 {
	start := slices.Repeat([]float64{1 / float64(n)}, n)
	w := slices.Clone(start)
	m, v := make([]float64, n), make([]float64, n)
	for t := 1; t <= rounds; t++ {
		g := make([]float64, n)
		used := 0.0
		for _, e := range ex {
			if slices.Contains(e.right, true) {
				used++
				e.gradient(w, g)
			}
		}
		rate := 0.05 * (1 - float64(t-1)/rounds)
		for k := range w {
			d := g[k]/max(1, used) + 2*pull*(w[k]-start[k])
			m[k] = 0.9*m[k] + 0.1*d
			v[k] = 0.99*v[k] + 0.01*d*d
			mh, vh := m[k]/(1-math.Pow(0.9, float64(t))), v[k]/(1-math.Pow(0.99, float64(t)))
			w[k] = max(0, w[k]-rate*mh/(math.Sqrt(vh)+1e-8))
		}
	}
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	for k := range w {
		w[k] /= sum
	}
	return w
}

// gradient adds the gradient of the example's loss to g.
func (e *example) gradient(w, g []float64) {
	s := e.total(w)
	best := -1
	for i := range s {
		if e.right[i] && (best < 0 || s[i] > s[best]) {
			best = i
		}
	}
	top := slices.Max(s)
	p, sum := make([]float64, len(s)), 0.0
	for i := range s {
		if i == best || !e.right[i] {
			p[i] = math.Exp(temperature * (s[i] - top))
			sum += p[i]
		}
	}
	for i := range s {
		c := temperature * p[i] / sum
		if i == best {
			c -= temperature
		}
		for k, x := range e.values[i] {
			g[k] += c * x * e.factors[i]
		}
	}
}

func byProject(ex []*example) map[string][]*example {
	m := map[string][]*example{}
	for _, e := range ex {
		m[e.Project] = append(m[e.Project], e)
	}
	return m
}

// cross returns weights for every question that were fitted without its
// project.
func cross(ex []*example, n int) func(*example) []float64 {
	fitted := map[string][]float64{}
	for p := range byProject(ex) {
		var others []*example
		for _, e := range ex {
			if e.Project != p {
				others = append(others, e)
			}
		}
		fitted[p] = descend(others, n)
	}
	return func(e *example) []float64 { return fitted[e.Project] }
}
