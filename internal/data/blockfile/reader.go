package blockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/edsrzf/mmap-go"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Reader is an open file, mapped into memory. It is safe for concurrent use.
//
// Open makes one holder. Whoever shares a reader calls Retain before use and
// Release after; the map goes with the last holder. Bytes that a Section
// returned must not be touched after that.
type Reader struct {
	path     string
	stat     fs.FileInfo // of the file when it was opened
	data     []byte      // the whole file
	unmap    mmap.MMap   // nil when data is not a map
	head     Header
	parts    []part
	crcs     []uint32
	tableOff int64
	tableSum uint32

	seen   []atomic.Uint64 // one bit per block: verified
	unseen atomic.Int64    // blocks not verified yet
	refs   atomic.Int32
	closed atomic.Bool
}

// Open maps the file at path. Errors: kb.NotFound; kb.Corrupt when it is
// truncated, of another kind or damaged where Open looks (header, tables);
// kb.Newer when its layout or its kind's format is newer than maxVersion.
// Open reads a few pages, whatever the size.
func Open(path, kind string, maxVersion uint32) (*Reader, error) {
	f, err := atomicfile.Open(path)
	switch {
	case kb.CodeOf(err) == kb.Corrupt && err != nil:
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, kb.Errorf(kb.NotFound, "no file %q", path).WithHint("index the store again to rebuild it")
	case errors.Is(err, fs.ErrPermission):
		return nil, kb.Errorf(kb.Denied, "no permission to read %q", path).WithHint("make the file readable for you")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return nil, kb.Errorf(kb.Internal, "too many files are open to read %q: %w", path, err).
			WithHint("raise the limit, with ulimit -n 1024, then try again")
	case err != nil:
		return nil, kb.Errorf(kb.Internal, "cannot open %q: %w", path, err).WithHint("check that disk")
	}
	defer f.Close() // the map lives without the file
	st, err := f.Stat()
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "cannot open %q: %w", path, err).WithHint("check that disk")
	}
	if !st.Mode().IsRegular() || st.Size() < trailerLen {
		return nil, corrupt(path, "it is truncated")
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "cannot map %q: %w", path, err).
			WithHint("close other programs to free memory, then try again")
	}
	r := &Reader{path: path, stat: st, data: m, unmap: m}
	r.refs.Store(1)
	enter(r)
	if err := r.Guard(func() error { return r.parse(kind, maxVersion) }); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// parse reads header, trailer and table.
func (r *Reader) parse(kind string, maxVersion uint32) error {
	d := r.data
	if len(d) < fixedLen+4+8+trailerLen {
		return corrupt(r.path, "it is truncated")
	}
	if string(d[:8]) != magicHead || le.Uint32(d[12:]) != checksum(d[:12]) {
		return corrupt(r.path, "it does not begin like one of ours")
	}
	if v := le.Uint32(d[8:]); v > layout {
		return newer(r.path)
	}
	kindLen, idLen := int(le.Uint16(d[24:])), int(le.Uint16(d[26:]))
	end := fixedLen + kindLen + idLen // of the fields under the header's checksum
	if end+4 > len(d)-trailerLen || le.Uint32(d[end:]) != checksum(d[16:end]) {
		return corrupt(r.path, "the checksum of its header is wrong")
	}
	r.head = Header{
		Version:  le.Uint32(d[16:]),
		Chunker:  le.Uint32(d[20:]),
		Kind:     string(d[fixedLen : fixedLen+kindLen]),
		Embedder: string(d[fixedLen+kindLen : end]),
	}
	if r.head.Kind != kind {
		return corrupt(r.path, "it holds "+r.head.Kind+" instead of "+kind)
	}
	if r.head.Version > maxVersion {
		return newer(r.path)
	}
	t := d[len(d)-trailerLen:]
	if string(t[24:]) != magicTail || le.Uint32(t[20:]) != checksum(t[:20]) {
		return corrupt(r.path, "its end is missing")
	}
	tableOff, tableLen := le.Uint64(t), le.Uint64(t[8:])
	size := uint64(len(d) - trailerLen)
	if tableOff > size || tableLen != size-tableOff || tableOff < uint64(end+4) {
		return corrupt(r.path, "its length is wrong")
	}
	r.tableOff = int64(tableOff)
	if !r.parseTable(d[tableOff:size], int64(end+4)) {
		return corrupt(r.path, "its table is damaged")
	}
	r.seen = make([]atomic.Uint64, (len(r.crcs)+63)/64)
	r.unseen.Store(int64(len(r.crcs)))
	return nil
}

// parseTable reads sections, which lie in order from min on, and checksums.
func (r *Reader) parseTable(b []byte, min int64) bool {
	if len(b) < 12 || le.Uint32(b[len(b)-4:]) != checksum(b[:len(b)-4]) {
		return false
	}
	r.tableSum = le.Uint32(b[len(b)-4:])
	b = b[:len(b)-4]
	n := int(le.Uint32(b))
	if n > maxParts {
		return false
	}
	b = b[4:]
	names := make(map[string]bool, n)
	for range n {
		if len(b) < 2 {
			return false
		}
		l := int(le.Uint16(b))
		if len(b) < 2+l+16 {
			return false
		}
		p := part{name: string(b[2 : 2+l]), off: int64(le.Uint64(b[2+l:])), len: int64(le.Uint64(b[10+l:]))}
		b = b[18+l:]
		if p.off < min || p.len < 0 || p.off%Align != 0 || p.off > r.tableOff || p.len > r.tableOff-p.off || names[p.name] {
			return false
		}
		min = p.off + p.len
		names[p.name] = true
		r.parts = append(r.parts, p)
	}
	blocks := (r.tableOff + BlockSize - 1) / BlockSize
	if len(b) < 4 || int64(le.Uint32(b)) != blocks || int64(len(b)-4) != 4*blocks {
		return false
	}
	r.crcs = make([]uint32, blocks)
	for i := range r.crcs {
		r.crcs[i] = le.Uint32(b[4+4*i:])
	}
	return true
}

// Stands reports whether the opened file is still at its path, unchanged: files of
// this form never change.
func (r *Reader) Stands() bool {
	now, err := os.Stat(r.path)
	return err == nil && os.SameFile(now, r.stat) && now.Size() == r.stat.Size() && now.ModTime().Equal(r.stat.ModTime())
}

// Sum is a checksum over the whole file, made of those of its blocks: it identifies
// the file in references. It reads nothing.
func (r *Reader) Sum() uint64 { return uint64(r.tableOff)<<32 | uint64(r.tableSum) }

// Path returns the path the file was opened with.
func (r *Reader) Path() string { return r.path }

// Header returns the file's header.
func (r *Reader) Header() Header { return r.head }

// Size returns the length of the file in bytes.
func (r *Reader) Size() int64 { return int64(len(r.data)) }

// Has reports whether the file has a section called name.
func (r *Reader) Has(name string) bool { return !r.Section(name).missing }

// Sections returns the names of the sections in file order.
func (r *Reader) Sections() []string {
	names := make([]string, len(r.parts))
	for i, p := range r.parts {
		names[i] = p.name
	}
	return names
}

// Section returns the section called name. One that the file lacks has length
// 0 and answers every read with kb.Corrupt.
func (r *Reader) Section(name string) Section {
	for _, p := range r.parts {
		if p.name == name {
			return Section{r: r, part: p}
		}
	}
	return Section{r: r, part: part{name: name}, missing: true}
}

// Verify reads the whole file and returns kb.Corrupt if a checksum fails.
func (r *Reader) Verify() error {
	return r.Guard(func() error {
		for i := range r.crcs {
			if err := r.verify(int64(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// touch verifies the blocks of the half-open range of file offsets that were
// not verified before.
func (r *Reader) touch(from, to int64) error {
	if r.unseen.Load() == 0 {
		return nil
	}
	for b := from / BlockSize; b <= (to-1)/BlockSize; b++ {
		if r.seen[b/64].Load()&(1<<(b%64)) != 0 {
			continue
		}
		if err := r.Guard(func() error { return r.verify(b) }); err != nil {
			return err
		}
		if r.seen[b/64].Or(1<<(b%64))&(1<<(b%64)) == 0 {
			r.unseen.Add(-1)
		}
	}
	return nil
}

func (r *Reader) verify(block int64) error {
	from := block * BlockSize
	if checksum(r.data[from:min(from+BlockSize, r.tableOff)]) != r.crcs[block] {
		return corrupt(r.path, "a checksum is wrong")
	}
	return nil
}

// Retain adds a holder; false means that the last holder has gone and the
// reader must not be used.
func (r *Reader) Retain() bool {
	for {
		n := r.refs.Load()
		if n <= 0 {
			return false
		}
		if r.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release gives up a holder that Retain added; the last one unmaps the file.
func (r *Reader) Release() { _ = r.release() }

func (r *Reader) release() error {
	if r.refs.Add(-1) > 0 {
		return nil
	}
	leave(r)
	if r.unmap == nil {
		return nil
	}
	if err := r.unmap.Unmap(); err != nil {
		return kb.Errorf(kb.Internal, "cannot unmap %q: %w", r.path, err)
	}
	return nil
}

// Close gives up the holder that Open made. Further calls do nothing.
func (r *Reader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	return r.release()
}

// Section is one named run of bytes of a file. The zero value is empty.
type Section struct {
	r *Reader
	part
	missing bool
}

// Len returns the number of bytes.
func (s Section) Len() int64 { return s.len }

// Bytes returns n bytes from off: a slice of the map, not a copy; it must not
// be written to nor outlive the reader. Blocks touched for the first time are
// verified; kb.Corrupt means damage, or a range outside the section, which is
// what damage elsewhere asks for.
func (s Section) Bytes(off, n int64) ([]byte, error) {
	if s.r == nil || s.missing || off < 0 || n < 0 || off > s.len-n {
		return nil, s.outside(off, n)
	}
	if n == 0 {
		return nil, nil
	}
	from := s.off + off
	if err := s.r.touch(from, from+n); err != nil {
		return nil, err
	}
	return s.r.data[from : from+n : from+n], nil
}

// All returns the whole section.
func (s Section) All() ([]byte, error) { return s.Bytes(0, s.len) }

// Lazily returns the whole section as it is, and a function that verifies n bytes
// of it from off, like Bytes: none of them must be used before.
func (s Section) Lazily() (b []byte, verify func(off, n int64) error, err error) {
	if s.r == nil || s.missing {
		return nil, nil, s.outside(0, s.len)
	}
	verify = func(off, n int64) error {
		_, err := s.Bytes(off, n)
		return err
	}
	return s.r.data[s.off : s.off+s.len : s.off+s.len], verify, nil
}

func (s Section) outside(off, n int64) error {
	switch {
	case s.r == nil && off == 0 && n == 0:
		return nil
	case s.r == nil:
		return kb.Errorf(kb.Internal, "read from no section")
	case s.missing:
		return corrupt(s.r.path, "it lacks the section "+s.name)
	}
	return corrupt(s.r.path, "it points outside its section "+s.name)
}

func corrupt(path, why string) error {
	return kb.Errorf(kb.Corrupt, "file %q is damaged: %s", filepath.Base(path), why).
		WithHint("index the store again to rebuild it")
}

func newer(path string) error {
	return kb.Errorf(kb.Newer, "file %q was written by a newer version of this program", filepath.Base(path)).
		WithHint("restart this session to use the newer version")
}

// open holds the mapped readers, to name the file in which a fault happened.
var open struct {
	sync.Mutex
	readers map[*Reader]struct{}
}

func enter(r *Reader) {
	open.Lock()
	defer open.Unlock()
	if open.readers == nil {
		open.readers = map[*Reader]struct{}{}
	}
	open.readers[r] = struct{}{}
}

func leave(r *Reader) {
	open.Lock()
	defer open.Unlock()
	delete(open.readers, r)
}
