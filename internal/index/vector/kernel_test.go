package vector

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDotRowsEqualsGeneric(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for stride := align; stride <= 1024; stride += align {
		for rows := range 10 {
			codes := make([]int8, rows*stride+1)[1:] // off every alignment
			q := make([]int16, stride)
			for i := range codes {
				codes[i] = int8(r.Uint32())
			}
			for i := range q {
				q[i] = int16(r.Uint32())
			}
			checkDotRows(t, codes, q)
		}
	}
}

func checkDotRows(t *testing.T, codes []int8, q []int16) {
	t.Helper()
	rows := len(codes) / len(q)
	got, want := make([]int32, rows+1), make([]int32, rows)
	got[rows] = 12345
	dotRows(got[:rows], codes, q)
	dotRowsGeneric(want, codes, q)
	if !slices.Equal(got[:rows], want) || got[rows] != 12345 {
		t.Fatalf("%d rows of %d: %v, want %v", rows, len(q), got, want)
	}
	for i := range rows {
		var s int32
		for j := range q {
			s += int32(codes[i*len(q)+j]) * int32(q[j])
		}
		if s != want[i] {
			t.Fatalf("row %d of %d: %d, want %d", i, len(q), want[i], s)
		}
	}
}

func FuzzDotRows(f *testing.F) {
	f.Add(make([]byte, 100), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, steps uint8) {
		stride := (int(steps)%40 + 1) * align
		if len(b) < 2*stride {
			return
		}
		q := make([]int16, stride)
		for j := range q {
			q[j] = int16(binary.LittleEndian.Uint16(b[2*j:]))
		}
		b = b[2*stride:]
		checkDotRows(t, Int8s(b[:len(b)/stride*stride]), q)
	})
}

func TestAxpyEqualsGeneric(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for n := range 300 {
		codes := make([]int8, n)
		a, b := make([]float32, n+1), make([]float32, n+1)
		for i := range codes {
			codes[i] = int8(r.Uint32())
			a[i] = float32(r.NormFloat64())
			b[i] = a[i]
		}
		f := float32(r.NormFloat64())
		Axpy(a[:n], codes, f)
		axpyGeneric(b[:n], codes, f)
		if !slices.Equal(a, b) {
			t.Fatalf("%d codes: sums differ", n)
		}
	}
}

func TestAtLeastEqualsGeneric(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	odd := []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.SmallestNonzeroFloat32, -1}
	for n := range 40 {
		x := make([]float32, 8*n+1)[1:] // off every alignment
		for i := range x {
			x[i] = float32(r.NormFloat64())
			if r.IntN(3) == 0 {
				x[i] = odd[r.IntN(len(odd))]
			}
		}
		for _, least := range append(odd, 0.5) {
			got, want := make([]byte, n+1), make([]byte, n)
			got[n] = 77
			AtLeast(got[:n], x, least)
			atLeastGeneric(want, x, least)
			if !slices.Equal(got[:n], want) || got[n] != 77 {
				t.Fatalf("%d numbers, %g: %v, want %v", len(x), least, got, want)
			}
		}
	}
}

func TestAxpyRounds(t *testing.T) {
	// 3 * (1+2^-23) needs 25 bits: a fused operation would keep the last one.
	f := math.Nextafter32(1, 2)
	dst := []float32{-3, -3, -3, -3, -3, -3, -3, -3, -3}
	Axpy(dst, []int8{3, 3, 3, 3, 3, 3, 3, 3, 3}, f)
	want := float32(f*3) - 3
	for i, x := range dst {
		if x != want {
			t.Errorf("element %d is %g, want %g", i, x, want)
		}
	}
}

// The scan must be right at the edge of its arithmetic: many dimensions, all
// codes and the query at their limits.
func TestScanDoesNotOverflow(t *testing.T) {
	for _, dims := range []int{512, 528, 4096, MaxDims} {
		v := make([]float32, dims)
		w := make([]float32, dims)
		for j := range v {
			v[j], w[j] = 1, -1
		}
		m := mustView(t, Encode(dims, [][]float32{w, v}))
		e, err := NewEngine("flat", m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Search(t.Context(), Query{Vector: v, K: 1})
		if err != nil || len(got) != 1 || got[0].Row != 1 || math.Abs(float64(got[0].Score)-1) > 1e-6 {
			t.Errorf("dims %d: %v, %v", dims, got, err)
		}
	}
}
