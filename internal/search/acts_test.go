package search

import (
	"context"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

type outlined struct {
	kb.Index
	texts map[string]kb.DocumentText
}

func (o outlined) Texts(_ context.Context, paths []string, _ bool) (out []kb.DocumentText, _ error) {
	for _, p := range paths {
		out = append(out, o.texts[p])
	}
	return out, nil
}

func TestActsFirst(t *testing.T) {
	quay := kb.DocumentText{Path: "quay.rs", Chunks: []kb.Chunk{{Symbols: []kb.Symbol{
		{Name: "Quay", Kind: "class", Start: 1, End: 40},
		{Name: "moors", Kind: "function", Start: 30, End: 35, Path: []string{"tests"}},
		{Name: "moor", Kind: "method", Start: 20, End: 28, Path: []string{"Quay"}},
	}}}}
	targets := []Target{{Index: outlined{texts: map[string]kb.DocumentText{"quay.rs": quay}}}}
	hit := func(path string, start, end int, literal float64) rank.Scored {
		return rank.Scored{Evidence: rank.Evidence{Literal: literal, Candidate: kb.Candidate{
			Place: kb.Place{Path: path}, Start: start, End: end}}}
	}
	for name, c := range map[string]struct {
		literal float64
		most    int
		want    int
	}{"head": {0, 2, 20}, "message": {0.5, 2, 1}, "further": {0, 0, 1}} {
		ranked := []rank.Scored{hit("quay.rs", 1, 10, c.literal), hit("dock.rs", 1, 9, 0), hit("quay.rs", 30, 36, 0), hit("quay.rs", 20, 28, 0)}
		if err := actsFirst(t.Context(), targets, ranked, c.most); err != nil {
			t.Fatal(err)
		}
		if ranked[0].Start != c.want || ranked[1].Path != "dock.rs" {
			t.Errorf("%s: line %d is first", name, ranked[0].Start)
		}
	}
}
