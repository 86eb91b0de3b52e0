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
// best, and none that lacks more than that. From then on a term, now a common
// one, is scored in the chunks that still can, until these are few. At the end
// everything is scored in the documents of the candidates, since their evidence
// has the sums of documents; all other postings are passed over. What comes out is what scoring
// everything would give, to the bit: terms are added in one order.

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

// lexical returns the chunks that may be among the best limit of those that keep
// keeps, and whether others were left out: their scores, and those of the other
// chunks of their documents, are then what complete makes them.
func (g *Generation) lexical(ctx context.Context, r *kb.Retrieval, sc *scores, keep func(uint32) bool, limit int) (
	found []uint32, pruned bool, err error) {
	w := weigh(r)
	terms, rest := w.order()
	for k, i := range terms {
		if k > 0 && rest != nil && !g.exhaustive {
			if floor := sc.nth(limit, keep, rest[k]*(1+roundings)); floor > 0 {
				found, err = g.narrow(ctx, w, sc, keep, limit, terms[k:], rest[k:], floor)
				return found, true, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		if err := g.score(w, i, sc, nil); err != nil {
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

// enough is how many times as many chunks as are wanted are not narrowed down
// further: scoring their documents costs less than another list of postings.
const enough = 3

// narrow scores the terms left in the chunks that can still be among the best
// limit, of which the last has floor so far, until these are few.
func (g *Generation) narrow(ctx context.Context, w *weighing, sc *scores, keep func(uint32) bool, limit int,
	terms []int, rest []float64, floor float64) ([]uint32, error) {
	var found []uint32
	can := make(bitset, g.base[len(g.docs)]/64+1)
	for i := range sc.tallies {
		if t := &sc.tallies[i]; t.score >= floor-rest[0]*(1+roundings) && keep(t.chunk) {
			found = append(found, t.chunk)
			can.add(t.chunk)
		}
	}
	for k, i := range terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(found) <= enough*limit || rest[k] == 0 {
			break
		}
		if err := g.score(w, i, sc, can); err != nil {
			return nil, err
		}
		floor = sc.nth(limit, can.has, 0)
		found = slices.DeleteFunc(found, func(c uint32) bool {
			cannot := sc.score(c) < floor-rest[k+1]*(1+roundings)
			if cannot {
				can.drop(c)
			}
			return cannot
		})
	}
	return found, nil
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

// score adds what term i gives to every chunk in which it occurs, or to those of
// a set.
func (g *Generation) score(w *weighing, i int, sc *scores, only bitset) error {
	bit := uint64(1) << i
	err := g.postings(w.Terms[i], func(si int) func(*posting) {
		globals, lengths := g.globals[si], g.segs[si].lens
		return func(p *posting) {
			v := globals[p.chunk]
			if v == -1 || only != nil && v >= 0 && !only.has(uint32(v)) {
				return
			}
			f := w.text(p, &lengths[p.chunk])
			if v >= 0 {
				sc.meet(uint32(v), f, p, bit)
				return
			}
			g.each(si, p.chunk, func(c uint32) {
				if only == nil || only.has(c) {
					sc.meet(c, f, p, bit)
				}
			})
		}
	})
	if err != nil {
		return err
	}
	err = g.pathPostings(w.Terms[i], func(p *posting) {
		if only == nil || only.any(g.base[p.chunk], g.base[p.chunk+1]) {
			g.meetPath(w, p, bit, sc, only)
		}
	})
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
	all := make(bitset, g.base[len(g.docs)]/64+1)
	in := make([]bitset, len(g.segs))
	for _, c := range chunks {
		if all.has(c) {
			continue
		}
		doc := g.docOf(c)
		d := g.docs[doc]
		s := g.segs[d.seg]
		if in[d.seg] == nil {
			in[d.seg] = make(bitset, (s.info.Chunks+63)/64)
		}
		first, _ := s.chunkRange(int(d.doc))
		for c := g.base[doc]; c < g.base[doc+1]; c++ {
			all.add(c)
			in[d.seg].add(uint32(first) + c - g.base[doc])
			if i := sc.slot[c]; i > 0 {
				sc.tallies[i-1] = tally{chunk: c}
			}
		}
	}
	w := weigh(r)
	terms, _ := w.order()
	for _, i := range terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.scoreIn(w, i, sc, all, in); err != nil {
			return err
		}
	}
	return nil
}

// scoreIn is score in a set that is known by segment too.
func (g *Generation) scoreIn(w *weighing, i int, sc *scores, all bitset, in []bitset) error {
	bit := uint64(1) << i
	at, err := g.lookup(w.Terms[i])
	if err != nil {
		return err
	}
	for si, s := range g.segs {
		if in[si] == nil || at[si].count == 0 {
			continue
		}
		err := s.dict.eachIn(at[si], uint32(s.info.Chunks), in[si], func(p *posting) {
			f := w.text(p, &s.lens[p.chunk])
			g.each(si, p.chunk, func(c uint32) {
				if all.has(c) {
					sc.meet(c, f, p, bit)
				}
			})
		})
		if err != nil {
			return err
		}
	}
	err = g.pathPostings(w.Terms[i], func(p *posting) {
		if all.any(g.base[p.chunk], g.base[p.chunk+1]) {
			g.meetPath(w, p, bit, sc, all)
		}
	})
	if err != nil {
		return err
	}
	sc.settle(w.IDF[i], w.BM25F.K1, bit, w.Beside&bit != 0)
	return nil
}
