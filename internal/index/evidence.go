package index

import (
	"math"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// docEvidence is what the candidates of one document have in common.
type docEvidence struct {
	doc, chunks int
	matched     uint64
	sum, beside float64
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
		t := sc.of(c)
		x := t.score
		d.matched |= t.matched
		d.sum += x
		d.beside += t.beside
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
	m, row, err := g.rows(doc, sc)
	if err != nil || m == nil || m.Dims() != len(r.Vector) {
		return d, err
	}
	if len(sc.sum) != m.Dims() {
		sc.sum = make([]float32, m.Dims())
	}
	sum := sc.sum
	clear(sum)
	s := g.segs[g.docs[doc].seg]
	at, end := s.chunkRange(int(g.docs[doc].doc))
	if err := m.Touch(row, end-at); err != nil {
		return d, err
	}
	for ; at < end; at, row = at+1, row+1 {
		row := m.Raw(row)
		ci := s.chunk(at)
		vector.Axpy(sum, row.Codes[:len(sum)], row.Scale*16*float32(math.Sqrt(float64(ci.to-ci.from))))
	}
	if norm := dot(sum, sum); norm > 0 {
		d.mean = dot(sum, r.Vector) / math.Sqrt(norm)
	}
	return d, nil
}

// rows returns the vectors of a document, as a matrix and the row of its first
// chunk; nil without any.
func (g *Generation) rows(doc int, sc *scores) (*vector.Matrix, int, error) {
	if g.pool.Far != nil {
		if c := sc.cards[doc]; c != nil {
			return c.vectors, 0, nil
		}
		return nil, 0, nil
	}
	s := g.segs[g.docs[doc].seg]
	_, m, err := s.vectors(g.pool.Engine)
	at, _ := s.chunkRange(int(g.docs[doc].doc))
	return m, at, err
}

func (g *Generation) candidate(c uint32, e *docEvidence, r *kb.Retrieval, sc *scores,
	cosine float64) (kb.Candidate, error) {
	d, s := e.doc, g.segs[g.docs[e.doc].seg]
	from, _ := s.chunkRange(int(g.docs[d].doc))
	i := from + int(c-g.base[d])
	ci, t := s.chunk(i), sc.of(c)
	out := kb.Candidate{
		Place: kb.Place{Path: g.paths[d], Chunk: int(c - g.base[d])},
		ID:    formatID(placeOf(g.paths[d], ci.decl, ci.ordinal).in(g.key), ci.text),
		Start: ci.start, End: ci.end,
		Language: s.language(int(s.doc[i])), Flags: s.flags(int(s.doc[i])),
		Lexical: t.score, Beside: t.beside, Matched: t.matched, Defines: t.defines, InPath: sc.inPath[d],
		Chunks: e.chunks, Stamp: g.docs[d].stamp, DocMatched: e.matched, Sum: e.sum, SumBeside: e.beside, Mean: e.mean, Second: e.first,
	}
	if g.uses != nil {
		out.Uses = float64(g.uses[d])
	}
	if out.Flags&kb.FlagProse != 0 { // a section is named by its headings
		out.Defines |= t.heads
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
	m, row, err := g.rows(d, sc)
	if err != nil || m == nil || m.Dims() != len(r.Vector) {
		return out, err
	}
	if row += out.Chunk; row >= m.Rows() {
		return out, s.corrupt("it has another number of vectors than chunks")
	}
	if err := m.Touch(row, 1); err != nil {
		return out, err
	}
	if len(e.row) != m.Dims() {
		e.row = make([]float32, m.Dims())
	}
	out.Cosine = dot(m.Row(row, e.row), r.Vector)
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
