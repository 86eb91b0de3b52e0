package vector

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestSketchSumsEqualGeneric(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for pairs := range 40 {
		for blocks := range 4 {
			signs, lut := make([]byte, blocks*pairs*32+1)[1:], make([]byte, pairs*32)
			for i := range signs {
				signs[i] = byte(r.Uint32())
			}
			for i := range lut {
				lut[i] = byte(r.Uint32())
			}
			got, want := make([]uint16, blocks*sketchBlock+1), make([]uint16, blocks*sketchBlock)
			got[len(want)] = 12345
			sketchSums(got[:len(want)], signs, lut)
			sketchSumsGeneric(want, signs, lut)
			if !slices.Equal(got[:len(want)], want) || got[len(want)] != 12345 {
				t.Fatalf("%d blocks of %d nibbles: %v, want %v", blocks, 2*pairs, got, want)
			}
			for i := range want {
				sum := uint16(0)
				for n := range 2 * pairs {
					two := signs[(i/sketchBlock*2*pairs+n)*16+i%16]
					sum += uint16(lut[16*n+int(two>>(i%sketchBlock/16*4)&15)])
				}
				if sum != want[i] {
					t.Fatalf("row %d: %d, want %d", i, want[i], sum)
				}
			}
		}
	}
}

func TestRotationKeepsLengthsAndAngles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for _, dims := range []int{1, 2, 3, 64, 100, 192, 256, 300, 1000} {
		rot := newRotation(dims, sketchSeed)
		vs := randomVectors(r, 2, dims, 0)
		before := dotOf(vs[0], vs[1])
		rot.apply(vs[0])
		rot.apply(vs[1])
		if after := dotOf(vs[0], vs[1]); math.Abs(after-before) > 1e-5 || math.Abs(dotOf(vs[0], vs[0])-1) > 1e-5 {
			t.Errorf("%d dimensions: %v became %v, of length %v", dims, before, after, dotOf(vs[0], vs[0]))
		}
	}
}

func dotOf(a, b []float32) (s float64) {
	for j := range a {
		s += float64(a[j]) * float64(b[j])
	}
	return s
}

// withSketch encodes rows with their sketch.
func withSketch(t testing.TB, dims int, rows [][]float32) (plain, sketched *Matrix) {
	t.Helper()
	b := NewBuilder(dims)
	for _, v := range rows {
		b.Add(v)
	}
	plain = mustView(t, b.Bytes())
	sketched, err := plain.WithSketch(b.Sketch())
	if err != nil {
		t.Fatal(err)
	}
	if sketched.sketch == nil {
		t.Fatal("no sketch")
	}
	return plain, sketched
}

// The bytes of a sketch are the same on every machine: files say only the seed.
func TestSketchIsFixed(t *testing.T) {
	b := NewBuilder(200)
	r := rand.New(rand.NewPCG(8, 8))
	v := make([]float32, 200)
	for range sketchRows + 7 {
		for j := range v {
			v[j] = float32(r.IntN(255) - 127)
		}
		b.Add(v)
	}
	s := b.Sketch()
	if got := crc32.ChecksumIEEE(s); got != sketchSum {
		t.Errorf("%d bytes have the sum %#x, not %#x", len(s), got, uint32(sketchSum))
	}
}

const sketchSum = 0x976d1993

// Of what an exact scan finds a sketch loses hardly anything, whatever is asked.
func TestSketchRecall(t *testing.T) {
	for _, c := range []struct{ n, dims, clusters int }{
		{20_000, 256, 0}, {20_000, 256, 300}, {20_000, 256, 20}, {9000, 96, 50}, {5001, 384, 40}, {4200, 1000, 10},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(c.dims), uint64(c.clusters)))
			rows := randomVectors(r, c.n+20, c.dims, c.clusters)
			queries := rows[c.n:]
			rows = rows[:c.n]
			for i := range 50 {
				rows[100+i] = rows[7]
				clear(rows[200+i])
			}
			plain, with := withSketch(t, c.dims, rows)
			some := make([]uint64, (c.n+63)/64)
			for i := range c.n {
				if r.IntN(3) == 0 {
					some[i/64] |= 1 << (i % 64)
				}
			}
			found, all := 0, 0
			for i, v := range append(queries, rows[7], rows[5]) {
				for _, q := range []Query{{K: 1}, {K: 10}, {K: 60}, {K: 300}, {K: 60, Live: some}, {K: 60, Min: 0.2}} {
					q.Vector = v
					q.Less = func(a, b int) bool { return a*7%1000 < b*7%1000 }
					want, got := searchFlat(t, plain, q), searchFlat(t, with, q)
					all += len(want)
					for _, m := range want {
						if slices.Contains(got, m) {
							found++
						}
					}
					if len(got) < len(want) {
						t.Errorf("query %d: %d matches, not %d", i, len(got), len(want))
					}
				}
			}
			if recall := float64(found) / float64(all); recall < 0.999 {
				t.Errorf("recall is %.5f", recall)
			}
		})
	}
}

func searchFlat(t testing.TB, m *Matrix, q Query) []Match {
	t.Helper()
	e, err := newFlat(m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWithSketchRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	b := NewBuilder(64)
	for _, v := range randomVectors(r, sketchRows, 64, 5) {
		b.Add(v)
	}
	m, good := mustView(t, b.Bytes()), b.Sketch()
	for name, change := range map[string]func(b []byte) []byte{
		"empty":   func([]byte) []byte { return nil },
		"magic":   func(b []byte) []byte { b[0]++; return b },
		"version": func(b []byte) []byte { b[4] = 0; return b },
		"dims":    func(b []byte) []byte { b[8]++; return b },
		"nibbles": func(b []byte) []byte { b[12]++; return b },
		"rows":    func(b []byte) []byte { b[16]++; return b },
		"gain": func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[32:], math.Float32bits(float32(math.NaN())))
			return b
		},
		"cut": func(b []byte) []byte { return b[:len(b)-1] },
	} {
		if _, err := m.WithSketch(change(bytes.Clone(good))); kb.CodeOf(err) != kb.Corrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := bytes.Clone(good)
	newer[4]++
	if n, err := m.WithSketch(newer); err != nil || n.sketch != nil {
		t.Errorf("a newer sketch: %v", err)
	}
	// Any other content costs rows, not a crash; CheckSketch finds it.
	with, err := m.WithSketch(good)
	if err != nil || with.CheckSketch() != nil {
		t.Fatal(err, with.CheckSketch())
	}
	for range 50 {
		bad := bytes.Clone(good)
		for range 20 {
			bad[sketchHeader+r.IntN(len(bad)-sketchHeader)] ^= byte(1 + r.IntN(255))
		}
		with, err := m.WithSketch(bad)
		if err != nil {
			t.Fatal(err)
		}
		searchFlat(t, with, Query{Vector: m.Row(3, nil), K: 5})
		if kb.CodeOf(with.CheckSketch()) != kb.Corrupt {
			t.Error("a changed sketch passes for the matrix's own")
		}
	}
}

// Rows are verified before they are looked at, and only those.
func TestLazyView(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	rows := randomVectors(r, 20_000, 256, 300)
	b := NewBuilder(256)
	for _, v := range rows {
		b.Add(v)
	}
	raw := b.Bytes()
	var mu sync.Mutex
	seen, damaged := map[int64]bool{}, int64(-1)
	verify := func(off, n int64) error {
		mu.Lock()
		defer mu.Unlock()
		for i := off / 4096; i <= (off+n-1)/4096; i++ {
			seen[i] = true
			if i == damaged {
				return corrupt("here")
			}
		}
		return nil
	}
	view := func() *Matrix {
		m, err := ViewLazily(raw, verify)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = m.WithSketch(b.Sketch()); err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := view()
	p := newScanOf(t, m, Query{Vector: rows[5], K: 10})
	var f finds
	p.run(t.Context(), &f)
	if got := len(seen) * 4096; got > len(raw)/2 {
		t.Errorf("%d of %d bytes were read", got, len(raw))
	}
	damaged = (headerSize + 3000*256) / 4096
	e, err := newFlat(view())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Search(t.Context(), Query{Vector: rows[3000], K: 10}); kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("a damaged row: %v", err)
	}
}

func newScanOf(t *testing.T, m *Matrix, q Query) *search {
	p, err := prepare(m, q)
	if err != nil {
		t.Fatal(err)
	}
	s := &search{matches: make([][]Match, 1)}
	s.add(p, 0, q.K)
	return s
}
