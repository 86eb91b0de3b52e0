package answer

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
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
		return 60
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
	of      scores
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
	c := choice{best: of.best, of: of}
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
	if first := tongue(&passages[c.picks[0].passage].Passage); first == inSpanish { // in one language
		in := map[int]bool{}
		for i := range passages {
			in[i] = tongue(&passages[i].Passage) == first
		}
		of.best = slices.DeleteFunc(slices.Clone(of.best), func(s *scored) bool { return !in[s.passage] })
	}
	same, margin := c.standing(passages)
	c.settled = same >= settledSame && margin >= settledMargin
	q.heads(&c, of)
	if c.settled {
		q.extend(&c, of)
	}
	q.whole(&c, of)
	if !c.settled {
		q.spread(&c, of)
	}
	q.sides(&c, of)
	q.complete(&c, of)
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
	for _, step := range []int{1, -1, 2, 3} {
		i := first.at + step
		if i < 0 || i >= len(page) {
			continue
		}
		s := &page[i]
		most := q.paragraph()
		if step == 3 && !dangles(s.text) {
			continue
		}
		if step > 0 && dangles(s.text) { // it says what follows from the one before
			most += goesOnWords
		}
		if s.form != prose || first.form != prose || s.block != first.block || of.announcesCode(s) && !q.shows() {
			continue
		}
		if s.length > mostWords || c.words+s.words() > most {
			continue
		}
		q.pick(c, of, s, most)
	}
}

// goesOnWords is how many words more there may be for a sentence that goes on with
// the one before it.
const goesOnWords = 30

// shows reports whether lists and code are what is asked for.
func (q *question) shows() bool { return q.cue == doing || q.cue == listing || q.cue == place }

// next returns the sentence that adds most to what is chosen; nil for none.
func (q *question) next(c *choice, of scores, best float64) *scored {
	var next *scored
	top := 0.0
	for _, s := range of.best {
		score := s.score + c.goesOn(s)
		if of.announcesCode(s) && !q.shows() || c.settled && !c.beside(s) || s.left {
			continue
		}
		if score < c.floor()*best || c.has(s) || !q.begins(s) {
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
		if len(whole) == len(need) { // what it announces cannot be shown
			return false
		}
		most = MostWords
		if q.cue == listing && !c.fits(whole, most) {
			shorten(of.pages[s.passage], whole[len(need):])
		}
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
	steps := s.list > 0 && (q.cue == listing || q.cue == doing && s.opens && s.lead >= 0 && announces(&page[s.lead]))
	if s.form != prose || !ahead && !(q.cue == doing && s.list == 0) && !steps {
		return out
	}
	if steps && !ahead { // the items beside it
		return q.items(page, out, s.list, s.lead)
	}
	for j := s.at + 1; j < len(page) && j <= s.at+1; j++ {
		o := &page[j]
		switch {
		case o.section != s.section:
		case o.form == code && o.lead == s.at && len(o.lines) <= mostCode:
			for n := 0; j < len(page) && page[j].form == code && page[j].block == o.block && n < mostCode; j++ {
				out = append(out, &page[j])
				n++
			}
			return out
		case ahead && o.list > 0 && o.list != s.list && o.lead == s.at:
			return q.items(page, out, o.list, s.at)
		case ahead && o.form == row:
			for ; j < len(page) && page[j].form == row && page[j].block == o.block; j++ {
				out = append(out, &page[j])
			}
			return out
		case ahead && announces(o) && s.list == 0: // which announces in its turn
			rest := slices.DeleteFunc(q.company(page, o), func(p *scored) bool { return slices.Contains(out, p) })
			if len(rest) > 1 {
				return append(out, rest...)
			}
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
