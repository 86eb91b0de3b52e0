package entail

import (
	"slices"
	"strings"
)

// exchanged: a name, a number or a state has to be said of what the sentence
// says it of, and not of another in its place.
func exchanged(p *pair) string {
	for i := range p.s {
		t := &p.s[i]
		two := t.kind == word && len(table().opposite[t.stem]) > 0 // one of two
		if t.kind != name && t.kind != number && !two || p.at[i] < 0 {
			continue
		}
		if two && p.foreign {
			continue
		}
		sum := p.company(i, !two)
		own := p.t[p.at[i]].clause
		if t.kind != name && sum[own] >= 0.9 {
			continue
		}
		for k := range p.ends() {
			far := p.t[p.first(k)].sentence != p.t[p.at[i]].sentence
			if k == own || sum[k]-sum[own] < 0.9 || far && sum[k] < 1.5 {
				continue
			}
			if j := p.rival(t, k, two, sum[k]); j >= 0 {
				return "they say that of " + p.t[j].raw + ", not of " + t.raw
			}
		}
	}
	return ""
}

// ends is one more than the number of the text's last clause.
func (p *pair) ends() int {
	if len(p.t) == 0 {
		return 0
	}
	return p.t[len(p.t)-1].clause + 1
}

// company is how much of what the sentence says beside a token each clause of
// the text says: of its clause, or, if before, of the one before where that
// says no more.
func (p *pair) company(i int, before bool) map[int]float64 {
	sum := map[int]float64{}
	for c := p.s[i].clause; c >= 0 && (c == p.s[i].clause || before && c == p.s[i].clause-1) && len(sum) == 0; c-- {
		for k := range p.s {
			if k == i || p.s[k].kind != word || p.s[k].clause != c {
				continue
			}
			in := map[int]float64{}
			for j := range p.t {
				if v := p.same(&p.s[k], &p.t[j]); v >= 0.9 {
					in[p.t[j].clause] = max(in[p.t[j].clause], v*weight(&p.s[k]))
				}
			}
			for c, v := range in {
				sum[c] += v
			}
		}
	}
	return sum
}

// rival returns what stands in a clause of the text in the place of a token, in
// what follows it and has no words of its own, or before it in its sentence
// where it names the subject; -1 for nothing.
func (p *pair) rival(t *token, clause int, two bool, company float64) int {
	first := p.first(clause)
	sentence := p.t[first].sentence
	more := clause
	if bare := !slices.ContainsFunc(p.t, func(o token) bool { return o.clause == clause+1 && o.kind == word }); bare {
		more++
	}
	for j := range p.t {
		o := &p.t[j]
		free := p.used[j] < 0 || p.s[p.used[j]].clause != t.clause
		if o.clause != clause && o.clause != more || o.sentence != sentence || !free || p.same(t, o) > 0 ||
			slices.ContainsFunc(p.s, func(h token) bool { return h.clause == t.clause && p.same(&h, o) > 0 }) {
			continue
		}
		if two && opposed(t, o) || !two && o.kind == t.kind && o.unit == t.unit {
			return j
		}
	}
	if t.kind != name || company < 1.9 || strings.HasPrefix(t.text, "-") { // an option is no subject
		return -1
	}
	for j := first - 1; j >= 0 && p.t[j].sentence == sentence; j-- {
		if p.t[j].kind == name {
			if p.used[j] < 0 && p.t[j].text != t.text {
				return j
			}
			return -1
		}
	}
	return -1
}

// counted: one is not several.
func counted(p *pair) string {
	for i := range p.s {
		if w := p.s[i].text; w != "one" && w != "un" && w != "una" && w != "single" || i+1 == len(p.s) {
			continue
		}
		j := p.at[i+1]
		if j > 0 && p.sim[i+1] >= 0.9 && p.t[j-1].kind == number && p.t[j-1].value != 1 && p.used[j-1] < 0 {
			return "they say " + p.t[j-1].raw
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
			n := p.beside(p.s, i, step)
			if n < 0 || p.at[n] < 0 || p.sim[n] < 0.9 {
				continue
			}
			slot := p.beside(p.t, p.at[n], -step)
			if slot < 0 || p.t[slot].kind != word || p.t[slot].faint || p.used[slot] >= 0 {
				continue
			}
			near := n == i+step && slot == p.at[n]-step && p.exact(p.s[i].clause, p.t[slot].sentence) >= 3
			placed := p.place(p.s, i) && p.place(p.t, slot) && p.exact(p.s[i].clause, p.t[slot].sentence) >= 2
			if !near && !placed || p.same(&p.s[i], &p.t[slot]) > 0 {
				continue
			}
			return "they say " + p.t[slot].raw + " where it says " + p.s[i].raw
		}
	}
	return ""
}

// place reports whether a token follows a word that says where, whose or which.
func (p *pair) place(tokens []token, i int) bool {
	return i > 0 && lists["at"][tokens[i-1].text] && tokens[i-1].clause == tokens[i].clause
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
