package answer

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
)

// completion is what an answer to a kind of question has, and how many
// sentences from what is chosen it may stand.
type completion struct {
	has   func(q *question, s *scored) bool
	reach int
}

// completions are by the kind of question: an amount is a number, a
// decision what denies, and what somebody wants to do a command, a setting or a
// call.
var completions = map[cue]completion{
	amount: {func(q *question, s *scored) bool { return (s.form != code || s.setting) && q.counts(s.text) }, 4},
	deciding: {func(q *question, s *scored) bool {
		return s.form == prose && denies(s.text) && q.speaksOf(s)
	}, 3},
	doing: {func(_ *question, s *scored) bool {
		return s.form == code && len(s.lines) <= mostCode && !treeRE.MatchString(s.text) || deedRE.MatchString(s.text)
	}, 4},
}

// heads takes the first sentences of a section that is asked by its heading, which
// say it before they explain it.
func (q *question) heads(c *choice, of scores) {
	first := c.picks[0]
	if q.titled(first.about) < titledStart {
		return
	}
	most := max(headWords, c.words)
	for i := range of.pages[first.passage] {
		s := &of.pages[first.passage][i]
		if s.section != first.section || s.form == code || s.length > mostWords || of.announcesCode(s) {
			continue
		}
		if !c.take([]*scored{s}, most) {
			return
		}
	}
}

// From which titled a section is answered from its begin, and in how many words.
const (
	titledStart = 0.15
	headWords   = 115
)

// wholeWords is how many words a section has that is quoted whole, where more than a
// number or a yes is asked for, and how many blocks of code.
const (
	wholeWords = 90
	wholeCode  = 2
)

// whole takes the rest of a short section in which the answer stands: its steps,
// the command behind them, the condition with what follows from it.
func (q *question) whole(c *choice, of scores) {
	first := c.picks[0]
	if q.cue == amount || q.cue == deciding || q.cue == place || !c.settled && q.cue != doing {
		return
	}
	var all []*scored
	words, blocks := 0, 0
	for i := range of.pages[first.passage] {
		s := &of.pages[first.passage][i]
		if s.section != first.section || s.left {
			continue
		}
		all = append(all, s)
		if s.form == code {
			blocks++
		} else {
			words += s.length
		}
	}
	if words <= wholeWords && blocks <= wholeCode {
		c.take(all, MostWords)
	}
}

// deedRE is something to type or to set.
var deedRE = lazyregexp.New("`[^`]*(?:--?\\w|\\(|=|: )[^`]*`|(?i)\\b(?:set|use|add|run|call|pass|put|specify|enable|disable|configure|change|create|give|override|overriding|raise|return)\\b[^.]*`[^`]+`|`[^`]+` (?:setting|option|flag|command|method|function|attribute|parameter|argument|property|key)")

// treeRE is a picture of folders.
var treeRE = lazyregexp.New(`[├└│]`)

// complete adds the sentence that an answer to such a question lacks, the
// nearest in the sections that are chosen.
func (q *question) complete(c *choice, of scores) {
	k, ok := completions[q.cue]
	if !ok || slices.ContainsFunc(c.all, func(s *scored) bool { return k.has(q, s) }) {
		return
	}
	for _, p := range slices.Clone(c.picks) {
		var next *scored
		far := func(s *scored) int { return max(s.at-p.at, 2*(p.at-s.at)) }
		for i := range of.pages[p.passage] {
			s := &of.pages[p.passage][i]
			if s.section != p.section || c.has(s) || s.length > mostWords || far(s) > k.reach || !k.has(q, s) {
				continue
			}
			if next == nil || far(s) < far(next) {
				next = s
			}
		}
		if next != nil && q.pick(c, of, next, MostWords) {
			return
		}
	}
	if q.cue != amount || q.measure == anyMeasure {
		return
	}
	for _, s := range of.best { // in the measure that is asked for, wherever it is
		if s.score < spreadFloor*c.picks[0].score {
			return
		}
		if k.has(q, s) && q.begins(s) && q.pick(c, of, s, MostWords) {
			return
		}
	}
}

// speaksOf reports whether a sentence has a word of what is asked now.
func (q *question) speaksOf(s *scored) bool {
	for i := range q.concepts {
		if c := &q.concepts[i]; !c.faint && !c.topic && s.direct[i] > 0.3 {
			return true
		}
	}
	return len(q.before) > 0
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
	figure := func(o *scored) bool { return figureRE.MatchString(o.text) }
	return s.nearest(c.all) > 0.8 && (!figure(s) || slices.ContainsFunc(c.all, figure))
}

// announcesCode reports whether what follows the end of a sentence is code.
func (of scores) announcesCode(s *scored) bool {
	page := of.pages[s.passage]
	return announces(s) && s.at+1 < len(page) && page[s.at+1].form == code
}

// sidesRE are the two things that are compared, as far as each is a word.
var sidesRE = lazyregexp.New(`(?i)([\p{L}\p{N}_.:~^'"-]+)\s*,?\s+(?:or|vs\.?|versus|and|o|y|frente a|instead of|rather than|than)\s+(?:the |a |an |to |el |la |desde |from )*([\p{L}\p{N}_.:~^'"-]+)`)

// sides adds a sentence for each of the two things that are compared which what is
// chosen does not name.
func (q *question) sides(c *choice, of scores) {
	m := sidesRE.FindStringSubmatchIndex(q.text)
	if q.cue != comparing || m == nil {
		return
	}
	for _, side := range [][2]int{{m[2], m[3]}, {m[4], m[5]}} {
		names := q.side(side[0], side[1])
		if names == nil || slices.ContainsFunc(c.all, names) {
			continue
		}
		var next *scored
		best := 0.0
		for _, s := range of.best {
			v := s.score + c.goesOn(s)
			if names(s) && v > best && q.begins(s) {
				next, best = s, v
			}
		}
		if next != nil && best >= spreadFloor*c.picks[0].score {
			q.pick(c, of, next, MostWords)
		}
	}
}

// side returns what tells whether a sentence is about one side of a comparison, the
// word at [from,to) of the question with the one that it belongs to ("nested set",
// "closure table"); nil where that says nothing. What is written with a sign before it
// ("--all", "~1.2") is looked for as it is written.
func (q *question) side(from, to int) func(*scored) bool {
	word := strings.Trim(q.text[from:to], `'".:`)
	if strings.IndexFunc(word, unicode.IsLetter) > 0 || word != "" && strings.ContainsRune("~^", rune(word[0])) {
		return func(s *scored) bool { return s.form != code && strings.Contains(s.text, word) }
	}
	var need []int
	add := func(w string) {
		if i := q.concept(w); i >= 0 && !slices.Contains(need, i) {
			need = append(need, i)
		}
	}
	add(word)
	if near := wordRE.FindString(q.text[to:]); near != "" && strings.HasPrefix(q.text[to:], " ") && strings.HasPrefix(strings.TrimLeft(q.text[to:], " "), near) {
		add(near)
	}
	if all := wordRE.FindAllString(q.text[:from], -1); len(all) > 0 && strings.HasSuffix(strings.TrimRight(q.text[:from], " "), all[len(all)-1]) {
		add(all[len(all)-1])
	}
	if len(need) == 0 {
		return nil
	}
	return func(s *scored) bool {
		return s.form != code && s.length > 5 && !slices.ContainsFunc(need, func(i int) bool { return s.around[i] < headingShare })
	}
}

// concept is the place of what a word of the question stands for; -1 where it says nothing.
func (q *question) concept(word string) int {
	return slices.IndexFunc(q.concepts, func(c concept) bool { return !c.topic && strings.EqualFold(c.word, word) })
}

// titled is what speaks for the sentences below a heading that is asked itself:
// the question of a list of such, in other words.
func (q *question) titled(about string) float64 {
	if !strings.HasSuffix(strings.TrimSpace(about), "?") {
		return 0
	}
	n, got := 0, 0.0
	have := map[int]bool{}
	for _, w := range words(about) {
		if f := fold(w); asking[f] || faints[f] {
			continue
		}
		n++
		m, best := tokensOf(w), 0.0
		for i := range q.concepts {
			if v := q.concepts[i].in(m); v > 0 {
				have[i] = true
				best = max(best, v)
			}
		}
		got += best
	}
	held := 0.0
	for i := range have {
		held += q.concepts[i].weight
	}
	if n == 0 || q.sum == 0 {
		return 0
	}
	return titledLift * got / float64(n) * held / q.sum
}

// titledLift is what a heading that asks the same counts.
var titledLift = 0.55

// entry is what speaks for a row, or an item of a list, by the name that it begins with:
// the share of the words of it that the question has.
func (q *question) entry(s *scored) float64 {
	name := ""
	switch {
	case s.form == row:
		if c := cells(s.text); len(c) > 1 {
			name = c[0]
		}
	case s.form == prose && s.opens:
		if m := termRE.FindStringSubmatch(s.text); m != nil {
			name = m[1]
		}
	}
	if name == "" {
		return 0
	}
	n, got := 0, 0.0
	for t := range tokensOf(name) {
		if len(t) < 3 {
			continue
		}
		n++
		m := map[string]bool{t: true}
		for i := range q.concepts {
			if v := q.concepts[i].in(m); v > 0.5 {
				got += v
				break
			}
		}
	}
	if n == 0 {
		return 0
	}
	return entryLift * got / float64(n)
}

// entryLift is what the name of an entry counts.
var entryLift = 0.1

// termRE is the name that an item describes.
var termRE = lazyregexp.New("^[*_]*`([^`]+)`[*_]*(?:\\s*\\([^)]*\\))?\\s*(?:[-–—:=]|$)")
