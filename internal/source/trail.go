package source

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A Trail is what a walk of a folder looks at: the directories that it enters, the
// files that it asks the system about, and the rules that hold there. As long as
// none of them is another, the next walk finds the same documents with the same
// stamps, and to ask the system about each takes a tenth of the time.
//
// # Format
//
// What Trail.Bytes returns, all numbers that have no length as uvarints, texts with
// their length before them:
//
//	magic "ktr1"
//	number of places outside of the folder
//	  path, kind (one byte, 1: only what it is counts), sum (8 bytes, little endian)
//	number of directories
//	  length of what follows of the directory
//	  path below the folder, sum
//	  number of files
//	    name, sum
//	crc32 of all before (4 bytes, little endian)
type Trail struct {
	around []around
	dirs   []trodden
	number map[string]int // of directories in dirs
	marks  int
	// What has changed since then may change again at what is the same time to the
	// system: it is not told by its mark.
	settled time.Time
	spoilt  bool // there is what no mark tells of
	whole   bool // the walk came to its end
}

// around is a place outside of the folder, which other folders may share. A sum of
// 0 is that there is nothing.
type around struct {
	path string
	kind bool // only what it is counts, not when it changed
	sum  uint64
}

// trodden is a directory that was entered.
type trodden struct {
	rel   string
	sum   uint64
	files []footprint
}

type footprint struct {
	name string
	sum  uint64
}

const (
	trailMagic = "ktr1"
	// settles is how old a change has to be for its time to tell it from the next
	// one, on the coarsest file system.
	settles = 2 * time.Second
	// mostMarks bounds a trail.
	mostMarks = 1 << 20
)

// inode is what the system says of a file or directory; all 0 where there is none.
type inode struct {
	whole   uint64 // of everything that changes when it is written to
	kind    uint64 // of what stays as long as it is the same one
	changed int64  // when it changed last, in nanoseconds
}

// mix makes one number of several, which is never 0.
func mix(ns ...uint64) (h uint64) {
	for _, n := range ns {
		h = (h ^ n) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return max(h, 1)
}

// TrailOf has the next walk of a snapshot leave a trail; nil where none can be had.
func TrailOf(snap kb.Snapshot) *Trail {
	f, ok := snap.(*folder)
	if !ok || !trails {
		return nil
	}
	return f.leaveTrail(time.Now().Add(-settles))
}

func (f *folder) leaveTrail(settled time.Time) *Trail {
	f.trail = &Trail{settled: settled, number: map[string]int{}}
	f.trail.outside(f.dir)
	return f.trail
}

// outside marks what holds in the folder at dir and lies beside it: the repository
// and its rules, or that there is none.
func (t *Trail) outside(dir string) {
	var ups []string
	for p := dir; ; p = filepath.Dir(p) {
		git := filepath.Join(p, ".git")
		t.beside(git, true)
		if hasDotGit(p) {
			if info, err := os.Lstat(git); err != nil || !info.IsDir() {
				t.spoil() // it says elsewhere where the repository is
			}
			t.beside(filepath.Join(commonDir(git), "info", "exclude"), false)
			if p == dir {
				return // the walk reads the other rules
			}
			for _, up := range append(ups, p) {
				t.beside(filepath.Join(up, ".gitignore"), false)
				t.beside(filepath.Join(up, OwnRules), false)
				if readSmall(filepath.Join(up, OwnRules)) != "" {
					t.spoil() // whether it is vouched for may change
				}
			}
			return
		}
		if p != dir {
			ups = append(ups, p)
		}
		if filepath.Dir(p) == p {
			return
		}
	}
}

// beside marks what is at a path outside of the folder.
func (t *Trail) beside(path string, kind bool) {
	i, err := inodeAt(path)
	if err != nil || !kind && !t.settledAt(i) {
		t.spoil()
		return
	}
	a := around{path, kind, i.whole}
	if kind {
		a.sum = i.kind
	}
	t.around = append(t.around, a)
}

func (t *Trail) settledAt(i inode) bool { return i.changed < t.settled.UnixNano() }

// spoil says that something matters of which there is no mark. A nil trail has none.
func (t *Trail) spoil() {
	if t != nil {
		t.spoilt, t.around, t.dirs, t.number = true, nil, nil, nil
	}
}

// enters marks a directory of the folder, whose path is "" or ends in a slash.
func (t *Trail) enters(dir, rel string) {
	if t == nil || t.spoilt {
		return
	}
	i, err := inodeAt(filepath.Join(dir, filepath.FromSlash(rel)))
	if t.marks++; err != nil || i.kind == 0 || !t.settledAt(i) || t.marks > mostMarks {
		t.spoil()
		return
	}
	t.number[rel] = len(t.dirs)
	t.dirs = append(t.dirs, trodden{rel: rel, sum: i.whole})
}

// rules marks a file of rules in a directory that was entered.
func (t *Trail) rules(dir, p string) {
	if t == nil || t.spoilt {
		return
	}
	i, err := inodeAt(filepath.Join(dir, filepath.FromSlash(p)))
	if err != nil {
		t.spoil()
		return
	}
	t.file(p, i)
}

// file marks a file in a directory that was entered.
func (t *Trail) file(p string, i inode) {
	if t == nil || t.spoilt {
		return
	}
	rel, name := path.Split(p)
	n, ok := t.number[rel]
	if t.marks++; !ok || i.kind == 0 || !t.settledAt(i) || t.marks > mostMarks {
		t.spoil()
		return
	}
	t.dirs[n].files = append(t.dirs[n].files, footprint{name, i.whole})
}

// Bytes returns the trail as Same takes it; nil of one that does not tell of every change.
func (t *Trail) Bytes() []byte {
	if t == nil || !t.whole || t.spoilt {
		return nil
	}
	text := func(b []byte, s string) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	le := binary.LittleEndian
	b := binary.AppendUvarint([]byte(trailMagic), uint64(len(t.around)))
	for _, a := range t.around {
		kind := byte(0)
		if a.kind {
			kind = 1
		}
		b = le.AppendUint64(append(text(b, a.path), kind), a.sum)
	}
	b = binary.AppendUvarint(b, uint64(len(t.dirs)))
	var one []byte
	for _, d := range t.dirs {
		one = le.AppendUint64(text(one[:0], d.rel), d.sum)
		one = binary.AppendUvarint(one, uint64(len(d.files)))
		for _, f := range d.files {
			one = le.AppendUint64(text(one, f.name), f.sum)
		}
		b = append(binary.AppendUvarint(b, uint64(len(one))), one...)
	}
	return sealed(b)
}

func sealed(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)) }

// Sights are what was seen of places outside of folders while one question looks at
// many. The zero value is ready. They are safe for concurrent use.
type Sights struct {
	mu   sync.Mutex
	seen map[string]inode
}

func (s *Sights) at(path string) (inode, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, ok := s.seen[path]; ok {
		return i, nil
	}
	i, err := inodeAt(path)
	if err == nil {
		if s.seen == nil {
			s.seen = map[string]inode{}
		}
		s.seen[path] = i
	}
	return i, err
}

var errTrail = errors.New("no trail")

// trailReader reads a trail.
type trailReader struct {
	b   []byte
	err error
}

func (r *trailReader) bytes(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.b)) {
		r.b, r.err = nil, errTrail
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *trailReader) uvarint() uint64 {
	n, k := binary.Uvarint(r.b)
	if k <= 0 {
		r.b, r.err = nil, errTrail
		return 0
	}
	r.b = r.b[k:]
	return n
}

func (r *trailReader) text() string { return string(r.bytes(r.uvarint())) }

func (r *trailReader) sum() uint64 {
	if b := r.bytes(8); r.err == nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// SameTrail reports whether everything on the trail of a walk of the folder at dir
// is as it was, asked by so many at once. What is no trail is not the same.
func SameTrail(ctx context.Context, dir string, trail []byte, s *Sights, workers int) bool {
	n := len(trail) - 4
	if !trails || n < len(trailMagic) || string(trail[:len(trailMagic)]) != trailMagic ||
		crc32.ChecksumIEEE(trail[:n]) != binary.LittleEndian.Uint32(trail[n:]) {
		return false
	}
	r := &trailReader{b: trail[len(trailMagic):n]}
	for range r.uvarint() {
		path, kind, sum := r.text(), r.bytes(1), r.sum()
		if r.err != nil {
			return false
		}
		i, err := s.at(path)
		if kind[0] == 1 {
			i.whole = i.kind
		}
		if err != nil || i.whole != sum {
			return false
		}
	}
	var dirs [][]byte
	for range r.uvarint() {
		if dirs = append(dirs, r.bytes(r.uvarint())); r.err != nil {
			return false
		}
	}
	if len(dirs) == 0 || len(r.b) > 0 {
		return false
	}
	var next atomic.Int64
	var differs atomic.Bool
	look := func() {
		for i := int(next.Add(1)) - 1; i < len(dirs) && !differs.Load(); i = int(next.Add(1)) - 1 {
			if ctx.Err() != nil || !unchanged(dir, dirs[i]) {
				differs.Store(true)
			}
		}
	}
	var all sync.WaitGroup
	for range min(workers, len(dirs)/manyDirs) - 1 {
		all.Go(look)
	}
	look()
	all.Wait()
	return !differs.Load()
}

// manyDirs is how many directories one alone looks at sooner.
const manyDirs = 64

// unchanged reports whether a directory and its files are as they were.
func unchanged(dir string, b []byte) bool {
	r := &trailReader{b: b}
	rel, sum, files := r.text(), r.sum(), r.uvarint()
	if r.err != nil || rel != "" && !filepath.IsLocal(filepath.FromSlash(rel)) {
		return false
	}
	d, i, err := openSeen(filepath.Join(dir, filepath.FromSlash(rel)))
	if err != nil {
		return false
	}
	defer d.close()
	if i.whole != sum {
		return false
	}
	for range files {
		name, sum := r.text(), r.sum()
		if r.err != nil || strings.Contains(name, "/") {
			return false
		}
		if i, err := d.inode(name); err != nil || i.whole != sum {
			return false
		}
	}
	return r.err == nil && len(r.b) == 0
}
