package search

import (
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// fit gives every hit as many of its lines as the budget allows, the first
// ones more: they answer most often. What a hit gets does not become less when
// the limit grows: hits are taken in runs, each the longest that has the most
// lines within the budget of its own hits, so that more hits behind it can
// lengthen a run and never take from it.
func (s *shower) fit(r *Reply) {
	if s.r.Lines > 0 {
		s.uncut(r)
		return
	}
	t, per := s.r.Tuning, s.perHit()
	budget := per * s.r.Limit
	if s.survey != nil {
		all := int(t.PlaceShare * float64(per*s.r.Limit))
		per -= min(all, s.survey.price(t)) / s.r.Limit // no more of each hit when the limit grows
		s.survey.places(r.Hits, s.shown, all, t)
	}
	for i := range r.Hits { // what may be shown is judged, so that the marks are in the budget
		_, text := s.lines[i].window(s.most()+t.furtherLines(i), t.LineWidth)
		h, at := &r.Hits[i], &s.shown[i]
		h.Note = s.targets[at.Store].Mark(h.Note, at.Path, h.Doc+"\n"+text)
	}
	const digits = 14 // tokens and ms, which are not known yet
	bare := *r
	bare.Hits = []Hit{}
	p := &prices{s: s, hits: r.Hits, levels: s.levels(), header: tokens.Estimate(bare.Text()) + digits}
	p.cost = make([][]int, len(p.levels))
	if !slices.ContainsFunc(r.Hits, func(h Hit) bool { return h.Store != r.Hits[0].Store }) && len(r.Hits) > 0 {
		p.store = r.Hits[0].Store // which is said once
		p.header += tokens.Estimate(p.store) + 3
	}
	level := make([]int, len(r.Hits))
	left := s.r.Limit*per - p.header
	for from := 0; from < len(r.Hits); {
		to, l := p.run(from, per)
		for ; from < to; from++ {
			if l == len(p.levels)-1 {
				p.shed(from, per)
			}
			level[from] = l
			left -= p.of(l, from)
		}
	}
	if len(r.Hits) < s.r.Limit { // there are no more to come
		level = p.raise(level, left)
	}
	for i := range r.Hits {
		r.Hits[i].Line, r.Hits[i].Code = s.window(i, p.levels[level[i]])
	}
	for i := len(r.Hits) - 1; ; { // what joins the lists was not counted
		if r.Tokens = tokens.Estimate(r.Text()) + digits; r.Tokens <= budget {
			return
		}
		for ; i >= 0 && len(r.Hits[i].Places) == 0; i-- {
		}
		if i < 0 {
			return
		}
		h := &r.Hits[i]
		if h.Places = h.Places[:len(h.Places)-1]; len(h.Places) == 0 {
			h.Places = nil
		}
	}
}

// uncut gives every hit as many lines as the request names.
func (s *shower) uncut(r *Reply) {
	for i := range r.Hits {
		h, at := &r.Hits[i], &s.shown[i]
		h.Line, h.Code = s.lines[i].window(s.r.Lines, widestLine)
		h.Note = s.targets[at.Store].Mark(h.Note, at.Path, h.Doc+"\n"+h.Code)
	}
	r.Tokens = tokens.Estimate(r.Text())
}

// prices are what hits cost with more lines or fewer, in tokens.
type prices struct {
	s      *shower
	hits   []Hit
	levels []int   // see shower.levels
	cost   [][]int // by level and hit, 0 where it is not known yet
	header int     // of the reply without its hits
	store  string  // of all hits, "" when they are of several
}

// of returns the price of a hit at a level, without the further places of its document.
func (p *prices) of(level, i int) int {
	if p.cost[level] == nil {
		p.cost[level] = make([]int, len(p.hits))
	}
	if p.cost[level][i] == 0 {
		h := p.hits[i]
		h.Line, h.Code = p.s.window(i, p.levels[level])
		h.Places = nil
		if p.store != "" {
			h.Store = ""
		}
		p.cost[level][i] = tokens.Estimate(marshal(h)) + 1
	}
	return p.cost[level][i]
}

// run returns the highest level at which hits from one on fit their budget, and
// the end of the longest such run; the lowest level and all without one.
func (p *prices) run(from, per int) (to, level int) {
	for l := range p.levels {
		budget := 0
		if from == 0 {
			budget -= p.header
		}
		for i := from; i < len(p.hits); i++ {
			if budget += per - p.of(l, i); budget >= 0 {
				to = i + 1
			}
		}
		if to > 0 {
			return to, l
		}
	}
	return len(p.hits), len(p.levels) - 1
}

// shed takes from a hit that is too dear without lines what is told beside them.
func (p *prices) shed(i, per int) {
	h, last := &p.hits[i], len(p.levels)-1
	for _, list := range []func(){func() { h.Related = nil }, func() { h.Imports = nil }} {
		if p.of(last, i) <= per {
			return
		}
		list()
		for l := range p.cost {
			if p.cost[l] != nil {
				p.cost[l][i] = 0
			}
		}
	}
}

// raise returns the levels with all raised to the highest that what is left pays for.
func (p *prices) raise(level []int, left int) []int {
	for l := range p.levels {
		cost := 0
		for i := range level {
			if level[i] > l {
				cost += p.of(l, i) - p.of(level[i], i)
			}
		}
		if cost <= left {
			for i := range level {
				level[i] = min(level[i], l)
			}
			return level
		}
	}
	return level
}

// levels are the numbers of lines that hits are tried with, most first; below
// one line it becomes shorter.
func (s *shower) levels() (out []int) {
	for n := s.most(); n >= -4; n-- {
		if out = append(out, n); n > 8 {
			n -= n / 4
		}
	}
	return out
}

// window returns the lines of a hit at a level.
func (s *shower) window(i, level int) (int, string) {
	t, width := s.r.Tuning, s.r.Tuning.LineWidth
	if level <= 0 {
		width = max(20, 100+20*level)
	}
	return s.lines[i].window(max(level+t.furtherLines(i), 1), width)
}

// Cost estimates what a text costs a reader in tokens, as replies are counted.
func Cost(text string) int { return tokens.Estimate(text) }
