package entail

import (
	"slices"
	"strings"
)

// exchanged: a name or number has to be said of what the sentence says it of.
func exchanged(p *pair) string {
	for i := range p.s {
		t := &p.s[i]
		two := t.kind == word && len(table().opposite[t.stem]) > 0 // one of two
		if t.kind != name && t.kind != number && !two || p.at[i] < 0 {
			continue
		}
		sum := map[int]float64{}
		for k := range p.s {
			if k != i && p.s[k].clause == t.clause && p.at[k] >= 0 && p.s[k].kind == word && p.sim[k] >= 0.9 {
				sum[p.t[p.at[k]].clause] += p.sim[k] * weight(&p.s[k])
			}
		}
		own, best, most := p.t[p.at[i]].clause, -1, 0.0
		for k, v := range sum {
			if v > most || v == most && k == own {
				best, most = k, v
			}
		}
		if best < 0 || best == own || sum[own] >= 0.9 || most < 1.5 && !two {
			continue
		}
		for j := range p.t {
			if two && (p.t[j].clause != best || !opposed(t, &p.t[j])) {
				continue
			}
			if p.t[j].clause == best && p.t[j].kind == t.kind && p.t[j].unit == t.unit && (p.used[j] < 0 || p.s[p.used[j]].clause != t.clause) {
				return "they say that of " + p.t[j].raw + ", not of " + t.raw
			}
		}
	}
	return ""
}

// crossed: two numbers, or two names, of one clause keep their places.
func crossed(p *pair) string {
	for i := range p.s {
		for k := i + 1; k < len(p.s); k++ {
			a, b := &p.s[i], &p.s[k]
			if a.kind != b.kind || a.kind != number && a.kind != name || a.unit != b.unit || p.at[i] <= p.at[k] || p.at[k] < 0 ||
				p.t[p.at[i]].clause != p.t[p.at[k]].clause {
				continue
			}
			if !p.moved(i) && !p.moved(k) {
				return "they have " + b.raw + " before " + a.raw
			}
		}
	}
	return ""
}

// moved reports whether a word beside a token is beside it in the text too.
func (p *pair) moved(i int) bool {
	for _, n := range []int{p.beside(p.s, i, -1), p.beside(p.s, i, 1)} {
		if n < 0 || p.at[n] < 0 || p.s[n].kind != word {
			continue
		}
		if at := p.at[i]; p.at[n] == p.beside(p.t, at, -1) || p.at[n] == p.beside(p.t, at, 1) {
			return true
		}
	}
	return false
}

// beside returns the next token in a direction that tells something, in the
// same clause; -1 for none.
func (p *pair) beside(tokens []token, i, step int) int {
	for k := i + step; k >= 0 && k < len(tokens) && tokens[k].clause == tokens[i].clause; k += step {
		if tokens[k].kind != idle {
			return k
		}
	}
	return -1
}

// attributed: what the lines say of one thing is not said of another.
func attributed(p *pair) string {
	for c := range p.clauses() {
		home := p.home(c)
		subject := slices.IndexFunc(p.s, func(t token) bool { return t.clause == c && t.kind != idle && !t.faint })
		if len(home) == 0 || subject < 0 || p.s[subject].kind != word || p.at[subject] >= 0 && p.t[p.at[subject]].clause == home[0] {
			continue
		}
		theirs := slices.IndexFunc(p.t, func(t token) bool { return t.clause == home[0] && t.kind != idle })
		sentence := p.t[theirs].sentence
		if p.borrowed(c, subject, sentence) {
			return "they do not say that of " + p.s[subject].raw
		}
		opens := theirs == slices.IndexFunc(p.t, func(t token) bool { return t.sentence == sentence && t.kind != idle })
		if !opens || p.t[theirs].kind != word || p.used[theirs] >= 0 || p.exact(c, sentence) < 2 || p.within(c, home[0]) < 2 || p.odd(p.s, c) != p.odd(p.t, home[0]) {
			continue
		}
		if p.same(&p.s[subject], &p.t[theirs]) == 0 {
			return "they say that of " + p.t[theirs].raw + ", not of " + p.s[subject].raw
		}
	}
	return ""
}

// borrowed reports whether a clause says of its subject, which is named
// elsewhere alone, what a sentence says that has all the rest, and a subject of
// its own.
func (p *pair) borrowed(clause, subject, sentence int) bool {
	if p.at[subject] < 0 || p.t[p.at[subject]].sentence == sentence || p.exact(clause, sentence) < 3 {
		return false
	}
	first := slices.IndexFunc(p.t, func(t token) bool { return t.sentence == sentence })
	if lists["it"][p.t[first].text] || p.exact(clause, p.t[p.at[subject]].sentence) > 1 {
		return false
	}
	for i := range p.s {
		if p.s[i].clause == clause && i != subject && p.s[i].kind != idle && (p.at[i] < 0 || p.t[p.at[i]].sentence != sentence) {
			return false
		}
	}
	return true
}

// flagged: what a command does with an option it does not do without.
func flagged(p *pair) string {
	for i := range p.s {
		j := p.at[i] + 1
		if p.s[i].kind == name && p.at[i] >= 0 && j < len(p.t) && p.t[j].kind == name && strings.HasPrefix(p.t[j].text, "-") &&
			p.t[j].span && p.used[j] < 0 {
			return "they say it of " + p.t[j-1].raw + " " + p.t[j].raw
		}
	}
	return ""
}

// replaced: where all around it is the same, a word is not another.
func replaced(p *pair) string {
	if p.foreign { // words stand in another order
		return ""
	}
	for i := range p.s {
		if p.s[i].kind != word || p.at[i] >= 0 && p.sim[i] >= 0.9 || p.s[i].faint {
			continue
		}
		for _, step := range []int{-1, 1} {
			n := i + step
			if n < 0 || n >= len(p.s) || p.at[n] < 0 || p.sim[n] < 0.95 || p.s[n].clause != p.s[i].clause {
				continue
			}
			slot := p.at[n] - step
			if slot < 0 || slot >= len(p.t) || p.t[slot].kind != word || p.used[slot] >= 0 || p.t[slot].clause != p.t[p.at[n]].clause {
				continue
			}
			if p.same(&p.s[i], &p.t[slot]) > 0 || p.exact(p.s[i].clause, p.t[slot].sentence) < 3 {
				continue
			}
			return "they say " + p.t[slot].raw + " where it says " + p.s[i].raw
		}
	}
	return ""
}

// exact counts the words of a clause that a sentence of the text has too.
func (p *pair) exact(clause, sentence int) int {
	n := 0
	for i := range p.s {
		if p.s[i].clause == clause && p.at[i] >= 0 && p.sim[i] >= 0.9 && p.t[p.at[i]].sentence == sentence {
			n++
		}
	}
	return n
}
