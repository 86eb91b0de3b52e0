package vector

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomVectors returns n vectors of unit length, spread evenly when clusters
// is 0, else around that many centres.
func randomVectors(rng *rand.Rand, n, dims, clusters int) [][]float32 {
	gauss := func() []float32 {
		v := make([]float32, dims)
		for j := range v {
			v[j] = float32(rng.NormFloat64())
		}
		return v
	}
	centres := make([][]float32, clusters)
	for i := range centres {
		centres[i] = gauss()
	}
	out := make([][]float32, n)
	for i := range out {
		v := gauss()
		if clusters > 0 {
			// Centres of uneven size, rows near or far from theirs.
			f := rng.Float64()
			c, near := centres[int(f*f*float64(clusters))], float32(0.3+rng.Float64())
			for j := range v {
				v[j] = c[j] + near*v[j]
			}
		}
		out[i] = unitVector(v)
	}
	return out
}

func unitVector(v []float32) []float32 {
	s := 0.0
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	for j, x := range v {
		out[j] = float32(float64(x) / math.Sqrt(s))
	}
	return out
}

func mustView(t testing.TB, b []byte) *Matrix {
	t.Helper()
	m, err := View(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// brute answers q by scoring every row and sorting.
func brute(t testing.TB, m *Matrix, q Query) []Match {
	t.Helper()
	p, err := prepare(m, q)
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		return nil
	}
	var all []Match
	for i := range m.Rows() {
		if s, ok := p.score(i); ok && p.live(i) && (q.Min == 0 || s >= q.Min) {
			all = append(all, Match{i, s})
		}
	}
	slices.SortFunc(all, func(a, b Match) int {
		if a.Score != b.Score {
			return cmp.Compare(b.Score, a.Score)
		}
		if q.Less != nil && q.Less(a.Row, b.Row) != q.Less(b.Row, a.Row) {
			if q.Less(a.Row, b.Row) {
				return -1
			}
			return 1
		}
		return a.Row - b.Row
	})
	return all[:min(q.K, len(all))]
}

// What the conformance suite, which is in another package, needs of this one.
var (
	Brute         = brute
	RandomVectors = randomVectors
)
