package embed

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// smallModel has three words with axes of their own and two buckets on the same fourth.
func smallModel() *Model {
	m := NewModel("small", 7, 6, []string{"apfel", "apple", "pear"}, 2)
	for i := range m.Scales {
		v := make([]float32, 6)
		v[min(i, 3)] = float32(i + 1)
		m.SetRow(i, v)
	}
	return m
}

func small(t testing.TB) []byte {
	t.Helper()
	b, err := smallModel().Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTrainedModel(t *testing.T) {
	s, err := Load(small(t))
	if err != nil {
		t.Fatal(err)
	}
	// "Apple" twice: sqrt(2)*2; "Äpfel" once: 1. An unknown word lies on axis 3.
	got := embed(t, s, "Apple äpfel apple", "pear", "Unknown")
	n := math.Sqrt(8 + 1)
	want := [][]float32{
		{float32(1 / n), float32(math.Sqrt(8) / n), 0, 0, 0, 0},
		{0, 0, 1, 0, 0, 0},
		{0, 0, 0, 1, 0, 0},
	}
	near := gocmp.Comparer(func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 })
	if d := gocmp.Diff(want, got, near); d != "" {
		t.Error(d)
	}
	if again := small(t); !bytes.Equal(again, small(t)) {
		t.Error("encoding is not deterministic")
	}
}

func TestRowsKeepTheirCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for dims := 1; dims < 70; dims++ {
		codes := make([]int8, dims)
		for i := range codes {
			codes[i] = int8(r.IntN(2*maxCode+1) - maxCode)
		}
		packed := appendRow([]byte{1, 2, 3}, codes)[3:]
		if len(packed) != rowSize(dims) {
			t.Fatalf("%d bytes for %d dimensions", len(packed), dims)
		}
		got := make([]byte, padded(dims))
		unpackRow(got, packed)
		if !slices.Equal(vector.Int8s(got[:dims]), codes) || slices.ContainsFunc(got[dims:], func(b byte) bool { return b != 0 }) {
			t.Fatalf("%d became %d", codes, vector.Int8s(got))
		}
	}
}

// A row loses well below 1 % of its squares, and one with an element far larger
// than the others hardly more than if nothing were cut.
func TestSetRow(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	const dims = 192
	m := NewModel("rows", 1, dims, nil, 1)
	for n := range 200 {
		v := make([]float32, dims)
		for i := range v {
			v[i] = float32(r.NormFloat64() * 0.03)
		}
		if n%4 == 0 {
			v[r.IntN(dims)] *= 4
		}
		m.SetRow(0, v)
		lost, uncut, all, largest := 0.0, 0.0, 0.0, 0.0
		for _, x := range v {
			largest = max(largest, math.Abs(float64(x)))
		}
		for i, x := range v {
			x := float64(x)
			e := x - float64(m.Scales[0])*float64(m.Codes[i])
			u := x - math.RoundToEven(x/largest*maxCode)*largest/maxCode
			lost, uncut, all = lost+e*e, uncut+u*u, all+x*x
		}
		if n%4 != 0 && lost > 0.006*all || lost > 1.05*uncut {
			t.Errorf("row %d loses %.2f %% of its squares, %.2f %% if nothing is cut", n, 100*lost/all, 100*uncut/all)
		}
	}
	m.SetRow(0, make([]float32, dims))
	if m.Scales[0] != 0 || slices.ContainsFunc(m.Codes, func(c int8) bool { return c != 0 }) {
		t.Error("zero has become something")
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, change := range map[string]func(*Model){
		"order":   func(m *Model) { m.Words[0], m.Words[1] = m.Words[1], m.Words[0] },
		"twice":   func(m *Model) { m.Words[1] = m.Words[0] },
		"empty":   func(m *Model) { m.Words[0] = "" },
		"name":    func(m *Model) { m.Name = "Small model" },
		"long":    func(m *Model) { m.Name = "abcdefghijklmnopqrstuvwxyz" },
		"version": func(m *Model) { m.Version = 0 },
		"dims":    func(m *Model) { m.Dims = 7 },
		"scales":  func(m *Model) { m.Scales = m.Scales[1:] },
		"nan":     func(m *Model) { m.Scales[2] = float32(math.NaN()) },
		"codes":   func(m *Model) { m.Codes[3] = 16 },
		"buckets": func(m *Model) { m.Buckets = 0 },
	} {
		m := smallModel()
		change(m)
		if _, err := m.Encode(); kb.CodeOf(err) != kb.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Any changed byte is noticed.
func TestLoadCorrupt(t *testing.T) {
	good := small(t)
	for i := range good {
		for _, x := range []byte{1, 0x80, 0xff} {
			b := bytes.Clone(good)
			b[i] ^= x
			if _, err := Load(b); kb.CodeOf(err) != kb.Corrupt || kb.HintOf(err) == "" {
				t.Fatalf("byte %d changed by %#x: %v", i, x, err)
			}
		}
		if _, err := Load(good[:i]); kb.CodeOf(err) != kb.Corrupt {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	if _, err := Load(append(bytes.Clone(good), 0)); kb.CodeOf(err) != kb.Corrupt {
		t.Error(err)
	}
}

// seal puts right checksums on b.
func seal(b []byte) []byte {
	if len(b) < headerSize+4 {
		return b
	}
	copy(b, magic)
	le := binary.LittleEndian
	le.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	le.PutUint32(b[len(b)-4:], crc32.Checksum(b[:len(b)-4], castagnoli))
	return b
}

func TestLoadOtherFormats(t *testing.T) {
	b := small(t)
	b[8] = 3
	if _, err := Load(seal(b)); kb.CodeOf(err) != kb.Newer {
		t.Error(err)
	}
	b[8] = 1
	if _, err := Load(seal(b)); kb.CodeOf(err) != kb.Invalid || !strings.Contains(kb.HintOf(err), "embedtrain") {
		t.Error(err)
	}
	b[8] = 0
	if _, err := Load(seal(b)); kb.CodeOf(err) != kb.Corrupt {
		t.Error(err)
	}
}

// A file with right checksums and wrong numbers gives an error or works.
func TestLoadWrongNumbers(t *testing.T) {
	good := small(t)
	for i := range good {
		for _, x := range []byte{1, 2, 0x7f, 0x80, 0xff} {
			b := bytes.Clone(good)
			b[i] ^= x
			tryLoad(t, seal(b))
		}
	}
}

func tryLoad(t *testing.T, b []byte) {
	t.Helper()
	s, err := Load(b)
	if err != nil {
		if c := kb.CodeOf(err); c != kb.Corrupt && c != kb.Newer && c != kb.Invalid {
			t.Fatal(err)
		}
		return
	}
	embed(t, s, "apple and others, pear Äpfel 12")
}

func FuzzLoad(f *testing.F) {
	f.Add(small(f))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		tryLoad(t, b)
		tryLoad(t, seal(bytes.Clone(b)))
	})
}
