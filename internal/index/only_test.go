package index

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// What is outside the parts asked for takes no place from what is inside.
func TestOnlyParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	w := newWorld(t)
	for i := range 60 {
		w.docs[fmt.Sprintf("d%d/f%02d", i%3, i)] = randomBody(r)
	}
	w.docs["copy"] = w.docs["d0/f00"] // one content at two paths, one of them asked for
	g := w.publish(20)
	ask := func(only []kb.Part, limit int, terms ...string) []kb.Candidate {
		req := kb.Retrieval{Terms: terms, IDF: []float64{1, 2}[:len(terms)], Limit: limit, Near: limit, Only: only, Vector: vectorOf(strings.Join(terms, " ")),
			BM25F: kb.BM25F{K1: 1.2, Weight: [kb.Fields]float64{1, 2, 1, 1}}, Average: [kb.Fields]float64{1, 1, 1, 1}}
		out, err := g.Retrieve(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for range 50 {
		only := []kb.Part{{Path: "a stranger"}, {Path: "copy"}}
		for _, p := range sortedKeys(w.docs)[1:] {
			switch r.IntN(6) {
			case 0:
				only = append(only, kb.Part{Path: p})
			case 1:
				only = append(only, kb.Part{Path: p, Lines: [][2]int{{1, 1}, {4, 5}}})
			}
		}
		terms := []string{strings.ToLower(vocabulary[r.IntN(9)]), strings.ToLower(vocabulary[r.IntN(9)])}
		inside := slices.DeleteFunc(ask(nil, 1000, terms...), func(c kb.Candidate) bool {
			return !slices.ContainsFunc(only, func(p kb.Part) bool {
				return p.Path == c.Path && (p.Lines == nil || slices.ContainsFunc(p.Lines, func(l [2]int) bool { return c.Start <= l[1] && l[0] <= c.End }))
			})
		})
		const n = 5
		want := map[kb.Place]bool{}
		slices.SortStableFunc(inside, func(a, b kb.Candidate) int { return cmp.Compare(b.Lexical, a.Lexical) })
		for _, c := range inside[:min(n, len(inside))] {
			if c.Lexical > 0 {
				want[c.Place] = true
			}
		}
		slices.SortFunc(inside, func(a, b kb.Candidate) int {
			return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Chunk, b.Chunk))
		})
		for _, c := range inside[:min(n, len(inside))] {
			want[c.Place] = true
		}
		got := map[kb.Place]bool{}
		for _, c := range ask(only, n, terms...) {
			got[c.Place] = true
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Fatalf("%v in %v (-want +got):\n%s", terms, only, d)
		}
	}
	if got := ask([]kb.Part{}, 5, "alpha"); len(got) != 0 {
		t.Errorf("no part, and %d candidates", len(got))
	}
}

// What is counted in parts is what an index of nothing else would count.
func TestStatsOfParts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	w, part := newWorld(t), newWorld(t)
	var only []kb.Part
	for i := range 40 {
		p := fmt.Sprintf("d%d/f%02d", i%3, i)
		w.docs[p] = randomBody(r)
		if i%3 == 1 {
			part.docs[p] = w.docs[p]
		}
	}
	for _, p := range sortedKeys(part.docs) {
		only = append(only, kb.Part{Path: p})
	}
	g, alone := w.publish(7), part.publish(100)
	terms := []string{"alpha", "beta", "d1", "f04", "nothing"}
	want, err := alone.Stats(context.Background(), terms, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Stats(context.Background(), terms, only)
	if err != nil {
		t.Fatal(err)
	}
	got.Lengths = want.Lengths // of the whole, by intent
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("in parts (-alone +in parts):\n%s", d)
	}
	whole, err := g.Stats(context.Background(), terms, nil)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := g.Documents(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	all := make([]kb.Part, len(paths))
	for i, p := range paths {
		all[i].Path = p
	}
	if got, err = g.Stats(context.Background(), terms, all); err != nil || gocmp.Diff(whole, got) != "" {
		t.Errorf("of all: %+v, %v, not %+v", got, err, whole)
	}
}
