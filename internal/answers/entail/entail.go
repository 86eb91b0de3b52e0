// Package entail tells whether lines of a document bear a sentence out:
// whether somebody who sees nothing but the lines can tell that all of it
// holds. It knows no model. What it cannot follow it refuses, since a true
// sentence that is left out costs less than a false one with a citation.
//
// Both are taken apart into clauses of words, numbers with their units, and
// names. Each word of the sentence is laid on the word of the lines that says
// the same, by form, in translation, or by a like meaning, and most of every
// clause has to find its place. Then what decides is compared, clause by
// clause: what is denied, how many, how much of which unit, who, under which
// condition, for which reason, whether it must, may or always does.
package entail

import (
	"context"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Checker holds what sentences are compared with. Its methods are safe for
// concurrent use.
type Checker struct {
	// Embedder tells words of like meaning; nil knows words by form alone.
	Embedder kb.Embedder
	// English gives the English for a word that is not; nil knows none.
	English func(word string) []string
}

// Verdict is what a check found.
type Verdict struct {
	Holds bool
	Why   string  // what the lines do not bear out; "" when all holds
	Cover float64 // share of the sentence that has its place in the lines
	// Against says that the lines speak of it and say otherwise.
	Against bool
	// From and To are the first and last of the lines, counted from 0, that say
	// it, or most of it; Text is what they say, where it is one sentence.
	From, To int
	Text     string
}

// Check reports whether the lines bear the sentence out.
func (c *Checker) Check(ctx context.Context, sentence string, lines []string) Verdict {
	all := said(lines)
	for _, u := range all {
		if flat(u.text) == flat(sentence) {
			return Verdict{Holds: true, Cover: 1, From: u.from, To: u.to, Text: u.text}
		}
	}
	p, err := c.compare(ctx, sentence, all)
	if err != nil {
		return Verdict{Why: "it could not be compared"}
	}
	v := Verdict{Cover: p.cover()}
	p.locate(&v, all)
	for i, rule := range rules {
		if v.Why = rule(p); v.Why != "" {
			v.Against = i >= mere
			return v
		}
	}
	v.Holds = true
	return v
}

// Cover returns the share of a text, a question say, that lines speak of, in
// [0,1].
func (c *Checker) Cover(ctx context.Context, text string, lines []string) float64 {
	p, err := c.compare(ctx, text, said(lines))
	if err != nil {
		return 0
	}
	return p.cover()
}

func (c *Checker) compare(ctx context.Context, sentence string, all []unitOf) (*pair, error) {
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].text
	}
	p := &pair{s: read([]string{sentence}, c.English), t: read(texts, c.English)}
	p.foreign = isSpanish(sentence) != isSpanish(strings.Join(texts, " "))
	if err := p.like(ctx, c.Embedder); err != nil {
		return nil, err
	}
	p.align()
	return p, nil
}

// locate says which lines say the sentence: those of what has most of it, and of
// what else has as much as a word that tells something.
func (p *pair) locate(v *Verdict, all []unitOf) {
	sum := map[int]float64{}
	for i := range p.s {
		if p.at[i] >= 0 {
			sum[p.t[p.at[i]].sentence] += p.sim[i] * weight(&p.s[i])
		}
	}
	best := -1
	for n := range all {
		if sum[n] > 0 && (best < 0 || sum[n] > sum[best]) {
			best = n
		}
	}
	if best < 0 {
		return
	}
	v.From, v.To, v.Text = all[best].from, all[best].to, all[best].text
	for n := range all {
		if sum[n] >= 0.9 {
			v.From, v.To = min(v.From, all[n].from), max(v.To, all[n].to)
		}
	}
}

// flat is a text without what does not count in comparing it.
func flat(s string) string {
	return strings.Trim(strings.Join(strings.Fields(fold(s)), " "), " .!:;")
}
