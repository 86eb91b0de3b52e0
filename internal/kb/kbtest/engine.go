package kbtest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// engines is a vector engine under test.
type engines struct {
	// brute answers by scoring every row of a matrix.
	brute func(testing.TB, *vector.Matrix, vector.Query) []vector.Match
	// random makes n vectors, around so many centres when clusters is not 0.
	random func(rng *rand.Rand, n, dims, clusters int) [][]float32
	open   func(*testing.T, *vector.Matrix) vector.Engine
}

// Engine tests what vector.Engine promises of the engine that open makes of a
// matrix. brute and random are those of the tests of package vector.
func Engine(t *testing.T, brute func(testing.TB, *vector.Matrix, vector.Query) []vector.Match,
	random func(rng *rand.Rand, n, dims, clusters int) [][]float32, open func(*testing.T, *vector.Matrix) vector.Engine) {
	x := engines{brute, random, open}
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"exact", x.testExact},
		{"any length", x.testAnyLength},
		{"more than there are", x.testMoreThanThereAre},
		{"empty", x.testEmpty},
		{"zero rows", x.testZeroRows},
		{"live", x.testLive},
		{"ties", x.testTies},
		{"permutation", x.testPermutation},
		{"bad input", x.testBadInput},
		{"cancelled", x.testCancelled},
		{"concurrent", x.testConcurrent},
		{"close", x.testClose},
	} {
		t.Run(c.name, c.test)
	}
}

func search(t *testing.T, e vector.Engine, q vector.Query) []vector.Match {
	t.Helper()
	got, err := e.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// check compares an answer with that of scoring every row.
func (x engines) check(t *testing.T, m *vector.Matrix, e vector.Engine, q vector.Query) {
	t.Helper()
	if d := cmp.Diff(x.brute(t, m, q), search(t, e, q), cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("k=%d min=%v: want -, got +:\n%s", q.K, q.Min, d)
	}
}

func mustView(t testing.TB, b []byte) *vector.Matrix {
	t.Helper()
	m, err := vector.View(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func (x engines) testExact(t *testing.T) {
	for _, c := range []struct{ n, dims, clusters int }{
		{1, 1, 0}, {7, 3, 0}, {100, 16, 0}, {500, 33, 0}, {1500, 64, 20}, {1030, 256, 0}, {9000, 40, 50}, {40, 700, 0},
	} {
		r := rng()
		vs := x.random(r, c.n, c.dims, c.clusters)
		m := mustView(t, vector.Encode(c.dims, vs))
		e := x.open(t, m)
		queries := append(x.random(r, 4, c.dims, 0), vs[0], vs[c.n/2])
		for _, v := range queries {
			for _, k := range []int{1, 10, 100} {
				x.check(t, m, e, vector.Query{Vector: v, K: k})
			}
			x.check(t, m, e, vector.Query{Vector: v, K: 20, Min: 0.2})
			x.check(t, m, e, vector.Query{Vector: v, K: 20, Min: -0.1})
		}
	}
}

func (x engines) testAnyLength(t *testing.T) {
	r := rng()
	m := mustView(t, vector.Encode(48, x.random(r, 300, 48, 5)))
	e := x.open(t, m)
	v := x.random(r, 1, 48, 0)[0]
	for _, f := range []float32{1e-30, 1e-3, 7, 1e30} {
		w := slices.Clone(v)
		for j := range w {
			w[j] *= f
		}
		x.check(t, m, e, vector.Query{Vector: w, K: 10})
	}
	spike := make([]float32, 48)
	spike[47] = -3
	x.check(t, m, e, vector.Query{Vector: spike, K: 10})
}

func (x engines) testMoreThanThereAre(t *testing.T) {
	m := mustView(t, vector.Encode(8, x.random(rng(), 20, 8, 0)))
	e := x.open(t, m)
	v := make([]float32, 8)
	v[2] = 1
	if got := search(t, e, vector.Query{Vector: v, K: 1000}); len(got) != 20 {
		t.Errorf("%d matches of 20 rows", len(got))
	}
	for _, k := range []int{0, -1} {
		if got := search(t, e, vector.Query{Vector: v, K: k}); len(got) != 0 {
			t.Errorf("k=%d: %v", k, got)
		}
	}
}

func (x engines) testEmpty(t *testing.T) {
	m := mustView(t, vector.Encode(8, nil))
	if got := search(t, x.open(t, m), vector.Query{Vector: make([]float32, 8), K: 3}); len(got) != 0 {
		t.Error(got)
	}
	if got := search(t, x.open(t, m), vector.Query{Vector: []float32{1, 0, 0, 0, 0, 0, 0, 0}, K: 3}); len(got) != 0 {
		t.Error(got)
	}
}

func (x engines) testZeroRows(t *testing.T) {
	z := []float32{0, 0}
	m := mustView(t, vector.Encode(2, [][]float32{z, {1, 0}, z, {-1, 0}, {float32(math.NaN()), 1}}))
	e := x.open(t, m)
	got := search(t, e, vector.Query{Vector: []float32{2, 0}, K: 5})
	if d := cmp.Diff([]vector.Match{{Row: 1, Score: 1}, {Row: 3, Score: -1}}, got); d != "" {
		t.Error(d)
	}
	if got := search(t, e, vector.Query{Vector: z, K: 5}); len(got) != 0 {
		t.Errorf("a zero query matches %v", got)
	}
	only := mustView(t, vector.Encode(2, [][]float32{z, z}))
	if got := search(t, x.open(t, only), vector.Query{Vector: []float32{2, 0}, K: 5}); len(got) != 0 {
		t.Errorf("zero rows match: %v", got)
	}
}

func (x engines) testLive(t *testing.T) {
	r := rng()
	m := mustView(t, vector.Encode(24, x.random(r, 3000, 24, 9)))
	e := x.open(t, m)
	v := x.random(r, 1, 24, 0)[0]
	for _, share := range []float64{0, 0.002, 0.3, 1} {
		live := make([]uint64, (3000+63)/64)
		for i := range 3000 {
			if r.Float64() < share {
				live[i/64] |= 1 << (i % 64)
			}
		}
		x.check(t, m, e, vector.Query{Vector: v, K: 10, Live: live})
		x.check(t, m, e, vector.Query{Vector: v, K: 10, Live: live[:7]})
	}
	x.check(t, m, e, vector.Query{Vector: v, K: 10, Live: []uint64{}})
}

func (x engines) testTies(t *testing.T) {
	r := rng()
	vs := x.random(r, 400, 16, 0)
	for i := 50; i < 350; i++ {
		vs[i] = vs[i%3]
	}
	m := mustView(t, vector.Encode(16, vs))
	e := x.open(t, m)
	for _, k := range []int{1, 10, 150, 250} {
		x.check(t, m, e, vector.Query{Vector: vs[0], K: k})
		x.check(t, m, e, vector.Query{Vector: vs[0], K: k, Less: func(a, b int) bool { return a > b }})
		x.check(t, m, e, vector.Query{Vector: vs[1], K: k, Less: func(a, b int) bool { return a%7 < b%7 }})
	}
}

func (x engines) testPermutation(t *testing.T) {
	r := rng()
	vs := x.random(r, 2000, 32, 10)
	for i := 1000; i < 1100; i++ {
		vs[i] = vs[5]
	}
	queries := append(x.random(r, 5, 32, 0), vs[5])
	var want [][]vector.Match
	for round := range 3 {
		perm := r.Perm(len(vs))
		b := vector.NewBuilder(32)
		for _, i := range perm {
			b.Add(vs[i])
		}
		e := x.open(t, mustView(t, b.Bytes()))
		for qi, v := range queries {
			got := search(t, e, vector.Query{Vector: v, K: 30, Less: func(a, b int) bool { return perm[a] < perm[b] }})
			for i := range got {
				got[i].Row = perm[got[i].Row]
			}
			if round == 0 {
				want = append(want, got)
			} else if d := cmp.Diff(want[qi], got); d != "" {
				t.Fatalf("query %d depends on the layout:\n%s", qi, d)
			}
		}
	}
}

func (x engines) testBadInput(t *testing.T) {
	e := x.open(t, mustView(t, vector.Encode(3, [][]float32{{1, 2, 3}})))
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, q := range []vector.Query{
		{K: 1}, {Vector: []float32{1, 2}, K: 1}, {Vector: []float32{1, 2, 3, 4}, K: 1},
		{Vector: []float32{1, nan, 3}, K: 1}, {Vector: []float32{1, inf, 3}, K: 1},
		{Vector: []float32{1, 2, 3}, K: 1, Min: nan},
	} {
		_, err := e.Search(context.Background(), q)
		if kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%v: %v", q.Vector, err)
		}
	}
}

func (x engines) testCancelled(t *testing.T) {
	r := rng()
	m := mustView(t, vector.Encode(16, x.random(r, 9000, 16, 0)))
	e := x.open(t, m)
	q := vector.Query{Vector: make([]float32, 16), K: 3}
	q.Vector[0] = 1
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Search(gone, q); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	// One that ends during the search gives an error or the whole answer.
	want := x.brute(t, m, q)
	for i := range 30 {
		c, cancel := context.WithCancel(context.Background())
		go func() {
			for range i * 100 {
			}
			cancel()
		}()
		got, err := e.Search(c, q)
		if err == nil && !cmp.Equal(want, got) || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", got, err)
		}
	}
	x.check(t, m, e, q)
}

func (x engines) testConcurrent(t *testing.T) {
	r := rng()
	m := mustView(t, vector.Encode(16, x.random(r, 8500, 16, 4)))
	e := x.open(t, m)
	queries := x.random(r, 6, 16, 0)
	var wg sync.WaitGroup
	for _, v := range queries {
		q := vector.Query{Vector: v, K: 10}
		want := x.brute(t, m, q)
		wg.Go(func() {
			for range 3 {
				if got, err := e.Search(context.Background(), q); err != nil || !cmp.Equal(want, got) {
					t.Errorf("%v, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

func (x engines) testClose(t *testing.T) {
	e := x.open(t, mustView(t, vector.Encode(2, [][]float32{{1, 2}})))
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := e.Search(context.Background(), vector.Query{Vector: []float32{1, 2}, K: 1}); err == nil {
		t.Error("a closed engine answers")
	}
}
