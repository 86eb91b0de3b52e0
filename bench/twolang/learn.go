package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/specs/bilingual"
)

const (
	rounds    = 6     // of expectation and maximisation
	leastSeen = 2     // translations that two words stand in together
	leastBoth = 0.075 // geometric mean of the two directions
	longest   = 60    // words of a text
	meanings  = 8     // of one word
	lost      = 1e-4  // probabilities below are forgotten between rounds
)

// side is the words of one language: their stems, and the commonest form of each.
type side struct {
	number map[string]int32
	forms  []map[string]int
	count  []int
}

func newSide() *side {
	return &side{number: map[string]int32{"": 0}, forms: []map[string]int{nil}, count: []int{0}}
}

// read numbers the stems of a text. Number 0 is no word.
func (s *side) read(l bilingual.Language, text string) []int32 {
	var out []int32
	for w := range bilingual.Words(text) {
		if len(w) < 2 || strings.ContainsAny(w, "0123456789") {
			continue
		}
		stem := bilingual.Stem(l, w)
		n, ok := s.number[stem]
		if !ok {
			n = int32(len(s.count))
			s.number[stem] = n
			s.forms, s.count = append(s.forms, map[string]int{}), append(s.count, 0)
		}
		s.forms[n][w]++
		s.count[n]++
		out = append(out, n)
	}
	return out
}

// form returns the commonest form of a stem.
func (s *side) form(n int32) string {
	return slices.MinFunc(slices.Sorted(maps.Keys(s.forms[n])), func(a, b string) int { return cmp.Compare(s.forms[n][b], s.forms[n][a]) })
}

// sentence is a text in both languages.
type sentence struct{ en, es []int32 }

// learn writes the words that stand for each other in translations: by the
// first model of Brown et al. 1993 in both directions, kept where both agree.
func learn(pairs, lexicon string, most int) error {
	en, es := newSide(), newSide()
	var all []sentence
	f, err := os.Open(pairs)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if p := strings.Split(lines.Text(), "\t"); len(p) == 4 && p[1] == translated {
			s := sentence{en.read(bilingual.English, p[2]), es.read(bilingual.Spanish, p[3])}
			if len(s.en) > 0 && len(s.es) > 0 && len(s.en) <= longest && len(s.es) <= longest {
				all = append(all, s)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	toES := model(all, func(s *sentence) ([]int32, []int32) { return s.en, s.es }, len(en.count))
	toEN := model(all, func(s *sentence) ([]int32, []int32) { return s.es, s.en }, len(es.count))
	together := joint(all)
	type entry struct {
		en, es string
		value  float64
		seen   int
	}
	var out []entry
	for a := range toES {
		for b, p := range toES[a] {
			if a == 0 || b == 0 {
				continue
			}
			v := math.Sqrt(p * toEN[b][int32(a)])
			if n := together[[2]int32{int32(a), b}]; v >= leastBoth && n >= leastSeen {
				if e := (entry{en.form(int32(a)), es.form(b), v, n}); e.en != e.es {
					out = append(out, e)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.value*math.Log(float64(b.seen)), a.value*math.Log(float64(a.seen))), cmp.Compare(a.en, b.en), cmp.Compare(a.es, b.es))
	})
	out = out[:min(most, len(out))]
	slices.SortFunc(out, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.en, b.en), cmp.Compare(b.value, a.value), cmp.Compare(a.es, b.es))
	})
	var b strings.Builder
	for i := range out {
		if i == 0 || out[i].en != out[i-1].en {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(out[i].en + ":")
		}
		fmt.Fprintf(&b, " %s %d", out[i].es, int(math.Round(100*out[i].value)))
	}
	b.WriteByte('\n')
	fmt.Fprintf(os.Stderr, "%d translations, %d English and %d Spanish stems, %d pairs\n", len(all), len(en.count), len(es.count), len(out))
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write([]byte(b.String())); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(lexicon, packed.Bytes(), 0o644)
}

// model returns how probable each word of the second language is given one of
// the first, of which there are n; word 0 is given to every text.
func model(all []sentence, of func(*sentence) (given, made []int32), n int) []map[int32]float64 {
	var t []map[int32]float64
	for range rounds {
		counts, sums := make([]map[int32]float64, n), make([]float64, n)
		for i := range all {
			given, made := of(&all[i])
			given = append(given[:len(given):len(given)], 0)
			for _, m := range made {
				total := 0.0
				for _, g := range given {
					total += chance(t, g, m)
				}
				if total == 0 {
					continue
				}
				for _, g := range given {
					if c := chance(t, g, m) / total; c > 0 {
						if counts[g] == nil {
							counts[g] = map[int32]float64{}
						}
						counts[g][m] += c
						sums[g] += c
					}
				}
			}
		}
		for g := range counts {
			for m, c := range counts[g] {
				if c /= sums[g]; c < lost {
					delete(counts[g], m)
				} else {
					counts[g][m] = c
				}
			}
		}
		t = counts
	}
	return t
}

func chance(t []map[int32]float64, g, m int32) float64 {
	if t == nil {
		return 1
	}
	return t[g][m]
}

// joint counts the texts that two words stand in together.
func joint(all []sentence) map[[2]int32]int {
	n := map[[2]int32]int{}
	for i := range all {
		for _, a := range slices.Compact(slices.Sorted(slices.Values(all[i].en))) {
			for _, b := range slices.Compact(slices.Sorted(slices.Values(all[i].es))) {
				n[[2]int32{a, b}]++
			}
		}
	}
	return n
}
