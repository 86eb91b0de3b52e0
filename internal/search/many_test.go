package search

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// TestManyPaths: paths that are embedded in parts are as near as each alone.
func TestManyPaths(t *testing.T) {
	emb := embed.Default()
	vector, err := embed.Query(t.Context(), emb, "parse the header of a request")
	if err != nil {
		t.Fatal(err)
	}
	var all, want []rank.Evidence
	for i := range 2*pathsAtOnce + 3 {
		e := rank.Evidence{Candidate: kb.Candidate{Place: kb.Place{Path: fmt.Sprintf("net/http%d/header_parser%d.go", i%7, i)}}}
		all = append(all, e)
		one := []rank.Evidence{e}
		if err := nearPaths(t.Context(), emb, vector, one); err != nil {
			t.Fatal(err)
		}
		want = append(want, one...)
	}
	if err := nearPaths(t.Context(), emb, vector, all); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].PathCosine != want[i].PathCosine || all[i].PathCosine == 0 {
			t.Fatalf("%s: %g, alone %g", all[i].Path, all[i].PathCosine, want[i].PathCosine)
		}
	}
}

// numbered is an index whose passages say where they are from.
type numbered struct {
	kb.Index
	number int
}

func (x numbered) Excerpts(_ context.Context, places []kb.Place) (out []kb.Passage, _ error) {
	for _, p := range places {
		out = append(out, kb.Passage{Place: p, Text: fmt.Sprint(x.number, p.Path)})
	}
	return out, nil
}

// TestPassagesOfManyTargets: passages of more targets than are asked at once come
// target by target, each with its number.
func TestPassagesOfManyTargets(t *testing.T) {
	const n = 3*besides + 2
	targets := make([]Target, n)
	for i := range targets {
		targets[i].Index = numbered{number: i}
	}
	var order []int
	err := eachPassage(t.Context(), targets, kb.Index.Excerpts, 2*n, func(i int) (int, kb.Place) {
		return (7 * i) % n, kb.Place{Path: fmt.Sprint("p", i)}
	}, func(i int, p *kb.Passage) error {
		if want := fmt.Sprint((7*i)%n, "p", i); p.Text != want {
			t.Errorf("passage %d is %q, want %q", i, p.Text, want)
		}
		order = append(order, (7*i)%n)
		return nil
	})
	if err != nil || len(order) != 2*n || !slices.IsSorted(order) {
		t.Errorf("%v, %v", order, err)
	}
}
