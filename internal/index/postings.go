package index

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A posting says how often a term occurs in each field of a chunk (or of a
// path). Postings are in ascending order of chunk; each is
//
//	varint  (chunk - previous chunk) << 2 | mode
//
// with mode 0: once in the body; 1: in the body only, varint count follows;
// 2: a byte with a bit per field and a varint count for each set bit follow.
const (
	fieldBody = iota
	fieldSymbols
	fieldHeadings
	numFields
)

type posting struct {
	chunk uint32
	tf    [numFields]uint16
}

func appendPosting(dst []byte, delta uint32, tf [numFields]uint16) []byte {
	switch {
	case tf[fieldSymbols] == 0 && tf[fieldHeadings] == 0 && tf[fieldBody] == 1:
		return binary.AppendUvarint(dst, uint64(delta)<<2)
	case tf[fieldSymbols] == 0 && tf[fieldHeadings] == 0:
		dst = binary.AppendUvarint(dst, uint64(delta)<<2|1)
		return binary.AppendUvarint(dst, uint64(tf[fieldBody]))
	}
	dst = binary.AppendUvarint(dst, uint64(delta)<<2|2)
	var mask byte
	for f, n := range tf {
		if n > 0 {
			mask |= 1 << f
		}
	}
	dst = append(dst, mask)
	for _, n := range tf {
		if n > 0 {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	return dst
}

// eachPosting calls f for every posting in b. Chunk numbers at or above limit
// mean a damaged file.
func eachPosting(b []byte, limit uint32, f func(*posting)) error {
	var p posting
	at := uint64(0)
	for i := 0; i < len(b); {
		var v uint64
		if c := b[i]; c < 0x80 {
			v = uint64(c)
			i++
		} else {
			n := 0
			if v, n = binary.Uvarint(b[i:]); n <= 0 {
				return errPostings
			}
			i += n
		}
		at += v >> 2
		if at >= uint64(limit) {
			return errPostings
		}
		p.chunk = uint32(at)
		switch v & 3 {
		case 0:
			p.tf = [numFields]uint16{1}
		case 1:
			c, n := binary.Uvarint(b[i:])
			if n <= 0 {
				return errPostings
			}
			i += n
			p.tf = [numFields]uint16{uint16(c)}
		default:
			if i >= len(b) {
				return errPostings
			}
			mask := b[i]
			i++
			p.tf = [numFields]uint16{}
			for j := range p.tf {
				if mask&(1<<j) != 0 {
					c, n := binary.Uvarint(b[i:])
					if n <= 0 {
						return errPostings
					}
					i += n
					p.tf[j] = uint16(c)
				}
			}
		}
		f(&p)
	}
	return nil
}

// eachPostingIn is eachPosting for the chunks in a set, which has the bits of
// limit chunks; the others are passed over.
func eachPostingIn(b []byte, limit uint32, in []uint64, f func(*posting)) error {
	var p posting
	at := uint64(0)
	for i := 0; i < len(b); {
		v := uint64(b[i])
		if i++; v >= 0x80 {
			n := 0
			if v, n = binary.Uvarint(b[i-1:]); n <= 0 {
				return errPostings
			}
			i += n - 1
		}
		if at += v >> 2; at >= uint64(limit) {
			return errPostings
		}
		fields := 1 // of which counts follow
		mask := byte(1) << fieldBody
		switch v & 3 {
		case 0:
			fields = 0
		case 1:
		default:
			if i >= len(b) {
				return errPostings
			}
			mask = b[i]
			i++
			fields = bits.OnesCount8(mask & (1<<numFields - 1))
		}
		if in[at/64]>>(at%64)&1 == 0 {
			for ; fields > 0; i++ {
				if i >= len(b) {
					return errPostings
				}
				if b[i] < 0x80 {
					fields--
				}
			}
			continue
		}
		p = posting{chunk: uint32(at), tf: [numFields]uint16{fieldBody: 1}}
		if fields > 0 {
			p.tf = [numFields]uint16{}
		}
		for j := 0; fields > 0; j++ {
			if mask&(1<<j) == 0 {
				continue
			}
			c, n := binary.Uvarint(b[i:])
			if n <= 0 {
				return errPostings
			}
			i += n
			p.tf[j] = uint16(c)
			fields--
		}
		f(&p)
	}
	return nil
}

var errPostings = kb.Errorf(kb.Corrupt, "postings do not parse")

// dictWriter lays out a dictionary with its postings.
type dictWriter struct {
	terms, post []byte
	index       []byte
	n           int
	last        string
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
}

func openDict(terms, index, post section) (*dict, error) {
	idx, err := index.Bytes(0, index.Len())
	if err != nil {
		return nil, err
	}
	if len(idx)%4 != 0 {
		return nil, kb.Errorf(kb.Corrupt, "the term index is cut short")
	}
	return &dict{terms: terms, post: post, index: idx}, nil
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
	n := sort.Search(d.blocks(), func(i int) bool {
		if err != nil {
			return true
		}
		var t []byte
		t, err = d.first(i)
		return err != nil || string(t) > term
	})
	return n - 1, err
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

// lookup returns the postings of a term and in how many chunks it occurs;
// nil and 0 when it does not occur.
func (d *dict) lookup(term string) ([]byte, int, error) {
	want := []byte(term)
	i, err := d.before(term)
	if err != nil || i < 0 {
		return nil, 0, err
	}
	b, err := d.block(i)
	if err != nil {
		return nil, 0, err
	}
	r := varReader{b: b}
	off := r.uvarint()
	var cur []byte
	for r.err == nil && len(r.b) > 0 {
		shared := r.uvarint()
		suffix := r.bytes(r.uvarint())
		count := r.uvarint()
		size := r.uvarint()
		if r.err != nil || shared > uint64(len(cur)) {
			return nil, 0, kb.Errorf(kb.Corrupt, "the dictionary does not parse")
		}
		cur = append(cur[:shared], suffix...)
		switch c := bytes.Compare(cur, want); {
		case c == 0:
			p, err := d.post.Bytes(int64(off), int64(size))
			return p, int(count), err
		case c > 0:
			return nil, 0, nil
		}
		off += size
	}
	return nil, 0, r.err
}

// varReader takes numbers and bytes off the front of b; the first fault sticks.
type varReader struct {
	b   []byte
	err error
}

var errShort = kb.Errorf(kb.Corrupt, "a record is cut short")

func (r *varReader) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.err = errShort
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads a length that cannot exceed what is left.
func (r *varReader) count() int {
	n := r.uvarint()
	if r.err != nil || n > uint64(len(r.b)) {
		r.err = errShort
		return 0
	}
	return int(n)
}

func (r *varReader) varint() int64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.err = errShort
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *varReader) bytes(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.b)) {
		r.err = errShort
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *varReader) string() string { return string(r.bytes(r.uvarint())) }

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}
