package index

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A thin segment is what of a segment lies on a machine that only reads it: the
// tables of documents and chunks, the words, what it says as specifications. It
// is a segment without text, facts, postings and vectors, some 60 bytes a chunk,
// with a section "thin" that says so. What it lacks a pool has from its Far.

// sectionThin marks a thin segment, and holds thinInfo as JSON.
const sectionThin = "thin"

type thinInfo struct {
	Dims int `json:"dims"` // of the vectors elsewhere
}

// Thin returns the thin segment of a segment, as a file holds it.
func (p *Pool) Thin(name string) (raw []byte, err error) {
	err = p.with(name, func(s *segment) error {
		_, m, err := s.vectors(p.Engine)
		if err != nil {
			return err
		}
		if m == nil {
			return withoutVectors(name, p.Embedder)
		}
		info, err := json.Marshal(thinInfo{m.Dims()})
		if err != nil {
			return err
		}
		secs := []named{{sectionThin, info}}
		for _, of := range []string{"info", "docs", "chunks", "terms", "termidx", "specs", "specblocks", "specidx"} {
			if !s.file.Has(of) {
				continue
			}
			b, err := s.file.Section(of).All()
			if err != nil {
				return err
			}
			secs = append(secs, named{of, b})
		}
		raw, err = blockfileBytes(s.file.Header(), secs)
		return err
	})
	return raw, err
}

// blockfileBytes returns what a block file of the sections holds.
func blockfileBytes(h blockfile.Header, secs []named) ([]byte, error) {
	dir, err := os.MkdirTemp("", "knowledge-thin-")
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "cannot make a temporary folder: %w", err).WithHint("check the permissions of the folder that TMPDIR names")
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "file")
	if _, err := writeBlockfile(path, h, secs); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// loadThin reads what a thin segment has in place of the rest.
func (s *segment) loadThin() error {
	raw, err := s.file.Section(sectionThin).All()
	if err != nil {
		return err
	}
	s.thin = &thinInfo{}
	if err := json.Unmarshal(raw, s.thin); err != nil {
		return s.corrupt("its description does not parse")
	}
	return nil
}

// FarDocument is a document as a Far keeps it: what a search needs of it, what
// only showing it needs, its vectors (package vector), and the words of each of its chunks.
type FarDocument struct {
	Card    []byte
	Facts   []byte
	Vectors []byte
	Chunks  []FarWords
}

// FarWords are the terms of one chunk by field, each as often as it occurs, and
// its vector.
type FarWords struct {
	Fields [numFields]string
	Vector []float32
}

// Distant calls f with every document of a segment in order, as a Far keeps it.
func (p *Pool) Distant(ctx context.Context, name string, f func(number int, d FarDocument) error) error {
	return p.with(name, func(s *segment) error {
		for n := range s.info.Documents {
			if err := ctx.Err(); err != nil {
				return err
			}
			d, err := p.distant(s, n)
			if err == nil {
				err = f(n, d)
			}
			if err != nil {
				return err
			}
		}
		s.file.Rest()
		return nil
	})
}

func (p *Pool) distant(s *segment, n int) (out FarDocument, err error) {
	d, err := s.document(n)
	if err != nil {
		return out, err
	}
	if out.Facts, err = json.Marshal(farFacts{d.Chunks, d.Facts}); err != nil {
		return out, err
	}
	if d.Chunks, err = s.chunksOf(n); err != nil {
		return out, err
	}
	d.Facts = kb.Facts{}
	if out.Card, err = json.Marshal(d); err != nil {
		return out, err
	}
	_, m, err := s.vectors(p.Engine)
	if err != nil {
		return out, err
	}
	if m == nil {
		return out, withoutVectors(s.name, p.Embedder)
	}
	first, _ := s.chunkRange(n)
	if err := m.Touch(first, len(d.Chunks)); err != nil {
		return out, err
	}
	rows := vector.NewBuilder(m.Dims())
	words := make([][numFields][]byte, len(d.Chunks))
	posts, err := postsOf(&d, nil)
	if err != nil {
		return out, err
	}
	all := make([]string, len(posts.ends))
	for n := range all {
		all[n] = string(posts.term(uint32(n)))
	}
	slices.Sort(all)
	for _, term := range all {
		for _, x := range posts.of(term) {
			for field, tf := range x.tf {
				for range tf {
					w := &words[x.chunk][field]
					*w = append(append(*w, term...), ' ')
				}
			}
		}
	}
	for i := range d.Chunks {
		c := FarWords{Vector: m.Row(first+i, nil)}
		for field := range words[i] {
			c.Fields[field] = string(words[i][field])
		}
		out.Chunks = append(out.Chunks, c)
		rows.AddRow(m, first+i)
	}
	out.Vectors = rows.Bytes()
	return out, nil
}

func withoutVectors(segment, embedder string) error {
	return kb.Errorf(kb.Corrupt, "segment %s has no vectors of %s", segment, embedder).WithHint("run store:index with force to rebuild the store")
}

// Document returns the document whole, and its vectors.
func (d *FarDocument) Document() (kb.SegmentDocument, [][]float32, error) {
	var doc kb.SegmentDocument
	var facts farFacts
	err := json.Unmarshal(d.Card, &doc)
	if err == nil {
		err = json.Unmarshal(d.Facts, &facts)
	}
	if err != nil {
		return doc, nil, kb.Errorf(kb.Corrupt, "a document of a shared store does not parse: %w", err)
	}
	doc.Chunks, doc.Facts = facts.Chunks, facts.Facts
	m, err := vector.View(d.Vectors)
	if err != nil {
		return doc, nil, err
	}
	vectors := make([][]float32, m.Rows())
	for i := range vectors {
		vectors[i] = m.Row(i, nil)
	}
	return doc, vectors, nil
}

// Layout returns the name of the layout.
func (g *Generation) Layout() string { return g.head.Layout }

// Base returns the name of the manifest that this one says the differences from, "" for
// none.
func (g *Generation) Base() string { return g.head.Base }
