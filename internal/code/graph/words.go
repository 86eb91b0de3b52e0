package graph

import (
	"hash/maphash"
	"strings"
	"sync"
)

// words numbers strings in the order in which it meets them; 0 is "". A large
// store has millions: they lie one behind the other, and are found by a table of
// their numbers.
type words struct {
	mu     sync.Mutex
	blocks []*strings.Builder // of wordBlock bytes
	long   []string           // those that are in no block
	at     []uint32           // by number, where it begins: block * wordBlock + bytes before; a number of long
	size   []uint16           // by number, its length; longWord for one of long
	marks  []uint8            // by number
	table  []uint32           // numbers by hash, 0 for none; its length is a power of two
	tags   []uint8            // of the table, some bits of the hash
	seed   maphash.Seed
}

const (
	wordBlock  = 1 << 20
	wordBlocks = 1 << 32 / wordBlock
	longWord   = 1<<16 - 1
)

// What a word may be marked as.
const (
	inFile   uint8 = 1 << iota // a string of the view
	isKnown                    // something of that name is declared or imported
	isCalled                   // something of that name is called
)

func newWords() *words {
	return &words{at: []uint32{0}, size: []uint16{0}, marks: []uint8{inFile}, table: make([]uint32, 1<<10),
		tags: make([]uint8, 1<<10), seed: maphash.MakeSeed()}
}

// id returns the number of s, a new one for a new string, and marks it. The
// string is copied: it is often a part of a text that must not be kept alive.
func (w *words) id(s string, mark uint8) uint32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s == "" {
		w.marks[0] |= mark
		return 0
	}
	n, slot, tag := w.find(s)
	if n == 0 {
		n = uint32(len(w.at))
		w.table[slot], w.tags[slot] = n, tag
		w.keep(s)
		if len(w.at) > len(w.table)/3*2 {
			w.grow()
		}
	}
	w.marks[n] |= mark
	return n
}

// lookup returns the number of s if it has one with that mark.
func (w *words) lookup(s string, mark uint8) (uint32, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s == "" {
		return 0, w.marks[0]&mark != 0
	}
	n, _, _ := w.find(s)
	return n, n > 0 && w.marks[n]&mark != 0
}

// text returns the string of a number.
func (w *words) text(n uint32) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.word(n)
}

// marked returns the numbers of the words with a mark.
func (w *words) marked(mark uint8) []uint32 {
	var out []uint32
	for n, m := range w.marks {
		if m&mark != 0 {
			out = append(out, uint32(n))
		}
	}
	return out
}

func (w *words) word(n uint32) string {
	if n == 0 {
		return ""
	}
	if w.size[n] == longWord {
		return w.long[w.at[n]]
	}
	return w.blocks[w.at[n]/wordBlock].String()[w.at[n]%wordBlock:][:w.size[n]]
}

// keep appends a string.
func (w *words) keep(s string) {
	w.marks = append(w.marks, 0)
	last := len(w.blocks) - 1
	full := last < 0 || w.blocks[last].Len()+len(s) > wordBlock
	if len(s) >= longWord || full && len(w.blocks) == wordBlocks {
		w.at, w.size = append(w.at, uint32(len(w.long))), append(w.size, longWord)
		w.long = append(w.long, strings.Clone(s))
		return
	}
	if full {
		w.blocks = append(w.blocks, &strings.Builder{})
		last++
		w.blocks[last].Grow(wordBlock)
	}
	w.at, w.size = append(w.at, uint32(last*wordBlock+w.blocks[last].Len())), append(w.size, uint16(len(s)))
	w.blocks[last].WriteString(s)
}

// find returns the number of s, 0 for none, and where it is or would be in the
// table.
func (w *words) find(s string) (n uint32, slot int, tag uint8) {
	h := maphash.String(w.seed, s)
	tag = uint8(h >> 56)
	mask := len(w.table) - 1
	for slot = int(h) & mask; ; slot = (slot + 1) & mask {
		n = w.table[slot]
		if n == 0 || w.tags[slot] == tag && w.word(n) == s {
			return n, slot, tag
		}
	}
}

func (w *words) grow() {
	w.table, w.tags = make([]uint32, 2*len(w.table)), make([]uint8, 2*len(w.tags))
	mask := len(w.table) - 1
	for n := 1; n < len(w.at); n++ {
		h := maphash.String(w.seed, w.word(uint32(n)))
		slot := int(h) & mask
		for w.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		w.table[slot], w.tags[slot] = uint32(n), uint8(h>>56)
	}
}
