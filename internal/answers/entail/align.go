package entail

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/thesaurus"
)

// pair is a sentence and the text that it is compared with.
type pair struct {
	s, t    []token
	cosine  map[[2]string]float64 // cosines of words
	at      []int                 // for each token of s its place in t, or -1
	sim     []float64             // how well
	foreign bool                  // they are in two languages
	used    []int                 // for each token of t one of s that lies on it, or -1
}

const (
	leastLike   = 0.5  // cosine from which words may say the same
	alikeShare  = 0.8  // what words of the thesaurus count of a match
	leastCover  = 0.55 // of a sentence
	leastClause = 0.45 // of one clause
	// untranslated is what a word counts that the other language has no word for
	// in the lists, which are short.
	untranslated = 0.5
)

// synonyms are the words of the thesaurus by stem.
var synonyms = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	add := func(a, b string) {
		if !strings.Contains(a+b, " ") && a != b {
			m[a] = append(m[a], b)
		}
	}
	for e := range thesaurus.English() {
		for _, a := range e.Alternatives {
			x, y := stem(fold(e.Word)), stem(fold(a))
			add(x, y)
			add(y, x)
		}
	}
	return m
})

// phrases are the thesaurus's words of two words, with what they say in one.
var phrases = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for e := range thesaurus.English() {
		for _, a := range e.Alternatives {
			if lists["idle"][fold(e.Word)] {
				continue
			}
			if first, second, ok := strings.Cut(a, " "); ok && !strings.Contains(second, " ") {
				k := stem(fold(first)) + " " + fold(second)
				m[k] = append(m[k], stem(fold(e.Word)))
			}
		}
	}
	return m
})

// like measures the words of both sides against each other.
func (p *pair) like(ctx context.Context, e kb.Embedder) error {
	p.cosine = map[[2]string]float64{}
	if e == nil {
		return nil
	}
	var words []string
	at := map[string]int{}
	for _, t := range slices.Concat(p.s, p.t) {
		if t.kind == word {
			for _, w := range append([]string{t.text}, t.also...) {
				if _, ok := at[w]; !ok {
					at[w] = len(words)
					words = append(words, w)
				}
			}
		}
	}
	vectors, err := e.Embed(ctx, words)
	if err != nil {
		return err
	}
	for _, a := range p.s {
		for _, b := range p.t {
			if a.kind != word || b.kind != word {
				continue
			}
			most := 0.0
			for _, x := range append([]string{a.text}, a.also...) {
				for _, y := range append([]string{b.text}, b.also...) {
					most = max(most, kb.Dot(vectors[at[x]], vectors[at[y]]))
				}
			}
			p.cosine[[2]string{a.text, b.text}] = most
		}
	}
	return nil
}

// same is how much two tokens say the same, in [0,1].
func (p *pair) same(a, b *token) float64 {
	switch {
	case a.kind == word && b.kind == idle && slices.Contains(a.also, b.text): // activado: on
		return 0.9
	case a.kind == idle || b.kind == idle:
		return 0
	case a.kind == number || b.kind == number:
		if a.kind == b.kind && strings.TrimPrefix(a.unit, "times") == strings.TrimPrefix(b.unit, "times") && math.Abs(a.value-b.value) <= 1e-9*math.Abs(a.value) {
			return 1
		}
		return 0
	case a.kind == name || b.kind == name:
		if a.text == b.text || a.stem == b.stem {
			return 1
		}
		return 0
	case a.stem == b.stem || a.text == b.text:
		return 1
	}
	for _, x := range a.also {
		if x == b.stem || slices.Contains(b.also, x) {
			return 1
		}
	}
	if slices.Contains(b.also, a.stem) {
		return 1
	}
	if opposed(a, b) {
		return 0
	}
	if n := prefix(a.stem, b.stem); n >= 4 && n >= min(len(a.stem), len(b.stem))-2 && max(len(a.stem), len(b.stem)) <= n+4 {
		return 0.9
	}
	most := 0.0
	for _, x := range append([]string{a.stem}, a.also...) {
		for _, y := range append([]string{b.stem}, b.also...) {
			if slices.Contains(synonyms()[x], y) {
				most = alikeShare
			}
		}
	}
	if l := p.cosine[[2]string{a.text, b.text}]; l >= leastLike {
		most = max(most, min(1, l+0.1)*0.9)
	}
	return most
}

// opposed reports whether two words are opposites.
func opposed(a, b *token) bool {
	for _, x := range append([]string{a.stem}, a.also...) {
		for _, y := range append([]string{b.stem}, b.also...) {
			if slices.Contains(table().opposite[x], y) {
				return true
			}
		}
	}
	return false
}

func prefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// align lays each token of the sentence on the best of the text: where
// several say the same, on that of the sentence, and the clause, which says
// most of what its own clause says.
func (p *pair) align() {
	p.at, p.sim = make([]int, len(p.s)), make([]float64, len(p.s))
	p.used = slices.Repeat([]int{-1}, len(p.t))
	inSentence, inClause := map[[2]int]float64{}, map[[2]int]float64{}
	for i := range p.s {
		bestS, bestC := map[int]float64{}, map[int]float64{}
		for j := range p.t {
			v := p.same(&p.s[i], &p.t[j]) * weight(&p.s[i])
			bestS[p.t[j].sentence] = max(bestS[p.t[j].sentence], v)
			bestC[p.t[j].clause] = max(bestC[p.t[j].clause], v)
		}
		for k, v := range bestS {
			inSentence[[2]int{p.s[i].clause, k}] += v
		}
		for k, v := range bestC {
			inClause[[2]int{p.s[i].clause, k}] += v
		}
	}
	for i := range p.s {
		p.at[i] = -1
		top := 0.0
		for j := range p.t {
			v := p.same(&p.s[i], &p.t[j])
			if v == 0 {
				continue
			}
			c := p.s[i].clause
			near := 0.0
			if i > 0 && p.at[i-1] >= 0 && p.at[i-1] == j-1 {
				near = 0.05
			}
			if rank := v + 0.12*inSentence[[2]int{c, p.t[j].sentence}] + 0.08*inClause[[2]int{c, p.t[j].clause}] + near; rank > top {
				top, p.at[i], p.sim[i] = rank, j, v
			}
		}
		if p.at[i] >= 0 {
			p.used[p.at[i]] = i
		}
	}
}

// weight is how much of a sentence a token is.
func weight(t *token) float64 {
	switch {
	case t.kind == idle:
		return 0
	case t.kind == name || t.kind == number:
		return 1.5
	case t.faint:
		return 0.3
	}
	return 1
}

// cover is the share of the sentence that has its place in the text.
func (p *pair) cover() float64 { return p.share(func(*token) bool { return true }) }

// share is the share of those tokens that have their place.
func (p *pair) share(of func(*token) bool) float64 {
	sum, got := 0.0, 0.0
	for i := range p.s {
		if t := &p.s[i]; of(t) {
			w := weight(t)
			if p.at[i] >= 0 {
				got += w * p.sim[i]
			} else if p.unheard(t) {
				w *= untranslated
			}
			sum += w
		}
	}
	if sum == 0 {
		return 1
	}
	return got / sum
}

// home returns the clauses of the text that a clause of the sentence lies on,
// the one with most of it first; nil for none.
func (p *pair) home(clause int) []int {
	sum := map[int]float64{}
	for i := range p.s {
		if p.s[i].clause == clause && p.at[i] >= 0 {
			sum[p.t[p.at[i]].clause] += p.sim[i] * weight(&p.s[i])
		}
	}
	var out []int
	for k := range sum {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b int) int {
		if sum[a] != sum[b] {
			if sum[a] > sum[b] {
				return -1
			}
			return 1
		}
		return a - b
	})
	return out
}

// clauses is how many clauses the sentence has.
func (p *pair) clauses() int {
	if len(p.s) == 0 {
		return 0
	}
	return p.s[len(p.s)-1].clause + 1
}

// inClause reports whether a clause of tokens has a word of a list.
func inClause(tokens []token, clause int, list string) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.clause == clause && lists[list][t.text] })
}

// sentenceHas reports whether a sentence of tokens has a word of a list.
func sentenceHas(tokens []token, sentence int, list string) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.sentence == sentence && lists[list][t.text] })
}

// unheard reports whether the lists may have no word for a token in the other
// language.
func (p *pair) unheard(t *token) bool { return p.foreign && t.kind == word && len(t.also) == 0 }
