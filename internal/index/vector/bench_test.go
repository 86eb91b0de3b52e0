package vector

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	chromem "github.com/philippgille/chromem-go"
)

const (
	benchRows    = 100_000
	benchDims    = 256
	benchQueries = 40
	benchK       = 10
)

func benchVectors(clusters int) (rows, queries [][]float32) {
	r := rand.New(rand.NewPCG(42, uint64(clusters)))
	all := randomVectors(r, benchRows+benchQueries, benchDims, clusters)
	return all[:benchRows], all[benchRows:]
}

func benchmarkEngine(b *testing.B, name string) {
	rows, queries := benchVectors(2000)
	m, sketched := withSketch(b, benchDims, rows)
	if name == "sketched" {
		m, name = sketched, "flat"
	}
	e, err := NewEngine(name, m)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	i := 0
	search := func() {
		if _, err := e.Search(context.Background(), Query{Vector: queries[i%len(queries)], K: benchK}); err != nil {
			b.Fatal(err)
		}
		i++
	}
	search() // builds what is built lazily
	for b.Loop() {
		search()
	}
}

func BenchmarkFlat100k(b *testing.B)     { benchmarkEngine(b, "flat") }
func BenchmarkSketched100k(b *testing.B) { benchmarkEngine(b, "sketched") }
func BenchmarkChromem100k(b *testing.B)  { benchmarkEngine(b, "chromem") }

func BenchmarkDotRows(b *testing.B) {
	codes, q, dst := make([]int8, block*benchDims), make([]int16, benchDims), make([]int32, block)
	b.SetBytes(int64(len(codes)))
	for b.Loop() {
		dotRows(dst, codes, q)
	}
}

func BenchmarkSketchSums(b *testing.B) {
	nibbles := nibblesOf(benchDims)
	signs, lut, dst := make([]byte, block*nibbles/2), make([]byte, 16*nibbles), make([]uint16, block)
	b.SetBytes(int64(len(signs)))
	for b.Loop() {
		sketchSums(dst, signs, lut)
	}
}

func BenchmarkSketchOfARow(b *testing.B) {
	r := newRotation(benchDims, sketchSeed)
	x, spare := randomVectors(rand.New(rand.NewPCG(1, 1)), 1, benchDims, 0)[0], make([]float32, benchDims)
	for b.Loop() {
		r.into(x, spare)
	}
}

func BenchmarkAxpy256(b *testing.B) {
	codes, dst := make([]int8, benchDims), make([]float32, benchDims)
	for b.Loop() {
		Axpy(dst, codes, 0.5)
	}
}

func BenchmarkEncode256(b *testing.B) {
	vs := randomVectors(rand.New(rand.NewPCG(1, 1)), 1, benchDims, 0)
	for b.Loop() {
		Encode(benchDims, vs)
	}
}

// TestRecall100k prints recall@10 of flat against chromem-go over the vectors
// as they were before they were quantised, and the ratio of their speeds. The
// engine flat searches the encoded matrix, the yardstick chromem-go alone.
func TestRecall100k(t *testing.T) {
	if os.Getenv("KNOWLEDGE_BENCH") != "1" {
		t.Skip("set KNOWLEDGE_BENCH=1 to measure")
	}
	ctx := context.Background()
	for _, c := range []struct {
		name     string
		clusters int
	}{{"random", 0}, {"clustered", 2000}, {"few clusters", 50}} {
		rows, queries := benchVectors(c.clusters)
		coll, err := chromem.NewDB().CreateCollection("x", nil, func(context.Context, string) ([]float32, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range rows {
			if err := coll.AddDocument(ctx, chromem.Document{ID: strconv.Itoa(i), Embedding: v}); err != nil {
				t.Fatal(err)
			}
		}
		e, err := NewEngine("flat", mustView(t, Encode(benchDims, rows)))
		if err != nil {
			t.Fatal(err)
		}
		var flatTimes, chromemTimes []time.Duration
		hits := 0
		for _, q := range queries {
			start := time.Now()
			want, err := coll.QueryEmbedding(ctx, q, benchK, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			chromemTimes = append(chromemTimes, time.Since(start))
			start = time.Now()
			got, err := e.Search(ctx, Query{Vector: q, K: benchK})
			if err != nil {
				t.Fatal(err)
			}
			flatTimes = append(flatTimes, time.Since(start))
			for _, w := range want {
				if slices.ContainsFunc(got, func(m Match) bool { return strconv.Itoa(m.Row) == w.ID }) {
					hits++
				}
			}
		}
		slices.Sort(flatTimes)
		slices.Sort(chromemTimes)
		f, ch := flatTimes[len(flatTimes)/2], chromemTimes[len(chromemTimes)/2]
		t.Logf("%-12s %d x %d, %d cores: recall@%d %.4f, median flat %v, chromem %v, ratio %.1f",
			c.name, benchRows, benchDims, runtime.GOMAXPROCS(0), benchK,
			float64(hits)/float64(benchK*len(queries)), f, ch, float64(ch)/float64(f))
	}
}
