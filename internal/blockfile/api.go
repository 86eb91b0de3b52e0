// Package blockfile is being written.
package blockfile

import "github.com/seed-4f2d999b/knowledge/internal/kb"

// BlockSize is the number of bytes that one checksum covers.
const BlockSize = 64 << 10

// Align is the alignment in bytes of every section's start, in the file and in memory.
const Align = 64

var errStub = kb.Errorf(kb.Unsupported, "not built yet")

// Header says what a file holds and who produced it.
type Header struct {
	Kind     string // "segment", "vectors", "manifest": 1 to 64 bytes
	Version  uint32 // of the kind's own format
	Chunker  uint32 // version of the chunker; 0 where it does not matter
	Embedder string // kb.Embedder.ID; "" where it does not matter
}

// Writer writes one file, section by section, in a stream.
type Writer struct{}

// Create begins a file that appears at path when Commit succeeds.
func Create(path string, h Header) (*Writer, error) { return nil, errStub }

// Section ends the current section and starts the one called name. Names are
// unique within a file, 1 to 64 bytes.
func (w *Writer) Section(name string) error { return errStub }

// Write appends to the current section.
func (w *Writer) Write(p []byte) (int, error) { return 0, errStub }

// Offset returns how many bytes the current section holds so far.
func (w *Writer) Offset() int64 { return 0 }

// Size returns how many bytes the file holds so far.
func (w *Writer) Size() int64 { return 0 }

// Commit completes the file and makes it appear, durable, at its path.
func (w *Writer) Commit() error { return errStub }

// CommitAs is Commit under another name in the same directory, for files
// named by their content.
func (w *Writer) CommitAs(path string) error { return errStub }

// Abort removes what was written; after Commit it does nothing. Defer it.
func (w *Writer) Abort() error { return nil }

// Reader is an open file, mapped into memory. It is safe for concurrent use.
type Reader struct{}

// Open maps the file at path. Errors: kb.NotFound; kb.Corrupt when it is
// truncated, of another kind or damaged where Open looks (header, tables);
// kb.Newer when its format is newer than maxVersion.
func Open(path, kind string, maxVersion uint32) (*Reader, error) { return nil, errStub }

// Path returns the path the file was opened with.
func (r *Reader) Path() string { return "" }

// Header returns what the file says of itself.
func (r *Reader) Header() Header { return Header{} }

// Size returns the length of the file in bytes.
func (r *Reader) Size() int64 { return 0 }

// Has reports whether the file has a section called name.
func (r *Reader) Has(name string) bool { return false }

// Sections returns the names of the sections in file order.
func (r *Reader) Sections() []string { return nil }

// Section returns the section called name. One that the file lacks has length
// 0 and answers every read but that of nothing with kb.Corrupt.
func (r *Reader) Section(name string) Section { return Section{} }

// Verify reads the whole file and returns kb.Corrupt if a checksum fails.
func (r *Reader) Verify() error { return errStub }

// Retain adds a holder; false means that the reader is closed already and must not be used.
func (r *Reader) Retain() bool { return false }

// Release gives a holder up; the last one unmaps the file.
func (r *Reader) Release() {}

// Close gives up the holder that Open returned.
func (r *Reader) Close() error { return nil }

// Guard is the function Guard whose error names this file.
func (r *Reader) Guard(f func() error) error { return errStub }

// Section is one named run of bytes of a file. The zero value is empty.
type Section struct{}

// Len returns the number of bytes.
func (s Section) Len() int64 { return 0 }

// Bytes returns n bytes from off: a slice of the map, not a copy; it must not
// be written to nor outlive the reader. Blocks touched for the first time are
// verified; kb.Corrupt means damage or a range outside the section.
func (s Section) Bytes(off, n int64) ([]byte, error) { return nil, errStub }

// All returns the whole section.
func (s Section) All() ([]byte, error) { return nil, errStub }

// Guard runs f and turns a memory fault (a mapped file that was truncated, a
// disk that fails) and an index or slice out of range (what damaged content
// leads to) into kb.Corrupt. Other panics pass. Faults are caught only in the
// goroutine that called Guard.
func Guard(f func() error) error { return errStub }
