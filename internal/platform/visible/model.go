package visible

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// Window is how many words are judged together.
const Window = 50

// Unit is what the weights of signs are counted in: so many make one logarithm
// of odds.
const Unit = 10

// weightsOfSigns has the weight of none in its first line, then one sign a
// line behind its weight: "A", "A B" side by side, "A .. B" apart. It is
// written by bench/injections -fit.
//
//go:embed weights.txt
var weightsOfSigns string

// signTable is what Signs are looked up in.
type signTable struct {
	none   int
	number map[uint32]uint16
	weight []int16
	maybe  [1 << 10]uint64 // a bit for the upper 16 bits of each hash in number: most of a text are not
}

// of returns the number of the sign with a hash.
func (t *signTable) of(hash uint32) (uint16, bool) {
	if t.maybe[hash>>22]&(1<<(hash>>16&63)) == 0 {
		return 0, false
	}
	k, ok := t.number[hash]
	return k, ok
}

var signsOf = sync.OnceValue(func() *signTable {
	t := &signTable{number: map[uint32]uint16{}}
	for l := range strings.Lines(weightsOfSigns) {
		f := strings.Fields(l)
		w, err := strconv.Atoi(f[0])
		if err != nil {
			panic("visible: weights.txt: " + l) // the file is part of the program
		}
		if len(f) == 1 {
			t.none = w
			continue
		}
		s := Sign{A: f[1]}
		if len(f) > 2 {
			s.B, s.Far = f[len(f)-1], len(f) == 4
		}
		h := s.hash()
		t.number[h] = uint16(len(t.weight))
		t.maybe[h>>22] |= 1 << (h >> 16 & 63)
		t.weight = append(t.weight, int16(w))
	}
	return t
})

// Reading returns the words of text as a model reads them.
func Reading(text string) []Word { return reading(uncover(text)) }

func reading(plain string, hides bool) []Word {
	words := Words(plain)
	if hides {
		words = append([]Word{{Text: "^", Kind: "SMUGGLED"}}, words...)
	}
	return words
}

// learned returns the odds, in units, of the Window words that have the
// highest: each sign counts once.
func learned(words []Word) int {
	t := signsOf()
	type hit struct {
		at   int
		sign uint16
	}
	var hits []hit
	seen := make([]uint16, len(t.weight))
	sum, begin := t.none, 0
	best := sum
	Signs(words, func(at int, sign uint32, _ Sign) {
		k, ok := t.of(sign)
		if !ok {
			return
		}
		if len(hits) > 0 && hits[len(hits)-1].at < at {
			best = max(best, sum)
		}
		hits = append(hits, hit{at, k})
		if seen[k]++; seen[k] == 1 {
			sum += int(t.weight[k])
		}
		for ; hits[begin].at <= at-Window; begin++ {
			k := hits[begin].sign
			if seen[k]--; seen[k] == 0 {
				sum -= int(t.weight[k])
			}
		}
	})
	return max(best, sum)
}
