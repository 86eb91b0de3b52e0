package index

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// maxTerms is how many terms a retrieval may have: their bits fit a word.
const maxTerms = 64

// scores is the scratch space of one retrieval, one slot a chunk.
type scores struct {
	score   []float64
	beside  []float64 // of score, of the terms of Retrieval.Beside
	tf      []float64
	matched []uint64
	defines []uint64
	heads   []uint64 // terms in the headings above
	found   []uint32 // chunks with a score
	touched []uint32 // chunks with a tf
}

func (g *Generation) getScores() *scores {
	if s, ok := g.scratch.Get().(*scores); ok {
		return s
	}
	n := int(g.base[len(g.docs)])
	return &scores{score: make([]float64, n), beside: make([]float64, n), tf: make([]float64, n),
		matched: make([]uint64, n), defines: make([]uint64, n), heads: make([]uint64, n)}
}

func (g *Generation) putScores(s *scores) {
	for _, c := range s.found {
		s.score[c], s.beside[c], s.matched[c], s.defines[c], s.heads[c] = 0, 0, 0, 0, 0
	}
	s.found = s.found[:0]
	g.scratch.Put(s)
}

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
	// The vectors are searched on another processor meanwhile. Whatever
	// happens here, that must have ended before the maps may go.
	var near []match
	var nearErr error
	var wg sync.WaitGroup
	defer wg.Wait()
	if r.Vector != nil && r.Near > 0 {
		wg.Go(func() {
			nearErr = g.guard(func() (err error) {
				near, err = g.nearest(ctx, r, keep, r.Only != nil || lo > 0 || hi < g.base[len(g.docs)])
				return err
			})
		})
	}
	inPath := make(map[int]uint64)
	if err := g.lexical(ctx, r, sc, inPath); err != nil {
		return nil, err
	}
	picked := map[uint32]float64{} // global → cosine
	lex := make([]uint32, 0, len(sc.found))
	for _, c := range sc.found {
		if keep(c) {
			lex = append(lex, c)
		}
	}
	limit := r.Limit
	if len(r.Phrases) > 0 {
		limit = max(limit, 2000) // most will not hold the phrase
	}
	for _, c := range best(lex, limit, sc.score) {
		picked[c] = math.NaN()
	}
	wg.Wait()
	if nearErr != nil {
		return nil, nearErr
	}
	for _, m := range near {
		picked[m.global] = m.cosine
	}
	order := slices.Sorted(maps.Keys(picked))
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
		cand, err := g.candidate(c, &d, r, sc, inPath, picked[c])
		if err != nil {
			return nil, err
		}
		out = append(out, cand)
	}
	return out, ctx.Err()
}

// lexical scores every chunk in which a term occurs.
func (g *Generation) lexical(ctx context.Context, r *kb.Retrieval, sc *scores, inPath map[int]uint64) error {
	w := r.BM25F.Weight
	// norm of a field: 1 - b + b·len/avg, as constant and slope
	var c0, c1 [kb.Fields]float64
	for f := range c0 {
		c0[f] = 1
		if r.Average[f] > 0 {
			c0[f] = 1 - r.BM25F.B[f]
			c1[f] = r.BM25F.B[f] / r.Average[f]
		}
	}
	for i, term := range r.Terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		bit := uint64(1) << i
		err := g.postings(term, func(si int) func(*posting) {
			globals, lengths := g.globals[si], g.segs[si].lens
			return func(p *posting) {
				v := globals[p.chunk]
				if v == -1 {
					return
				}
				lens := &lengths[p.chunk]
				f := 0.0
				for j, tf := range p.tf {
					if tf > 0 {
						f += w[j] * float64(tf) / (c0[j] + c1[j]*float64(lens[j]))
					}
				}
				if v >= 0 {
					sc.meet(uint32(v), f, p, bit)
				} else {
					g.each(si, p.chunk, func(c uint32) { sc.meet(c, f, p, bit) })
				}
			}
		})
		if err != nil {
			return err
		}
		err = g.pathPostings(term, func(p *posting) {
			d := int(p.chunk)
			inPath[d] |= bit
			f := w[kb.FieldPath] * float64(p.tf[0]) / (c0[kb.FieldPath] + c1[kb.FieldPath]*float64(g.docs[d].terms))
			for c := g.base[d]; c < g.base[d+1]; c++ {
				sc.touch(c, f)
			}
		})
		if err != nil {
			return err
		}
		sc.settle(r.IDF[i], r.BM25F.K1, bit, r.Beside&bit != 0)
	}
	return nil
}

// meet adds the weighted frequency of a term in a chunk.
func (s *scores) meet(c uint32, f float64, p *posting, bit uint64) {
	s.touch(c, f)
	if p.tf[fieldSymbols] > 0 {
		s.defines[c] |= bit
	}
	if p.tf[fieldHeadings] > 0 {
		s.heads[c] |= bit
	}
}

func (s *scores) touch(c uint32, f float64) {
	if s.tf[c] == 0 {
		s.touched = append(s.touched, c)
	}
	s.tf[c] += f
}

// settle adds a term's part to the scores of the chunks it touched.
func (s *scores) settle(idf, k1 float64, bit uint64, beside bool) {
	for _, c := range s.touched {
		if s.matched[c] == 0 {
			s.found = append(s.found, c)
		}
		s.matched[c] |= bit
		x := idf * s.tf[c] * (k1 + 1) / (s.tf[c] + k1)
		s.score[c] += x
		if beside {
			s.beside[c] += x
		}
		s.tf[c] = 0
	}
	s.touched = s.touched[:0]
}

// best returns the n chunks with the highest score, ties by number.
func best(chunks []uint32, n int, score []float64) []uint32 {
	if n <= 0 {
		return nil
	}
	less := func(a, b uint32) int { // descending
		if c := cmp.Compare(score[b], score[a]); c != 0 {
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

func siftDown(h []uint32, i int, less func(a, b uint32) int) {
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

// nearest returns the chunks whose vectors are nearest to the query's, of those
// that keep keeps; some says that these are not all.
func (g *Generation) nearest(ctx context.Context, r *kb.Retrieval, keep func(uint32) bool, some bool) ([]match, error) {
	var all []match
	for si, s := range g.segs {
		e, m, err := s.vectors(g.pool.Engine)
		if err != nil {
			return nil, err
		}
		if e == nil || m.Dims() != len(r.Vector) {
			continue
		}
		globals := g.globals[si]
		live := g.live[si]
		if some {
			live = make([]uint64, len(g.live[si]))
			for c := range globals {
				g.each(si, uint32(c), func(global uint32) {
					if keep(global) {
						live[c/64] |= 1 << (c % 64)
					}
				})
			}
		}
		first := func(c int) uint32 {
			n := uint32(math.MaxUint32)
			g.each(si, uint32(c), func(global uint32) { n = min(n, global) })
			return n
		}
		matches, err := e.Search(ctx, vector.Query{Vector: r.Vector, K: r.Near, Live: live,
			Less: func(a, b int) bool { return first(a) < first(b) }})
		if err != nil {
			return nil, err
		}
		for _, x := range matches {
			g.each(si, uint32(x.Row), func(global uint32) {
				if keep(global) {
					all = append(all, match{global, float64(x.Score)})
				}
			})
		}
	}
	slices.SortFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.global, b.global))
	})
	return all[:min(r.Near, len(all))], nil
}

// withPhrases keeps the chunks that hold every phrase, at most n of them, the
// best by score.
func (g *Generation) withPhrases(ctx context.Context, chunks []uint32, phrases []string, n int, sc *scores) ([]uint32, error) {
	folded := make([]string, len(phrases))
	for i, p := range phrases {
		folded[i] = strings.ToLower(p)
	}
	var out []uint32
	for _, c := range chunks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_, s, i := g.locate(c)
		ci := s.chunk(i)
		text, err := s.excerpt(int(s.doc[i]), ci.from, ci.to)
		if err != nil {
			return nil, err
		}
		text = strings.ToLower(text)
		if !slices.ContainsFunc(folded, func(p string) bool { return !strings.Contains(text, p) }) {
			out = append(out, c)
		}
	}
	out = best(out, n, sc.score)
	slices.Sort(out)
	return out, nil
}
