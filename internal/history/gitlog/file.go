package gitlog

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The file of a log is a blockfile of kind "history". Numbers are unsigned
// varints (encoding/binary) unless said otherwise.
//
//	of       the directory of the repository, as bytes
//	paths    their number; of each its length and its bytes
//	commits  their number; of each its hash, 20 bytes; the committer's seconds since
//	         1970 as a signed varint; the number of parents and, of each, the number
//	         of its commit and one, or 0 and its hash; the number of changed paths
//	         and, of each, how much larger its number is than the one before
//	absent   their number; of each the hash, 20 bytes
const (
	fileKind    = "history"
	fileVersion = 1
)

// Write makes the file of a log. of is the directory of its repository.
func (l *Log) Write(path, of string) error {
	w, err := blockfile.Create(path, blockfile.Header{Kind: fileKind, Version: fileVersion})
	if err != nil {
		return err
	}
	defer w.Abort()
	paths := binary.AppendUvarint(nil, uint64(len(l.paths)))
	for _, p := range l.paths {
		paths = binary.AppendUvarint(paths, uint64(len(p)))
		paths = append(paths, p...)
	}
	absent := binary.AppendUvarint(nil, uint64(len(l.absent)))
	for _, h := range slices.SortedFunc(maps.Keys(l.absent), func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) }) {
		absent = append(absent, h[:]...)
	}
	for _, s := range []struct {
		name string
		body []byte
	}{{"of", []byte(of)}, {"paths", paths}, {"commits", l.encodeCommits()}, {"absent", absent}} {
		if err := w.Section(s.name); err != nil {
			return err
		}
		if _, err := w.Write(s.body); err != nil {
			return err
		}
	}
	if err := w.Commit(); err != nil {
		return err
	}
	l.grown = false
	return nil
}

func (l *Log) encodeCommits() []byte {
	b := binary.AppendUvarint(nil, uint64(len(l.commits)))
	for i := range l.commits {
		c := &l.commits[i]
		b = append(b, c.hash[:]...)
		b = binary.AppendVarint(b, c.when)
		b = binary.AppendUvarint(b, uint64(len(c.parents)))
		for _, p := range c.parents {
			if n, ok := l.number[p]; ok {
				b = binary.AppendUvarint(b, uint64(n)+1)
				continue
			}
			b = append(append(b, 0), p[:]...)
		}
		b = binary.AppendUvarint(b, uint64(len(c.changed)))
		last := int32(0)
		for _, p := range c.changed {
			b = binary.AppendUvarint(b, uint64(p-last))
			last = p
		}
	}
	return b
}

// Open reads the file of a log, and the directory of its repository. Errors:
// kb.NotFound; kb.Corrupt, upon which the caller begins anew; kb.Newer.
func Open(path string) (l *Log, of string, err error) {
	r, err := blockfile.Open(path, fileKind, fileVersion)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	var sections [4]decoder
	err = r.Guard(func() error {
		for i, name := range []string{"of", "paths", "commits", "absent"} {
			b, err := r.Section(name).All()
			if err != nil {
				return err
			}
			sections[i].b = slices.Clone(b)
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	l = New()
	l.decode(&sections[1], &sections[2], &sections[3])
	for i := range sections {
		if sections[i].bad {
			return nil, "", kb.Errorf(kb.Corrupt, "the history %q is damaged", path).WithHint("delete it: it is made anew")
		}
	}
	return l, string(sections[0].b), nil
}

func (l *Log) decode(paths, commits, absent *decoder) {
	for range paths.count(1) {
		p := string(paths.bytes(paths.uint()))
		l.pathNo[p] = int32(len(l.paths))
		l.paths = append(l.paths, p)
	}
	n := commits.count(hashBytes)
	l.commits = make([]commit, n)
	l.number = make(map[plumbing.Hash]int32, n)
	later := make([][]uint64, n) // parents by number and one
	for i := range l.commits {
		c := &l.commits[i]
		c.hash, c.when = commits.hash(), commits.int()
		for range commits.count(1) {
			p := commits.uint()
			later[i] = append(later[i], p)
			if p == 0 {
				c.parents = append(c.parents, commits.hash())
			} else {
				c.parents = append(c.parents, plumbing.ZeroHash)
			}
		}
		c.changed = make([]int32, commits.count(1))
		last := uint64(0)
		for j := range c.changed {
			last += commits.uint()
			commits.bad = commits.bad || last >= uint64(len(l.paths))
			c.changed[j] = int32(last)
		}
		if commits.bad {
			return
		}
		l.number[c.hash] = int32(i)
	}
	for i, ps := range later {
		for j, p := range ps {
			if p > uint64(n) {
				commits.bad = true
				return
			}
			if p > 0 {
				l.commits[i].parents[j] = l.commits[p-1].hash
			}
		}
	}
	for range absent.count(hashBytes) {
		l.absent[absent.hash()] = true
	}
}

const hashBytes = len(plumbing.Hash{})

// decoder reads a section; bad is set when it ends too early.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) skip(n int) {
	if n <= 0 {
		d.bad, d.b = true, nil
		return
	}
	d.b = d.b[n:]
}

// count reads the number of things of at least so many bytes each.
func (d *decoder) count(least int) int {
	n := d.uint()
	if n > uint64(len(d.b)/least) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) hash() (h plumbing.Hash) {
	copy(h[:], d.bytes(uint64(hashBytes)))
	return h
}
