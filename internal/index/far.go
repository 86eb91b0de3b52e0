package index

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A generation of thin segments is read in two steps. Its Far, a search engine
// on other machines, names chunks that may answer; the documents that they are in
// are fetched, and scored here as those of whole segments are, with the same
// statistics. So scores compare with those of every other index whatever the
// engine thinks of them: it decides what is looked at, not what it is worth.

// Far has what thin segments lack. Implementations are safe for concurrent use.
type Far interface {
	// Find names chunks that have terms of the query, and chunks near to its
	// vector, the best first.
	Find(ctx context.Context, q FarQuery) (words, near []FarChunk, err error)
	// Load returns documents in the order asked, with facts the Facts too.
	Load(ctx context.Context, at []kb.Location, facts bool) ([]FarDocument, error)
}

// FarChunk is a chunk of a document of a segment.
type FarChunk struct {
	kb.Location
	Chunk int
}

// FarQuery is what a Far is asked.
type FarQuery struct {
	Segments []string
	// Documents narrows it further, unless it is nil.
	Documents []kb.Location
	Terms     []string
	Weights   [numFields]float64
	Vector    []float32
	Words     int // how many chunks by words
	Near      int // how many by vector
}

const (
	// mostNarrow is up to how many documents the engine is asked about them alone;
	// above that it is asked for so many times more as manyTimes says.
	mostNarrow = 2000
	manyTimes  = 4
	// mostWords is how many chunks are asked for by words.
	mostWords = 400
	// mostPathed is how many documents are looked at for their path.
	mostPathed = 32
	// within is how long one retrieval waits for a Far, with all that it asks: what each
	// request may take by itself would add up to more than who asks has patience for.
	within = 4 * time.Second
	// atOnceFar is how many retrievals of this process ask a Far at once. More of them
	// wait for their turn, which is no fault of the Far and none of its time.
	atOnceFar = 8
)

// findFar is find where the documents are elsewhere.
func (g *Generation) findFar(ctx context.Context, r *kb.Retrieval, sc *scores, keep func(uint32) bool, from, to, limit int) (
	lex []uint32, near []match, err error) {
	select {
	case g.pool.asked <- struct{}{}:
		defer func() { <-g.pool.asked }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	far, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	kept := make([]int, 0, min(to-from, mostNarrow+1))
	for d := from; d < to && len(kept) <= mostNarrow; d++ {
		for c := g.base[d]; c < g.base[d+1]; c++ {
			if keep(c) {
				kept = append(kept, d)
				break
			}
		}
	}
	docs := kept
	if len(kept) > g.pool.Few {
		if docs, err = g.askFar(far, r, sc, keep, kept, limit); err != nil {
			return nil, nil, err
		}
	}
	if err := g.fetch(far, docs, sc); err != nil {
		return nil, nil, err
	}
	if err := g.scoreFar(ctx, weigh(r), sc, docs); err != nil {
		return nil, nil, err
	}
	for i := range sc.tallies {
		if c := sc.tallies[i].chunk; keep(c) && sc.tallies[i].matched != 0 {
			lex = append(lex, c)
		}
	}
	if r.Vector == nil || r.Near <= 0 {
		return lex, nil, nil
	}
	var row []float32
	for _, d := range docs {
		m := sc.cards[d].vectors
		if m == nil || m.Dims() != len(r.Vector) {
			continue
		}
		for c := g.base[d]; c < g.base[d+1]; c++ {
			if !keep(c) {
				continue
			}
			row = m.Row(int(c-g.base[d]), row)
			if x := dot(row, r.Vector); x > 0 {
				near = append(near, match{c, x})
			}
		}
	}
	slices.SortFunc(near, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.global, b.global))
	})
	return lex, near[:min(len(near), r.Near)], ctx.Err()
}

// askFar returns the documents, in order, that may answer a query.
func (g *Generation) askFar(ctx context.Context, r *kb.Retrieval, sc *scores, keep func(uint32) bool, kept []int, limit int) ([]int, error) {
	q := FarQuery{Segments: g.names, Terms: r.Terms, Words: min(limit, mostWords)}
	if r.Vector != nil {
		q.Vector, q.Near = r.Vector, r.Near
	}
	copy(q.Weights[:], r.BM25F.Weight[:numFields])
	narrow := len(kept) < len(g.docs)
	switch {
	case narrow && len(kept) <= mostNarrow:
		for _, d := range kept {
			q.Documents = append(q.Documents, g.location(d))
		}
	case narrow:
		q.Words, q.Near = q.Words*manyTimes, q.Near*manyTimes
	}
	words, near, err := g.pool.Far.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	picked := map[int]bool{}
	for _, x := range slices.Concat(words, near) {
		si := slices.Index(g.names, x.Segment)
		if si < 0 || x.Number < 0 || x.Number >= g.segs[si].info.Documents {
			continue
		}
		from, to := g.segs[si].chunkRange(x.Number)
		if x.Chunk < 0 || from+x.Chunk >= to {
			continue
		}
		g.each(si, uint32(from+x.Chunk), func(c uint32) {
			if keep(c) {
				picked[g.docOf(c)] = true
			}
		})
	}
	for _, d := range g.pathed(r, kept, narrow) {
		picked[d] = true
	}
	docs := make([]int, 0, len(picked))
	for d := range picked {
		docs = append(docs, d)
	}
	slices.Sort(docs)
	return docs, nil
}

// pathed returns the documents whose paths have the heaviest terms, of those kept
// when it is narrow.
func (g *Generation) pathed(r *kb.Retrieval, kept []int, narrow bool) []int {
	weight := map[int]float64{}
	for i, t := range r.Terms {
		_ = g.pathPostings(t, func(p *posting) { // what is damaged is found when it is scored
			if d := int(p.chunk); !narrow || len(kept) > mostNarrow || slices.Contains(kept, d) {
				weight[d] += r.IDF[i]
			}
		})
	}
	docs := make([]int, 0, len(weight))
	for d := range weight {
		docs = append(docs, d)
	}
	slices.SortFunc(docs, func(a, b int) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b)) })
	return docs[:min(len(docs), mostPathed)]
}

// location returns where the content of a document is.
func (g *Generation) location(doc int) kb.Location {
	d := g.docs[doc]
	return kb.Location{Segment: g.names[d.seg], Number: int(d.doc)}
}

// scoreFar scores every chunk of documents that were fetched.
func (g *Generation) scoreFar(ctx context.Context, w *weighing, sc *scores, docs []int) error {
	set := make(bitset, g.base[len(g.docs)]/64+1)
	for _, d := range docs {
		set.addAll(g.base[d], g.base[d+1])
	}
	terms := w.order()
	for _, i := range terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		bit := uint64(1) << i
		for _, d := range docs {
			s := g.segs[g.docs[d].seg]
			first, _ := s.chunkRange(int(g.docs[d].doc))
			posts, err := sc.cards[d].postings(w.Terms)
			if err != nil {
				return err
			}
			for _, p := range posts.of(w.Terms[i]) {
				sc.meet(g.base[d]+p.chunk, w.text(&p, s.lens(uint32(first)+p.chunk)), &p, bit)
			}
		}
		err := g.pathPostings(w.Terms[i], func(p *posting) {
			if set.any(g.base[p.chunk], g.base[p.chunk+1]) {
				g.meetPath(w, p, bit, sc, set)
			}
		})
		if err != nil {
			return err
		}
		sc.settle(w.IDF[i], w.BM25F.K1, bit, w.Beside&bit != 0)
	}
	return nil
}

// excerpt returns the text of the chunk with that global number.
func (g *Generation) excerpt(c uint32, sc *scores) (string, error) {
	doc, s, i := g.locate(c)
	ci := s.chunk(i)
	if s.thin == nil {
		return s.excerpt(int(s.doc[i]), ci.from, ci.to)
	}
	return sc.cards[doc].excerpt(s, ci.from, ci.to)
}

// occurrences returns how often a chunk of a segment is in the generation.
func (g *Generation) occurrences(si int) (n int) {
	for _, d := range g.docs {
		if int(d.seg) == si {
			from, to := g.segs[si].chunkRange(int(d.doc))
			n += to - from
		}
	}
	return n
}

// statsFar is Stats of parts.
func (g *Generation) statsFar(ctx context.Context, terms []string, parts []kb.Part) (st kb.TermStats, err error) {
	st = kb.TermStats{Frequency: make([]int64, len(terms)), PathFrequency: make([]int64, len(terms))}
	only := g.only(parts)
	st.Documents, st.Chunks = g.count(only)
	t := g.head.Totals
	for f := range st.Lengths {
		whole, part := int64(t.Chunks), st.Chunks
		if f == kb.FieldPath {
			whole, part = int64(t.Documents), st.Documents
		}
		st.Lengths[f] = int64(float64(t.Length[f]) / float64(max(whole, 1)) * float64(part))
	}
	var docs []int
	for _, p := range parts {
		if d, ok := g.docByPath(p.Path); ok {
			docs = append(docs, d)
		}
	}
	sc := &scores{}
	if err := g.fetch(ctx, docs, sc); err != nil {
		return st, err
	}
	for i, term := range terms {
		for _, d := range docs {
			posts, err := sc.cards[d].postings(terms)
			if err != nil {
				return st, err
			}
			for _, p := range posts.of(term) {
				if only(g.base[d] + p.chunk) {
					st.Frequency[i]++
				}
			}
		}
		err = g.pathPostings(term, func(p *posting) {
			if c := g.base[p.chunk]; c < g.base[p.chunk+1] && only(c) {
				st.PathFrequency[i]++
			}
		})
		if err != nil {
			return st, err
		}
	}
	return st, ctx.Err()
}

// card is a document that was fetched, ready to be scored.
type card struct {
	doc     kb.SegmentDocument
	posts   atomic.Pointer[posted]
	vectors *vector.Matrix // nil without any
	read    int            // bytes of what was fetched
}

// postings returns the postings of terms at least. Of a document that is asked for the first
// time it makes no others: those of all terms take twice the time, and several times the
// memory of its text, which most documents are not asked for again to repay.
func (c *card) postings(terms []string) (*posted, error) {
	p := c.posts.Load()
	switch {
	case p == nil:
	case p.whole || p.has(terms):
		return p, nil
	default:
		terms = nil
	}
	p, err := postsOf(&c.doc, terms)
	if err == nil {
		c.posts.Store(p)
	}
	return p, err
}

// size is about how many bytes of memory it takes.
func (c *card) size() int {
	n := c.read
	if p := c.posts.Load(); p != nil {
		n += p.size()
	}
	return n
}

// within reports whether bytes from to to are in the text of a document.
func covers(d *kb.SegmentDocument, from, to int) bool {
	return 0 <= from && from <= to && to <= len(d.Text.Body)
}

// excerpt returns bytes from to to of the text.
func (c *card) excerpt(s *segment, from, to int) (string, error) {
	if !covers(&c.doc, from, to) {
		return "", s.corrupt("a chunk lies outside its text")
	}
	return c.doc.Text.Body[from:to], nil
}

// farFacts is FarDocument.Facts: what showing and linking a document needs.
type farFacts struct {
	Chunks []kb.Chunk
	Facts  kb.Facts
}

// cardOf reads a document that was fetched.
func (s *segment) cardOf(number int, d *FarDocument) (*card, error) {
	c := &card{}
	if err := json.Unmarshal(d.Card, &c.doc); err != nil {
		return nil, s.corrupt("a document of it does not parse")
	}
	from, to := s.chunkRange(number)
	if c.doc.Hash != s.hash(number) || len(c.doc.Chunks) != to-from || int64(len(c.doc.Text.Body)) != s.textLen(number) {
		return nil, s.corrupt("a document of it is another")
	}
	for i := range c.doc.Chunks {
		if x := &c.doc.Chunks[i]; !covers(&c.doc, x.From, x.To) {
			return nil, s.corrupt("a chunk lies outside its text")
		}
	}
	var err error
	if c.vectors, err = vector.View(d.Vectors); err != nil {
		return nil, err
	}
	c.read = 2*len(d.Card) + len(d.Vectors)
	if c.vectors.Rows() != to-from {
		return nil, s.corrupt("it has another number of vectors than chunks")
	}
	return c, nil
}
