package index

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A retrieval by words does not score every chunk in which a word occurs. Terms
// are taken from those on that add most for their postings, see rough.go; a term
// adds less than
//
//	most = idf * (k1+1)
//
// to a chunk. As soon as the Limit-th best chunk so far has more than all terms
// left could add together, no chunk that was not found yet can be among the
// best, and none that lacks more than that: the terms left, the common ones, are
// not read at all. What is left is scored exactly, at first alone and then with
// everything in the documents of the best, since their evidence has the sums of
// documents. What comes out is what scoring everything would give, to the bit:
// terms are added in one order.

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
func (w *weighing) text(p *posting, lens [numFields]uint32) float64 {
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

// order returns the terms, the heaviest first: the order of exact scoring.
func (w *weighing) order() []int {
	terms := make([]int, len(w.Terms))
	for i := range terms {
		terms[i] = i
	}
	slices.SortStableFunc(terms, func(a, b int) int { return cmp.Compare(w.IDF[b], w.IDF[a]) })
	return terms
}

// lexical returns the chunks that may be among the best limit of those that keep
// keeps, and whether others were left out: their scores, and those of the other
// chunks of their documents, are then what complete makes them.
func (g *Generation) lexical(ctx context.Context, r *kb.Retrieval, sc *scores, keep func(uint32) bool, limit int) (
	found []uint32, pruned bool, err error) {
	w := weigh(r)
	if !g.exhaustive {
		found, pruned, err = g.likely(ctx, w, sc, keep, limit)
		if err != nil || pruned && len(found) <= 3*limit/2 {
			return found, pruned, err // scoring all their documents costs less than another look
		}
		if pruned {
			if err = g.scoreThese(ctx, w, sc, found, false); err == nil {
				found = best(found, limit, sc)
			}
			return found, true, err
		}
	}
	terms := w.order()
	for _, i := range terms {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		if err := g.score(w, i, sc); err != nil {
			return nil, false, err
		}
	}
	for i := range sc.tallies {
		if c := sc.tallies[i].chunk; keep(c) {
			found = append(found, c)
		}
	}
	return found, false, nil
}

// score adds what term i gives to every chunk in which it occurs.
func (g *Generation) score(w *weighing, i int, sc *scores) error {
	bit := uint64(1) << i
	err := g.postings(w.Terms[i], func(si int) func(*posting) {
		globals, seg := g.globals[si], g.segs[si]
		return func(p *posting) {
			v := globals[p.chunk]
			if v == -1 {
				return
			}
			f := w.text(p, seg.lens(p.chunk))
			if v >= 0 {
				sc.meet(uint32(v), f, p, bit)
				return
			}
			g.each(si, p.chunk, func(c uint32) { sc.meet(c, f, p, bit) })
		}
	})
	if err != nil {
		return err
	}
	err = g.pathPostings(w.Terms[i], func(p *posting) { g.meetPath(w, p, bit, sc, nil) })
	if err != nil {
		return err
	}
	sc.settle(w.IDF[i], w.BM25F.K1, bit, w.Beside&bit != 0)
	return nil
}

// meetPath adds the weighted frequency of a term in a path to the chunks below it
// that are in a set; nil has all.
func (g *Generation) meetPath(w *weighing, p *posting, bit uint64, sc *scores, set bitset) {
	d := p.chunk
	if sc.inPath[d] == 0 {
		sc.pathed = append(sc.pathed, d)
	}
	sc.inPath[d] |= bit
	f := w.path(p, g.docs[d].terms)
	for c := g.base[d]; c < g.base[d+1]; c++ {
		if set == nil || set.has(c) {
			sc.touch(c, f)
		}
	}
}

// complete scores everything in the documents of chunks anew.
func (g *Generation) complete(ctx context.Context, r *kb.Retrieval, sc *scores, chunks []uint32) error {
	return g.scoreThese(ctx, weigh(r), sc, chunks, true)
}

// scoreThese scores chunks anew, or with whole everything in their documents.
func (g *Generation) scoreThese(ctx context.Context, w *weighing, sc *scores, chunks []uint32, whole bool) error {
	in := g.chunkSet(chunks, whole)
	for i := range sc.tallies {
		if c := sc.tallies[i].chunk; in.all.has(c) {
			sc.tallies[i] = tally{chunk: c}
		}
	}
	for _, i := range w.order() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.scoreIn(w, i, sc, in); err != nil {
			return err
		}
	}
	return nil
}

// chunkSet is a set of chunks, by their numbers and by segment; nil for a segment
// without any.
type chunkSet struct {
	all bitset
	in  []bitset
}

// chunkSet returns the set of some chunks, or with whole of everything in their
// documents.
func (g *Generation) chunkSet(chunks []uint32, whole bool) chunkSet {
	x := chunkSet{make(bitset, g.base[len(g.docs)]/64+1), make([]bitset, len(g.segs))}
	for _, c := range chunks {
		if x.all.has(c) {
			continue
		}
		doc := g.docOf(c)
		d := g.docs[doc]
		s := g.segs[d.seg]
		if x.in[d.seg] == nil {
			x.in[d.seg] = make(bitset, (s.info.Chunks+63)/64)
		}
		first, _ := s.chunkRange(int(d.doc))
		from, to := c, c+1
		if whole {
			from, to = g.base[doc], g.base[doc+1]
		}
		x.all.addAll(from, to)
		x.in[d.seg].addAll(uint32(first)+from-g.base[doc], uint32(first)+to-g.base[doc])
	}
	return x
}

// eachOf calls f for the postings of a term in a set, and each chunk of the set
// that has it.
func (g *Generation) eachOf(term string, in chunkSet, f func(si int, p *posting, c uint32)) error {
	at, err := g.lookup(term)
	if err != nil {
		return err
	}
	for si, s := range g.segs {
		if in.in[si] == nil || at[si].count == 0 {
			continue
		}
		err := s.dict.eachIn(at[si], uint32(s.info.Chunks), in.in[si], func(p *posting) {
			g.each(si, p.chunk, func(c uint32) {
				if in.all.has(c) {
					f(si, p, c)
				}
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scoreIn is score in a set.
func (g *Generation) scoreIn(w *weighing, i int, sc *scores, in chunkSet) error {
	bit := uint64(1) << i
	err := g.eachOf(w.Terms[i], in, func(si int, p *posting, c uint32) {
		sc.meet(c, w.text(p, g.segs[si].lens(p.chunk)), p, bit)
	})
	if err != nil {
		return err
	}
	err = g.pathPostings(w.Terms[i], func(p *posting) {
		if in.all.any(g.base[p.chunk], g.base[p.chunk+1]) {
			g.meetPath(w, p, bit, sc, in.all)
		}
	})
	if err != nil {
		return err
	}
	sc.settle(w.IDF[i], w.BM25F.K1, bit, w.Beside&bit != 0)
	return nil
}
