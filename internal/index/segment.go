package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Ext is the extension of segment files; VecExt that of their vectors.
const (
	Ext    = ".seg"
	VecExt = ".vec"
)

// SegmentPath returns where a segment lies in the folder of segments.
func SegmentPath(dir, name string) string { return filepath.Join(dir, name+Ext) }

// VectorsPath returns where the vectors of a segment by one embedder lie.
func VectorsPath(dir, name, embedder string) string {
	return filepath.Join(dir, name+"."+embedder+VecExt)
}

// Write makes the segment and its vectors durable in dir and returns their
// size. The vectors come first: a segment that exists has them. A file of the
// name has the same content and is replaced, which mends a damaged one.
func (b *Builder) Write(dir, embedder string) (name string, size int64, err error) {
	name = b.Name()
	secs, err := b.sections()
	if err != nil {
		return "", 0, err
	}
	n, err := writeVectors(dir, name, embedder, b.chunker, b.vectors)
	if err != nil {
		return "", 0, err
	}
	m, err := writeBlockfile(SegmentPath(dir, name),
		blockfile.Header{Kind: kindSegment, Version: FormatVersion, Chunker: b.chunker}, secs)
	if err == nil {
		err = unmark(dir, name)
	}
	return name, n + m, err
}

// unmark forgets that a segment came from elsewhere: it was made here now.
func unmark(dir, name string) error {
	if err := os.Remove(ImportedPath(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kb.Errorf(kb.Denied, "cannot delete %q: %w", ImportedPath(dir, name), err).WithHint("check the permissions of the data directory")
	}
	return nil
}

func writeBlockfile(path string, h blockfile.Header, secs []named) (int64, error) {
	w, err := blockfile.Create(path, h)
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	for _, s := range secs {
		if err := w.Section(s.name); err != nil {
			return 0, err
		}
		if _, err := w.Write(s.data); err != nil {
			return 0, err
		}
	}
	if err := w.Commit(); err != nil {
		return 0, err
	}
	return w.Size(), nil
}

// segment is an open segment. Everything it returns is copied or lives as
// long as the pool holds it.
type segment struct {
	name   string
	file   *blockfile.Reader
	info   segmentInfo
	docs   []byte
	chunks []byte
	dict   *dict
	text   stream
	facts  stream  // empty in segments of version 1
	fact   []int64 // where the facts of each document begin, and where the last end
	specs  stream  // empty in segments without specifications
	spec   map[uint32]specPart
	doc    []uint32  // of each chunk
	sizes  []uint32  // by chunk, what lens returns, packed: most postings ask for it
	pooled *pooled   // in the pool that opened it
	thin   *thinInfo // nil of a whole one

	vecPath string
	vecFile *blockfile.Reader // nil when there are no vectors, or vecErr says why
	vecOnce sync.Once
	vecErr  error
	matrix  *vector.Matrix
	engine  vector.Engine
}

// openSegment maps a segment and its vectors: both now, since a reader may
// outlive their names. Of a segment that is being deleted the vectors go
// last, so that missing ones are missing for good when the segment is there.
func openSegment(dir, name, embedder string) (*segment, error) {
	path := SegmentPath(dir, name)
	f, err := blockfile.Open(path, kindSegment, FormatVersion)
	if err != nil {
		return nil, err
	}
	s := &segment{name: name, file: f, vecPath: VectorsPath(dir, name, embedder)}
	if err := f.Guard(s.load); err != nil {
		f.Close()
		return nil, err
	}
	if s.vecFile, err = blockfile.Open(s.vecPath, kindVectors, FormatVersion); err == nil {
		if err = s.vecFile.Guard(s.ownVectors); err == nil {
			return s, nil
		}
		s.vecFile.Close()
		s.vecFile = nil
	}
	switch kb.CodeOf(err) {
	case kb.NotFound:
	case kb.Corrupt, kb.Newer:
		s.vecErr = err
		return s, nil
	default: // of the moment: the next look may find all well
		f.Close()
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		f.Close()
		return nil, kb.Errorf(kb.NotFound, "no file %q", path).WithHint("index the store again to rebuild it")
	}
	return s, nil
}

func (s *segment) corrupt(what string) error {
	return kb.Errorf(kb.Corrupt, "segment %s is damaged: %s", s.name, what).WithHint("run store:index with force to rebuild the store")
}

func (s *segment) load() error {
	raw, err := s.file.Section("info").All()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &s.info); err != nil {
		return s.corrupt("its description does not parse")
	}
	if s.docs, err = s.file.Section("docs").All(); err != nil {
		return err
	}
	if s.chunks, err = s.file.Section("chunks").All(); err != nil {
		return err
	}
	if len(s.docs) != s.info.Documents*docRecord || len(s.chunks) != s.info.Chunks*chunkRecord {
		return s.corrupt("its tables have the wrong length")
	}
	if s.dict, err = openDict(s.file.Section("terms"), s.file.Section("termidx"), s.file.Section("post")); err != nil {
		return err
	}
	if s.file.Has("skipidx") {
		s.dict.skips = s.file.Section("skips")
		if s.dict.skipidx, err = s.file.Section("skipidx").All(); err != nil {
			return err
		}
	}
	if s.file.Has(sectionThin) {
		err = s.loadThin()
	} else {
		err = s.text.open(s.file.Section("text"), s.file.Section("blocks"), s.info.Stream)
	}
	if err != nil {
		return err
	}
	if s.file.Has("factidx") {
		if err := s.loadFacts(); err != nil {
			return err
		}
	}
	if s.file.Has("specidx") {
		if err := s.loadSpecs(); err != nil {
			return err
		}
	}
	if h := s.file.Header(); segmentName(h.Version, h.Chunker, s.keys()) != s.name {
		return s.corrupt("its name is that of other content")
	}
	s.doc = make([]uint32, s.info.Chunks)
	s.sizes = make([]uint32, s.info.Chunks)
	for d := range s.info.Documents {
		from, to := s.chunkRange(d)
		if from > to || to > s.info.Chunks {
			return s.corrupt("its documents are out of order")
		}
		for c := from; c < to; c++ {
			s.doc[c] = uint32(d)
			n := s.record(uint32(c))
			s.sizes[c] = min(n[fieldBody], lengths) | min(n[fieldSymbols], mostPacked)<<16 | min(n[fieldHeadings], mostPacked)<<24
		}
	}
	return nil
}

// replaced reports whether another file has the segment's name now, or
// other vectors beside it than when it was opened. A segment that was deleted
// with its store is read to the end by readers that have it open.
func (s *segment) replaced(dir string) bool {
	_, err := os.Stat(SegmentPath(dir, s.name))
	return err == nil && !s.stands()
}

// stands reports whether the segment's files are where they were when they were
// opened, vectors that were missing or damaged included.
func (s *segment) stands() bool {
	if !s.file.Stands() {
		return false
	}
	if s.vecFile != nil {
		return s.vecFile.Stands()
	}
	_, err := os.Stat(s.vecPath)
	return err != nil
}

// close gives up the maps. Nothing may use the segment any more.
func (s *segment) close() {
	for _, x := range []*stream{&s.text, &s.facts, &s.specs} {
		unpacked.forget(x)
	}
	if s.engine != nil {
		s.engine.Close()
	}
	if s.vecFile != nil {
		s.vecFile.Close()
	}
	s.file.Close()
}

func (s *segment) hash(d int) (h kb.DocHash) {
	copy(h[:], s.docs[d*docRecord:])
	return h
}

func (s *segment) key(d int) kb.DocKey { return kb.DocKey{Hash: s.hash(d), Language: s.language(d)} }

func (s *segment) language(d int) string {
	if i := int(s.docs[d*docRecord+52]); i < len(s.info.Languages) {
		return s.info.Languages[i]
	}
	return ""
}

func (s *segment) flags(d int) kb.DocFlags { return kb.DocFlags(s.docs[d*docRecord+53]) }

func (s *segment) textLen(d int) int64 {
	return int64(binary.LittleEndian.Uint32(s.docs[d*docRecord+40:]))
}

// chunkRange returns the numbers of a document's chunks, half open.
func (s *segment) chunkRange(d int) (from, to int) {
	from = int(binary.LittleEndian.Uint32(s.docs[d*docRecord+48:]))
	to = s.info.Chunks
	if (d+1)*docRecord < len(s.docs) {
		to = int(binary.LittleEndian.Uint32(s.docs[(d+1)*docRecord+48:]))
	}
	return from, to
}

// mostPacked is the length from which on a field is looked up where it is written;
// that of the body is lengths.
const mostPacked = 1<<8 - 1

// lens returns how many terms the fields of a chunk have.
func (s *segment) lens(c uint32) [numFields]uint32 {
	x := s.sizes[c]
	n := [numFields]uint32{x & (1<<16 - 1), x >> 16 & mostPacked, x >> 24}
	if n[fieldBody] < lengths && n[fieldSymbols] < mostPacked && n[fieldHeadings] < mostPacked {
		return n
	}
	return s.record(c)
}

// record is lens as it is written.
func (s *segment) record(c uint32) [numFields]uint32 {
	r := s.chunks[c*chunkRecord:][:chunkRecord]
	return [numFields]uint32{
		binary.LittleEndian.Uint32(r[24:]),
		uint32(binary.LittleEndian.Uint16(r[28:])),
		uint32(binary.LittleEndian.Uint16(r[30:])),
	}
}

// chunkInfo is the fixed part of a chunk.
type chunkInfo struct {
	from, to, start, end int
	decl                 uint64
	ordinal, text        uint16
	cols                 bool
}

func (s *segment) chunk(c int) chunkInfo {
	le := binary.LittleEndian
	r := s.chunks[c*chunkRecord : (c+1)*chunkRecord]
	return chunkInfo{
		from: int(le.Uint32(r)), to: int(le.Uint32(r[4:])),
		start: int(le.Uint32(r[8:])), end: int(le.Uint32(r[12:])),
		decl: le.Uint64(r[16:]), ordinal: le.Uint16(r[32:]), text: le.Uint16(r[34:]), cols: r[36] != 0,
	}
}

// part returns n bytes of a stream from off, copied.
func (s *segment) part(from *stream, off, n int64) ([]byte, error) {
	b, err := from.read(off, n)
	if err == errStream {
		return nil, s.corrupt("its text is cut short or does not decompress")
	}
	return b, err
}

// ofDocument returns n bytes from off of what the stream has of a document: its
// text, then its meta.
func (s *segment) ofDocument(d int, off, n int64) ([]byte, error) {
	return s.part(&s.text, int64(binary.LittleEndian.Uint64(s.docs[d*docRecord+32:]))+off, n)
}

// body returns the text of a document.
func (s *segment) body(d int) (string, error) {
	b, err := s.ofDocument(d, 0, s.textLen(d))
	return owned(b), err
}

// owned makes a string of bytes that nothing else refers to, without copying them
// once more.
func owned(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// excerpt returns bytes from to to of a document's text.
func (s *segment) excerpt(d, from, to int) (string, error) {
	if from > to || int64(to) > s.textLen(d) {
		return "", s.corrupt("a chunk lies outside its text")
	}
	b, err := s.ofDocument(d, int64(from), int64(to-from))
	return owned(b), err
}

// chunksOf returns the chunks of a document with everything known of them.
func (s *segment) chunksOf(d int) ([]kb.Chunk, error) {
	from, to := s.chunkRange(d)
	out := make([]kb.Chunk, to-from)
	for i := range out {
		c := s.chunk(from + i)
		out[i] = kb.Chunk{From: c.from, To: c.to, Start: c.start, End: c.end}
	}
	b, err := s.ofDocument(d, s.textLen(d), int64(binary.LittleEndian.Uint32(s.docs[d*docRecord+44:])))
	if err != nil {
		return nil, err
	}
	if err := readMeta(b, out); err != nil {
		return nil, s.corrupt("its descriptions do not parse")
	}
	return out, nil
}

// chunkOf returns chunk k of a document with everything known of it.
func (s *segment) chunkOf(d, k int) (kb.Chunk, error) {
	b, err := s.ofDocument(d, s.textLen(d), int64(binary.LittleEndian.Uint32(s.docs[d*docRecord+44:])))
	if err != nil {
		return kb.Chunk{}, err
	}
	c, err := readMetaOf(b, k)
	if err != nil {
		return kb.Chunk{}, s.corrupt("its descriptions do not parse")
	}
	from, _ := s.chunkRange(d)
	at := s.chunk(from + k)
	c.From, c.To, c.Start, c.End = at.from, at.to, at.start, at.end
	return c, nil
}
