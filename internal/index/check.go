package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// ImportedExt ends the name of an empty file beside a segment that came from
// another machine. Such a segment serves the stores that came with it; no other
// store shares it, since what it says was not verified here.
const ImportedExt = ".imported"

// ImportedPath returns where the mark of an imported segment lies.
func ImportedPath(dir, name string) string { return filepath.Join(dir, name+ImportedExt) }

// fresh opens a segment by itself, past what the pool has open.
func (p *Pool) fresh(name string) (*segment, error) { return openSegment(p.Dir, name, p.Embedder) }

// CheckSegment reads a whole segment: every checksum, that its name is that
// of its content, that its documents are the texts that they say, and that
// everything in it parses. NotFound without one, Corrupt for a damaged one. It
// does not look at the vectors.
func (p *Pool) CheckSegment(ctx context.Context, name string) error {
	s, err := openSegment(p.Dir, name, "")
	if err != nil {
		return err
	}
	defer s.close()
	return s.file.Guard(func() error {
		if err := s.file.Verify(); err != nil {
			return err
		}
		keys := s.keys()
		h := s.file.Header()
		if segmentName(h.Version, h.Chunker, keys) != name {
			return s.corrupt("its name is that of other content")
		}
		for d := range keys {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.checkDocument(d); err != nil {
				return err
			}
		}
		return s.checkPostings()
	})
}

func (s *segment) checkDocument(d int) error {
	body, err := s.body(d)
	if err != nil {
		return err
	}
	if !isTextOf(s.hash(d), s.language(d), body) {
		return s.corrupt("the text of a document is not the one that its hash names")
	}
	chunks, err := s.chunksOf(d)
	if err != nil {
		return err
	}
	at, line := 0, 0
	for _, c := range chunks {
		if c.From != at || c.To < c.From || c.To > len(body) || c.Start < line || c.End < c.Start {
			return s.corrupt("the chunks of a document are not in order")
		}
		at, line = c.To, c.Start
	}
	if at != len(body) && len(chunks) > 0 {
		return s.corrupt("the chunks of a document leave a part of it out")
	}
	_, err = s.factsOf(d, chunks)
	return err
}

// checkPostings reads the whole dictionary.
func (s *segment) checkPostings() error {
	last, first := "", true
	return s.dict.each("", func(term []byte, off, size int64) error {
		if !first && string(term) <= last {
			return s.corrupt("its terms are out of order")
		}
		last, first = string(term), false
		raw, err := s.dict.post.Bytes(off, size)
		if err != nil {
			return err
		}
		if err := eachPosting(raw, uint32(s.info.Chunks), func(*posting) {}); err != nil {
			return err
		}
		return s.dict.checkSkips(postingsAt{off: off}, raw)
	})
}

// isTextOf reports whether body is what decoding bytes of that hash gives. Of
// notebooks, and of UTF-16 that was not valid, only a part is kept: nothing
// can be said of those.
func isTextOf(hash kb.DocHash, language, body string) bool {
	if kb.HashDocument([]byte(body)) == hash {
		return true
	}
	for _, e := range []encoding.Encoding{charmap.Windows1252, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), unicode.UTF16(unicode.BigEndian, unicode.UseBOM)} {
		if raw, err := e.NewEncoder().Bytes([]byte(body)); err == nil && kb.HashDocument(raw) == hash {
			return true
		}
	}
	return language == "notebook" || strings.ContainsRune(body, '\uFFFD')
}

// CheckVectors reads the vectors of a segment: their checksums, their number
// and, through same, whether a few of them are those of their chunks. same is
// given the text of a chunk's document, the chunk and its vector; nil compares
// none. NotFound when they, or the segment, are missing.
func (p *Pool) CheckVectors(ctx context.Context, name string, same func(body string, c *kb.Chunk, v []float32) (bool, error)) error {
	s, err := p.fresh(name)
	if err != nil {
		return err
	}
	defer s.close()
	if s.vecErr != nil {
		return s.vecErr
	}
	if s.vecFile == nil {
		return kb.Errorf(kb.NotFound, "segment %s has no vectors of %s", name, p.Embedder)
	}
	if s.vecFile.Header().Embedder != p.Embedder {
		return kb.Errorf(kb.Corrupt, "the vectors of segment %s are those of another embedder", name)
	}
	return s.vecFile.Guard(func() error {
		if err := s.vecFile.Verify(); err != nil {
			return err
		}
		_, m, err := s.vectors(p.Engine)
		if err != nil {
			return err
		}
		if err := m.CheckSketch(); err != nil || same == nil {
			return err
		}
		return s.file.Guard(func() error { return s.sample(ctx, m, same) })
	})
}

// samples is how many vectors of a segment are compared with their chunks.
const samples = 12

func (s *segment) sample(ctx context.Context, m *vector.Matrix, same func(string, *kb.Chunk, []float32) (bool, error)) error {
	for i := range min(samples, s.info.Chunks) {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := i * s.info.Chunks / min(samples, s.info.Chunks)
		d := int(s.doc[c])
		body, err := s.body(d)
		if err != nil {
			return err
		}
		chunks, err := s.chunksOf(d)
		if err != nil {
			return err
		}
		from, _ := s.chunkRange(d)
		ok, err := same(body, &chunks[c-from], m.Row(c, nil))
		if err != nil {
			return err
		}
		if !ok {
			return kb.Errorf(kb.Corrupt, "the vectors of segment %s are those of another segment", s.name)
		}
	}
	return nil
}

// CheckGeneration reads a whole generation of a store, but for its segments:
// manifest and layout, that the layout's name is that of its content, and that
// the table of ids names the chunks there are.
func (p *Pool) CheckGeneration(path string, store kb.StoreID) error {
	g, err := p.OpenGeneration(path)
	if err != nil {
		return err
	}
	defer g.Release()
	return g.guard(func() error {
		return g.lay.Guard(func() error { return g.check(store) })
	})
}

func (g *Generation) check(store kb.StoreID) error {
	if err := errors.Join(g.file.Verify(), g.lay.Verify()); err != nil {
		return err
	}
	if g.baseFile != nil {
		if err := g.baseFile.Verify(); err != nil {
			return err
		}
	}
	if g.head.Store != store {
		return g.corrupt("it belongs to another store")
	}
	var secs []named
	for _, name := range g.lay.Sections() {
		raw, err := g.lay.Section(name).All()
		if err != nil {
			return err
		}
		secs = append(secs, named{name, raw})
	}
	h := g.lay.Header()
	if layoutName(h.Version, h.Chunker, secs) != g.head.Layout {
		return kb.Errorf(kb.Corrupt, "layout %s is damaged: its name is that of other content", g.head.Layout)
	}
	if !slices.IsSorted(g.paths) || len(slices.Compact(slices.Clone(g.paths))) != len(g.paths) {
		return g.corrupt("its paths are out of order")
	}
	for _, p := range g.paths {
		if p == "" || !fs.ValidPath(p) {
			return g.corrupt(fmt.Sprintf("%q cannot be the path of a document", p))
		}
	}
	if err := g.checkIDs(); err != nil {
		return err
	}
	_, err := g.tombstones()
	return err
}

// checkIDs compares the table of ids with the chunks.
func (g *Generation) checkIDs() error {
	for i := idRecord; i < len(g.ids); i += idRecord {
		if bytes.Compare(g.ids[i-idRecord:][:placeBytes], g.ids[i:][:placeBytes]) > 0 {
			return g.corrupt("its ids are out of order")
		}
	}
	for i, d := range g.docs {
		s := g.segs[d.seg]
		from, to := s.chunkRange(int(d.doc))
		for c := from; c < to; c++ {
			ci := s.chunk(c)
			if !slices.Contains(g.places.find(placeOf(g.paths[i], ci.decl, ci.ordinal)), g.base[i]+uint32(c-from)) {
				return g.corrupt("an id is missing")
			}
		}
	}
	return nil
}

// Current implements kb.Index: every file of the generation lies where it did
// when it was opened, and vectors that were missing then are missing still.
func (g *Generation) Current(context.Context) bool { return g.current() }

func (g *Generation) current() bool {
	return g.file.Stands() && g.lay.Stands() && (g.baseFile == nil || g.baseFile.Stands()) && !slices.ContainsFunc(g.segs, func(s *segment) bool { return !s.stands() })
}

// MissingFiles names the files of a generation that are not where they belong, by
// what the catalog says of it; nothing is opened.
func (p *Pool) MissingFiles(head *kb.Head) (files []string) {
	paths := []string{p.ManifestPath(head.Manifest)}
	if head.Base != "" {
		paths = append(paths, p.ManifestPath(head.Base))
	}
	if head.Layout != "" {
		paths = append(paths, LayoutPath(p.Dir, head.Layout))
	}
	for _, s := range head.Segments {
		paths = append(paths, SegmentPath(p.Dir, s), VectorsPath(p.Dir, s, head.Embedder))
	}
	for _, f := range paths {
		if info, err := os.Stat(f); err != nil || !info.Mode().IsRegular() {
			files = append(files, f)
		}
	}
	return files
}

// ReadLayout returns the documents that a layout names, without stamps, and the
// version of the chunker: what is left of a generation whose manifest is lost.
func (p *Pool) ReadLayout(name string) (docs []kb.Located, chunker uint32, err error) {
	f, err := blockfile.Open(LayoutPath(p.Dir, name), kindLayout, FormatVersion)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	err = f.Guard(func() error {
		var names []string
		raw, err := f.Section("segments").All()
		if err == nil {
			err = json.Unmarshal(raw, &names)
		}
		if err == nil {
			raw, err = f.Section("docs").All()
		}
		if err != nil {
			return err
		}
		r := varReader{b: raw}
		var path []byte
		for len(r.b) > 0 {
			shared, suffix := r.uvarint(), []byte(r.string())
			seg, doc, _ := r.uvarint(), r.uvarint(), r.uvarint()
			if r.err != nil || shared > uint64(len(path)) || seg >= uint64(len(names)) {
				return kb.Errorf(kb.Corrupt, "layout %s is damaged: its documents do not parse", name)
			}
			path = append(path[:shared], suffix...)
			docs = append(docs, kb.Located{Path: string(path), Location: kb.Location{Segment: names[seg], Number: int(doc)}})
		}
		return nil
	})
	return docs, f.Header().Chunker, err
}

// VerifyVectors reads the vectors at path to their end, without their segment.
func VerifyVectors(path string) error {
	f, err := blockfile.Open(path, kindVectors, FormatVersion)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Verify()
}
