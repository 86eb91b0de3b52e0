package search

import (
	"math"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// What all texts share does not count: of three that are as near to the query
// but for it, the one comes first that has what the query has besides.
func TestApart(t *testing.T) {
	unitOf := func(v ...float32) []float32 { kb.Unit(v); return v }
	texts := [][]float32{unitOf(3, 1, 0), unitOf(3, 0, 1), unitOf(3, 0, 0)}
	near := apart(unitOf(3, 0, 1), texts, fitted.Common)
	if !(near[1] > near[2] && near[2] > near[0]) {
		t.Errorf("near: %v", near)
	}
	for _, x := range near {
		if x < -1e-6 || x > 1+1e-6 {
			t.Errorf("%g is out of [0,1]", x)
		}
	}
	if plain := kb.Dot(texts[1], unitOf(3, 0, 1)) - kb.Dot(texts[0], unitOf(3, 0, 1)); near[1]-near[0] <= plain {
		t.Errorf("apart by %g, their cosines by %g", near[1]-near[0], plain)
	}
	if got := apart([]float32{0, 1}, nil, fitted.Common); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestWeighted(t *testing.T) {
	query := func(text string, often ...string) []float32 {
		q := rank.Parse(text)
		stats := kb.TermStats{Documents: 100, Chunks: 1000, Frequency: make([]int64, len(q.Terms)), PathFrequency: make([]int64, len(q.Terms))}
		for i, term := range q.Terms {
			stats.Frequency[i] = 1
			for _, o := range often {
				if term == o {
					stats.Frequency[i] = 900
				}
			}
		}
		q.Weigh(stats)
		v, err := weighted(t.Context(), embed.Default(), q)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	word := func(w string) []float32 {
		v, err := embed.Default().Embed(t.Context(), []string{w})
		if err != nil {
			t.Fatal(err)
		}
		return v[0]
	}
	both, common := query("delete pods"), query("delete pods", "pod")
	if kb.Dot(common, word("delete")) <= kb.Dot(both, word("delete")) || kb.Dot(common, word("pods")) >= kb.Dot(both, word("pods")) {
		t.Error("a word that stands everywhere counts as much as a rare one")
	}
	if n := kb.Dot(both, both); math.Abs(n-1) > 1e-5 {
		t.Errorf("length² %g", n)
	}
	if got := query("the"); got != nil && kb.Dot(got, got) == 0 {
		t.Error("a vector without direction")
	}
}
