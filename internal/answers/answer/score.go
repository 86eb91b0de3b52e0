package answer

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

const (
	// MostWords is the longest answer, citations aside.
	MostWords = 120
	mostParts = 6 // sentences of one answer
	// shortlist is how many sentences are compared with the question by vector.
	shortlist = 200

	coverWeight   = 0.60
	cosineWeight  = 0.20
	passageWeight = 0.12
	cueWeight     = 0.08
	focusWeight   = 0.06 // of saying it in few words

	// What a concept counts that is not in the sentence itself but near it.
	beforeShare  = 0.7  // in the sentence before it
	blockShare   = 0.45 // in its paragraph
	headingShare = 0.6  // in the heading or declaration above it
	pathShare    = 0.4  // in the path of its document
	partShare    = 0.4  // as a part of a longer name

	// floor is how much worse than the best a further sentence may be, and
	// novelty how much likeness to what is said already costs.
	floor   = 0.75
	novelty = 0.35
)

// scored is a sentence with what speaks for it.
type scored struct {
	sentence
	passage int
	direct  []float64 // share of each concept in the sentence itself
	around  []float64 // the same with what is around it
	cover   float64   // Σ of around by weight, in [0,1]
	score   float64
	cosine  float64
	tokens  map[string]bool
	vector  []float32
	length  int // words
}

// score scores every sentence of the passages, best first.
func (q *question) score(ctx context.Context, passages []search.Passage, emb kb.Embedder) ([]scored, error) {
	var all []scored
	for pi := range passages {
		p := &passages[pi]
		place := tokensOf(p.Path)
		units := sentences(&p.Passage)
		lift := q.lift(p)
		list := make([]scored, len(units))
		for i := range units {
			list[i] = scored{sentence: units[i], passage: pi, tokens: tokensOf(units[i].text), length: len(strings.Fields(units[i].text))}
		}
		heads := map[string]map[string]bool{}
		for i := range list {
			s := &list[i]
			head, ok := heads[s.about]
			if !ok {
				head = tokensOf(s.about)
				heads[s.about] = head
			}
			s.direct, s.around = make([]float64, len(q.concepts)), make([]float64, len(q.concepts))
			for ci := range q.concepts {
				c := &q.concepts[ci]
				d := c.in(s.tokens)
				s.direct[ci] = d
				a := max(d, headingShare*c.in(head), pathShare*c.in(place))
				for j := max(0, i-6); j < min(len(list), i+3) && a < beforeShare; j++ {
					beside := (j == i-1 || j == i+1) && (s.form == code) != (list[j].form == code) // code and what announces it
					if j == i || list[j].block != s.block && !beside {
						continue
					}
					share := blockShare
					if j == i-1 || beside {
						share = beforeShare
					}
					a = max(a, share*c.in(list[j].tokens))
				}
				s.around[ci] = a
				s.cover += c.weight * a
			}
			if q.sum > 0 {
				s.cover /= q.sum
			}
			held := 0.0
			for _, d := range s.direct {
				held += d
			}
			focus := min(1, 3*held/float64(max(6, s.length)))
			s.score = coverWeight*s.cover + focusWeight*focus + passageWeight*p.Score*(1-0.5*p.Marked) + lift + q.cues(s) - penalty(s)
			s.score *= 1 - feedbackCost*p.Marked
		}
		all = append(all, list...)
	}
	kb.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	all = all[:min(len(all), shortlist)]
	if q.vector != nil && embed.Cheap(emb) {
		texts := make([]string, len(all))
		for i := range all {
			texts[i] = all[i].about + " " + all[i].text
		}
		vectors, err := emb.Embed(ctx, texts)
		if err != nil {
			return nil, err
		}
		for i := range all {
			all[i].vector = vectors[i]
			all[i].cosine = max(0, dot(q.vector, vectors[i]))
			all[i].score += cosineWeight * all[i].cosine
		}
	}
	kb.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	return all, nil
}

// lift is what speaks for a passage as a whole: that it declares a name of
// the question, at a place that the rest of the name says, and that an earlier
// answer of the conversation came from its document.
func (q *question) lift(p *search.Passage) float64 {
	v := 0.0
	for i := range q.concepts {
		c := &q.concepts[i]
		if !c.name {
			continue
		}
		for j := range p.Chunk.Symbols {
			if p.Chunk.Symbols[j].Name == c.word {
				v = max(v, declareLift)
				dir := tokensOf(path.Dir(p.Path))
				if i > 0 && q.concepts[i-1].in(dir) == 1 {
					v = 2 * declareLift
				}
			}
		}
	}
	if q.before[p.Path] {
		v += beforeLift
	}
	if rank.IsTest(p.Path) {
		v -= testCost
	}
	return v
}

const (
	declareLift = 0.06
	beforeLift  = 0.08
	testCost    = 0.1
)

// feedbackCost is what feedback against a passage takes of its sentences' scores.
const feedbackCost = 0.3

// in returns how well a set of terms holds the concept, in [0,1].
func (c *concept) in(tokens map[string]bool) float64 {
	for i, t := range c.terms {
		if tokens[t] {
			if i < c.own {
				return 1
			}
			return 0.9
		}
	}
	if len(c.parts) > 0 {
		n := 0
		for _, p := range c.parts {
			if tokens[p] {
				n++
			}
		}
		return partShare * float64(n) / float64(len(c.parts))
	}
	return 0
}

func tokensOf(text string) map[string]bool {
	m := map[string]bool{}
	var s terms.Scanner
	s.Scan(text, func(t []byte, _ bool) {
		m[string(t)] = true
		if n := len(t); n > 3 && t[n-1] == 's' { // NaNs
			m[string(t[:n-1])] = true
		}
	})
	return m
}

var (
	isRE      = lazyregexp.New(`(?i)\b(?:is|are|means|names|holds|reports|returns|es|son|significa)\b`)
	becauseRE = lazyregexp.New(`(?i)\b(?:because|since|so that|in order to|purpose|which is why|therefore|otherwise|but|and|too|porque|para que)\b`)
	measureRE = lazyregexp.New(`(?i)\b\d[\d.,]*\s?(?:[kmgt]i?b|bytes?|ms|µs|ns|s|seconds?|minutes?|hours?|days?|years?|%|files?|characters?|times)\b`)
	pathLikeR = lazyregexp.New("(?:[~/.$%][\\w.-]*/|[A-Z]+_[A-Z]+|--\\w|`)")
)

// cues are what the form of a sentence says about the kind of question.
func (q *question) cues(s *scored) float64 {
	v := 0.0
	switch q.cue {
	case defines:
		// The subject of a definition comes first.
		first := true
		for i, w := range words(s.text) {
			if i > 3 {
				break
			}
			t := terms.Of(w)
			for ci := range q.concepts {
				if first && !q.concepts[ci].topic && len(t) > 0 && slices.Contains(q.concepts[ci].terms, t[len(t)-1]) {
					v += 0.5
					first = false
				}
			}
		}
		if isRE.MatchString(s.text) {
			v += 0.3
		}
	case amount:
		if strings.ContainsAny(s.text, "0123456789") {
			v += 0.8
		}
		if measureRE.MatchString(s.text) {
			v += 0.4
		}
	case reason:
		if becauseRE.MatchString(s.text) {
			v += 0.5
		}
	case place:
		if pathLikeR.MatchString(s.text) {
			v += 0.7
		}
	case doing:
		if s.form == code {
			v += 0.4
		}
	}
	return cueWeight * v
}

// penalty is what speaks against a sentence as such.
func penalty(s *scored) float64 {
	v := 0.0
	switch {
	case s.length > mostWords:
		v += 0.5
	case s.length > 60:
		v += 0.1
	case s.length < 4 && s.form == prose:
		v += 0.12
	}
	if s.form == code {
		v += 0.06
	}
	switch {
	case s.inside:
		v += 0.1
	case s.private:
		v += 0.05
	case s.manual:
		v -= 0.03
	}
	if s.form == prose && s.length < 8 && !strings.ContainsAny(s.text[len(s.text)-1:], ".!?:`)") {
		v += 0.08 // a label rather than a sentence
	}
	switch {
	case strings.HasSuffix(s.text, ":"):
		v += 0.08 // announces what is not here
	case strings.HasSuffix(s.text, "?"):
		v += 0.1
	}
	return v
}

func dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
