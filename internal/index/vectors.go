package index

import (
	"strconv"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
)

// writeVectors makes the vectors of a segment durable. They say whose they are:
// vectors of another segment with as many chunks would pass for its own.
func writeVectors(dir, name, embedder string, chunker uint32, rows *vector.Builder) (int64, error) {
	secs := []named{{"matrix", rows.Bytes()}, {sectionOf, []byte(name)}}
	if sketch := rows.Sketch(); sketch != nil {
		secs = append(secs, named{sectionSketch, sketch})
	}
	return writeBlockfile(VectorsPath(dir, name, embedder),
		blockfile.Header{Kind: kindVectors, Version: FormatVersion, Chunker: chunker, Embedder: embedder}, secs)
}

// sectionSketch is the section of vectors with their sketch. Small matrices and
// those of older versions lack it, and older versions pass it over.
const sectionSketch = "sketch"

// sectionOf is the section of vectors that names their segment; vectors of
// older versions lack it.
const sectionOf = "of"

// ownVectors says what is wrong when the file of vectors is another segment's.
func (s *segment) ownVectors() error {
	if !s.vecFile.Has(sectionOf) {
		return nil
	}
	of, err := s.vecFile.Section(sectionOf).All()
	if err == nil && string(of) != s.name {
		err = s.corrupt("its vectors are those of segment " + strconv.Quote(string(of)))
	}
	return err
}

// vectors opens the vectors by embedder, once; nil without an error when they
// were never made. Of the matrix only what is touched is verified.
func (s *segment) vectors(engine string) (vector.Engine, *vector.Matrix, error) {
	s.vecOnce.Do(func() {
		f := s.vecFile
		if f == nil {
			return
		}
		s.vecErr = f.Guard(func() error {
			raw, verify, err := f.Section("matrix").Lazily()
			if err != nil {
				return err
			}
			m, err := vector.ViewLazily(raw, verify)
			if err != nil {
				return err
			}
			if m.Rows() != s.info.Chunks {
				return s.corrupt("it has another number of vectors than chunks")
			}
			if f.Has(sectionSketch) {
				if raw, err = f.Section(sectionSketch).All(); err != nil {
					return err
				}
				if m, err = m.WithSketch(raw); err != nil {
					return err
				}
			}
			s.engine, err = vector.NewEngine(engine, m)
			s.matrix = m
			return err
		})
	})
	return s.engine, s.matrix, s.vecErr
}
