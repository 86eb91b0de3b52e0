package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// maxTerms is how many terms a retrieval may have: their bits fit a word.
const maxTerms = 64

// Retrieve returns the best chunks by BM25F and by vector, with the evidence
// of both for each.
func (g *Generation) Retrieve(ctx context.Context, r kb.Retrieval) ([]kb.Candidate, error) {
	if len(r.Terms) > maxTerms || len(r.IDF) != len(r.Terms) {
		return nil, kb.Errorf(kb.Invalid, "a retrieval takes at most %d terms, each with its weight", maxTerms)
	}
	if len(g.docs) == 0 {
		return nil, ctx.Err()
	}
	var out []kb.Candidate
	err := g.guard(func() (err error) {
		sc := g.getScores()
		defer g.putScores(sc)
		out, err = g.retrieve(ctx, &r, sc)
		return err
	})
	return out, err
}

func (g *Generation) retrieve(ctx context.Context, r *kb.Retrieval, sc *scores) ([]kb.Candidate, error) {
	from, to := g.under(r.Under)
	lo, hi := g.base[from], g.base[to]
	only := g.only(r.Only)
	keep := func(c uint32) bool { return c >= lo && c < hi && only(c) }
	limit := r.Limit
	if len(r.Phrases) > 0 {
		limit = max(limit, 2000) // most will not hold the phrase
	}
	find := g.find
	if g.pool.Far != nil {
		find = g.findFar
	}
	lex, near, err := find(ctx, r, sc, keep, from, to, limit)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(near, func(a, b match) int { return cmp.Compare(a.global, b.global) })
	order := slices.Clone(best(lex, limit, sc))
	for _, m := range near {
		order = append(order, m.global)
	}
	slices.Sort(order)
	order = slices.Compact(order)
	if len(r.Phrases) > 0 {
		var err error
		if order, err = g.withPhrases(ctx, order, r.Phrases, r.Limit, sc); err != nil {
			return nil, err
		}
	}
	out := make([]kb.Candidate, 0, len(order))
	var d docEvidence
	for _, c := range order {
		var err error
		if doc := g.docOf(c); d.chunks == 0 || d.doc != doc {
			row := d.row
			d, err = g.evidence(doc, r, sc)
			if d.row = row; err != nil {
				return nil, err
			}
		}
		for len(near) > 0 && near[0].global < c {
			near = near[1:]
		}
		cosine := math.NaN()
		if len(near) > 0 && near[0].global == c {
			cosine = near[0].cosine
		}
		cand, err := g.candidate(c, &d, r, sc, cosine)
		if err != nil {
			return nil, err
		}
		out = append(out, cand)
	}
	return out, ctx.Err()
}

// find returns the chunks that have words of the query, with their scores in sc, and
// those near to its vector, of documents from to to and what keep keeps.
func (g *Generation) find(ctx context.Context, r *kb.Retrieval, sc *scores, keep func(uint32) bool, from, to, limit int) (
	lex []uint32, near []match, err error) {
	// The vectors are searched on another processor meanwhile. Whatever
	// happens here, that must have ended before the maps may go.
	var nearErr error
	var wg sync.WaitGroup
	defer wg.Wait()
	vectors := func() {
		nearErr = g.guard(func() (err error) {
			live := g.live
			if r.Only != nil || from > 0 || to < len(g.docs) {
				live = g.liveIn(from, to, keep)
			}
			near, err = g.nearest(ctx, r, keep, live)
			return err
		})
	}
	switch {
	case r.Vector == nil || r.Near <= 0:
	case g.base[len(g.docs)] < fewVectors:
		vectors()
	default:
		wg.Go(vectors)
	}
	lex, pruned, err := g.lexical(ctx, r, sc, keep, limit)
	if err != nil {
		return nil, nil, err
	}
	wg.Wait()
	if nearErr != nil {
		return nil, nil, nearErr
	}
	if pruned {
		docs := slices.Clone(lex)
		for _, m := range near {
			docs = append(docs, m.global)
		}
		if err := g.complete(ctx, r, sc, docs); err != nil {
			return nil, nil, err
		}
	}
	return lex, near, nil
}

// fewVectors is below how many vectors another processor would begin later than one
// ends: many stores of a scope are that small.
const fewVectors = 4096

// best returns the n chunks with the highest score, ties by number.
func best(chunks []uint32, n int, sc *scores) []uint32 {
	if n <= 0 {
		return nil
	}
	less := func(a, b uint32) int { // descending
		if c := cmp.Compare(sc.score(b), sc.score(a)); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	}
	if len(chunks) > 4*n {
		// A heap of the n best so far, the worst on top.
		heap := slices.Clone(chunks[:n])
		for i := n/2 - 1; i >= 0; i-- {
			siftDown(heap, i, less)
		}
		for _, c := range chunks[n:] {
			if less(c, heap[0]) < 0 {
				heap[0] = c
				siftDown(heap, 0, less)
			}
		}
		chunks = heap
	}
	slices.SortFunc(chunks, less)
	return chunks[:min(n, len(chunks))]
}

func siftDown[T any](h []T, i int, less func(a, b T) int) {
	for {
		j := 2*i + 1
		if j >= len(h) {
			return
		}
		if j+1 < len(h) && less(h[j], h[j+1]) < 0 {
			j++
		}
		if less(h[i], h[j]) >= 0 {
			return
		}
		h[i], h[j] = h[j], h[i]
		i = j
	}
}

// match is a chunk near the query's vector.
type match struct {
	global uint32
	cosine float64
}

// liveIn returns the bitsets, by segment, of the chunks of documents from to to
// that keep keeps; nil for a segment without any.
func (g *Generation) liveIn(from, to int, keep func(uint32) bool) [][]uint64 {
	live := make([][]uint64, len(g.segs))
	for i := from; i < to; i++ {
		d := g.docs[i]
		s := g.segs[d.seg]
		at, end := s.chunkRange(int(d.doc))
		for c := g.base[i]; at < end; at, c = at+1, c+1 {
			if !keep(c) {
				continue
			}
			if live[d.seg] == nil {
				live[d.seg] = make([]uint64, (s.info.Chunks+63)/64)
			}
			live[d.seg][at/64] |= 1 << (at % 64)
		}
	}
	return live
}

// nearest returns the chunks whose vectors are nearest to the query's, of those
// that keep keeps, which live has by segment.
func (g *Generation) nearest(ctx context.Context, r *kb.Retrieval, keep func(uint32) bool, live [][]uint64) ([]match, error) {
	var engines []vector.Engine
	var queries []vector.Query
	var of []int // segments
	if !g.viewed.Load() {
		// Opening verifies the sketches: what fails is found again below.
		_ = g.sideBySide(len(g.segs), len(g.segs) > 1, func(si int) error {
			_, _, err := g.segs[si].vectors(g.pool.Engine)
			return err
		})
		g.viewed.Store(true)
	}
	for si, s := range g.segs {
		e, m, err := s.vectors(g.pool.Engine)
		if err != nil {
			return nil, err
		}
		if e == nil || m.Dims() != len(r.Vector) || live[si] == nil {
			continue
		}
		first := func(c int) uint32 {
			n := uint32(math.MaxUint32)
			g.each(si, uint32(c), func(global uint32) { n = min(n, global) })
			return n
		}
		engines, of = append(engines, e), append(of, si)
		queries = append(queries, vector.Query{Vector: r.Vector, K: r.Near, Live: live[si],
			Less: func(a, b int) bool { return first(a) < first(b) }})
	}
	found, err := vector.SearchAll(ctx, engines, queries)
	if err != nil {
		return nil, err
	}
	var all []match
	for i, matches := range found {
		for _, x := range matches {
			g.each(of[i], uint32(x.Row), func(global uint32) {
				if keep(global) {
					all = append(all, match{global, float64(x.Score)})
				}
			})
		}
	}
	slices.SortFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.global, b.global))
	})
	return all[:min(len(all), r.Near)], nil
}

// withPhrases keeps the chunks that hold every phrase, at most n of them, the
// best by score. They are read from the best down, until there are so many.
func (g *Generation) withPhrases(ctx context.Context, chunks []uint32, phrases []string, n int, sc *scores) ([]uint32, error) {
	folded := make([]string, len(phrases))
	for i, p := range phrases {
		folded[i] = strings.ToLower(p)
	}
	var out []uint32
	for chunks = best(chunks, len(chunks), sc); len(chunks) > 0 && len(out) < n; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some := chunks[:min(len(chunks), max(n, phrasesAtOnce))]
		chunks = chunks[len(some):]
		holds := make([]bool, len(some))
		err := g.sideBySide(len(some), true, func(k int) error {
			text, err := g.excerpt(some[k], sc)
			text = strings.ToLower(text)
			holds[k] = !slices.ContainsFunc(folded, func(p string) bool { return !strings.Contains(text, p) })
			return err
		})
		if err != nil {
			return nil, err
		}
		for k, c := range some {
			if holds[k] {
				out = append(out, c)
			}
		}
	}
	out = out[:min(len(out), max(n, 0))]
	slices.Sort(out)
	return out, nil
}

// phrasesAtOnce is how many chunks are read for phrases between two looks at the
// context.
const phrasesAtOnce = 256
