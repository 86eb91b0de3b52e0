package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// parts cuts a name into its words: at underscores, digits, and where a hump
// begins; "HTTPServer_v2" is HTTP, Server, v.
func parts(s string) (out [][2]int) {
	from := -1
	for i := 0; i <= len(s); i++ {
		letter := i < len(s) && isLetter(s[i])
		switch {
		case from < 0 && letter:
			from = i
		case from >= 0 && !letter:
			out, from = append(out, [2]int{from, i}), -1
		case from >= 0 && isUpper(s[i]) && (!isUpper(s[i-1]) || i+1 < len(s) && isLetter(s[i+1]) && !isUpper(s[i+1])):
			out, from = append(out, [2]int{from, i}), i
		}
	}
	return out
}

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool { return isUpper(c) || 'a' <= c && c <= 'z' }

// addParts counts the words of a name, in lower case, that can be renamed.
func addParts(into map[string]int, s string) {
	for _, p := range parts(s) {
		if w := strings.ToLower(s[p[0]:p[1]]); !stays(w) {
			into[w]++
		}
	}
}

// words maps the words of a project, in lower case, each to one of its own.
type words struct{ to map[string]string }

// newWords gives every word of a vocabulary another one, by seed; the frequent
// ones get the real words, as far as those go. A word that is another with an
// ending ("headers", "parsed") gets the other's with that ending.
func newWords(count map[string]int, seed uint64) *words {
	w := &words{to: map[string]string{}}
	taken := map[string]bool{}
	order := lab.Keys(count)
	for _, v := range order {
		taken[v] = true
	}
	slices.SortStableFunc(order, func(a, b string) int { return count[b] - count[a] })
	rng := rand.New(rand.NewPCG(seed, 0x6e616d65))
	stock := strings.Fields(realWords)
	rng.Shuffle(len(stock), func(i, j int) { stock[i], stock[j] = stock[j], stock[i] })
	next := func() string {
		for {
			s := ""
			if len(stock) > 0 {
				s, stock = stock[0], stock[1:]
			} else {
				s = madeUp(rng)
			}
			if !taken[s] && !stays(s) {
				return s
			}
		}
	}
	var give func(v string) string
	give = func(v string) string {
		if w.to[v] != "" {
			return w.to[v]
		}
		s := ""
		if base, ending := baseOf(v, count); base != "" {
			s = withEnding(give(base), ending) // a base is shorter: this ends
		}
		if s == "" || taken[s] {
			s = next()
		}
		taken[s], w.to[v] = true, s
		return s
	}
	for _, v := range order {
		give(v)
	}
	return w
}

var endings = []string{"s", "es", "ed", "d", "ing", "er", "ers", "ly", "able"}

// baseOf returns the word of a vocabulary that v is with an ending.
func baseOf(v string, known map[string]int) (base, ending string) {
	for _, e := range endings {
		b, ok := strings.CutSuffix(v, e)
		if !ok || len(b) < 3 {
			continue
		}
		few := []string{b, b + "e"}
		if b[len(b)-1] == b[len(b)-2] { // stopped
			few = append(few, b[:len(b)-1])
		}
		for _, b := range few {
			if len(b) >= 3 && b != v && len(b) < len(v) && known[b] > 0 {
				return b, e
			}
		}
	}
	return "", ""
}

func withEnding(s, ending string) string {
	switch {
	case s == "":
		return ""
	case strings.HasSuffix(s, "e") && strings.IndexByte("aei", ending[0]) >= 0:
		return strings.TrimSuffix(s, "e") + ending
	case ending == "d":
		return s + "ed"
	}
	return s + ending
}

// madeUp returns a word that can be spoken, of two or three syllables.
func madeUp(rng *rand.Rand) string {
	begin := strings.Fields("b br c cl d dr f fl g gr h j k l m n p pl qu r s st t tr v w z")
	middle := strings.Fields("a e i o u ai ea oo ou")
	end := append(strings.Fields("l m n nd r rn s st t x ck"), "")
	pick := func(of []string) string { return of[rng.IntN(len(of))] }
	s := ""
	for range 2 + rng.IntN(2) {
		s += pick(begin) + pick(middle)
	}
	return s + pick(end)
}

// identifier maps the words of one name, each in the case that it has.
func (w *words) identifier(s string) string {
	var b strings.Builder
	at := 0
	for _, p := range parts(s) {
		b.WriteString(s[at:p[0]])
		b.WriteString(w.word(s[p[0]:p[1]]))
		at = p[1]
	}
	b.WriteString(s[at:])
	return b.String()
}

// identifierAll maps every name in a text.
func (w *words) identifierAll(s string) string { return wordRE.ReplaceAllStringFunc(s, w.identifier) }

func (w *words) word(s string) string {
	to, ok := w.to[strings.ToLower(s)]
	switch {
	case !ok:
		return s
	case len(s) > 1 && strings.ToUpper(s) == s:
		return strings.ToUpper(to)
	case isUpper(s[0]):
		return strings.ToUpper(to[:1]) + to[1:]
	}
	return to
}
