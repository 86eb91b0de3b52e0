package answer

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

const (
	// MostWords is the longest answer, citations aside.
	MostWords = 120
	mostPicks = 5 // sentences that are chosen by themselves

	// floor is how much worse than the best a further sentence may be, and
	// novelty how much likeness to what is said already costs.
	floor   = 0.78
	novelty = 0.30
	// adds is the share of the question that a sentence must add beyond aimWords.
	adds = 0.10
)

// What being in the paragraph, or in the section, of what is chosen counts.
const (
	paragraphLift = 0.04
	sectionLift   = 0.03
)

// aim is how many words an answer has when more is not needed: what follows
// must add a word of the question then. A number, or a yes, is said in few.
func (q *question) aim() int {
	switch q.cue {
	case amount, deciding:
		return 36
	case comparing, listing, reason, doing:
		return 72
	}
	return 46
}

// paragraph is how many of them may stand beside the best sentence.
func (q *question) paragraph() int { return int(0.75 * float64(q.aim())) }

// choice is what an answer says.
type choice struct {
	picks []*scored // in the order in which they were chosen, each with what it leans on
	all   []*scored
	words int
	// settled is that the place of the answer is plain, so that the rest of it is
	// looked for there alone.
	settled bool
	best    []*scored // every sentence, best first
}

func (c *choice) has(s *scored) bool { return slices.Contains(c.all, s) }

// fresh returns the sentences that are not there yet, and their words.
func (c *choice) fresh(list []*scored) (add []*scored, n int) {
	for _, s := range list {
		if !c.has(s) && !slices.Contains(add, s) {
			add = append(add, s)
			n += s.words()
		}
	}
	return add, n
}

func (c *choice) fits(list []*scored, most int) bool {
	_, n := c.fresh(list)
	return c.words+n <= most
}

// take adds sentences that are not there yet, if all of them fit.
func (c *choice) take(list []*scored, most int) bool {
	if !c.fits(list, most) {
		return false
	}
	add, n := c.fresh(list)
	c.all = append(c.all, add...)
	c.words += n
	return true
}

// choose takes the sentences of an answer: the best with what it leans on,
// then what adds to it without repeating it (maximal marginal relevance).
func (q *question) choose(of scores, passages []search.Passage) choice {
	c := choice{best: of.best}
	if len(of.best) == 0 {
		return c
	}
	for _, s := range of.best {
		if q.begins(s) && q.pick(&c, of, s, MostWords) {
			break
		}
	}
	if len(c.picks) == 0 {
		return c
	}
	same, margin := c.standing(passages)
	c.settled = same >= settledSame && margin >= settledMargin
	if c.settled {
		q.extend(&c, of)
	} else {
		q.spread(&c, of)
	}
	if q.cue == amount {
		q.figure(&c, of)
	}
	if r := q.rival(c, passages); r != nil { // both are shown
		q.disputed = true
		q.pick(&c, of, r, MostWords)
	}
	best := c.picks[0].score
	for len(c.picks) < mostPicks {
		next := q.next(&c, of, best)
		if next == nil {
			break
		}
		most := MostWords
		if q.added(&c, next) < adds {
			most = max(q.aim()+15, c.words)
		}
		if !q.pick(&c, of, next, most) {
			next.left = true // it does not fit with what it needs
		}
	}
	return c
}

// extend adds what stands beside the first pick in its paragraph: an answer is
// rarely one sentence.
func (q *question) extend(c *choice, of scores) {
	first := c.picks[0]
	page := of.pages[first.passage]
	for _, step := range []int{1, -1, 2} {
		i := first.at + step
		if i < 0 || i >= len(page) {
			continue
		}
		s := &page[i]
		if s.form != prose || first.form != prose || s.block != first.block || announces(s) && q.cue != doing && q.cue != listing || s.length > mostWords || c.words+s.words() > q.paragraph() {
			continue
		}
		q.pick(c, of, s, q.paragraph())
	}
}

// spread adds the best sentence of each of the sections that come next, where
// the place of the answer is not plain.
func (q *question) spread(c *choice, of scores) {
	type place struct{ passage, section int }
	first := c.picks[0]
	have := map[place]bool{{first.passage, first.section}: true}
	for _, s := range of.best {
		if len(have) >= mostSpread || s.score < spreadFloor*first.score {
			return
		}
		at := place{s.passage, s.section}
		if have[at] || !q.begins(s) || c.says(s) {
			continue
		}
		if q.pick(c, of, s, spreadWords) {
			have[at] = true
		}
	}
}

// Of how many sections an answer is made where the place of it is not plain,
// how much worse they may be, and how many words it has then.
const (
	mostSpread  = 3
	spreadFloor = 0.75
	spreadWords = 60
)

// says reports whether what is chosen says what a sentence does.
func (c *choice) says(s *scored) bool {
	return s.nearest(c.all) > 0.8 && (!figureRE.MatchString(s.text) || slices.ContainsFunc(c.all, func(o *scored) bool { return figureRE.MatchString(o.text) }))
}

// next returns the sentence that adds most to what is chosen; nil for none.
func (q *question) next(c *choice, of scores, best float64) *scored {
	var next *scored
	top := 0.0
	for _, s := range of.best {
		score := s.score + c.goesOn(s)
		if c.settled && !c.beside(s) || s.left || score < c.floor()*best || c.has(s) || !q.begins(s) {
			continue
		}
		if c.words+s.words() > q.aim() && q.added(c, s) < adds {
			continue
		}
		like := s.nearest(c.all)
		v := score - novelty*like
		if c.settled { // what goes on comes first
			v -= farCost * float64(max(s.at-c.picks[0].at, c.picks[0].at-s.at))
		}
		if like <= 0.8 && v > top {
			next, top = s, v
		}
	}
	return next
}

// What settles where the answer stands; see standing.
const (
	settledSame   = 0.6
	settledMargin = 0.1
	settledFloor  = 0.62
	farCost       = 0.05 // of each sentence between
)

// floor is how much worse than the best a further sentence may be.
func (c *choice) floor() float64 {
	if c.settled {
		return settledFloor
	}
	return floor
}

// beside reports whether a sentence is in the section of the first pick.
func (c *choice) beside(s *scored) bool {
	first := c.picks[0]
	return s.passage == first.passage && s.section == first.section
}

// goesOn is what speaks for a sentence because it goes on with one that is
// chosen: in its paragraph, or in its section.
func (c *choice) goesOn(s *scored) float64 {
	v := 0.0
	for _, o := range c.picks {
		if o.passage != s.passage || o.section != s.section {
			continue
		}
		v = max(v, sectionLift)
		if o.block == s.block && max(o.at-s.at, s.at-o.at) <= 2 {
			return paragraphLift
		}
	}
	return v
}

// figure adds the sentence with a number that is nearest to the first pick in
// its section, where a number is asked for and what is chosen has none.
func (q *question) figure(c *choice, of scores) {
	for _, s := range c.all {
		if figureRE.MatchString(s.text) {
			return
		}
	}
	first := c.picks[0]
	page := of.pages[first.passage]
	var next *scored
	far := func(s *scored) int { return max(s.at-first.at, first.at-s.at) }
	for i := range page {
		s := &page[i]
		if s.section == first.section && s.form != code && far(s) <= figureReach && figureRE.MatchString(s.text) && (next == nil || far(s) < far(next)) {
			next = s
		}
	}
	if next != nil {
		q.pick(c, of, next, MostWords)
	}
}

// figureReach is how many sentences away a number may be.
const figureReach = 4

// begins reports whether a sentence can be what an answer begins with.
func (q *question) begins(s *scored) bool {
	if s.form == code {
		return (s.lead >= 0 || s.about != "") && len(s.lines) <= 2*mostCode
	}
	return s.length <= mostWords
}

// pick adds a sentence with what it leans on; false when that does not fit. One
// that announces something says nothing without it: of a list that is too long
// the first items are taken.
func (q *question) pick(c *choice, of scores, s *scored, most int) bool {
	whole, need := q.company(of.pages[s.passage], s), of.needed(s)
	if announces(s) {
		most = MostWords
		for len(whole) > len(need)+1 && !c.fits(whole, most) {
			whole = whole[:len(whole)-1]
		}
		need = whole
	}
	if !c.take(whole, most) && !c.take(need, most) {
		return false
	}
	c.picks = append(c.picks, s)
	return true
}

// announces reports whether a sentence ends in what follows it.
func announces(s *scored) bool { return s.form == prose && strings.HasSuffix(s.text, ":") }

// needed is a sentence with what comes before it that it cannot do without.
func (of scores) needed(s *scored) []*scored {
	page := of.pages[s.passage]
	out := []*scored{s}
	for n := 0; n < 2; n++ {
		f := out[0]
		if f.lead < 0 || f.form == prose && f.list > 0 && f.opens && f.length >= 8 && !dangles(f.text) {
			break
		}
		out = append([]*scored{&page[f.lead]}, out...)
		if f.form == code {
			break // code and what announces it
		}
	}
	return out
}

// company is a sentence with what it leans on, before it and behind it: the
// list or the code that it announces.
func (q *question) company(page []scored, s *scored) []*scored {
	of := scores{pages: make([][]scored, s.passage+1)}
	of.pages[s.passage] = page
	out := of.needed(s)
	ahead := announces(s)
	if s.form != prose || !ahead && !(q.cue == doing && s.list == 0) && !(q.cue == listing && s.list > 0) {
		return out
	}
	if s.list > 0 && !ahead && q.cue == listing { // the items beside it
		return q.items(page, out, s.list, s.lead)
	}
	for j := s.at + 1; j < len(page) && j <= s.at+1; j++ {
		o := &page[j]
		switch {
		case o.section != s.section:
		case o.form == code && o.lead == s.at && len(o.lines) <= mostCode:
			return append(out, o)
		case ahead && o.list > 0 && o.list != s.list && o.lead == s.at:
			return q.items(page, out, o.list, s.at)
		case ahead && o.form == row:
			for ; j < len(page) && page[j].form == row && page[j].block == o.block; j++ {
				out = append(out, &page[j])
			}
			return out
		case ahead && o.form == prose && s.list == 0:
			return append(out, o)
		}
	}
	return out
}

// items adds the first sentence of each item of a list, behind its introduction.
func (q *question) items(page []scored, out []*scored, list, lead int) []*scored {
	if lead >= 0 && !slices.Contains(out, &page[lead]) {
		out = append([]*scored{&page[lead]}, out...)
	}
	for j := range page {
		if o := &page[j]; o.list == list && o.opens && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// added is the share of the question, by weight, that a sentence has and what
// is chosen has not.
func (q *question) added(c *choice, s *scored) float64 {
	if q.sum == 0 {
		return 0
	}
	v := 0.0
	for ci := range q.concepts {
		most := 0.0
		for _, o := range c.all {
			most = max(most, o.around[ci])
		}
		v += q.concepts[ci].weight * max(0, s.direct[ci]-most)
	}
	return v / q.sum
}

// words is how many words a sentence takes of an answer.
func (s *scored) words() int {
	n := s.length
	if s.needsHead() {
		n += len(strings.Fields(s.about))
	}
	return n
}

// needsHead reports whether a sentence says too little without its heading.
func (s *scored) needsHead() bool {
	if s.about == "" || strings.HasSuffix(s.about, "?") || s.list > 0 && s.lead >= 0 || s.form == code && (s.lead >= 0 || !s.manual && !strings.Contains(s.text, ":")) ||
		s.form != code && (s.length >= 7 || s.form == prose && s.length >= 5) && !dangling(s) {
		return false
	}
	for t := range tokensOf(s.about) {
		if !s.tokens[t] {
			return true
		}
	}
	return false
}

// dangling reports whether a sentence speaks of something by a pronoun that
// its short heading names.
func dangling(s *scored) bool {
	return s.form == prose && s.lead < 0 && strings.Count(s.about, " ") < 5 && (dangles(s.text) || danglingRE.MatchString(s.text))
}

var danglingRE = lazyregexp.New(`^(?:(?:\S+ ){0,2}(?:it|its|them|they)\b|(?:It|Its|This|They|These|Those)\b)`)

// nearest is the likeness to the nearest of those chosen: the share of its
// words, or the cosine, whichever is more.
func (s *scored) nearest(chosen []*scored) float64 {
	most := 0.0
	for _, c := range chosen {
		n := 0
		for t := range s.tokens {
			if c.tokens[t] {
				n++
			}
		}
		v := float64(n) / float64(max(1, min(len(s.tokens), len(c.tokens))))
		if s.vector != nil && c.vector != nil && v > 0.3 {
			v = max(v, 0.8*kb.Dot(s.vector, c.vector))
		}
		most = max(most, v)
	}
	return most
}
