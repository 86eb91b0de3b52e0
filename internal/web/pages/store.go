package pages

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Store is the one writer of a folder of pages. It is safe for concurrent use
// within its process; another process must not have the folder open as a Store
// meanwhile.
type Store struct {
	dir string

	mu     sync.Mutex
	s      *state
	synced time.Time
	err    error // a failure after which nothing more can be written
}

// syncEvery is how often appended records are synced.
const syncEvery = time.Second

// Open opens dir for writing and makes it when there is none. What a dead
// writer left half-written is cut away. A log that cannot be read at all
// (Corrupt) is put aside as ".bad" and the site counts as never crawled.
func Open(dir string) (*Store, error) {
	st := &Store{dir: dir}
	if err := atomicfile.MkdirAll(dir); err != nil {
		return nil, err
	}
	if _, err := atomicfile.CleanTemp(dir, time.Hour); err != nil {
		return nil, err
	}
	s, err := load(dir, os.O_RDWR)
	if kb.CodeOf(err) == kb.Corrupt {
		n, _, _ := newest(dir)
		name := filepath.Join(dir, logName(n))
		if e := os.Rename(name, name+".bad"); e != nil {
			return nil, wrap(e, name)
		}
		s, err = load(dir, os.O_RDWR)
	}
	if kb.CodeOf(err) == kb.NotFound {
		if err = st.create(1, nil); err == nil {
			s, err = load(dir, os.O_RDWR)
		}
	}
	if err != nil {
		return nil, err
	}
	st.s = s
	if s.size > s.end {
		if err := s.f.Truncate(s.end); err != nil {
			s.f.Close()
			return nil, wrap(err, s.name)
		}
	}
	st.removeOld()
	return st, nil
}

// removeOld deletes logs that a newer one replaced; on Windows those
// without a reader.
func (st *Store) removeOld() {
	_, all, err := newest(st.dir)
	if err != nil {
		return
	}
	for _, n := range all {
		if n < st.s.number {
			os.Remove(filepath.Join(st.dir, logName(n)))
		}
	}
}

// create writes log number n whole: its header and what fill appends.
func (st *Store) create(n int, fill func(write func([]byte) error) error) error {
	f, err := atomicfile.Create(filepath.Join(st.dir, logName(n)))
	if err != nil {
		return err
	}
	defer f.Abort()
	head := append([]byte(magic), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(head[8:], Version)
	head = binary.LittleEndian.AppendUint32(head, crc(head))
	write := func(b []byte) error { _, err := f.Write(b); return err }
	if err := write(head); err != nil {
		return err
	}
	if fill != nil {
		if err := fill(write); err != nil {
			return err
		}
	}
	return f.Commit()
}

// Close syncs what was written and closes the log.
func (st *Store) Close() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	err := st.s.f.Sync()
	return errors.Join(wrap(err, st.s.name), wrap(st.s.f.Close(), st.s.name))
}

// Begin starts a crawl, or goes on with the one that was under way when that
// had the same settings; its visits then count as done.
func (st *Store) Begin(settings string) (resumed bool, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.s
	if s.open && s.settings == settings {
		return true, nil
	}
	n := s.crawl + 1
	if s.open {
		n = s.crawl
	}
	b := begin{Crawl: n, Settings: settings, Time: time.Now().UTC()}
	if _, err = st.append(kindBegin, marshal(b), nil, nil); err != nil {
		return false, err
	}
	s.crawl, s.open, s.settings, s.started = b.Crawl, true, settings, b.Time
	s.now, s.order = map[string]*ref{}, nil
	return false, nil
}

// Dir returns the folder.
func (st *Store) Dir() string { return st.dir }

// Crawl returns the number of the crawl under way, or of the last.
func (st *Store) Crawl() int { st.mu.Lock(); defer st.mu.Unlock(); return st.s.crawl }

// Committed reports whether a crawl has ended here.
func (st *Store) Committed() bool { st.mu.Lock(); defer st.mu.Unlock(); return !st.s.finished.IsZero() }

var encoders = sync.Pool{New: func() any {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}}

func pack(b []byte) []byte {
	e := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(e)
	return e.EncodeAll(b, nil)
}

// Put records a visit of the crawl under way with the links found and the
// text. It is on its way to the disk when Put returns: the death of the
// process loses none of it.
func (st *Store) Put(v Visit, links []Link, body []byte) error {
	var packed []byte
	if len(links) > 0 {
		packed = pack(marshal(links))
	}
	var text []byte
	if len(body) > 0 {
		text = pack(body)
	}
	v.Size = int64(len(body))
	st.mu.Lock()
	defer st.mu.Unlock()
	r, err := st.append(kindVisit, marshal(v), packed, text)
	if err == nil {
		st.s.put(v.Key, r)
	}
	return err
}

// Keep records that what the visit v, got from Before, has as text and links
// holds for the crawl under way as well. Its other fields may have changed.
func (st *Store) Keep(v Visit) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	old := st.s.before[v.Key]
	if old == nil {
		return kb.Errorf(kb.Internal, "%q was not visited by the crawl before", v.Key)
	}
	r, err := st.append(kindSame, marshal(v), nil, nil)
	if err != nil {
		return err
	}
	r.body, r.links = old.body, old.links
	st.s.put(v.Key, r)
	return nil
}

// Commit ends the crawl under way. From now on its pages are the site's.
func (st *Store) Commit() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.s.open {
		return kb.Errorf(kb.Internal, "no crawl is under way in %q", st.dir)
	}
	if err := st.s.f.Sync(); err != nil {
		return wrap(err, st.s.name)
	}
	c := commit{Crawl: st.s.crawl, Time: time.Now().UTC()}
	if _, err := st.append(kindCommit, marshal(c), nil, nil); err != nil {
		return err
	}
	if err := st.s.f.Sync(); err != nil {
		return wrap(err, st.s.name)
	}
	st.s.commit(c)
	return st.compact()
}

// Before returns what became of a URL in the last crawl that ended.
func (st *Store) Before(key string) (Visit, bool) { return st.visit(key, false) }

// Now returns what became of a URL in the crawl under way.
func (st *Store) Now(key string) (Visit, bool) { return st.visit(key, true) }

func (st *Store) visit(key string, now bool) (Visit, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	m := st.s.before
	if now {
		m = st.s.now
	}
	if r := m[key]; r != nil {
		return st.s.visit(r)
	}
	return Visit{}, false
}

// Done goes over the visits of the crawl under way in the order in which they
// were first made.
func (st *Store) Done() iter.Seq[Visit] {
	st.mu.Lock()
	keys := st.s.order
	st.mu.Unlock()
	return func(yield func(Visit) bool) {
		for _, k := range keys {
			if v, ok := st.Now(k); ok && !yield(v) {
				return
			}
		}
	}
}

// All goes over the visits of the last crawl that ended, in no order.
func (st *Store) All() iter.Seq[Visit] {
	st.mu.Lock()
	s, m := st.s, st.s.before
	st.mu.Unlock()
	return func(yield func(Visit) bool) {
		for _, r := range m {
			if v, ok := s.visit(r); ok && !yield(v) {
				return
			}
		}
	}
}

// Links returns the links of a visit.
func (st *Store) Links(v Visit) ([]Link, error) {
	b, err := st.part(v.links)
	if err != nil || b == nil {
		return nil, err
	}
	var links []Link
	if err := json.Unmarshal(b, &links); err != nil {
		return nil, kb.Errorf(kb.Corrupt, "the links of %q cannot be read", v.URL)
	}
	return links, nil
}

// Body returns the text of a visit.
func (st *Store) Body(v Visit) ([]byte, error) { return st.part(v.body) }

func (st *Store) part(p span) ([]byte, error) {
	st.mu.Lock()
	s := st.s
	st.mu.Unlock()
	return s.span(p)
}

// append writes one record. After a failure the log ends as before.
func (st *Store) append(kind byte, meta, links, body []byte) (*ref, error) {
	s := st.s
	if st.err != nil {
		return nil, st.err
	}
	if len(meta) > maxPart || len(links) > maxPart || len(body) > maxPart {
		return nil, kb.Errorf(kb.TooLarge, "a page is too large to be kept")
	}
	at := s.end
	buf := appendRecord(make([]byte, 0, recBytes+len(meta)+len(links)+len(body)), kind, meta, links, body)
	if _, err := s.f.WriteAt(buf, at); err != nil {
		if e := s.f.Truncate(at); e != nil {
			st.err = wrap(err, s.name)
		}
		return nil, wrap(err, s.name)
	}
	s.end = at + int64(len(buf))
	if time.Since(st.synced) > syncEvery {
		if err := s.f.Sync(); err != nil {
			return nil, wrap(err, s.name)
		}
		st.synced = time.Now()
	}
	r := &ref{meta: span{at + recBytes, int64(len(meta)), crc(meta)}}
	r.links = span{r.meta.at + r.meta.n, int64(len(links)), crc(links)}
	r.body = span{r.links.at + r.links.n, int64(len(body)), crc(body)}
	return r, nil
}

func appendRecord(buf []byte, kind byte, meta, links, body []byte) []byte {
	start := len(buf)
	buf = append(buf, recMagic...)
	buf = append(buf, kind, 0, 0, 0)
	for _, p := range [][]byte{meta, links, body} {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(len(p)))
	}
	for _, p := range [][]byte{meta, links, body} {
		buf = binary.LittleEndian.AppendUint32(buf, crc(p))
	}
	buf = binary.LittleEndian.AppendUint32(buf, crc(buf[start:]))
	buf = append(buf, meta...)
	buf = append(buf, links...)
	return append(buf, body...)
}

// wrap says for a reader why a log cannot be written or read.
func wrap(err error, path string) error {
	const diskFull = syscall.Errno(112) // ERROR_DISK_FULL of Windows
	var known *kb.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ENOSPC) || os.PathSeparator == '\\' && errors.Is(err, diskFull):
		return kb.Errorf(kb.Full, "no space left to write %q: %w", path, err).
			WithHint("free some space on that disk, then index the store again: it goes on where it stopped")
	case errors.Is(err, fs.ErrPermission):
		return kb.Errorf(kb.Denied, "no permission to use %q: %w", path, err).
			WithHint("make the data directory writable for you")
	}
	return kb.Errorf(kb.Internal, "cannot use %q: %w", path, err).WithHint("check that disk")
}

// Sound reports whether what was kept of a visit passes its checksums. What
// does not must be fetched anew.
func (st *Store) Sound(v Visit) bool {
	st.mu.Lock()
	s := st.s
	st.mu.Unlock()
	for _, p := range []span{v.links, v.body} {
		b := make([]byte, p.n)
		if _, err := s.f.ReadAt(b, p.at); err != nil && p.n > 0 || crc(b) != p.crc {
			return false
		}
	}
	return true
}
