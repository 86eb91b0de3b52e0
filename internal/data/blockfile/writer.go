package blockfile

import (
	"runtime"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Writer writes one file, section by section, in a stream: it holds one block
// in memory. It is for one goroutine. After an error it only fails on.
type Writer struct {
	f     *atomicfile.File
	h     Header
	buf   []byte // the block being filled
	off   int64  // bytes of the file so far, buf included
	crcs  []uint32
	parts []part
	err   error
}

// Create begins a file that appears at path when Commit succeeds.
func Create(path string, h Header) (*Writer, error) {
	head, err := h.encode()
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, h: h, buf: make([]byte, 0, BlockSize)}
	w.append(head)
	return w, nil
}

// Section ends the current section and starts the one called name. Names are
// unique within a file, 1 to 64 bytes.
func (w *Writer) Section(name string) error {
	if w.err != nil {
		return w.err
	}
	if len(name) == 0 || len(name) > maxName || len(w.parts) == maxParts {
		return w.fail(kb.Errorf(kb.Internal, "section name %q is not within limits", name))
	}
	for _, p := range w.parts {
		if p.name == name {
			return w.fail(kb.Errorf(kb.Internal, "section %q begins twice", name))
		}
	}
	var zero [Align]byte
	if n := w.off % Align; n > 0 {
		w.append(zero[n:])
	}
	w.parts = append(w.parts, part{name: name, off: w.off})
	return w.err
}

// Write appends to the current section.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err == nil && len(w.parts) == 0 {
		w.fail(kb.Errorf(kb.Internal, "bytes outside any section"))
	}
	w.append(p)
	if w.err != nil {
		return 0, w.err
	}
	w.parts[len(w.parts)-1].len += int64(len(p))
	return len(p), nil
}

// Offset returns how many bytes the current section holds so far.
func (w *Writer) Offset() int64 {
	if len(w.parts) == 0 {
		return 0
	}
	return w.parts[len(w.parts)-1].len
}

// Size returns how many bytes the file holds so far; table and trailer add
// about 4 bytes per block.
func (w *Writer) Size() int64 { return w.off }

// Commit completes the file and makes it appear, durable, at its path.
func (w *Writer) Commit() error { return w.CommitAs(w.f.Path()) }

// CommitAs is Commit under another path in the same directory, for files
// named by their content.
func (w *Writer) CommitAs(path string) error {
	w.flush()
	if w.err != nil {
		return w.err
	}
	table := encodeTable(w.parts, w.crcs)
	for _, b := range [][]byte{table, encodeTrailer(w.off, len(table))} {
		if _, err := w.f.Write(b); err != nil {
			return w.fail(err)
		}
	}
	err := w.f.CommitAs(path)
	if err != nil && runtime.GOOS == "windows" && w.stands(path) {
		// Windows does not replace a mapped file. Files named by their content
		// may be written again although they are there.
		w.err = errDone
		return w.f.Abort()
	}
	if err != nil {
		return w.fail(err)
	}
	w.err = errDone
	return nil
}

// Abort removes what was written; after Commit it does nothing. Defer it.
func (w *Writer) Abort() error {
	if w.err == nil {
		w.err = errDone
	}
	return w.f.Abort()
}

var errDone = kb.Errorf(kb.Internal, "the file was committed or aborted already")

// stands reports whether path has a whole file of the same tables.
func (w *Writer) stands(path string) bool {
	r, err := Open(path, w.h.Kind, w.h.Version)
	if err != nil {
		return false
	}
	defer r.Close()
	if r.head != w.h || len(r.crcs) != len(w.crcs) {
		return false
	}
	for i := range r.crcs {
		if r.crcs[i] != w.crcs[i] {
			return false
		}
	}
	return r.Verify() == nil
}

func (w *Writer) append(p []byte) {
	for len(p) > 0 && w.err == nil {
		n := min(BlockSize-len(w.buf), len(p))
		w.buf = append(w.buf, p[:n]...)
		w.off += int64(n)
		p = p[n:]
		if len(w.buf) == BlockSize {
			w.flush()
		}
	}
}

func (w *Writer) flush() {
	if w.err != nil || len(w.buf) == 0 {
		return
	}
	w.crcs = append(w.crcs, checksum(w.buf))
	if _, err := w.f.Write(w.buf); err != nil {
		w.fail(err)
	}
	w.buf = w.buf[:0]
}

func (w *Writer) fail(err error) error {
	w.err = err
	return err
}
