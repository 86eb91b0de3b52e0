package index

import (
	"encoding/binary"
	"maps"
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
	declared, err := declarers(segs, at)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(declared))
	found, err := mentioners(segs, names, at)
	if err != nil {
		return nil, err
	}
	mine := make([][]int, n) // names by declaring document
	users := make([][]uint32, len(names))
	for i, name := range names {
		for _, d := range declared[name] {
			mine[d] = append(mine[d], i)
		}
		for _, term := range mentions(name) {
			if users[i] = found[term]; len(users[i]) > 0 {
				break
			}
		}
		// A name that half of all documents mention is a word of the language or
		// of the trade.
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

// declarers returns the documents that declare each name, each once; names
// that are too short or too common are left out.
func declarers(segs []*segment, at func(seg, doc int) int) (map[string][]uint32, error) {
	declared := map[string][]uint32{}
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
	maps.DeleteFunc(declared, func(_ string, docs []uint32) bool { return len(docs) == 0 || len(docs) > mostDeclarers })
	return declared, nil
}

// mentioners returns the documents in which each mention of the names occurs.
// Terms are met in their order, which is far cheaper than looking each up.
func mentioners(segs []*segment, names []string, at func(seg, doc int) int) (map[string][]uint32, error) {
	found := make(map[string][]uint32, len(names))
	for _, name := range names {
		for _, term := range mentions(name) {
			found[term] = nil
		}
	}
	for si, s := range segs {
		err := s.dict.each("", func(term []byte, off, size int64) error {
			docs, ok := found[string(term)]
			if !ok {
				return nil
			}
			err := s.docsOf(off, size, func(d int) {
				if g := at(si, d); g >= 0 {
					docs = append(docs, uint32(g))
				}
			})
			found[string(term)] = docs
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// mentions returns the terms that a use of a declared name leaves: a compound
// as it is, a single word stemmed.
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

func appendFloats(dst []byte, xs []float32) []byte {
	for _, x := range xs {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}
