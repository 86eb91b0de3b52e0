package vector

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
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

func TestEngines(t *testing.T) {
	for _, name := range EngineNames() {
		t.Run(name, func(t *testing.T) {
			testEngine(t, func(t *testing.T, m *Matrix) Engine {
				e, err := NewEngine(name, m)
				if err != nil {
					t.Fatal(err)
				}
				if e.Name() != name || e.Len() != m.Rows() || e.Dims() != m.Dims() {
					t.Fatalf("engine says it is %s of %d x %d", e.Name(), e.Len(), e.Dims())
				}
				t.Cleanup(func() { e.Close() })
				return e
			})
		})
	}
}

// testEngine is what every engine must do.
func testEngine(t *testing.T, open func(*testing.T, *Matrix) Engine) {
	ctx := context.Background()
	search := func(t *testing.T, e Engine, q Query) []Match {
		t.Helper()
		got, err := e.Search(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	check := func(t *testing.T, m *Matrix, e Engine, q Query) {
		t.Helper()
		if d := gocmp.Diff(brute(t, m, q), search(t, e, q), equateEmpty); d != "" {
			t.Fatalf("k=%d min=%v: want -, got +:\n%s", q.K, q.Min, d)
		}
	}
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

	t.Run("exact", func(t *testing.T) {
		for _, c := range []struct{ n, dims, clusters int }{
			{1, 1, 0}, {7, 3, 0}, {100, 16, 0}, {500, 33, 0}, {1500, 64, 20}, {1030, 256, 0}, {9000, 40, 50}, {40, 700, 0},
		} {
			r := rng()
			vs := randomVectors(r, c.n, c.dims, c.clusters)
			m := mustView(t, Encode(c.dims, vs))
			e := open(t, m)
			queries := append(randomVectors(r, 4, c.dims, 0), vs[0], vs[c.n/2])
			for _, v := range queries {
				for _, k := range []int{1, 10, 100} {
					check(t, m, e, Query{Vector: v, K: k})
				}
				check(t, m, e, Query{Vector: v, K: 20, Min: 0.2})
				check(t, m, e, Query{Vector: v, K: 20, Min: -0.1})
			}
		}
	})
	t.Run("any length", func(t *testing.T) {
		r := rng()
		m := mustView(t, Encode(48, randomVectors(r, 300, 48, 5)))
		e := open(t, m)
		v := randomVectors(r, 1, 48, 0)[0]
		for _, f := range []float32{1e-30, 1e-3, 7, 1e30} {
			w := slices.Clone(v)
			for j := range w {
				w[j] *= f
			}
			check(t, m, e, Query{Vector: w, K: 10})
		}
		spike := make([]float32, 48)
		spike[47] = -3
		check(t, m, e, Query{Vector: spike, K: 10})
	})
	t.Run("more than there are", func(t *testing.T) {
		m := mustView(t, Encode(8, randomVectors(rng(), 20, 8, 0)))
		e := open(t, m)
		v := make([]float32, 8)
		v[2] = 1
		if got := search(t, e, Query{Vector: v, K: 1000}); len(got) != 20 {
			t.Errorf("%d matches of 20 rows", len(got))
		}
		for _, k := range []int{0, -1} {
			if got := search(t, e, Query{Vector: v, K: k}); len(got) != 0 {
				t.Errorf("k=%d: %v", k, got)
			}
		}
	})
	t.Run("empty", func(t *testing.T) {
		m := mustView(t, Encode(8, nil))
		if got := search(t, open(t, m), Query{Vector: make([]float32, 8), K: 3}); len(got) != 0 {
			t.Error(got)
		}
		if got := search(t, open(t, m), Query{Vector: []float32{1, 0, 0, 0, 0, 0, 0, 0}, K: 3}); len(got) != 0 {
			t.Error(got)
		}
	})
	t.Run("zero rows", func(t *testing.T) {
		z := []float32{0, 0}
		m := mustView(t, Encode(2, [][]float32{z, {1, 0}, z, {-1, 0}, {float32(math.NaN()), 1}}))
		e := open(t, m)
		got := search(t, e, Query{Vector: []float32{2, 0}, K: 5})
		if d := gocmp.Diff([]Match{{1, 1}, {3, -1}}, got); d != "" {
			t.Error(d)
		}
		if got := search(t, e, Query{Vector: z, K: 5}); len(got) != 0 {
			t.Errorf("a zero query matches %v", got)
		}
		only := mustView(t, Encode(2, [][]float32{z, z}))
		if got := search(t, open(t, only), Query{Vector: []float32{2, 0}, K: 5}); len(got) != 0 {
			t.Errorf("zero rows match: %v", got)
		}
	})
	t.Run("live", func(t *testing.T) {
		r := rng()
		m := mustView(t, Encode(24, randomVectors(r, 3000, 24, 9)))
		e := open(t, m)
		v := randomVectors(r, 1, 24, 0)[0]
		for _, share := range []float64{0, 0.002, 0.3, 1} {
			live := make([]uint64, (3000+63)/64)
			for i := range 3000 {
				if r.Float64() < share {
					live[i/64] |= 1 << (i % 64)
				}
			}
			check(t, m, e, Query{Vector: v, K: 10, Live: live})
			check(t, m, e, Query{Vector: v, K: 10, Live: live[:7]})
		}
		check(t, m, e, Query{Vector: v, K: 10, Live: []uint64{}})
	})
	t.Run("ties", func(t *testing.T) {
		r := rng()
		vs := randomVectors(r, 400, 16, 0)
		for i := 50; i < 350; i++ {
			vs[i] = vs[i%3]
		}
		m := mustView(t, Encode(16, vs))
		e := open(t, m)
		for _, k := range []int{1, 10, 150, 250} {
			check(t, m, e, Query{Vector: vs[0], K: k})
			check(t, m, e, Query{Vector: vs[0], K: k, Less: func(a, b int) bool { return a > b }})
			check(t, m, e, Query{Vector: vs[1], K: k, Less: func(a, b int) bool { return a%7 < b%7 }})
		}
	})
	t.Run("permutation", func(t *testing.T) {
		r := rng()
		vs := randomVectors(r, 2000, 32, 10)
		for i := 1000; i < 1100; i++ {
			vs[i] = vs[5]
		}
		queries := append(randomVectors(r, 5, 32, 0), vs[5])
		var want [][]Match
		for round := range 3 {
			perm := r.Perm(len(vs))
			b := NewBuilder(32)
			for _, i := range perm {
				b.Add(vs[i])
			}
			e := open(t, mustView(t, b.Bytes()))
			for qi, v := range queries {
				got := search(t, e, Query{Vector: v, K: 30, Less: func(a, b int) bool { return perm[a] < perm[b] }})
				for i := range got {
					got[i].Row = perm[got[i].Row]
				}
				if round == 0 {
					want = append(want, got)
				} else if d := gocmp.Diff(want[qi], got); d != "" {
					t.Fatalf("query %d depends on the layout:\n%s", qi, d)
				}
			}
		}
	})
	t.Run("bad input", func(t *testing.T) {
		e := open(t, mustView(t, Encode(3, [][]float32{{1, 2, 3}})))
		nan, inf := float32(math.NaN()), float32(math.Inf(-1))
		for _, q := range []Query{
			{K: 1}, {Vector: []float32{1, 2}, K: 1}, {Vector: []float32{1, 2, 3, 4}, K: 1},
			{Vector: []float32{1, nan, 3}, K: 1}, {Vector: []float32{1, inf, 3}, K: 1},
			{Vector: []float32{1, 2, 3}, K: 1, Min: nan},
		} {
			_, err := e.Search(ctx, q)
			if kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
				t.Errorf("%v: %v", q.Vector, err)
			}
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		r := rng()
		m := mustView(t, Encode(16, randomVectors(r, 9000, 16, 0)))
		e := open(t, m)
		q := Query{Vector: make([]float32, 16), K: 3}
		q.Vector[0] = 1
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := e.Search(gone, q); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		// One that ends during the search gives an error or the whole answer.
		want := brute(t, m, q)
		for i := range 30 {
			c, cancel := context.WithCancel(ctx)
			go func() {
				for range i * 100 {
				}
				cancel()
			}()
			got, err := e.Search(c, q)
			if err == nil && !gocmp.Equal(want, got) || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%v, %v", got, err)
			}
		}
		check(t, m, e, q)
	})
	t.Run("concurrent", func(t *testing.T) {
		r := rng()
		m := mustView(t, Encode(16, randomVectors(r, 8500, 16, 4)))
		e := open(t, m)
		queries := randomVectors(r, 6, 16, 0)
		var wg sync.WaitGroup
		for _, v := range queries {
			q := Query{Vector: v, K: 10}
			want := brute(t, m, q)
			wg.Go(func() {
				for range 3 {
					if got, err := e.Search(ctx, q); err != nil || !gocmp.Equal(want, got) {
						t.Errorf("%v, %v", got, err)
					}
				}
			})
		}
		wg.Wait()
	})
	t.Run("close", func(t *testing.T) {
		e := open(t, mustView(t, Encode(2, [][]float32{{1, 2}})))
		for range 2 {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := e.Search(ctx, Query{Vector: []float32{1, 2}, K: 1}); err == nil {
			t.Error("a closed engine answers")
		}
	})
}

var equateEmpty = gocmp.FilterValues(func(a, b []Match) bool { return len(a) == 0 && len(b) == 0 },
	gocmp.Comparer(func(a, b []Match) bool { return true }))
