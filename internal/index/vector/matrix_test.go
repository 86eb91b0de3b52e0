package vector

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestEncodeIsPrecise(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, dims := range []int{1, 2, 15, 16, 17, 256, 300} {
		vs := randomVectors(r, 50, dims, 0)
		m := mustView(t, Encode(dims, vs))
		if m.Rows() != 50 || m.Dims() != dims {
			t.Fatalf("matrix is %d x %d", m.Rows(), m.Dims())
		}
		var worst float64
		for i, v := range vs {
			largest, squares := 0.0, 0.0
			for _, x := range v {
				largest = max(largest, math.Abs(float64(x)))
			}
			for j, x := range m.Row(i, nil) {
				// Half a step of the largest/2039, and as much for scaling
				// the whole row back to length 1.
				if e := math.Abs(float64(x - v[j])); e > largest/2039 {
					t.Errorf("dims %d: %v became %v", dims, v[j], x)
				}
				squares += float64(x) * float64(x)
			}
			worst = max(worst, math.Abs(math.Sqrt(squares)-1))
		}
		if worst > 1e-6 {
			t.Errorf("dims %d: a row's length is off by %g", dims, worst)
		}
	}
}

// The residual makes a dot product about 16 times as precise as the codes alone.
func TestResidualError(t *testing.T) {
	const dims = 256
	r := rand.New(rand.NewPCG(5, 6))
	vs := randomVectors(r, 400, dims, 0)
	m := mustView(t, Encode(dims, vs))
	var coarse, fine float64
	for i, v := range vs {
		q := randomVectors(r, 1, dims, 0)[0]
		p, err := prepare(m, Query{Vector: q, K: 1})
		if err != nil {
			t.Fatal(err)
		}
		var want, c float64
		raw := m.Raw(i)
		for j := range q {
			want += float64(q[j]) * float64(v[j])
			c += float64(q[j]) * float64(raw.Codes[j]) * float64(raw.Scale)
		}
		s, _ := p.score(i)
		fine += (float64(s) - want) * (float64(s) - want)
		coarse += (c - want) * (c - want)
	}
	if ratio := math.Sqrt(coarse / fine); ratio < 12 || ratio > 20 {
		t.Errorf("12 bits are %.1f times as precise as 8", ratio)
	}
}

func TestScoreIsCosineOfRow(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, dims := range []int{1, 5, 31, 64} {
		vs := randomVectors(r, 20, dims, 0)
		m := mustView(t, Encode(dims, vs))
		q := vs[3]
		p, err := prepare(m, Query{Vector: q, K: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range vs {
			want := 0.0
			for j, x := range m.Row(i, nil) {
				want += float64(x) * float64(q[j])
			}
			if got, ok := p.score(i); !ok || math.Abs(float64(got)-want) > 1e-6 {
				t.Errorf("score %v, want %v", got, want)
			}
		}
	}
}

func TestEncodeExtremes(t *testing.T) {
	tiny, huge := math.Float32frombits(1), float32(math.MaxFloat32)
	m := mustView(t, Encode(3, [][]float32{{tiny, 0, 0}, {huge, -huge, 0}, {0, 0, 0}, {1, float32(math.Inf(1)), 0}}))
	h := float32(math.Sqrt(0.5))
	for i, want := range [][]float32{{1, 0, 0}, {h, -h, 0}, {0, 0, 0}, {0, 0, 0}} {
		if got := m.Row(i, make([]float32, 9)); !gocmp.Equal(want, got) {
			t.Errorf("row %d is %v, want %v", i, got, want)
		}
	}
}

func TestBuilderCopiesRows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	vs := append(randomVectors(r, 10, 37, 0), make([]float32, 37))
	all := Encode(37, vs)
	m := mustView(t, all)
	b := NewBuilder(37)
	b.Grow(3)
	for i := range m.Rows() {
		b.AddRow(m, i)
	}
	if !bytes.Equal(all, b.Bytes()) {
		t.Error("copied rows differ")
	}
	var w bytes.Buffer
	if n, err := b.WriteTo(&w); err != nil || int(n) != b.Size() || !bytes.Equal(w.Bytes(), all) {
		t.Errorf("WriteTo wrote %d bytes, %v", n, err)
	}
	if b.Len() != 11 || b.Dims() != 37 {
		t.Errorf("builder is %d x %d", b.Len(), b.Dims())
	}
}

func TestViewMisaligned(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	vs := randomVectors(r, 10, 20, 0)
	b := Encode(20, vs)
	want := mustView(t, b)
	for shift := range 8 {
		moved := append(make([]byte, shift, shift+len(b)), b...)[shift:]
		m := mustView(t, moved)
		for i := range vs {
			if d := gocmp.Diff(want.Raw(i), m.Raw(i)); d != "" {
				t.Fatalf("shift %d: %s", shift, d)
			}
		}
	}
}

func TestViewRefuses(t *testing.T) {
	good := Encode(20, make([][]float32, 0))
	le := binary.LittleEndian
	two := Encode(2, [][]float32{{1, 2}, {3, 4}})
	change := func(f func(b []byte)) []byte {
		b := bytes.Clone(two)
		f(b)
		return b
	}
	for name, c := range map[string]struct {
		b    []byte
		want kb.Code
	}{
		"empty":     {nil, kb.Corrupt},
		"short":     {good[:31], kb.Corrupt},
		"magic":     {change(func(b []byte) { b[0]++ }), kb.Corrupt},
		"newer":     {change(func(b []byte) { b[4]++ }), kb.Newer},
		"version 0": {change(func(b []byte) { b[4] = 0 }), kb.Corrupt},
		"reserved":  {change(func(b []byte) { b[6] = 1 }), kb.Corrupt},
		"reserved2": {change(func(b []byte) { b[31] = 1 }), kb.Corrupt},
		"no dims":   {change(func(b []byte) { le.PutUint32(b[8:], 0) }), kb.Corrupt},
		"stride":    {change(func(b []byte) { le.PutUint32(b[12:], 32) }), kb.Corrupt},
		"more rows": {change(func(b []byte) { b[16]++ }), kb.Corrupt},
		"many rows": {change(func(b []byte) { le.PutUint64(b[16:], math.MaxUint64/2) }), kb.Corrupt},
		"cut":       {two[:len(two)-1], kb.Corrupt},
		"longer":    {append(bytes.Clone(two), 0), kb.Corrupt},
	} {
		_, err := View(c.b)
		if kb.CodeOf(err) != c.want || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := View(good); err != nil {
		t.Error(err)
	}
}

func TestUnknownEngine(t *testing.T) {
	_, err := NewEngine("flot", mustView(t, Encode(1, nil)))
	if kb.CodeOf(err) != kb.Invalid || !strings.Contains(kb.HintOf(err), "chromem, flat") {
		t.Errorf("%v (%s)", err, kb.HintOf(err))
	}
	e, err := NewEngine("", mustView(t, Encode(1, nil)))
	if err != nil || e.Name() != DefaultEngine {
		t.Errorf("%v, %v", e, err)
	}
}

// A search of a damaged matrix returns, whatever the damage.
func FuzzView(f *testing.F) {
	f.Add(Encode(2, [][]float32{{1, 2}, {3, 4}}))
	f.Add(Encode(20, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := View(b)
		if err != nil {
			if c := kb.CodeOf(err); c != kb.Corrupt && c != kb.Newer {
				t.Fatal(err)
			}
			return
		}
		q := make([]float32, m.Dims())
		q[0] = 1
		for _, name := range EngineNames() {
			e, err := NewEngine(name, m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Search(t.Context(), Query{Vector: q, K: 3}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The bytes of a small matrix, as the package comment has them.
func TestFormat(t *testing.T) {
	got := Encode(3, [][]float32{{1, -1, 0.5}, {0, 0, 0}})
	var want []byte
	want = append(want, "kvec\x01\x00\x00\x00\x03\x00\x00\x00\x10\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"...)
	want = append(want, make([]byte, 8)...)
	// 2039 = 16*127+7, -2039 = 16*-127-7, 1020 (half to even) = 16*64-4.
	want = append(want, 127, 0x81, 64)
	want = append(want, make([]byte, 13+16)...)
	want = append(want, 0x97, 0x0c)
	want = append(want, make([]byte, 6+8)...)
	scale := float32(16 / math.Sqrt(2*2039*2039+1020*1020))
	want = binary.LittleEndian.AppendUint32(want, math.Float32bits(scale))
	want = append(want, 0, 0, 0, 0)
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
