package index

import (
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// posted are postings of one document by term, in five pieces of memory.
type posted struct {
	whole bool // of all terms
	termTable
	first []uint32 // where the postings of each term begin in all; one more is the end
	all   []posting
}

// termTable numbers terms in the order of their first occurrence.
type termTable struct {
	text  []byte   // the terms, one after the other
	ends  []uint32 // where each ends in text
	slots []uint32 // an open hash table: 0 is a free slot, n+1 is the n-th term
}

var termSeed = maphash.MakeSeed()

func (v *termTable) term(n uint32) []byte {
	from := uint32(0)
	if n > 0 {
		from = v.ends[n-1]
	}
	return v.text[from:v.ends[n]]
}

// slot returns the slot of a term, or the free one where it would stand.
func (v *termTable) slot(term []byte) *uint32 {
	mask := uint64(len(v.slots) - 1)
	for i := maphash.Bytes(termSeed, term) & mask; ; i = (i + 1) & mask {
		s := &v.slots[i]
		if *s == 0 || string(v.term(*s-1)) == string(term) {
			return s
		}
	}
}

// number returns the number of a term, which it adds unless it is there.
func (v *termTable) number(term []byte) uint32 {
	if 2*len(v.ends) >= len(v.slots) {
		v.grow(max(64, 2*len(v.slots)))
	}
	s := v.slot(term)
	if *s == 0 {
		v.text = append(v.text, term...)
		v.ends = append(v.ends, uint32(len(v.text)))
		*s = uint32(len(v.ends))
	}
	return *s - 1
}

// grow makes so many slots, a power of two.
func (v *termTable) grow(slots int) {
	v.slots = make([]uint32, slots)
	for i := range v.ends {
		*v.slot(v.term(uint32(i))) = uint32(i + 1)
	}
}

// of returns the postings of a term, by chunk.
func (p *posted) of(term string) []posting {
	n := *p.slot([]byte(term))
	if n == 0 {
		return nil
	}
	return p.all[p.first[n-1]:p.first[n]]
}

// size is about how many bytes it takes.
func (p *posted) size() int {
	return len(p.text) + 4*(len(p.ends)+len(p.slots)+len(p.first)) + 12*len(p.all)
}

// has reports whether all of terms were looked for.
func (p *posted) has(terms []string) bool {
	return !slices.ContainsFunc(terms, func(t string) bool { return *p.slot([]byte(t)) == 0 })
}

// poster is what one document is taken apart with.
type poster struct {
	termTable
	only    bool // no term that is not in the table
	scan    terms.Scanner
	tf      [][numFields]uint16 // of each term, in the chunk that is read
	touched []uint32            // terms of that chunk
	posts   []posting           // by chunk
	terms   []uint32            // of which term each of posts is
}

var posters = sync.Pool{New: func() any { return new(poster) }}

// postsOf returns the postings of one document, as a segment has them; of terms alone
// unless that is nil.
func postsOf(d *kb.SegmentDocument, only []string) (*posted, error) {
	b := posters.Get().(*poster)
	defer posters.Put(b)
	b.text, b.ends, b.tf, b.posts, b.terms = b.text[:0], b.ends[:0], b.tf[:0], b.posts[:0], b.terms[:0]
	clear(b.slots)
	for _, t := range only {
		b.number([]byte(t))
	}
	b.only = only != nil
	for i := range d.Chunks {
		c := &d.Chunks[i]
		if !covers(d, c.From, c.To) {
			return nil, kb.Errorf(kb.Corrupt, "a document of a shared store is damaged: a chunk lies outside its text")
		}
		b.add(uint32(i), d.Text.Body[c.From:c.To], c)
	}
	p := &posted{whole: !b.only, first: make([]uint32, len(b.ends)+1), all: make([]posting, len(b.posts))}
	p.text, p.ends = slices.Clone(b.text), slices.Clone(b.ends)
	p.grow(1 << bits.Len(uint(2*len(p.ends))))
	for _, n := range b.terms {
		p.first[n]++
	}
	sum := uint32(0)
	for n, count := range p.first { // from how many to where they begin
		p.first[n], sum = sum, sum+count
	}
	for i, n := range b.terms { // and to where they end
		p.all[p.first[n]] = b.posts[i]
		p.first[n]++
	}
	copy(p.first[1:], p.first) // where one ends the next begins
	if len(p.first) > 0 {
		p.first[0] = 0
	}
	return p, nil
}

func (b *poster) add(chunk uint32, body string, c *kb.Chunk) {
	eachTerm(&b.scan, body, c, func(t []byte, field int, _ bool) {
		if b.only && (len(b.slots) == 0 || *b.slot(t) == 0) {
			return
		}
		n := b.number(t)
		for int(n) >= len(b.tf) {
			b.tf = append(b.tf, [numFields]uint16{})
		}
		tf := &b.tf[n]
		if *tf == ([numFields]uint16{}) {
			b.touched = append(b.touched, n)
		}
		if tf[field] < math.MaxUint16 {
			tf[field]++
		}
	})
	for _, n := range b.touched {
		b.posts, b.terms = append(b.posts, posting{chunk, b.tf[n]}), append(b.terms, n)
		b.tf[n] = [numFields]uint16{}
	}
	b.touched = b.touched[:0]
}
