package search

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// Passage is a ranked chunk with its text, for flows that quote it.
type Passage struct {
	kb.Passage
	Target int     // number of the target that it stands in
	ID     string  // of the hit
	Score  float64 // relative to the best, in [0,1]
	Stamp  uint64  // of the document when it was indexed
	Marked float64 // how much feedback speaks against it here, in [0,1]
}

// Passages returns the chunks that answer a request best, each once, and how
// sure it is that the first of them is right: in the order of Run; then the best
// by words and by vector alone, since a ranking shows few chunks of one document
// and a manual is one document. r.Limit is how many of each; what shapes a reply
// (detail, threshold) does not count.
func Passages(ctx context.Context, targets []Target, emb kb.Embedder, r Request) ([]Passage, float64, error) {
	if err := r.Complete(); err != nil {
		return nil, 0, err
	}
	q, err := understand(ctx, targets, &r)
	if err != nil {
		return nil, 0, err
	}
	if len(q.Terms) == 0 {
		return nil, 0, nil
	}
	ranked, sure, err := order(ctx, targets, emb, q, &r)
	if err != nil || len(ranked) == 0 {
		return nil, 0, err
	}
	type key struct {
		target int
		place  kb.Place
	}
	at := map[key]bool{}
	var out []Passage
	add := func(e *rank.Evidence, score float64) {
		if k := (key{e.Store, e.Place}); !at[k] {
			at[k] = true
			out = append(out, Passage{Passage: kb.Passage{Place: e.Place}, Target: e.Store, ID: e.ID, Score: score,
				Stamp: e.Stamp, Marked: e.Marked})
		}
	}
	for i := range ranked[:min(len(ranked), r.Limit)] {
		add(&ranked[i].Evidence, ranked[i].Score/max(ranked[0].Score, ranked[i].Score, math.SmallestNonzeroFloat64))
	}
	found := slices.Clone(q.found)
	for _, by := range []func(*rank.Evidence) float64{
		func(e *rank.Evidence) float64 { return e.Lexical },
		func(e *rank.Evidence) float64 { return e.Cosine },
	} {
		slices.SortStableFunc(found, func(a, b rank.Evidence) int {
			return cmp.Or(cmp.Compare(by(&b), by(&a)), cmp.Compare(a.ID, b.ID))
		})
		top := by(&found[0])
		for i := range found[:min(len(found), r.Limit)] {
			if v := by(&found[i]); v > 0 && top > 0 {
				add(&found[i], r.Tuning.Alone*v/top)
			}
		}
	}
	return out, sure.P, read(ctx, targets, out)
}

// read sets the texts of passages.
func read(ctx context.Context, targets []Target, out []Passage) error {
	return eachPassage(ctx, targets, kb.Index.Passages, len(out), func(i int) (int, kb.Place) {
		return out[i].Target, out[i].Place
	}, func(i int, p *kb.Passage) error {
		out[i].Passage = *p
		return nil
	})
}

// reading is how passages are read: whole or as excerpts.
type reading func(x kb.Index, ctx context.Context, places []kb.Place) ([]kb.Passage, error)

// eachPassage calls f for n places, of which at returns the target and the place
// there: target by target, each read at once and a few side by side, in the order of
// the places.
func eachPassage(ctx context.Context, targets []Target, read reading, n int, at func(i int) (int, kb.Place),
	f func(i int, p *kb.Passage) error) error {
	places, numbers := map[int][]kb.Place{}, map[int][]int{}
	for i := range n {
		t, place := at(i)
		places[t], numbers[t] = append(places[t], place), append(numbers[t], i)
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(places)), besides) {
		passages := make([][]kb.Passage, len(some))
		failed, err := several(len(some), func(i int) (err error) {
			passages[i], err = read(targets[some[i]].Index, ctx, places[some[i]])
			return err
		})
		if err != nil {
			return of(some[failed], err)
		}
		for k, t := range some {
			for j, i := range numbers[t] {
				if err := f(i, &passages[k][j]); err != nil {
					return of(t, err)
				}
			}
		}
	}
	return nil
}

// mark sets how much feedback speaks against each candidate.
func (r *Request) mark(targets []Target, found []rank.Evidence) {
	if r.Marks == nil {
		return
	}
	for i := range found {
		found[i].Marked = r.Marks(targets[found[i].Store].Store.ID, found[i].ID)
	}
}

// each is several for what is of one target each: the error is that target's.
func each(n int, f func(i int) error) error { return of(several(n, f)) }

// besides is how many targets are asked at once.
const besides = 8

// several runs f for 0 to n-1 side by side and returns the first error by number, with that number.
func several(n int, f func(i int) error) (int, error) {
	if n == 1 {
		return 0, f(0)
	}
	errs := make([]error, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, besides) { // whose stacks have grown after the first
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = f(i)
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}
