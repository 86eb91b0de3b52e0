package pages

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// state is what a log says, as far as it was read.
type state struct {
	f       *os.File
	name    string
	number  int
	end     int64 // of the last sound record
	size    int64 // of the file when it was read
	damaged int   // records skipped

	crawl    int // number of the crawl under way or, if open is false, of the last
	open     bool
	settings string
	started  time.Time
	finished time.Time // of the last commit; zero when there was none
	before   map[string]*ref
	now      map[string]*ref
	order    []string // keys of now in the order of their first visit
}

// ref is the place of a visit in the log: for a site of 100,000 pages the
// visits themselves would be 100 MB.
type ref struct{ meta, links, body span }

func logName(n int) string { return fmt.Sprintf("pages.%06d", n) }

// newest returns the number of the newest log in dir, 0 when there is none,
// and the numbers of all.
func newest(dir string) (int, []int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, wrap(err, dir)
	}
	var all []int
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "pages.")
		if n, err := strconv.Atoi(rest); ok && err == nil && n > 0 && logName(n) == e.Name() {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return 0, nil, nil
	}
	return slices.Max(all), all, nil
}

// load reads the newest log. The error is NotFound when there is none.
func load(dir string, flag int) (*state, error) {
	for try := 0; ; try++ {
		n, _, err := newest(dir)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, kb.Errorf(kb.NotFound, "no pages have been kept in %q", dir).WithHint("crawl the site first")
		}
		name := filepath.Join(dir, logName(n))
		if err := atomicfile.Plain(name); err != nil {
			return nil, wrap(err, name)
		}
		f, err := os.OpenFile(name, flag, 0o600)
		if errors.Is(err, fs.ErrNotExist) && try < 10 {
			continue // another log took its place meanwhile
		}
		if err != nil {
			return nil, wrap(err, name)
		}
		s := &state{f: f, name: name, number: n, before: map[string]*ref{}, now: map[string]*ref{}}
		if err := s.read(); err != nil {
			f.Close()
			return nil, err
		}
		return s, nil
	}
}

func (s *state) read() error {
	info, err := s.f.Stat()
	if err != nil {
		return wrap(err, s.name)
	}
	s.size = info.Size()
	var head [headBytes]byte
	if _, err := s.f.ReadAt(head[:], 0); err != nil || string(head[:8]) != magic || crc(head[:12]) != binary.LittleEndian.Uint32(head[12:]) {
		return kb.Errorf(kb.Corrupt, "%q is no log of pages", s.name).WithHint("delete it and crawl the site again")
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v > Version {
		return kb.Errorf(kb.Newer, "%q was written by a newer version of this program", s.name).
			WithHint("restart this session, or update the program")
	}
	s.end = headBytes
	in := &window{f: s.f, size: s.size}
	for at := int64(headBytes); at < s.size; {
		r, ok := in.record(at)
		if ok {
			s.apply(r)
			at = r.end()
			s.end = at
			continue
		}
		next := in.resync(at + 1)
		if next < 0 {
			break // cut off, or nothing sound follows
		}
		s.damaged++
		at = next
	}
	return nil
}

// record is one record without its links and body. Its meta is good until the
// next one is read.
type record struct {
	kind        byte
	at          int64
	meta        []byte
	where       span // of meta
	links, body span
}

func (r *record) end() int64 { return r.body.at + r.body.n }

// window reads a file forwards in large steps.
type window struct {
	f    *os.File
	size int64
	at   int64
	buf  []byte
}

// bytes returns n bytes at an offset, nil when the file ends before. They are
// good until the next call.
func (w *window) bytes(at, n int64) []byte {
	if at+n > w.size {
		return nil
	}
	if at < w.at || at+n > w.at+int64(len(w.buf)) {
		want := min(max(n, 64<<10), w.size-at)
		if int64(cap(w.buf)) < want {
			w.buf = make([]byte, want)
		}
		w.buf, w.at = w.buf[:want], at
		if m, err := w.f.ReadAt(w.buf, at); int64(m) < want && err != nil {
			w.buf = w.buf[:m]
			if int64(m) < n {
				return nil
			}
		}
	}
	return w.buf[at-w.at:][:n]
}

// record reads the record at an offset. Links and body are checked when they
// are read.
func (w *window) record(at int64) (record, bool) {
	h := w.bytes(at, recBytes)
	if h == nil || string(h[:4]) != recMagic || crc(h[:32]) != binary.LittleEndian.Uint32(h[32:]) {
		return record{}, false
	}
	u := func(i int) int64 { return int64(binary.LittleEndian.Uint32(h[i:])) }
	r := record{kind: h[4], at: at}
	meta, metaCRC := u(8), uint32(u(20))
	r.links = span{at + recBytes + meta, u(12), uint32(u(24))}
	r.body = span{r.links.at + r.links.n, u(16), uint32(u(28))}
	if meta > maxPart || r.links.n > maxPart || r.body.n > maxPart || r.end() > w.size {
		return record{}, false
	}
	m := w.bytes(at+recBytes, meta)
	if m == nil || crc(m) != metaCRC {
		return record{}, false
	}
	r.meta, r.where = m, span{at + recBytes, meta, metaCRC}
	return r, true
}

// resync returns where the next sound record at or after an offset begins, -1
// for none.
func (w *window) resync(at int64) int64 {
	for at < w.size {
		b := w.bytes(at, min(64<<10, w.size-at))
		i := bytes.Index(b, []byte(recMagic))
		if i < 0 {
			at += max(1, int64(len(b))-int64(len(recMagic))+1)
			continue
		}
		at += int64(i)
		if _, ok := w.record(at); ok {
			return at
		}
		at++
	}
	return -1
}

// apply takes one record into account.
func (s *state) apply(r record) {
	switch r.kind {
	case kindBegin:
		var b begin
		if json.Unmarshal(r.meta, &b) != nil {
			s.damaged++
			return
		}
		s.crawl, s.open, s.settings, s.started = b.Crawl, true, b.Settings, b.Time
		s.now, s.order = map[string]*ref{}, nil
	case kindVisit, kindSame:
		var v struct {
			Key string `json:"key"`
		}
		if json.Unmarshal(r.meta, &v) != nil {
			s.damaged++
			return
		}
		at := &ref{r.where, r.links, r.body}
		if r.kind == kindSame {
			old := s.before[v.Key]
			if old == nil {
				s.damaged++ // what it points at was damaged
				return
			}
			at.body = old.body
			if at.links.n == 0 {
				at.links = old.links
			}
		}
		s.put(v.Key, at)
	case kindCommit:
		var c commit
		if json.Unmarshal(r.meta, &c) != nil {
			s.damaged++
			return
		}
		s.commit(c)
	}
}

func (s *state) put(key string, r *ref) {
	if _, ok := s.now[key]; !ok {
		s.order = append(s.order, key)
	}
	s.now[key] = r
}

// visit reads the visit at a place; false when it is damaged.
func (s *state) visit(r *ref) (Visit, bool) {
	var v Visit
	b := make([]byte, r.meta.n)
	if _, err := s.f.ReadAt(b, r.meta.at); err != nil || crc(b) != r.meta.crc || json.Unmarshal(b, &v) != nil {
		return Visit{}, false
	}
	v.links, v.body = r.links, r.body
	return v, true
}

func (s *state) commit(c commit) {
	s.crawl, s.finished, s.open = c.Crawl, c.Time, false
	s.before, s.now, s.order = s.now, map[string]*ref{}, nil
}

var decoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPart), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
}}

// span reads, checks and decodes a part of a record.
func (s *state) span(p span) ([]byte, error) {
	if p.n == 0 {
		return nil, nil
	}
	b := make([]byte, p.n)
	if _, err := s.f.ReadAt(b, p.at); err != nil && err != io.EOF {
		return nil, wrap(err, s.name)
	}
	damaged := kb.Errorf(kb.Corrupt, "a page in %q is damaged", s.name).WithHint("index the store again; the page is then fetched anew")
	if crc(b) != p.crc {
		return nil, damaged
	}
	d := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(d)
	out, err := d.DecodeAll(b, nil)
	if err != nil {
		return nil, damaged
	}
	return out, nil
}

// Set is what one reader sees: the pages of the last crawl that ended, or,
// before that, what the first one has found so far.
type Set struct {
	Crawl    int       // number of the crawl, from 1
	Partial  bool      // the first crawl has not ended
	Finished time.Time // when the crawl ended; zero while Partial
	Damaged  int       // records that could not be read
	Pages    []Kept    // in ascending byte order of Path

	s *state
}

// View opens the pages kept in dir for reading. NotFound when there are none;
// Corrupt and Newer as their names say.
func View(dir string) (*Set, error) {
	s, err := load(dir, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	set := &Set{Crawl: s.crawl, Finished: s.finished, Damaged: s.damaged, s: s}
	visits := s.before
	if s.finished.IsZero() {
		visits, set.Partial = s.now, true
	} else if s.open {
		set.Crawl--
	}
	for _, r := range visits {
		if v, ok := s.visit(r); ok && v.Outcome == OutKept && v.Path != "" {
			set.Pages = append(set.Pages, v.Kept)
		}
	}
	kb.SortFunc(set.Pages, func(a, b Kept) int { return strings.Compare(a.Path, b.Path) })
	// Two visits never share a path; a damaged log may show one twice.
	set.Pages = slices.CompactFunc(set.Pages, func(a, b Kept) bool { return a.Path == b.Path })
	s.before, s.now, s.order = nil, nil, nil
	return set, nil
}

// Read returns the Markdown of a page of this set. Corrupt when it is damaged.
// It is safe for concurrent use.
func (s *Set) Read(k Kept) ([]byte, error) { return s.s.span(k.body) }

// Close ends the reading.
func (s *Set) Close() error { return s.s.f.Close() }
