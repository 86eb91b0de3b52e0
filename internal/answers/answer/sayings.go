package answer

import (
	_ "embed" // the list is a part of the program
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
	"github.com/seed-4f2d999b/knowledge/internal/text/thesaurus"
)

//go:embed sayings.txt
var sayingsText string

// saying is what people say in several words, and the words of documentation
// for that.
type saying struct {
	stems []string
	words []string
}

// sayings are by their first stem, those with most words first.
var sayings = sync.OnceValue(func() map[string][]saying {
	m := map[string][]saying{}
	add := func(phrase string, means []string) {
		var stems []string
		for _, w := range strings.Fields(phrase) {
			stems = append(stems, stemOf(w))
		}
		if len(stems) == 0 || len(means) == 0 {
			return
		}
		list := m[stems[0]]
		if i := slices.IndexFunc(list, func(s saying) bool { return slices.Equal(s.stems, stems) }); i >= 0 {
			list[i].words = append(list[i].words, means...)
			return
		}
		m[stems[0]] = append(list, saying{stems, means})
	}
	for line := range strings.Lines(sayingsText) {
		if phrase, means, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			add(phrase, strings.Fields(means))
		}
	}
	for e := range thesaurus.English() {
		for _, a := range e.Alternatives {
			if strings.Contains(a, " ") {
				add(a, []string{e.Word})
			}
		}
	}
	for _, list := range m {
		slices.SortStableFunc(list, func(a, b saying) int { return len(b.stems) - len(a.stems) })
	}
	return m
})

// stemOf is a word as sayings are compared.
func stemOf(w string) string {
	f := fold(w)
	if t := terms.Of(f); len(t) > 0 {
		return spanishStem(t[0])
	}
	return f
}

// said returns what a question says in sayings: for each the words it is said
// with, and what documentation has for them.
func said(question string) (phrases [][]string, means [][]string) {
	list := wordRE.FindAllString(question, -1)
	stems := make([]string, len(list))
	for i, w := range list {
		stems[i] = stemOf(w)
	}
	for i := 0; i < len(stems); i++ {
		for _, s := range sayings()[stems[i]] {
			if len(s.stems) == 1 && within[fold(list[i])] { // "los" is not lost
				continue
			}
			if used := s.in(list[i:], stems[i:]); used != nil {
				phrases, means = append(phrases, used), append(means, s.words)
				i += len(used) - 1 // a word is in one
				break
			}
		}
	}
	return phrases, means
}

// within are words that stand inside of sayings: turn it off.
var within = kb.WordsOf("it them this that these those him her me us you lo la los las eso esto")

// in returns the words that a saying is said with at the beginning of a list;
// nil when it is not.
func (s *saying) in(list, stems []string) []string {
	var used []string
	n := 0
	for i := 0; i < len(list) && n < len(s.stems); i++ {
		switch {
		case stems[i] == s.stems[n]:
			used = append(used, list[i])
			n++
		case n > 0 && within[fold(list[i])]:
		default:
			return nil
		}
	}
	if n < len(s.stems) {
		return nil
	}
	return used
}

// meant is the share of the question in and around a sentence for who asks how sure an
// answer is. What a saying means is not missed there where its words stand as they are
// said ("config file" need not be an ini), nor where they only ask ("what happens").
func (q *question) meant(s *scored) float64 {
	held, sum := 0.0, 0.0
	for i := range q.concepts {
		c := &q.concepts[i]
		a := s.around[i]
		switch {
		case c.own > 0:
		case len(c.phrase) > 0:
			a = max(a, phraseShare*q.heldAround(s, c.phrase))
		case a == 0:
			continue
		}
		held += c.weight * a
		sum += c.weight
	}
	if sum == 0 {
		return 0
	}
	return held / sum
}

// heldAround is how well a sentence, and what is around it, holds each of the terms, all of
// which are words of the question.
func (q *question) heldAround(s *scored, stems []string) float64 {
	least := 1.0
	for _, t := range stems {
		i := slices.IndexFunc(q.concepts, func(c concept) bool { return c.own > 0 && c.terms[0] == t })
		if i < 0 {
			return 0
		}
		least = min(least, s.around[i])
	}
	return least
}
