package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A retrieval by words does not score every chunk in which a word occurs. Terms
// are taken from the heaviest down; a term adds less than
//
//	most = idf * (k1+1)
//
// to a chunk. As soon as the Limit-th best chunk so far has more than all terms
// left could add together, no chunk that was not found yet can be among the
// best, and none that lacks more than that. The terms left, which are the common
// ones, are then scored in the documents of the others only: their postings are
// passed over, which is many times faster than scoring. What comes out is what
// scoring everything would give, to the bit.

// scores is the scratch space of one retrieval: a tally of every chunk that was
// met.
type scores struct {
	slot    []uint32 // by chunk, its number in tallies + 1
	tallies []tally
	touched []uint32 // tallies with a tf
	inPath  []uint64 // terms in the path, by document
	pathed  []uint32 // documents with such
}

// tally is what a chunk has; what is of one chunk lies together in memory.
type tally struct {
	chunk         uint32
	score, beside float64 // of score, beside is of the terms of Retrieval.Beside
	tf            float64 // of the term being scored
	matched       uint64
	defines       uint64
	heads         uint64 // terms in the headings above
}

func (g *Generation) getScores() *scores {
	if s, ok := g.scratch.Get().(*scores); ok {
		return s
	}
	return &scores{slot: make([]uint32, g.base[len(g.docs)]), inPath: make([]uint64, len(g.docs))}
}

// mostTallies is how many tallies are kept for the next retrieval.
const mostTallies = 1 << 18

func (g *Generation) putScores(s *scores) {
	for i := range s.tallies {
		s.slot[s.tallies[i].chunk] = 0
	}
	for _, d := range s.pathed {
		s.inPath[d] = 0
	}
	s.tallies, s.pathed = s.tallies[:0], s.pathed[:0]
	if cap(s.tallies) > mostTallies {
		s.tallies, s.touched = nil, nil
	}
	g.scratch.Put(s)
}

var noTally tally

// of returns the tally of a chunk, which must not be changed.
func (s *scores) of(c uint32) *tally {
	if i := s.slot[c]; i > 0 {
		return &s.tallies[i-1]
	}
	return &noTally
}

// score returns the score of a chunk.
func (s *scores) score(c uint32) float64 { return s.of(c).score }

// weighing is BM25F prepared for one retrieval.
type weighing struct {
	*kb.Retrieval
	// The norm of a field, 1 - b + b*length/average, as constant and slope.
	c0, c1 [kb.Fields]float64
}

func weigh(r *kb.Retrieval) *weighing {
	w := &weighing{Retrieval: r}
	for f := range w.c0 {
		w.c0[f] = 1
		if r.Average[f] > 0 {
			w.c0[f] = 1 - r.BM25F.B[f]
			w.c1[f] = r.BM25F.B[f] / r.Average[f]
		}
	}
	return w
}

// text returns the weighted frequency of a term in a chunk with fields of those lengths.
func (w *weighing) text(p *posting, lens *[numFields]uint32) float64 {
	f := 0.0
	for j, tf := range p.tf {
		if tf > 0 {
			f += w.BM25F.Weight[j] * float64(tf) / (w.c0[j] + w.c1[j]*float64(lens[j]))
		}
	}
	return f
}

// path returns the weighted frequency of a term in a path of so many.
func (w *weighing) path(p *posting, terms uint32) float64 {
	return w.BM25F.Weight[kb.FieldPath] * float64(p.tf[0]) / (w.c0[kb.FieldPath] + w.c1[kb.FieldPath]*float64(terms))
}

// order returns the terms, the heaviest first, and what each and all after it
// can add; nil where a term can take something away.
func (w *weighing) order() (terms []int, rest []float64) {
	terms = make([]int, len(w.Terms))
	for i := range terms {
		terms[i] = i
	}
	slices.SortStableFunc(terms, func(a, b int) int { return cmp.Compare(w.IDF[b], w.IDF[a]) })
	rest = make([]float64, len(terms)+1)
	for k := len(terms) - 1; k >= 0; k-- {
		if w.IDF[terms[k]] < 0 {
			return terms, nil
		}
		rest[k] = rest[k+1] + w.IDF[terms[k]]*(w.BM25F.K1+1)
	}
	return terms, rest
}

// lexical scores chunks in which terms occur and returns those that may be among
// the best limit of those that keep keeps, with the terms that are left: complete
// takes these.
func (g *Generation) lexical(ctx context.Context, r *kb.Retrieval, sc *scores, keep func(uint32) bool, limit int) (
	found []uint32, left []int, err error) {
	w := weigh(r)
	terms, rest := w.order()
	floor := 0.0
	for k, i := range terms {
		if k > 0 && rest != nil && !g.exhaustive {
			if floor = sc.nth(limit, keep, rest[k]); floor > rest[k]*(1+roundings) {
				left = terms[k:]
				floor -= rest[k] * (1 + roundings)
				break
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := g.score(w, i, sc); err != nil {
			return nil, nil, err
		}
	}
	for i := range sc.tallies {
		if t := &sc.tallies[i]; (left == nil || t.score >= floor) && keep(t.chunk) {
			found = append(found, t.chunk)
		}
	}
	return found, left, nil
}

// roundings bounds the relative error of a sum of terms.
const roundings = 1e-12

// nth returns the n-th greatest score so far of the chunks that keep keeps, 0
// unless that many have more than least.
func (s *scores) nth(n int, keep func(uint32) bool, least float64) float64 {
	if n <= 0 || len(s.tallies) < n {
		return 0
	}
	top := make([]float64, 0, n)
	for i := range s.tallies {
		x := s.tallies[i].score
		if x <= least || len(top) == n && x <= top[0] || !keep(s.tallies[i].chunk) {
			continue
		}
		if len(top) < n {
			if top = append(top, x); len(top) == n {
				slices.Sort(top) // which is a heap
			}
			continue
		}
		top[0] = x
		siftDown(top, 0, func(a, b float64) int { return cmp.Compare(b, a) })
	}
	if len(top) < n {
		return 0
	}
	return top[0]
}

// score adds what term i gives to every chunk in which it occurs.
func (g *Generation) score(w *weighing, i int, sc *scores) error {
	bit := uint64(1) << i
	err := g.postings(w.Terms[i], func(si int) func(*posting) {
		globals, lengths := g.globals[si], g.segs[si].lens
		return func(p *posting) {
			v := globals[p.chunk]
			if v == -1 {
				return
			}
			f := w.text(p, &lengths[p.chunk])
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
	err = g.pathPostings(w.Terms[i], func(p *posting) { g.meetPath(w, p, bit, sc) })
	if err != nil {
		return err
	}
	sc.settle(w.IDF[i], w.BM25F.K1, bit, w.Beside&bit != 0)
	return nil
}

// meetPath adds the weighted frequency of a term in a path to the chunks below it.
func (g *Generation) meetPath(w *weighing, p *posting, bit uint64, sc *scores) {
	d := p.chunk
	if sc.inPath[d] == 0 {
		sc.pathed = append(sc.pathed, d)
	}
	sc.inPath[d] |= bit
	f := w.path(p, g.docs[d].terms)
	for c := g.base[d]; c < g.base[d+1]; c++ {
		sc.touch(c, f)
	}
}

// complete adds what the terms left give to the documents of chunks.
func (g *Generation) complete(ctx context.Context, r *kb.Retrieval, sc *scores, left []int, lex []uint32, near []match) error {
	docs := make([]bool, len(g.docs))
	in := make([][]uint64, len(g.segs)) // by segment, the chunks of these documents
	take := func(c uint32) {
		i := g.docOf(c)
		if docs[i] {
			return
		}
		docs[i] = true
		d := g.docs[i]
		s := g.segs[d.seg]
		if in[d.seg] == nil {
			in[d.seg] = make([]uint64, (s.info.Chunks+63)/64)
		}
		from, to := s.chunkRange(int(d.doc))
		for c := from; c < to; c++ {
			in[d.seg][c/64] |= 1 << (c % 64)
		}
	}
	for _, c := range lex {
		take(c)
	}
	for _, m := range near {
		take(m.global)
	}
	w := weigh(r)
	for _, i := range left {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.scoreIn(w, i, sc, in, docs); err != nil {
			return err
		}
	}
	return nil
}

// scoreIn is score in some documents, whose chunks are in in.
func (g *Generation) scoreIn(w *weighing, i int, sc *scores, in [][]uint64, docs []bool) error {
	bit := uint64(1) << i
	for si, s := range g.segs {
		if in[si] == nil {
			continue
		}
		b, _, err := s.dict.lookup(w.Terms[i])
		if err != nil {
			return err
		}
		err = eachPostingIn(b, uint32(s.info.Chunks), in[si], func(p *posting) {
			f := w.text(p, &s.lens[p.chunk])
			g.each(si, p.chunk, func(c uint32) { sc.meet(c, f, p, bit) })
		})
		if err != nil {
			return err
		}
	}
	err := g.pathPostings(w.Terms[i], func(p *posting) {
		if docs[p.chunk] {
			g.meetPath(w, p, bit, sc)
		}
	})
	if err != nil {
		return err
	}
	sc.settle(w.IDF[i], w.BM25F.K1, bit, w.Beside&bit != 0)
	return nil
}

// meet adds the weighted frequency of a term in a chunk.
func (s *scores) meet(c uint32, f float64, p *posting, bit uint64) {
	t := s.touch(c, f)
	if p.tf[fieldSymbols] > 0 {
		t.defines |= bit
	}
	if p.tf[fieldHeadings] > 0 {
		t.heads |= bit
	}
}

func (s *scores) touch(c uint32, f float64) *tally {
	i := s.slot[c]
	if i == 0 {
		s.tallies = append(s.tallies, tally{chunk: c})
		i = uint32(len(s.tallies))
		s.slot[c] = i
	}
	t := &s.tallies[i-1]
	if t.tf == 0 {
		s.touched = append(s.touched, i-1)
	}
	t.tf += f
	return t
}

// settle adds a term's part to the scores of the chunks it touched.
func (s *scores) settle(idf, k1 float64, bit uint64, beside bool) {
	for _, i := range s.touched {
		t := &s.tallies[i]
		t.matched |= bit
		x := idf * t.tf * (k1 + 1) / (t.tf + k1)
		t.score += x
		if beside {
			t.beside += x
		}
		t.tf = 0
	}
	s.touched = s.touched[:0]
}
