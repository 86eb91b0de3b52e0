package index

import (
	"encoding/binary"
	"math/bits"

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

// eachPostingIn is eachPosting, of postings that follow that of chunk after, for
// the chunks in a set, which has the bits of limit chunks and of those up to last
// all that are wanted; the others are passed over.
func eachPostingIn(b []byte, after, limit, last uint32, in bitset, f func(*posting)) error {
	var p posting
	at := uint64(after)
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
		if at > uint64(last) {
			return nil
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
		if !in.has(uint32(at)) {
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
