package index

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// How central a document is: how many others use a name that it declares,
//
//	uses(d) = Σ over other documents o  max over names n that d declares and o mentions  1/declarers(n)
//
// so that a name that many documents declare says little of each. The sum is one of
// whole numbers, of shares of a use, so that it is the same in whatever order it is
// made, and can be changed by what has changed. It follows
// from the terms of the segments alone, costs no parsing, and is the same
// however documents are spread over segments.

// mostDeclarers is how many documents may declare a name for it to count:
// beyond that it is customary (init, run, get) and its mentions are not uses
// of any one of them.
const mostDeclarers = 8

// wholeUse is how many shares a use has: any number of declarers up to mostDeclarers
// divides it.
const wholeUse = 840

// usesOf returns so many shares as uses.
func usesOf(shares uint64) float32 { return float32(float64(shares) / wholeUse) }

// leastName is the length in bytes below which a name is more often a word.
const leastName = 4

// A store of a million chunks declares millions of names, and mentions them in
// tens of millions of places: names are known by 64 bits of hash, and the
// documents that mention one are packed.

// mention is a term by which a name is used.
type mention = uint32

// declaration is that a document declares a name.
type declaration struct {
	name uint64
	doc  uint32
}

// names are those that few enough documents declare.
type names struct {
	// unlike has the mentions of the names that are not mentioned as they are.
	unlike map[uint64][2]uint64
	share  []uint16     // by name, of a use, what its mention in a document counts
	terms  [][2]mention // by name
	from   []uint32     // by document, where its names begin in of
	of     []uint32
}

// centrality returns uses for every document of a generation, in its order.
// at(s, d) is the generation's number of document d of segment s, -1 for none. For
// margin see generationHead.
func centrality(segs []*segment, n int, at func(seg, doc int) int) (uses []float32, margin int, err error) {
	var names names
	declared, err := names.declared(segs, at)
	if err != nil {
		return nil, 0, err
	}
	found := newMentions()
	names.few(declared, n, found)
	if err := found.read(segs, at); err != nil {
		return nil, 0, err
	}
	margin = mostMargin
	uses = make([]float32, n)
	share := make([]uint16, n)
	var touched []uint32
	for d := range uses {
		for _, i := range names.of[names.from[d]:names.from[d+1]] {
			// A name that half of all documents mention is a word of the language or
			// of the trade.
			term := names.terms[i][0]
			if found.documents[term] == 0 {
				term = names.terms[i][1]
			}
			margin = min(margin, marginOf(int(found.documents[term]), n))
			if int(found.documents[term])*2 > n && n > 8 {
				continue
			}
			found.each(term, func(o uint32) {
				if int(o) == d {
					return
				}
				if share[o] == 0 {
					touched = append(touched, o)
				}
				share[o] = max(share[o], names.share[i])
			})
		}
		sum := uint64(0)
		for _, o := range touched {
			sum += uint64(share[o])
			share[o] = 0
		}
		uses[d], touched = usesOf(sum), touched[:0]
	}
	return uses, margin, nil
}

// declared returns which documents declare which names, in order; names that are
// too short are left out.
func (x *names) declared(segs []*segment, at func(seg, doc int) int) ([]declaration, error) {
	x.unlike = map[uint64][2]uint64{}
	var all []declaration
	for si, s := range segs {
		err := s.dict.each("=", func(term []byte, off, size int64) error {
			name := term[1:]
			if !countsAsName(name) {
				return nil
			}
			h, before := hashOf(name), len(all)
			err := s.docsOf(off, size, func(d int) {
				if g := at(si, d); g >= 0 && len(all)-before <= mostDeclarers {
					all = append(all, declaration{h, uint32(g)})
				}
			})
			if m := mentions(string(name)); len(all) > before && (len(m) > 1 || len(m[0]) < len(name)) {
				var hs [2]uint64
				for i := range m {
					hs[i] = hashOf([]byte(m[i]))
				}
				x.unlike[h] = hs
			}
			return err
		})
		s.file.Rest() // else all dictionaries would be in memory at once
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b declaration) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.doc, b.doc))
	})
	return slices.Compact(all), nil
}

// few keeps the names that few enough of n documents declare, and asks for what
// mentions them.
func (x *names) few(all []declaration, n int, found *mentioned) {
	var doc, name []uint32
	for len(all) > 0 {
		k := 1
		for k < len(all) && all[k].name == all[0].name {
			k++
		}
		if k <= mostDeclarers {
			hs, ok := x.unlike[all[0].name]
			if !ok {
				hs[0] = all[0].name
			}
			for _, d := range all[:k] {
				doc, name = append(doc, d.doc), append(name, uint32(len(x.share)))
			}
			x.share = append(x.share, uint16(wholeUse/k))
			x.terms = append(x.terms, [2]mention{found.want(hs[0]), found.want(hs[1])})
		}
		all = all[k:]
	}
	x.unlike = nil
	x.from, x.of = make([]uint32, n+1), make([]uint32, len(name))
	for _, d := range doc {
		x.from[d+1]++
	}
	for d := range n {
		x.from[d+1] += x.from[d]
	}
	next := slices.Clone(x.from)
	for i, d := range doc {
		x.of[next[d]] = name[i]
		next[d]++
	}
}

// mentioned are the documents in which each of the terms asked for occurs.
type mentioned struct {
	number    map[uint64]mention
	documents []uint32 // by mention, how many
	last      []uint64 // by mention, where its last run ends in runs
	// runs are lists of documents of one term in one segment: where the run before
	// ends, how many, and the differences.
	runs []byte
	docs []uint32 // scratch
}

func newMentions() *mentioned {
	return &mentioned{number: map[uint64]mention{}, documents: make([]uint32, 1), last: make([]uint64, 1)}
}

// want returns the number of a term that is asked for, 0 for none.
func (x *mentioned) want(term uint64) mention {
	if term == 0 {
		return 0
	}
	m, ok := x.number[term]
	if !ok {
		m = mention(len(x.documents))
		x.number[term] = m
		x.documents, x.last = append(x.documents, 0), append(x.last, 0)
	}
	return m
}

// read finds the documents of the terms. These are met in their order, which is
// far cheaper than looking each up.
func (x *mentioned) read(segs []*segment, at func(seg, doc int) int) error {
	for si, s := range segs {
		err := s.dict.each("", func(term []byte, off, size int64) error {
			m, ok := x.number[hashOf(term)]
			if !ok {
				return nil
			}
			x.docs = x.docs[:0]
			err := s.docsOf(off, size, func(d int) {
				if g := at(si, d); g >= 0 {
					x.docs = append(x.docs, uint32(g))
				}
			})
			x.add(m)
			return err
		})
		s.file.Rest()
		if err != nil {
			return err
		}
	}
	return nil
}

// add notes that a term occurs in docs.
func (x *mentioned) add(m mention) {
	if len(x.docs) == 0 {
		return
	}
	slices.Sort(x.docs)
	x.documents[m] += uint32(len(x.docs))
	from := len(x.runs)
	x.runs = binary.AppendUvarint(x.runs, x.last[m])
	x.runs = binary.AppendUvarint(x.runs, uint64(len(x.docs)))
	last := uint32(0)
	for _, d := range x.docs {
		x.runs = binary.AppendUvarint(x.runs, uint64(d-last))
		last = d
	}
	x.last[m] = uint64(from) + 1
}

// each calls f for every document in which a term occurs.
func (x *mentioned) each(m mention, f func(doc uint32)) {
	for at := x.last[m]; at > 0; {
		r := varReader{b: x.runs[at-1:]}
		at = r.uvarint()
		doc := uint32(0)
		for range r.uvarint() {
			doc += uint32(r.uvarint())
			f(doc)
		}
	}
}

// hashOf returns 64 bits of hash of a term, never 0: FNV-1a, mixed at the end.
func hashOf(term []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range term {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 32
	return max(h*0x9e3779b97f4a7c15, 1)
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

// countsAsName reports whether the mentions of a declared name count.
func countsAsName(name []byte) bool {
	return len(name) >= leastName && terms.Cased(string(name)) == ""
}

// byNumber returns the numbers + 1 of a generation's documents, by segment and
// document of it; copies have that of the first.
func byNumber(docs []kb.Located, segs []*segment, index map[string]int) [][]int32 {
	at := make([][]int32, len(segs))
	for i, s := range segs {
		at[i] = make([]int32, s.info.Documents)
	}
	for i := range docs {
		if d := &at[index[docs[i].Segment]][docs[i].Number]; *d == 0 {
			*d = int32(i + 1)
		}
	}
	return at
}
