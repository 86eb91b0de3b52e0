package index

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// How central a document is: how many others use a name that it declares,
//
//	uses(d) = Σ over other documents o  max over names n that d declares and o mentions  1/declarers(n)
//
// so that a name that many documents declare says little of each. It follows
// from the terms of the segments alone, costs no parsing, and is the same
// however documents are spread over segments.

// mostDeclarers is how many documents may declare a name for it to count:
// beyond that it is customary (init, run, get) and its mentions are not uses
// of any one of them.
const mostDeclarers = 8

// leastName is the length in bytes below which a name is more often a word.
const leastName = 4

// centrality returns uses for every document of a generation, in its order.
// at(s, d) is the generation's number of document d of segment s, -1 for none.
func centrality(segs []*segment, n int, at func(seg, doc int) int) ([]float32, error) {
	declared := map[string][]uint32{} // name → documents, each once
	for si, s := range segs {
		err := s.dict.each("=", func(term []byte, off, size int64) error {
			name := term[1:]
			docs, known := declared[string(name)]
			if len(name) < leastName || len(docs) > mostDeclarers || !known && terms.Cased(string(name)) != "" {
				return nil
			}
			err := s.docsOf(off, size, func(d int) {
				if g := at(si, d); g >= 0 && !slices.Contains(docs, uint32(g)) {
					docs = append(docs, uint32(g))
				}
			})
			declared[string(name)] = docs
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	// Terms are met in their order, which is far cheaper than looking each up.
	slots := make(map[string]int, len(declared)) // mention → its place in found
	names := make([]string, 0, len(declared))
	for name, docs := range declared {
		if len(docs) == 0 || len(docs) > mostDeclarers {
			continue
		}
		names = append(names, name)
		for _, term := range mentions(name) {
			slots[term] = 0
		}
	}
	slices.Sort(names)
	found := make([][]uint32, 0, len(slots))
	for term := range slots {
		slots[term] = len(found)
		found = append(found, nil)
	}
	for si, s := range segs {
		err := s.dict.each("", func(term []byte, off, size int64) error {
			i, ok := slots[string(term)]
			if !ok {
				return nil
			}
			return s.docsOf(off, size, func(d int) {
				if g := at(si, d); g >= 0 {
					found[i] = append(found[i], uint32(g))
				}
			})
		})
		if err != nil {
			return nil, err
		}
	}
	mine := make([][]int, n) // names by declaring document
	users := make([][]uint32, len(names))
	for i, name := range names {
		for _, d := range declared[name] {
			mine[d] = append(mine[d], i)
		}
		for _, term := range mentions(name) {
			if users[i] = found[slots[term]]; len(users[i]) > 0 {
				break
			}
		}
		// What half of all documents mention is a word of the language or of
		// the trade.
		if len(users[i])*2 > n && n > 8 {
			users[i] = nil
		}
	}
	uses := make([]float32, n)
	share := make([]float32, n)
	var touched []uint32
	for d := range uses {
		for _, i := range mine[d] {
			w := 1 / float32(len(declared[names[i]]))
			for _, o := range users[i] {
				if int(o) == d {
					continue
				}
				if share[o] == 0 {
					touched = append(touched, o)
				}
				share[o] = max(share[o], w)
			}
		}
		slices.Sort(touched) // so that the sum does not depend on the order of segments
		for _, o := range touched {
			uses[d] += share[o]
			share[o] = 0
		}
		touched = touched[:0]
	}
	return uses, nil
}

// mentions returns the terms that a use of a declared name leaves: a compound
// stands as it is, a single word stemmed.
func mentions(name string) []string {
	name = strings.Trim(name, "_")
	out := []string{name}
	if s := string(terms.Stem([]byte(name))); s != name {
		out = append(out, s)
	}
	return out
}

// docsOf calls f for every document of the segment in a list of postings.
func (s *segment) docsOf(off, size int64, f func(doc int)) error {
	post, err := s.dict.post.Bytes(off, size)
	if err != nil {
		return err
	}
	last := -1
	return eachPosting(post, uint32(s.info.Chunks), func(p *posting) {
		if d := int(s.doc[p.chunk]); d != last {
			last = d
			f(d)
		}
	})
}

// each calls f for every term that begins with prefix, in order, with where
// its postings lie. The slice is valid during the call only.
func (d *dict) each(prefix string, f func(term []byte, off, size int64) error) error {
	first, n := 0, d.blocks()
	if prefix != "" {
		first = d.blockBefore(prefix)
	}
	var cur []byte
	for b := first; b < n; b++ {
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

// blockBefore returns the last block that begins at or before term, or 0.
func (d *dict) blockBefore(term string) int {
	lo, hi := 0, d.blocks()
	for lo < hi {
		m := (lo + hi) / 2
		t, err := d.first(m)
		if err == nil && string(t) > term {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return max(0, lo-1)
}

func appendFloats(dst []byte, xs []float32) []byte {
	for _, x := range xs {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}
