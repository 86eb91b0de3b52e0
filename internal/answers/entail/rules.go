package entail

import (
	"slices"
	"strings"
)

// rules say what the lines do not bear out, or "". They run in this order; the
// first of them, as many as mere says, find that the lines speak of something
// else, the others that they say something else.
var rules = []func(*pair) string{unknown, little,
	denied, opposite, quantity, counted, exchanged, crossed, attributed, flagged, reason, condition, narrowed, replaced}

const mere = 2

// unknown: a number or a name of the sentence has to be in the lines.
func unknown(p *pair) string {
	for i := range p.s {
		if t := &p.s[i]; p.at[i] < 0 && (t.kind == number || t.kind == name || lists["switch"][t.text]) {
			return t.raw + " is not in them"
		}
	}
	return ""
}

// little: most of the sentence and of each clause has to be in the lines.
func little(p *pair) string {
	if p.cover() < leastCover {
		return "they say little of it"
	}
	for c := range p.clauses() {
		if p.size(c) >= 1 && p.share(func(t *token) bool { return t.clause == c }) < leastClause {
			var lost []string
			for i := range p.s {
				if p.s[i].clause == c && p.s[i].kind != idle && p.at[i] < 0 {
					lost = append(lost, p.s[i].raw)
				}
			}
			return "it is not in them: " + strings.Join(lost, ", ")
		}
	}
	return ""
}

// size is how much a clause tells.
func (p *pair) size(clause int) float64 {
	sum := 0.0
	for i := range p.s {
		if t := &p.s[i]; t.clause == clause {
			if w := weight(t); p.at[i] >= 0 || !p.unheard(t) {
				sum += w
			} else {
				sum += w * untranslated
			}
		}
	}
	return sum
}

// denied: what the sentence denies is denied in the lines, and what the lines
// deny is denied in the sentence.
func denied(p *pair) string {
	const why = "they say the opposite of a part of it"
	for i := range p.s { // denied here, and not there
		if !p.denies(p.s, i) {
			continue
		}
		some, there := false, false
		for _, k := range scope(p.s, i) {
			if p.at[k] < 0 {
				continue
			}
			some = true
			there = there || p.deniedThere(k)
		}
		if some && !there && !p.turned(p.s[i].clause) {
			return why
		}
	}
	for j := range p.t { // denied there, and not here
		if !p.denies(p.t, j) {
			continue
		}
		all := slices.DeleteFunc(scope(p.t, j), func(k int) bool { return p.t[k].faint })
		if len(all) == 0 || !p.odd(p.t, p.t[j].clause) {
			continue
		}
		i := p.used[all[0]]
		if i < 0 || p.sim[i] < 0.8 {
			continue
		}
		c := p.s[i].clause
		// Not unless it is allowed: only if it is.
		turned := p.turned(c) || (inClause(p.s, c, "alone") || p.excepted(j)) && sentenceHas(p.t, p.t[j].sentence, "unless")
		if !p.odd(p.s, c) && !turned {
			return why
		}
	}
	return ""
}

// excepted reports whether the sentence names the exception to what a word of
// the text denies, and as none.
func (p *pair) excepted(no int) bool {
	after := false
	for j := no; j < len(p.t) && p.t[j].sentence == p.t[no].sentence; j++ {
		after = after || lists["unless"][p.t[j].text]
		if after && p.t[j].kind == name && p.used[j] >= 0 {
			return !sentenceHas(p.s, 0, "unless")
		}
	}
	return false
}

// deniedThere reports whether what a token says is denied in one of the
// sentences that the pair shares.
func (p *pair) deniedThere(i int) bool {
	for j := range p.t {
		if p.same(&p.s[i], &p.t[j]) < 0.8 || !p.odd(p.t, p.t[j].clause) {
			continue
		}
		for _, k := range p.at {
			if k >= 0 && p.t[k].sentence == p.t[j].sentence {
				return true
			}
		}
	}
	return false
}

// turned reports whether a clause says an opposite of what its like in the
// lines says, so that one of them denies.
func (p *pair) turned(clause int) bool {
	home := p.home(clause)
	odd := false
	for i := range p.s {
		if p.s[i].clause != clause || p.at[i] >= 0 || len(home) == 0 {
			continue
		}
		for j := range p.t {
			if p.t[j].clause == home[0] && p.used[j] < 0 && opposed(&p.s[i], &p.t[j]) {
				odd = !odd
			}
		}
	}
	return odd
}

// opposite: without a denial, no word is the opposite of theirs.
func opposite(p *pair) string {
	for c := range p.clauses() {
		if home := p.home(c); len(home) > 0 && p.turned(c) && p.odd(p.s, c) == p.odd(p.t, home[0]) {
			return "they say an opposite of a part of it"
		}
	}
	return ""
}

// scope returns the tokens that tell something and that a denial is about:
// those behind it in its clause, or before it where there are none.
func scope(tokens []token, no int) []int {
	var after, before []int
	for k := no + 1; k < len(tokens) && tokens[k].clause == tokens[no].clause; k++ {
		if tokens[k].kind != idle {
			after = append(after, k)
		}
	}
	for k := no - 1; k >= 0 && tokens[k].clause == tokens[no].clause; k-- {
		if tokens[k].kind != idle {
			before = append(before, k)
		}
	}
	if len(after) > 0 {
		return after
	}
	return before
}

// denies reports whether a token denies what its clause says.
func (p *pair) denies(tokens []token, i int) bool {
	t := &tokens[i]
	if !lists["no"][t.text] {
		return false
	}
	next := func(n int, words ...string) bool {
		return i+n < len(tokens) && slices.Contains(words, tokens[i+n].text)
	}
	return !(next(1, "more", "mas") && next(2, "than", "que", "de") || t.text == "nothing" && next(1, "but") || next(1, "only", "solo"))
}

// odd reports whether a clause is denied: an odd number of words deny it.
func (p *pair) odd(tokens []token, clause int) bool {
	n := 0
	for i := range tokens {
		if tokens[i].clause == clause && p.denies(tokens, i) {
			n++
		}
	}
	return n%2 == 1
}

// quantity: who says all, only, must or may has it from the lines.
func quantity(p *pair) string {
	for c := range p.clauses() {
		home := p.home(c)
		if len(home) == 0 {
			continue
		}
		there := p.t[p.first(home[0])].sentence
		for _, need := range []struct{ says, from, why string }{
			{"every", "all", "they do not say it of all"},
			{"only", "alone", "they do not say it of this alone"},
			{"must", "must", "they do not say that it must be"},
			{"perhaps", "may", "they do not say that it only may be"},
		} {
			if inClause(p.s, c, need.says) && !sentenceHas(p.t, there, need.from) && !(need.says == "perhaps" && p.limited(c)) {
				return need.why
			}
		}
		if inClause(p.s, c, "one") && inClause(p.t, home[0], "every") && !inClause(p.s, c, "every") && !p.odd(p.s, c) {
			return "they say it of all"
		}
		if inClause(p.t, home[0], "perhaps") && !inClause(p.s, c, "may") && !sentenceHas(p.s, 0, "may") {
			return "they say only that it may be"
		}
	}
	return ""
}

// limited reports whether a sentence that a clause lies on limits something:
// what is limited to ten may be done ten times.
func (p *pair) limited(clause int) bool {
	for i := range p.s {
		if p.s[i].clause == clause && p.at[i] >= 0 && sentenceHas(p.t, p.t[p.at[i]].sentence, "may") {
			return true
		}
	}
	return false
}

// first is the first token of a clause of the text.
func (p *pair) first(clause int) int {
	for j := range p.t {
		if p.t[j].clause == clause {
			return j
		}
	}
	return 0
}

// reason: a reason has to be given as one in the lines, and be theirs.
func reason(p *pair) string {
	for i := range p.s {
		if !lists["because"][p.s[i].text] {
			continue
		}
		c := p.s[i].clause
		home := p.home(c)
		if len(home) == 0 || !sentenceHas(p.t, p.t[p.first(home[0])].sentence, "why") {
			return "they do not give that reason"
		}
		if p.share(func(t *token) bool { return t.clause == c }) < 0.7 {
			return "they give another reason"
		}
	}
	return ""
}

// condition: most of a condition has to be in the lines.
func condition(p *pair) string {
	for c := range p.clauses() {
		if home := p.home(c); inClause(p.s, c, "unless") && len(home) > 0 && !sentenceHas(p.t, p.t[p.first(home[0])].sentence, "except") {
			return "they name no exception"
		}
		if inClause(p.s, c, "when") && p.size(c) >= 1 && p.share(func(t *token) bool { return t.clause == c }) < 0.5 {
			return "they do not name that condition"
		}
	}
	return ""
}

// narrowed: what the lines say with a bound or an exception is not said
// without.
func narrowed(p *pair) string {
	for c := range p.clauses() {
		home := p.home(c)
		if len(home) == 0 {
			continue
		}
		bound := -1
		for j := 1; j < len(p.t); j++ {
			if p.t[j].clause == home[0] && p.t[j].kind == number && p.used[j] < 0 && lists["than"][p.t[j-1].text] {
				bound = j
			}
		}
		if bound >= 0 && p.within(c, home[0]) >= 2 {
			return "they say it of " + p.t[bound].raw + " alone"
		}
		next := home[0] + 1
		if inClause(p.t, next, "unless") && p.t[p.first(next)].sentence == p.t[p.first(home[0])].sentence && !sentenceHas(p.s, 0, "still") && !p.reached(next) {
			return "they name an exception"
		}
	}
	return ""
}

// reached reports whether a token of the sentence lies on a clause of the text.
func (p *pair) reached(clause int) bool {
	return slices.ContainsFunc(p.at, func(j int) bool { return j >= 0 && p.t[j].clause == clause })
}

// within counts the tokens of a clause that lie on one of the text.
func (p *pair) within(clause, home int) int {
	n := 0
	for i := range p.s {
		if p.s[i].clause == clause && p.at[i] >= 0 && p.t[p.at[i]].clause == home {
			n++
		}
	}
	return n
}
