package index

import (
	"bytes"
	"encoding/binary"
	"sort"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A long list of postings has places to skip to, so that few chunks are looked
// up in it without reading it all. The section "skipidx" has 12 bytes for every
// such list, in order: where it begins in the section "post" u64, and where its
// skips begin in the section "skips" u32. A skip is what stands after every
// skipEvery postings,
//
//	varint  chunk of the last posting before - that of the skip before
//	varint  bytes of the list so far - those of the skip before
//
// Segments of older versions have neither section, and are read from the first
// posting on; older programs pass the sections over.
const (
	skipLeast  = 512 // postings from which on a list has skips
	skipEvery  = 128
	skipRecord = 12
)

// skip is a place in a list of postings: those from off on follow chunk.
type skip struct {
	chunk uint32
	off   int
}

// appendSkips appends the skips of a list.
func appendSkips(dst, list []byte) []byte {
	var last skip
	n := 0
	_ = eachPostingFrom(list, 0, 1<<32-1, func(chunk uint32, end int) { // it was just written
		if n++; n%skipEvery == 0 && end < len(list) {
			dst = binary.AppendUvarint(dst, uint64(chunk-last.chunk))
			dst = binary.AppendUvarint(dst, uint64(end-last.off))
			last = skip{chunk, end}
		}
	})
	return dst
}

// eachPostingFrom calls f for every posting with its chunk and where it ends.
func eachPostingFrom(b []byte, at uint64, limit uint64, f func(chunk uint32, end int)) error {
	for i := 0; i < len(b); {
		v, n := binary.Uvarint(b[i:])
		if at += v >> 2; n <= 0 || at >= limit {
			return errPostings
		}
		i += n
		counts := 0
		switch v & 3 {
		case 0:
		case 1:
			counts = 1
		default:
			if i >= len(b) {
				return errPostings
			}
			for mask := b[i] & (1<<numFields - 1); mask != 0; mask &= mask - 1 {
				counts++
			}
			i++
		}
		for ; counts > 0; counts-- {
			if _, n = binary.Uvarint(b[i:]); n <= 0 {
				return errPostings
			}
			i += n
		}
		f(uint32(at), i)
	}
	return nil
}

// skipsOf returns the skips of a list, encoded; nil for none.
func (d *dict) skipsOf(at postingsAt) ([]byte, error) {
	n := len(d.skipidx) / skipRecord
	record := func(i int) (off int64, from int64) {
		r := d.skipidx[i*skipRecord:]
		return int64(binary.LittleEndian.Uint64(r)), int64(binary.LittleEndian.Uint32(r[8:]))
	}
	i := sort.Search(n, func(i int) bool { off, _ := record(i); return off >= at.off })
	if i == n {
		return nil, nil
	}
	off, from := record(i)
	if off != at.off {
		return nil, nil
	}
	to := d.skips.Len()
	if i+1 < n {
		_, to = record(i + 1)
	}
	if from > to {
		return nil, kb.Errorf(kb.Corrupt, "the skips of postings are out of order")
	}
	return d.skips.Bytes(from, to-from)
}

// eachIn calls f for the postings of the chunks in a set.
func (d *dict) eachIn(at postingsAt, limit uint32, in bitset, f func(*posting)) error {
	b, err := d.read(at)
	if err != nil {
		return err
	}
	skips, err := d.skipsOf(at)
	if err != nil {
		return err
	}
	var from skip
	for r := (varReader{b: skips}); len(r.b) > 0; {
		to := skip{from.chunk + uint32(r.uvarint()), from.off + int(r.uvarint())}
		if r.err != nil || to.chunk >= limit || to.chunk < from.chunk || to.off <= from.off || to.off > len(b) {
			return kb.Errorf(kb.Corrupt, "the skips of postings do not parse")
		}
		if last, ok := in.last(from.chunk, to.chunk+1); ok {
			if err := eachPostingIn(b[from.off:to.off], from.chunk, limit, last, in, f); err != nil {
				return err
			}
		}
		from = to
	}
	last, ok := in.last(from.chunk, limit)
	if !ok {
		return nil
	}
	return eachPostingIn(b[from.off:], from.chunk, limit, last, in, f)
}

// checkSkips reports whether the skips of a list are its own.
func (d *dict) checkSkips(at postingsAt, list []byte) error {
	got, err := d.skipsOf(at)
	if err == nil && got != nil && !bytes.Equal(got, appendSkips(nil, list)) {
		err = kb.Errorf(kb.Corrupt, "the skips of postings are those of others")
	}
	return err
}
