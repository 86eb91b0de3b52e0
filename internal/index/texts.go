package index

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Passages returns chunks with their text, in the order asked.
func (g *Generation) Passages(ctx context.Context, places []kb.Place) ([]kb.Passage, error) {
	return g.passages(ctx, places, true)
}

// Excerpts implements kb.Index: what else is known of chunks lies in other frames
// than their text.
func (g *Generation) Excerpts(ctx context.Context, places []kb.Place) ([]kb.Passage, error) {
	return g.passages(ctx, places, false)
}

func (g *Generation) passages(ctx context.Context, places []kb.Place, known bool) ([]kb.Passage, error) {
	if g.pool.Far != nil {
		out, err := g.passagesFar(ctx, places)
		for i := range out {
			if c := &out[i].Chunk; !known {
				*c = kb.Chunk{From: c.From, To: c.To, Start: c.Start, End: c.End}
			}
		}
		return out, err
	}
	out := make([]kb.Passage, len(places))
	err := g.guard(func() error {
		return g.sideBySide(len(places), len(places) >= severalPassages, func(k int) (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			out[k], err = g.passage(places[k], known)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// severalPassages is how many passages are unpacked on several processors.
const severalPassages = 6

func (g *Generation) passage(p kb.Place, known bool) (kb.Passage, error) {
	i, ok := g.docByPath(p.Path)
	if !ok {
		return kb.Passage{}, kb.Errorf(kb.NotFound, "no document %q in the store", p.Path)
	}
	s, doc := g.segs[g.docs[i].seg], int(g.docs[i].doc)
	if p.Chunk < 0 || p.Chunk >= int(g.base[i+1]-g.base[i]) {
		return kb.Passage{}, kb.Errorf(kb.NotFound, "%q has no chunk %d", p.Path, p.Chunk)
	}
	from, _ := s.chunkRange(doc)
	at := s.chunk(from + p.Chunk)
	c := kb.Chunk{From: at.from, To: at.to, Start: at.start, End: at.end}
	if known {
		var err error
		if c, err = s.chunkOf(doc, p.Chunk); err != nil {
			return kb.Passage{}, err
		}
	}
	text, err := s.excerpt(doc, c.From, c.To)
	return kb.Passage{Place: p, Chunk: c, Text: text, Language: s.language(doc)}, err
}

// Texts implements kb.Index. A reply shows lines of a dozen documents: their
// references, which are most of their facts, and the ids of all their chunks would
// take longer than the rest.
func (g *Generation) Texts(ctx context.Context, paths []string, bodies bool) ([]kb.DocumentText, error) {
	docs, err := g.documents(paths)
	if err != nil {
		return nil, err
	}
	if g.pool.Far != nil {
		return g.textsFar(ctx, docs, bodies)
	}
	out := make([]kb.DocumentText, len(docs))
	err = g.guard(func() error {
		return g.sideBySide(len(docs), len(docs) > 1, func(k int) (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			out[k], err = g.text(docs[k], bodies)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// text returns document i as Texts does.
func (g *Generation) text(i int, body bool) (t kb.DocumentText, err error) {
	s, doc := g.segs[g.docs[i].seg], int(g.docs[i].doc)
	t = kb.DocumentText{Path: g.paths[i], Hash: s.hash(doc), Language: s.language(doc), Flags: s.flags(doc), Stamp: g.docs[i].stamp}
	if body {
		if t.Body, err = s.body(doc); err != nil {
			return t, err
		}
	}
	if t.Chunks, err = s.chunksOf(doc); err != nil {
		return t, err
	}
	return t, s.symbolsOf(doc, t.Chunks)
}

// symbolsOf fills in the symbols of a document's chunks from its facts, which begin
// with them: mostly the first frame that they lie in has them all.
func (s *segment) symbolsOf(d int, chunks []kb.Chunk) error {
	if s.fact == nil || s.fact[d] == s.fact[d+1] {
		return nil
	}
	from, size := s.fact[d], s.fact[d+1]-s.fact[d]
	for n := min(size, streamBlock-from%streamBlock); ; n = size {
		b, err := s.part(&s.facts, from, n)
		if err != nil {
			return err
		}
		r := factReader{varReader: varReader{b: b}}
		if r.symbols(chunks); r.err == nil {
			return nil
		}
		if n == size {
			return s.corrupt("its facts do not parse")
		}
	}
}

// textsFar is Texts where the documents are elsewhere.
func (g *Generation) textsFar(ctx context.Context, docs []int, bodies bool) ([]kb.DocumentText, error) {
	out, err := g.documentsFar(ctx, docs)
	for k := range out {
		out[k].Facts = kb.Facts{}
		if !bodies {
			out[k].Body = ""
		}
	}
	return out, err
}

// IDs implements kb.Index.
func (g *Generation) IDs(ctx context.Context, places []kb.Place) ([]string, error) {
	out := make([]string, len(places))
	err := g.guard(func() error {
		for k, p := range places {
			i, ok := g.docByPath(p.Path)
			if !ok {
				return kb.Errorf(kb.NotFound, "no document %q in the store", p.Path)
			}
			if p.Chunk < 0 || p.Chunk >= int(g.base[i+1]-g.base[i]) {
				return kb.Errorf(kb.NotFound, "%q has no chunk %d", p.Path, p.Chunk)
			}
			out[k] = g.id(g.base[i] + uint32(p.Chunk))
		}
		return ctx.Err()
	})
	return out, err
}
