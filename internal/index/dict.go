package index

import (
	"bytes"
	"encoding/binary"
	"math"
	"sort"
	"sync/atomic"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// dictWriter lays out a dictionary with its postings.
type dictWriter struct {
	terms, post []byte
	index       []byte
	n           int
	last        string

	skips, skipidx []byte // see skips.go; of the terms of paths nothing reads them
}

// add appends one term; terms come in ascending byte order.
func (w *dictWriter) add(term string, count int, postings []byte) {
	shared := 0
	if w.n%dictBlock == 0 {
		w.index = binary.LittleEndian.AppendUint32(w.index, uint32(len(w.terms)))
		w.terms = binary.AppendUvarint(w.terms, uint64(len(w.post)))
	} else {
		shared = commonPrefix(w.last, term)
	}
	w.terms = binary.AppendUvarint(w.terms, uint64(shared))
	w.terms = binary.AppendUvarint(w.terms, uint64(len(term)-shared))
	w.terms = append(w.terms, term[shared:]...)
	w.terms = binary.AppendUvarint(w.terms, uint64(count))
	w.terms = binary.AppendUvarint(w.terms, uint64(len(postings)))
	if count >= skipLeast {
		w.skipidx = binary.LittleEndian.AppendUint64(w.skipidx, uint64(len(w.post)))
		w.skipidx = binary.LittleEndian.AppendUint32(w.skipidx, uint32(len(w.skips)))
		w.skips = appendSkips(w.skips, postings)
	}
	w.post = append(w.post, postings...)
	w.last = term
	w.n++
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// section gives bytes of a file's section, verified.
type section interface {
	Len() int64
	Bytes(off, n int64) ([]byte, error)
}

// dict reads a dictionary.
type dict struct {
	terms, post section
	index       []byte // u32 a block
	skips       section
	skipidx     []byte // see skips.go; empty without skips

	heads []atomic.Uint64 // of blocks that were looked at, the first bytes of their first terms
}

func openDict(terms, index, post section) (*dict, error) {
	idx, err := index.Bytes(0, index.Len())
	if err != nil {
		return nil, err
	}
	if len(idx)%4 != 0 {
		return nil, kb.Errorf(kb.Corrupt, "the term index is cut short")
	}
	return &dict{terms: terms, post: post, index: idx, heads: make([]atomic.Uint64, len(idx)/4)}, nil
}

func (d *dict) blocks() int { return len(d.index) / 4 }

func (d *dict) block(i int) ([]byte, error) {
	from := int64(binary.LittleEndian.Uint32(d.index[4*i:]))
	to := d.terms.Len()
	if i+1 < d.blocks() {
		to = int64(binary.LittleEndian.Uint32(d.index[4*i+4:]))
	}
	if from > to {
		return nil, kb.Errorf(kb.Corrupt, "the term index is out of order")
	}
	return d.terms.Bytes(from, to-from)
}

// first returns the first term of a block.
func (d *dict) first(i int) ([]byte, error) {
	b, err := d.block(i)
	if err != nil {
		return nil, err
	}
	var r varReader
	r.b = b
	r.uvarint() // postings offset
	r.uvarint() // shared, zero
	term := r.bytes(r.uvarint())
	return term, r.err
}

// before returns the last block that begins at or before a term, -1 for none.
func (d *dict) before(term string) (int, error) {
	var err error
	want := headOf(term)
	n := sort.Search(d.blocks(), func(i int) bool {
		if err != nil {
			return true
		}
		if h := d.heads[i].Load(); h != 0 && h != want {
			return h > want
		}
		var t []byte
		if t, err = d.first(i); err != nil {
			return true
		}
		d.heads[i].Store(headOf(t))
		return string(t) > term
	})
	return n - 1, err
}

// headOf returns the first bytes of a term as a number that is in their order.
func headOf[T string | []byte](term T) (h uint64) {
	for i := range min(len(term), 8) {
		h |= uint64(term[i]) << (56 - 8*i)
	}
	return h
}

// each calls f for every term that begins with prefix, in order, with where
// its postings lie. The slice is valid during the call only.
func (d *dict) each(prefix string, f func(term []byte, off, size int64) error) error {
	first, err := d.before(prefix)
	if err != nil {
		return err
	}
	var cur []byte
	for b := max(0, first); b < d.blocks(); b++ {
		raw, err := d.block(b)
		if err != nil {
			return err
		}
		r := varReader{b: raw}
		off := r.uvarint()
		cur = cur[:0]
		for r.err == nil && len(r.b) > 0 {
			shared := r.uvarint()
			suffix := r.bytes(r.uvarint())
			r.uvarint()
			size := r.uvarint()
			if r.err != nil || shared > uint64(len(cur)) {
				return errPostings
			}
			cur = append(cur[:shared], suffix...)
			switch {
			case bytes.HasPrefix(cur, []byte(prefix)):
				if err := f(cur, int64(off), int64(size)); err != nil {
					return err
				}
			case string(cur) > prefix:
				return nil
			}
			off += size
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// postingsAt is where the postings of a term lie, and in how many chunks it
// occurs: 0 when it does not.
type postingsAt struct {
	off   int64
	size  uint32
	count uint32
}

// find returns where the postings of a term lie.
func (d *dict) find(term string) (at postingsAt, err error) {
	want := []byte(term)
	i, err := d.before(term)
	if err != nil || i < 0 {
		return at, err
	}
	b, err := d.block(i)
	if err != nil {
		return at, err
	}
	r := varReader{b: b}
	off := r.uvarint()
	var cur []byte
	for r.err == nil && len(r.b) > 0 {
		shared := r.uvarint()
		suffix := r.bytes(r.uvarint())
		count := r.uvarint()
		size := r.uvarint()
		if r.err != nil || shared > uint64(len(cur)) || size > math.MaxUint32 || count > math.MaxUint32 {
			return at, kb.Errorf(kb.Corrupt, "the dictionary does not parse")
		}
		cur = append(cur[:shared], suffix...)
		switch c := bytes.Compare(cur, want); {
		case c == 0:
			return postingsAt{int64(off), uint32(size), uint32(count)}, nil
		case c > 0:
			return at, nil
		}
		off += size
	}
	return at, r.err
}

// read returns postings.
func (d *dict) read(at postingsAt) ([]byte, error) { return d.post.Bytes(at.off, int64(at.size)) }

// lookup returns the postings of a term and in how many chunks it occurs;
// nil and 0 when it does not occur.
func (d *dict) lookup(term string) ([]byte, int, error) {
	at, err := d.find(term)
	if err != nil || at.count == 0 {
		return nil, 0, err
	}
	b, err := d.read(at)
	return b, int(at.count), err
}
