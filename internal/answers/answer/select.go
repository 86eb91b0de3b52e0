package answer

import (
	"cmp"
	"context"
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
	// shortlist is how many sentences are compared with the question by vector.
	shortlist = 250

	coverWeight   = 0.45
	cosineWeight  = 0.15
	nearWeight    = 0.20
	passageWeight = 0.50 // of the place of its passage in the ranking
	cueWeight     = 0.12
	focusWeight   = 0.05 // of saying it in few words

	// What a concept counts that is not in the sentence itself but near it.
	beforeShare  = 0.7  // in the sentence before it
	blockShare   = 0.45 // in its paragraph
	columnShare  = 0.6  // in the head of its table
	headingShare = 0.7  // in the heading or declaration above it
	outerShare   = 0.45 // in the headings above that
	pathShare    = 0.4  // in the path of its document
	partShare    = 0.4  // as a part of a longer name
	akinShare    = 0.6  // as a word that is used for it
	phraseShare  = 0.9  // as the saying that stands for it
)

// scored is a sentence with what speaks for it.
type scored struct {
	sentence
	passage int
	at      int       // its place in the passage
	direct  []float64 // share of each concept in the sentence itself
	around  []float64 // the same with what is around it
	cover   float64   // Σ of around by weight, in [0,1]
	own     float64   // Σ of direct by weight
	score   float64
	cosine  float64
	near    float64 // the same without what the sentences have in common
	tokens  map[string]bool
	columns map[string]bool // of the head of its table
	vector  []float32
	length  int  // words
	left    bool // there is no room for it
}

// scores are the sentences of passages: by passage, in their order, and the
// best of all of them, best first.
type scores struct {
	pages [][]scored
	best  []*scored
}

// score scores every sentence of the passages.
func (q *question) score(ctx context.Context, passages []search.Passage, emb kb.Embedder) (scores, error) {
	var out scores
	for pi := range passages {
		list := q.page(&passages[pi], pi)
		out.pages = append(out.pages, list)
		for i := range list {
			out.best = append(out.best, &list[i])
		}
	}
	order := func(a, b *scored) int { return cmp.Compare(b.score, a.score) }
	kb.SortStableFunc(out.best, order)
	out.best = out.best[:min(len(out.best), shortlist)]
	if q.vector != nil && embed.Cheap(emb) {
		texts := make([]string, len(out.best))
		for i, s := range out.best {
			texts[i] = s.about + " " + s.text
		}
		vectors, err := emb.Embed(ctx, texts)
		if err != nil {
			return out, err
		}
		near := kb.Apart(q.vector, vectors, commonShare)
		for i, s := range out.best {
			s.vector = vectors[i]
			s.cosine = max(0, kb.Dot(q.vector, vectors[i]))
			s.near = max(0, near[i])
			s.score += cosineWeight*s.cosine + nearWeight*s.near
		}
	}
	kb.SortStableFunc(out.best, order)
	return out, nil
}

// commonShare is how much of what sentences have in common is taken off.
const commonShare = 0.7

// page scores the sentences of one passage, without their vectors.
func (q *question) page(p *search.Passage, number int) []scored {
	units := sentences(&p.Passage)
	place, outer := tokensOf(p.Path), tokensOf(strings.Join(p.Chunk.Decl, " "))
	list := make([]scored, len(units))
	for i := range units {
		list[i] = scored{sentence: units[i], passage: number, at: i, tokens: tokensOf(units[i].text),
			length: len(strings.Fields(units[i].text))}
		if len(units[i].head) > 0 {
			list[i].columns = tokensOf(strings.Join(units[i].head, " "))
		}
		if units[i].form == code && placedRE.MatchString(units[i].text) {
			for _, t := range placeTerms {
				list[i].tokens[t] = true
			}
		}
	}
	heads, titles := map[string]map[string]bool{}, map[string]float64{}
	lift := passageWeight*p.Score*(1-0.5*p.Marked) + q.lift(p)
	for i := range list {
		s := &list[i]
		head, ok := heads[s.about]
		if !ok {
			head = tokensOf(s.about)
			heads[s.about], titles[s.about] = head, q.titled(s.about)
		}
		s.direct, s.around = make([]float64, len(q.concepts)), make([]float64, len(q.concepts))
		held := 0.0
		for ci := range q.concepts {
			c := &q.concepts[ci]
			s.direct[ci] = max(c.in(s.tokens), columnShare*c.in(s.columns))
			s.around[ci] = c.beside(list, i, max(s.direct[ci], headingShare*c.in(head), outerShare*c.in(outer), pathShare*c.in(place)))
			s.cover += c.weight * s.around[ci]
			s.own += c.weight * s.direct[ci]
			held += s.direct[ci]
		}
		if q.sum > 0 {
			s.cover /= q.sum
			s.own /= q.sum
		}
		focus := min(1, 3*held/float64(max(6, s.length)))
		s.score = coverWeight*s.cover + focusWeight*focus + lift + q.news(s)*q.goesOn(p.Path, s.start) + titles[s.about] + q.entry(s) + q.cues(list, s) - penalty(s) - q.repeats(s)
		s.score *= 1 - feedbackCost*p.Marked
	}
	return list
}

// placedRE is a path in a command, which placeTerms mean.
var (
	placedRE   = lazyregexp.New(`\s(?:~|\.{1,2})?/[\w.-]|\s\.{1,2}(?:\s|$)`)
	placeTerms = terms.Of("folder directory path")
)

// beside returns how well what stands around sentence i holds the concept, at
// least a, what is known already.
func (c *concept) beside(list []scored, i int, a float64) float64 {
	s := &list[i]
	if l := s.lead; l >= 0 {
		a = max(a, beforeShare*c.in(list[l].tokens))
	}
	for j := max(0, i-6); j < min(len(list), i+3) && a < beforeShare; j++ {
		if j == i || list[j].block != s.block {
			continue
		}
		share := blockShare
		if j == i-1 {
			share = beforeShare
		}
		a = max(a, share*c.in(list[j].tokens))
	}
	return a
}

// lift is what speaks for a passage as a whole: that it declares a name of
// the question, at a place that the rest of the name says.
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
				dir := tokensOf(folder(p.Path))
				if i > 0 && q.concepts[i-1].in(dir) == 1 {
					v = 2 * declareLift
				}
			}
		}
	}
	if rank.IsTest(p.Path) {
		v -= testCost
	}
	if isChangelog(p.Path) && !q.dated {
		v -= changelogCost
	}
	if internalRE.MatchString(p.Path) && q.cue != reason {
		v -= internalCost
	}
	return v
}

const (
	declareLift   = 0.06
	testCost      = 0.15
	changelogCost = 0.15
	internalCost  = 0.08
)

func folder(p string) string {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)]
}

// feedbackCost is what feedback against a passage takes of its sentences' scores.
const feedbackCost = 0.3

// in returns how well a set of terms holds the concept, in [0,1].
func (c *concept) in(tokens map[string]bool) float64 {
	for i, t := range c.terms {
		if tokens[t] {
			switch {
			case i < c.own:
				return 1
			case i < c.near:
				return 0.9
			}
			return akinShare
		}
	}
	if len(c.phrase) > 1 && !slices.ContainsFunc(c.phrase, func(t string) bool { return !tokens[t] }) {
		return phraseShare
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

// cues are what the form of a sentence says about the kind of question.
func (q *question) cues(page []scored, s *scored) float64 {
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
		v += q.amountCue(page, s)
	case reason:
		if becauseRE.MatchString(s.text) {
			v += 0.5
		}
	case place:
		if pathLikeR.MatchString(s.text) {
			v += 0.7
		}
	case doing:
		if s.form == code || doRE.MatchString(s.text) {
			v += 0.4
		}
	case listing:
		switch {
		case announces(s) && s.at+1 < len(page) && (page[s.at+1].list > 0 || page[s.at+1].form == row):
			v += 0.9
		case s.list > 0 || strings.Count(s.text, ",") >= 2:
			v += 0.4
		}
	case deciding:
		if denies(s.text) {
			v += 0.6
		} else if allowsRE.MatchString(s.text) {
			v += 0.3
		}
	case comparing:
		if compareRE.MatchString(s.text) {
			v += 0.5
		}
		if comparesRE.MatchString(s.about) {
			v += comparedCue
		}
	}
	return cueWeight * v
}

// comparedCue is what a heading counts that says that things are compared.
const comparedCue = 2.5

// mostColumns is how many columns a table has that says what it says of each.
const mostColumns = 4

// penalty is what speaks against a sentence as such.
func penalty(s *scored) float64 {
	v := 0.0
	switch {
	case s.form == code:
		if len(s.lines) > mostCode {
			v += 0.15
		}
	case s.length > mostWords:
		v += 0.5
	case s.length > 60:
		v += 0.1
	case s.length < 4 && s.form == prose:
		v += 0.12
	}
	if len(s.head) > mostColumns {
		v += 0.1 // a survey of much
	}
	if s.form == code && !s.setting {
		v += 0.10
		if s.lead < 0 {
			v += 0.10
		}
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
	if strings.HasSuffix(s.text, "?") {
		v += 0.12
	}
	if strings.HasSuffix(s.text, "!") {
		v += 0.04
	}
	if seeRE.MatchString(s.text) {
		v += 0.12 // says where it is said
	}
	if s.form == prose && pointerRE.MatchString(s.text) {
		v += 0.25 // is a link and no more
	}
	return v
}
