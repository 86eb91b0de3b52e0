package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// maxTerms is how many terms a retrieval may have: their bits fit a word.
const maxTerms = 64

// Stats implements kb.Index.
func (g *Generation) Stats(ctx context.Context, terms []string, only []kb.Part) (kb.TermStats, error) {
	if only != nil {
		return g.statsOf(ctx, terms, only)
	}
	t := g.head.Totals
	st := kb.TermStats{Documents: int64(t.Documents), Chunks: int64(t.Chunks), Lengths: t.Length,
		Frequency: make([]int64, len(terms)), PathFrequency: make([]int64, len(terms))}
	err := g.guard(func() error {
		for i, term := range terms {
			if err := ctx.Err(); err != nil {
				return err
			}
			for si, s := range g.segs {
				b, _, err := s.dict.lookup(term)
				if err != nil {
					return err
				}
				err = eachPosting(b, uint32(s.info.Chunks), func(p *posting) {
					if v := g.globals[si][p.chunk]; v >= 0 {
						st.Frequency[i]++
					} else if v == -2 {
						g.each(si, p.chunk, func(uint32) { st.Frequency[i]++ })
					}
				})
				if err != nil {
					return err
				}
			}
			_, n, err := g.dict.lookup(term)
			if err != nil {
				return err
			}
			st.PathFrequency[i] = int64(n)
		}
		return nil
	})
	return st, err
}

// scores is the scratch space of one retrieval, one slot a chunk.
type scores struct {
	score   []float64
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
	return &scores{score: make([]float64, n), tf: make([]float64, n), matched: make([]uint64, n), defines: make([]uint64, n), heads: make([]uint64, n)}
}

func (g *Generation) putScores(s *scores) {
	for _, c := range s.found {
		s.score[c], s.matched[c], s.defines[c], s.heads[c] = 0, 0, 0, 0
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
	err := g.guard(func() error {
		sc := g.getScores()
		defer g.putScores(sc)
		from, to := g.under(r.Under)
		lo, hi := g.base[from], g.base[to]
		only := g.only(r.Only)
		keep := func(c uint32) bool { return c >= lo && c < hi && (only == nil || only[c/64]&(1<<(c%64)) != 0) }
		// The vectors are searched on another processor meanwhile. Whatever
		// happens here, that must have ended before the maps may go.
		var near []match
		var nearErr error
		var wg sync.WaitGroup
		defer wg.Wait()
		if r.Vector != nil && r.Near > 0 {
			wg.Go(func() {
				nearErr = g.guard(func() (err error) {
					near, err = g.nearest(ctx, &r, keep, r.Only != nil || lo > 0 || hi < g.base[len(g.docs)])
					return err
				})
			})
		}
		inPath := make(map[int]uint64)
		if err := g.lexical(ctx, &r, sc, inPath); err != nil {
			return err
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
			return nearErr
		}
		for _, m := range near {
			picked[m.global] = m.cosine
		}
		order := make([]uint32, 0, len(picked))
		for c := range picked {
			order = append(order, c)
		}
		slices.Sort(order)
		var err error
		if len(r.Phrases) > 0 {
			if order, err = g.withPhrases(ctx, order, r.Phrases, r.Limit, sc); err != nil {
				return err
			}
		}
		var d docEvidence
		for _, c := range order {
			if doc := g.docOf(c); d.chunks == 0 || d.doc != doc {
				row := d.row
				d, err = g.evidence(doc, &r, sc)
				if d.row = row; err != nil {
					return err
				}
			}
			cand, err := g.candidate(c, &d, &r, sc, inPath, picked[c])
			if err != nil {
				return err
			}
			out = append(out, cand)
		}
		return ctx.Err()
	})
	return out, err
}

// only returns a bit for every chunk of the parts, nil without any.
func (g *Generation) only(parts []kb.Part) []uint64 {
	if parts == nil {
		return nil
	}
	bits := make([]uint64, g.base[len(g.docs)]/64+1)
	d := 0
	for _, p := range parts {
		d += sort.SearchStrings(g.paths[d:], p.Path)
		if d == len(g.paths) {
			break
		}
		if g.paths[d] != p.Path {
			continue
		}
		for c := g.base[d]; c < g.base[d+1]; c++ {
			keep := p.Lines == nil
			if !keep {
				_, s, i := g.locate(c)
				ci := s.chunk(i)
				keep = slices.ContainsFunc(p.Lines, func(l [2]int) bool { return ci.start <= l[1] && l[0] <= ci.end })
			}
			if keep {
				bits[c/64] |= 1 << (c % 64)
			}
		}
	}
	return bits
}

// lexical scores every chunk in which a term stands.
func (g *Generation) lexical(ctx context.Context, r *kb.Retrieval, sc *scores, inPath map[int]uint64) error {
	k1, w := r.BM25F.K1, r.BM25F.Weight
	// norm of a field: 1 - b + b·len/avg, as constant and slope
	var c0, c1 [kb.Fields]float64
	for f := range c0 {
		c0[f] = 1 - r.BM25F.B[f]
		if r.Average[f] > 0 {
			c1[f] = r.BM25F.B[f] / r.Average[f]
		} else {
			c0[f] = 1
		}
	}
	for i, term := range r.Terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		bit := uint64(1) << i
		touch := func(c uint32, f float64) {
			if sc.tf[c] == 0 {
				sc.touched = append(sc.touched, c)
			}
			sc.tf[c] += f
		}
		for si, s := range g.segs {
			b, _, err := s.dict.lookup(term)
			if err != nil {
				return err
			}
			globals := g.globals[si]
			err = eachPosting(b, uint32(s.info.Chunks), func(p *posting) {
				v := globals[p.chunk]
				if v == -1 {
					return
				}
				lens := &s.lens[p.chunk]
				f := 0.0
				for j, tf := range p.tf {
					if tf > 0 {
						f += w[j] * float64(tf) / (c0[j] + c1[j]*float64(lens[j]))
					}
				}
				if v >= 0 {
					touch(uint32(v), f)
					if p.tf[fieldSymbols] > 0 {
						sc.defines[v] |= bit
					}
					if p.tf[fieldHeadings] > 0 {
						sc.heads[v] |= bit
					}
					return
				}
				g.each(si, p.chunk, func(c uint32) {
					touch(c, f)
					if p.tf[fieldSymbols] > 0 {
						sc.defines[c] |= bit
					}
					if p.tf[fieldHeadings] > 0 {
						sc.heads[c] |= bit
					}
				})
			})
			if err != nil {
				return err
			}
		}
		b, _, err := g.dict.lookup(term)
		if err != nil {
			return err
		}
		err = eachPosting(b, uint32(len(g.docs)), func(p *posting) {
			d := int(p.chunk)
			inPath[d] |= bit
			f := w[kb.FieldPath] * float64(p.tf[0]) / (c0[kb.FieldPath] + c1[kb.FieldPath]*float64(g.docs[d].terms))
			for c := g.base[d]; c < g.base[d+1]; c++ {
				touch(c, f)
			}
		})
		if err != nil {
			return err
		}
		for _, c := range sc.touched {
			if sc.matched[c] == 0 {
				sc.found = append(sc.found, c)
			}
			sc.matched[c] |= bit
			sc.score[c] += r.IDF[i] * sc.tf[c] * (k1 + 1) / (sc.tf[c] + k1)
			sc.tf[c] = 0
		}
		sc.touched = sc.touched[:0]
	}
	return nil
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
		if c := cmp.Compare(b.cosine, a.cosine); c != 0 {
			return c
		}
		return cmp.Compare(a.global, b.global)
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

// docEvidence is what the candidates of one document have in common.
type docEvidence struct {
	doc, chunks int
	matched     uint64
	sum         float64
	first       float64 // the best lexical score, and where
	firstAt     uint32
	second      float64 // the best of the others
	mean        float64
	row         []float32 // scratch
}

func (g *Generation) evidence(doc int, r *kb.Retrieval, sc *scores) (docEvidence, error) {
	from, to := g.base[doc], g.base[doc+1]
	d := docEvidence{doc: doc, chunks: int(to - from)}
	for c := from; c < to; c++ {
		x := sc.score[c]
		d.matched |= sc.matched[c]
		d.sum += x
		switch {
		case x > d.first:
			d.first, d.firstAt, d.second = x, c, d.first
		case x > d.second:
			d.second = x
		}
	}
	if r.Vector == nil {
		return d, nil
	}
	s := g.segs[g.docs[doc].seg]
	_, m, err := s.vectors(g.pool.Engine)
	if err != nil || m == nil || m.Dims() != len(r.Vector) {
		return d, err
	}
	sum := make([]float32, m.Dims())
	at, end := s.chunkRange(int(g.docs[doc].doc))
	for ; at < end; at++ {
		row := m.Raw(at)
		ci := s.chunk(at)
		vector.Axpy(sum, row.Codes[:len(sum)], row.Scale*16*float32(math.Sqrt(float64(ci.to-ci.from))))
	}
	if norm := dot(sum, sum); norm > 0 {
		d.mean = dot(sum, r.Vector) / math.Sqrt(norm)
	}
	return d, nil
}

func (g *Generation) candidate(c uint32, e *docEvidence, r *kb.Retrieval, sc *scores, inPath map[int]uint64, cosine float64) (kb.Candidate, error) {
	d, s := e.doc, g.segs[g.docs[e.doc].seg]
	from, _ := s.chunkRange(int(g.docs[d].doc))
	i := from + int(c-g.base[d])
	ci := s.chunk(i)
	out := kb.Candidate{
		Place: kb.Place{Path: g.paths[d], Chunk: int(c - g.base[d])},
		ID:    formatID(placeOf(g.paths[d], ci.decl, ci.ordinal).in(g.key), ci.text),
		Start: ci.start, End: ci.end,
		Language: s.language(int(s.doc[i])), Flags: s.flags(int(s.doc[i])),
		Lexical: sc.score[c], Matched: sc.matched[c], Defines: sc.defines[c], InPath: inPath[d],
		Chunks: e.chunks, Stamp: g.docs[d].stamp, DocMatched: e.matched, Sum: e.sum, Mean: e.mean, Second: e.first,
	}
	if g.uses != nil {
		out.Uses = float64(g.uses[d])
	}
	if out.Flags&kb.FlagProse != 0 { // a section is named by its headings
		out.Defines |= sc.heads[c]
	}
	if e.first > 0 && e.firstAt == c {
		out.Second = e.second
	}
	if r.Vector == nil {
		return out, nil
	}
	if !math.IsNaN(cosine) {
		out.Cosine = cosine
		return out, nil
	}
	_, m, err := s.vectors(g.pool.Engine)
	if err != nil || m == nil || m.Dims() != len(r.Vector) {
		return out, err
	}
	if len(e.row) != m.Dims() {
		e.row = make([]float32, m.Dims())
	}
	out.Cosine = dot(m.Row(i, e.row), r.Vector)
	return out, nil
}

// dot is the inner product, summed in four strands so that a processor can
// work on them side by side; the order is fixed.
func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float64
	n := len(a) &^ 3
	b = b[:len(a)]
	for j := 0; j < n; j += 4 {
		s0 += float64(a[j]) * float64(b[j])
		s1 += float64(a[j+1]) * float64(b[j+1])
		s2 += float64(a[j+2]) * float64(b[j+2])
		s3 += float64(a[j+3]) * float64(b[j+3])
	}
	for j := n; j < len(a); j++ {
		s0 += float64(a[j]) * float64(b[j])
	}
	return s0 + s1 + s2 + s3
}

// statsOf is Stats of parts of the documents alone. Lengths are in the
// proportion of the whole, since they serve for averages only.
func (g *Generation) statsOf(ctx context.Context, terms []string, parts []kb.Part) (kb.TermStats, error) {
	t := g.head.Totals
	st := kb.TermStats{Lengths: t.Length, Frequency: make([]int64, len(terms)), PathFrequency: make([]int64, len(terms))}
	if len(g.docs) == 0 {
		return st, ctx.Err()
	}
	err := g.guard(func() error {
		only := g.only(parts)
		has := func(c uint32) bool { return only == nil || only[c/64]&(1<<(c%64)) != 0 }
		for d := range g.docs {
			n := st.Chunks
			for c := g.base[d]; c < g.base[d+1]; c++ {
				if has(c) {
					st.Chunks++
				}
			}
			if st.Chunks > n {
				st.Documents++
			}
		}
		for i, term := range terms {
			if err := ctx.Err(); err != nil {
				return err
			}
			for si, s := range g.segs {
				b, _, err := s.dict.lookup(term)
				if err != nil {
					return err
				}
				err = eachPosting(b, uint32(s.info.Chunks), func(p *posting) {
					g.each(si, p.chunk, func(c uint32) {
						if has(c) {
							st.Frequency[i]++
						}
					})
				})
				if err != nil {
					return err
				}
			}
			b, _, err := g.dict.lookup(term)
			if err != nil {
				return err
			}
			err = eachPosting(b, uint32(len(g.docs)), func(p *posting) {
				if g.base[p.chunk] < g.base[p.chunk+1] && has(g.base[p.chunk]) {
					st.PathFrequency[i]++
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n := int64(t.Chunks); n > 0 && st.Chunks < n { // the averages stay as they are
		for f := range st.Lengths {
			whole, part := n, st.Chunks
			if f == kb.FieldPath {
				whole, part = int64(t.Documents), st.Documents
			}
			st.Lengths[f] = int64(float64(st.Lengths[f]) / float64(max(whole, 1)) * float64(part))
		}
	}
	return st, err
}
