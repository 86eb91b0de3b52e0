package index

import (
	"math/bits"
	"slices"
)

// scores is the scratch space of one retrieval: a tally of every chunk that was
// met.
type scores struct {
	slot    []uint32 // by chunk, its number in tallies + 1
	tallies []tally
	touched []uint32 // tallies with a tf
	inPath  []uint64 // terms in the path, by document
	pathed  []uint32 // documents with such
	rough   rough
	cards   map[int]*card // by document, of what is elsewhere
	sum     []float32     // of the vectors of a document
}

// tally is what a chunk has; what is of one chunk lies together in memory.
type tally struct {
	chunk         uint32
	score, beside float64 // of score, beside is of the terms of Retrieval.Beside
	tf            float64 // of the term being scored
	matched       uint64
	defines       uint64
	heads         uint64 // terms in the headings above
}

func (g *Generation) getScores() *scores {
	if s := g.scratch.Swap(nil); s != nil {
		return s
	}
	return &scores{slot: make([]uint32, g.base[len(g.docs)]), inPath: make([]uint64, len(g.docs))}
}

// mostTallies is how many tallies are kept for the next retrieval.
const mostTallies = 1 << 16

func (g *Generation) putScores(s *scores) {
	for i := range s.tallies {
		s.slot[s.tallies[i].chunk] = 0
	}
	for _, d := range s.pathed {
		s.inPath[d] = 0
	}
	s.tallies, s.pathed, s.cards = s.tallies[:0], s.pathed[:0], nil
	if cap(s.tallies) > mostTallies {
		s.tallies, s.touched = nil, nil
	}
	g.scratch.Store(s)
}

var noTally tally

// of returns the tally of a chunk, which must not be changed.
func (s *scores) of(c uint32) *tally {
	if i := s.slot[c]; i > 0 {
		return &s.tallies[i-1]
	}
	return &noTally
}

// score returns the score of a chunk.
func (s *scores) score(c uint32) float64 { return s.of(c).score }

// meet adds the weighted frequency of a term in a chunk.
func (s *scores) meet(c uint32, f float64, p *posting, bit uint64) {
	t := s.touch(c, f)
	if p.tf[fieldSymbols] > 0 {
		t.defines |= bit
	}
	if p.tf[fieldHeadings] > 0 {
		t.heads |= bit
	}
}

func (s *scores) touch(c uint32, f float64) *tally {
	i := s.slot[c]
	if i == 0 {
		if n := len(s.tallies); n == cap(s.tallies) { // append alone would copy five times as much
			s.tallies = slices.Grow(s.tallies, min(max(n, 1<<12), len(s.slot)-n)) // each of many small stores keeps its own
		}
		s.tallies = append(s.tallies, tally{chunk: c})
		i = uint32(len(s.tallies))
		s.slot[c] = i
	}
	t := &s.tallies[i-1]
	if t.tf == 0 {
		s.touched = append(s.touched, i-1)
	}
	t.tf += f
	return t
}

// settle adds a term's part to the scores of the chunks it touched.
func (s *scores) settle(idf, k1 float64, bit uint64, beside bool) {
	for _, i := range s.touched {
		t := &s.tallies[i]
		t.matched |= bit
		x := idf * t.tf * (k1 + 1) / (t.tf + k1)
		t.score += x
		if beside {
			t.beside += x
		}
		t.tf = 0
	}
	s.touched = s.touched[:0]
}

// bitset is a set of chunks.
type bitset []uint64

func (s bitset) add(c uint32)      { s[c/64] |= 1 << (c % 64) }
func (s bitset) has(c uint32) bool { return s[c/64]>>(c%64)&1 != 0 }

// addAll adds the chunks of [from, to).
func (s bitset) addAll(from, to uint32) {
	for ; from < to && from%64 != 0; from++ {
		s.add(from)
	}
	for ; from+64 <= to; from += 64 {
		s[from/64] = ^uint64(0)
	}
	for ; from < to; from++ {
		s.add(from)
	}
}

// any reports whether one of the chunks of [from, to) is in the set.
func (s bitset) any(from, to uint32) bool {
	for from < to {
		word := s[from/64] >> (from % 64)
		if word != 0 {
			return from+uint32(bits.TrailingZeros64(word)) < to
		}
		from = (from/64 + 1) * 64
	}
	return false
}

// last returns the last chunk of [from, to) in the set, false without one.
func (s bitset) last(from, to uint32) (uint32, bool) {
	for to > from {
		end := (to - 1) / 64
		word := s[end] << (63 - (to-1)%64) >> (63 - (to-1)%64)
		if word != 0 {
			c := end*64 + uint32(63-bits.LeadingZeros64(word))
			return c, c >= from
		}
		to = end * 64
	}
	return 0, false
}
