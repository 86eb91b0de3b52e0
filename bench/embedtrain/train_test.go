package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
)

// toy is a corpus in which the long side never repeats a word of the short one.
func toy() *corpus {
	r := rand.New(rand.NewPCG(7, 7))
	ms := make([]mined, 8)
	for i := range 512 {
		topic := i % 16
		word := func(side string) string { return fmt.Sprintf("%s%c%c", side, 'a'+topic, 'a'+r.IntN(3)) }
		p := pair{kind: i % 3, q: []string{"how", "the", word("ask")}, d: []string{"func", "the", word("code"), word("code"), "return"}}
		ms[i%8].pairs = append(ms[i%8].pairs, p)
	}
	return gather(ms)
}

func toyOptions(workers int) options {
	return options{Dims: 32, Words: 500, Buckets: 64, Least: 1, Batch: 64, Epochs: 12, Near: 2, Rate: 0.1, Temperature: 0.1, Seed: 3, Workers: workers}
}

func quiet(string, ...any) {}

func trainToy(t *testing.T, workers int) []byte {
	t.Helper()
	tr := newTrainer(toy(), toyOptions(workers))
	if err := tr.train(context.Background(), quiet, nil); err != nil {
		t.Fatal(err)
	}
	b, err := tr.model("toy", 1).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The same seed gives the same model, however many workers made it, and it
// has learnt which words answer which.
func TestTrain(t *testing.T) {
	b := trainToy(t, 1)
	for _, workers := range []int{2, 5} {
		if !bytes.Equal(b, trainToy(t, workers)) {
			t.Errorf("%d workers make another model", workers)
		}
	}
	e, err := embed.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Embed(context.Background(), []string{"how the askca", "func codecb return", "func codeda return", "the"})
	if err != nil {
		t.Fatal(err)
	}
	if near, far := dot(v[0], v[1]), dot(v[0], v[2]); near < far+0.4 {
		t.Errorf("own topic %.2f, another %.2f", near, far)
	}
	if c := dot(v[0], v[3]); c > 0.7 {
		t.Errorf("a word of every text still weighs %.2f", c)
	}
}

func TestTrainStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := newTrainer(toy(), toyOptions(1)).train(ctx, quiet, nil); err != context.Canceled {
		t.Error(err)
	}
}

// Every block of the order is of one repository, and all pairs occur once.
func TestOrder(t *testing.T) {
	tr := newTrainer(toy(), toyOptions(1))
	order := tr.order(0)
	seen := map[int32]bool{}
	for i, n := range order {
		if i%2 == 1 && tr.c.pairs[n].repo != tr.c.pairs[order[i-1]].repo {
			t.Fatalf("%d and %d are of two repositories", n, order[i-1])
		}
		seen[n] = true
	}
	if len(seen) != 512 || len(order) != 512 {
		t.Errorf("%d of %d", len(seen), len(order))
	}
	if gocmp.Equal(order, tr.order(1)) {
		t.Error("epochs have one order")
	}
}

func TestKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	vec := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	const n, m, k = 6, 8, 32
	a, b, c, ct := vec(n*k), vec(m*k), make([]float32, n*m), make([]float32, n*m)
	mulABt(c, a, b, 0, n, m, k)
	transpose(ct, c, 0, m, n, m)
	for i := range n {
		for j := range m {
			want := 0.0
			for x := range k {
				want += float64(a[i*k+x]) * float64(b[j*k+x])
			}
			for _, got := range []float32{c[i*m+j], ct[j*n+i], dot(a[i*k:][:k], b[j*k:][:k])} {
				if math.Abs(float64(got)-want) > 1e-4 {
					t.Fatalf("%d %d: %v, want %v", i, j, got, want)
				}
			}
		}
	}
	x, y := vec(13), vec(13)
	z := append([]float32(nil), x...)
	addScaled(z, y, 0.5)
	for i := range z {
		if math.Abs(float64(z[i]-x[i]-y[i]/2)) > 1e-6 {
			t.Fatal(i, z[i])
		}
	}
	for f := float32(-80); f < 80; f += 0.37 {
		if got, want := float64(exp32(f)), math.Exp(float64(f)); math.Abs(got/want-1) > 1e-5 {
			t.Fatalf("e^%v = %v, want %v", f, got, want)
		}
	}
}

func TestCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pairs")
	want := toy()
	if err := writeCorpus(file, want); err != nil {
		t.Fatal(err)
	}
	got, err := readCorpus(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(want, got, gocmp.AllowUnexported(corpus{}, source{}, example{}, occurrence{})); d != "" {
		t.Error(d)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw[:len(raw)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readCorpus(file); err == nil {
		t.Error("half a file was read")
	}
}

func TestGlossary(t *testing.T) {
	g := readGlossary()
	for en, es := range map[string]string{
		"file": "archivo", "files": "ficheros", "parsing": "analizando", "functions": "funciones", "queries": "consultas",
		"values": "valor", "key": "clave", "running": "ejecutando", "searched": "buscado", "cached": "", "open": "abre", "database": "base de datos",
	} {
		found := es == ""
		for _, f := range g[en] {
			found = found || strings.Join(f, " ") == es
		}
		if !found {
			t.Errorf("%s is not %s: %v", en, es, g[en])
		}
	}
	if len(g) < 1500 {
		t.Errorf("%d words", len(g))
	}
}

func TestSpanish(t *testing.T) {
	m := mined{name: "r"}
	for range 40 {
		m.pairs = append(m.pairs, pair{kind: kindDoc, q: strings.Fields("open the file and read every line"), d: strings.Fields("func load path string scanner scan text")})
	}
	c := gather([]mined{m})
	addSpanish(c, 1, 1)
	n := 0
	for _, p := range c.pairs {
		if p.kind == kindSpanish {
			n++
			for _, o := range p.q {
				if w := c.words[o.word]; w == "file" || w == "line" {
					t.Errorf("%s stayed", w)
				}
			}
		}
	}
	if n != 40 {
		t.Errorf("%d Spanish pairs", n)
	}
}
