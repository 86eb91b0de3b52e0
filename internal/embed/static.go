package embed

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
)

// Static is the static model, loaded. It is safe for concurrent use.
type Static struct {
	id                   string
	dims, words, buckets int
	offsets              []uint32 // of words in text; one more than words
	text                 []byte
	scales               []float32 // words, then buckets
	rows                 []byte
	slots                []uint32 // open addressing by hash of a word: its number + 1, or 0
	pool                 sync.Pool
}

// ID returns "static-NAME-VERSION-DIMS".
func (s *Static) ID() string { return s.id }

// Dims returns the number of dimensions.
func (s *Static) Dims() int { return s.dims }

// word returns word i.
func (s *Static) word(i int) []byte { return s.text[s.offsets[i]:s.offsets[i+1]] }

// index fills the table that find looks into, a quarter to a half full.
func (s *Static) index() {
	s.slots = make([]uint32, 1<<bits.Len(uint(2*s.words+1)))
	for i := range s.words {
		at := slot(hashWord(s.word(i)), len(s.slots))
		for s.slots[at] != 0 {
			at = (at + 1) & (len(s.slots) - 1)
		}
		s.slots[at] = uint32(i) + 1
	}
}

// find returns the number of a word, or -1.
func (s *Static) find(hash uint64, word []byte) int {
	at := slot(hash, len(s.slots))
	for s.slots[at] != 0 {
		if i := int(s.slots[at]) - 1; bytes.Equal(s.word(i), word) {
			return i
		}
		at = (at + 1) & (len(s.slots) - 1)
	}
	return -1
}

// slot spreads a hash over n slots, n a power of two of at least 2.
func slot(hash uint64, n int) int {
	return int(hash * 0x9e3779b97f4a7c15 >> (64 - bits.TrailingZeros(uint(n))))
}

// hashWord is FNV-1a of 64 bits.
func hashWord(w []byte) uint64 {
	h := uint64(fnvOffset)
	for _, c := range w {
		h = (h ^ uint64(c)) * fnvPrime
	}
	return h
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// Embed returns the vectors of the texts. It uses one core; callers with many
// texts call it from many goroutines. The only error is the context's.
func (s *Static) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	all := make([]float32, len(texts)*s.dims)
	c, _ := s.pool.Get().(*counter)
	if c == nil {
		c = newCounter()
	}
	row := make([]byte, padded(s.dims))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = all[i*s.dims : (i+1)*s.dims : (i+1)*s.dims]
		c.count(t)
		s.sum(out[i], row, c)
		c.reset()
	}
	s.pool.Put(c)
	return out, nil
}

// sum adds up the words of c in dst and brings dst to length 1. It unpacks
// rows in row.
func (s *Static) sum(dst []float32, row []byte, c *counter) {
	slices.SortFunc(c.words, func(a, b counted) int { return cmp.Compare(a.hash, b.hash) })
	for _, w := range c.words {
		weight := math.Sqrt(float64(w.n))
		text := c.bytes(w)
		if i := s.find(w.hash, text); i >= 0 {
			s.add(dst, row, i, weight)
			continue
		}
		s.addTrigrams(dst, row, text, weight)
	}
	normalise(dst)
}

func (s *Static) add(dst []float32, row []byte, i int, weight float64) {
	size := rowSize(s.dims)
	unpackRow(row, s.rows[i*size:][:size])
	vector.Axpy(dst, vector.Int8s(row[:s.dims]), float32(weight)*s.scales[i])
}

// addTrigrams adds the rows of the trigrams of "^word$".
func (s *Static) addTrigrams(dst []float32, row, word []byte, weight float64) {
	n := utf8.RuneCount(word)
	weight /= math.Sqrt(float64(n))
	a, b := rune('^'), rune(0)
	for i := 0; i < len(word); {
		r, size := rune(word[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(word[i:])
		}
		if b != 0 {
			s.add(dst, row, s.bucket(a, b, r), weight)
			a = b
		}
		b = r
		i += size
	}
	s.add(dst, row, s.bucket(a, b, '$'), weight)
}

// bucket returns the row of a trigram.
func (s *Static) bucket(a, b, c rune) int {
	h := mix(uint64(a) | uint64(b)<<21 | uint64(c)<<42)
	hi, _ := bits.Mul64(h, uint64(s.buckets))
	return s.words + int(hi)
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// normalise brings v to length 1, unless it is zero.
func normalise(v []float32) {
	squares := 0.0
	for _, x := range v {
		squares += float64(x) * float64(x) // exact: 24 bits squared
	}
	if squares == 0 {
		return
	}
	length := math.Sqrt(squares)
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
}

// Trigrams returns the buckets of the trigrams of "^word$", of so many, for
// the trainer of a model.
func Trigrams(word string, buckets int) []int {
	s := Static{buckets: buckets}
	var out []int
	rs := []rune("^" + word + "$")
	for i := range rs[2:] {
		out = append(out, s.bucket(rs[i], rs[i+1], rs[i+2]))
	}
	return out
}
