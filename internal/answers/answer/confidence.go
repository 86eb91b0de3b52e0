package answer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// leastConfidence is the probability below which nothing is answered.
const leastConfidence = 0.53

// mostConfidence is the most that is claimed: words alone do not tell that a
// sentence means what it seems to.
const mostConfidence = 0.89

// sign is something that tells how likely an answer is right.
type sign struct {
	name   string
	value  float64
	weight float64
}

// signals are the signs of one answer.
type signals []sign

// signs returns what tells how likely what was chosen is right.
func (q *question) signs(passages []search.Passage, c choice) signals {
	if len(c.picks) == 0 || q.sum == 0 {
		return nil
	}
	first := c.picks[0]
	unknown, strange := 0.0, 0.0
	cover, cosine, near, own := 0.0, 0.0, 0.0, 0.0
	for ci := range q.concepts {
		k := &q.concepts[ci]
		named := isName(k.word)
		// The list of Spanish words is short: one that is not in it may be anything.
		if k.known || k.topic || k.akin && !named || q.spanish && !named {
			continue
		}
		unknown += k.weight
		if !k.faint && k.own > 0 && (named || len(k.word) > 3) {
			strange = 1
		}
	}
	for _, s := range c.all {
		cover, cosine, near, own = max(cover, s.cover, q.meant(s)), max(cosine, s.cosine), max(near, s.near), max(own, s.own)
	}
	same, margin := c.standing(passages)
	figure := 1.0
	if q.cue == amount {
		figure = flag(slices.ContainsFunc(c.all, func(s *scored) bool { return q.counts(s.text) }))
	}
	return signals{
		{"cover", cover, 2.3},
		{"whole", max(0, own-0.6) / 0.4, 1.0},
		{"cosine", cosine, 1.0},
		{"near", near, 1.5},
		{"score", first.score, -1.7},
		{"same", same, 1.4},
		{"margin", margin, 3.1},
		{"sure", q.sure, 0.1},
		{"unknown", unknown / q.sum, -2.4},
		{"strange", strange, -0.4},
		{"absent", q.absent(c), -1.2},
		{"figure", figure, 1.4},
		{"related", flag(q.cue == deciding && !q.spanish && q.onlyRelated(c)), -0.6},
		{"listed", flag(q.cue == listing && c.lists()), 0.8},
		{"verdict", flag(q.verdict(c) != ""), 1},
		{"passage", passages[first.passage].Score, 3.6},
		{"words", math.Log(float64(len(q.concepts))), 1.6},
		{"leans", flag(len(q.before) > 0), -0.4},
		{"goes on", q.goesOn(passages[first.passage].Path, first.start), 0.5},
		{"base", 1, -9.75},
	}
}

// standing is how far the best sentences stand together in the section of the
// first pick, in [0,1], and how far that is before those of other documents.
func (c *choice) standing(passages []search.Passage) (same, margin float64) {
	first := c.picks[0]
	all := 0.0
	for i, s := range c.best[:min(len(c.best), 6)] {
		v := 1 / float64(1+i)
		if all += v; s.passage == first.passage && s.section == first.section {
			same += v
		}
	}
	margin = first.score
	for _, s := range c.best {
		if passages[s.passage].Path != passages[first.passage].Path {
			margin -= s.score
			break
		}
	}
	return same / all, margin
}

// absent is 1 where nothing that is cited speaks of a name in the question.
func (q *question) absent(c choice) float64 {
	for i := range q.concepts {
		k := &q.concepts[i]
		if !k.topic && k.own > 0 && isName(k.word) && !slices.ContainsFunc(c.all, func(s *scored) bool { return s.around[i] > akinShare }) {
			return 1
		}
	}
	return 0
}

// onlyRelated reports whether what is chosen has the most telling word of the question
// only in others that are used for it: a yes or no that is said of those says little.
func (q *question) onlyRelated(c choice) bool {
	at, most := -1, 0.0
	for i := range q.concepts {
		if k := &q.concepts[i]; !k.topic && k.own > 0 && k.weight > most {
			at, most = i, k.weight
		}
	}
	return at >= 0 && !slices.ContainsFunc(c.all, func(s *scored) bool { return s.around[at] > akinShare })
}

// lists reports whether what is chosen lists things: the items or rows of a list, or a
// sentence that names several.
func (c *choice) lists() bool {
	n := 0
	for _, s := range c.all {
		switch {
		case s.form == row || s.opens && s.lead >= 0:
			n++
		case s.form == prose && strings.Count(s.text, ",") >= 2:
			return true
		}
	}
	return n >= 3
}

// value is that of the sign of a name.
func (s signals) value(name string) float64 {
	if i := slices.IndexFunc(s, func(v sign) bool { return v.name == name }); i >= 0 {
		return s[i].value
	}
	return 0
}

// probability is how likely the answer is right.
func (s signals) probability() float64 {
	if s == nil {
		return 0
	}
	x := 0.0
	for _, v := range s {
		x += v.weight * v.value
	}
	return min(mostConfidence, 1/(1+math.Exp(-x)))
}

// What an answer that is just given is shown with, how fast that grows, and what
// share is left of what was not enough: so far answers that were graded by hand
// were right (bench/answers/testdata/grades.jsonl), one with a fact missing counted as wrong.
const (
	givenConfidence   = 0.48
	confidenceGrowth  = 0.9
	refusedConfidence = 0.18
	// disputedConfidence is what share is left where passages disagree.
	disputedConfidence = 0.6
)

// confidence is what is shown of a probability.
func (q *question) confidence(p float64) float64 {
	if p < leastConfidence {
		p *= refusedConfidence
	} else {
		p = givenConfidence + confidenceGrowth*(p-leastConfidence)
	}
	if q.disputed {
		p *= disputedConfidence
	}
	return math.Round(100*p) / 100
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// explain says what a confidence is made of, and what would be answered.
func explain(q *question, passages []search.Passage, c choice, of signals, p float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "confidence %.3f:", p)
	for _, s := range of {
		fmt.Fprintf(&b, " %s=%.3f", s.name, s.value)
	}
	b.WriteString("\n   ")
	for i := range q.concepts {
		k := &q.concepts[i]
		most := 0.0
		for _, s := range c.all {
			most = max(most, s.around[i])
		}
		fmt.Fprintf(&b, " %s %.1f×%.2f", strings.Join(k.terms, "/"), k.weight, most)
	}
	for _, s := range c.picks {
		fmt.Fprintf(&b, "\n    %.3f cover %.2f cosine %.2f passage %d %s", s.score, s.cover, s.cosine, s.passage, kb.Clip(s.text, 100))
	}
	for _, s := range c.best[:min(len(c.best), mostExplained)] {
		fmt.Fprintf(&b, "\n      ~ %.3f cover %.2f cos %.2f near %.2f own %.2f %s:L%d-%d %s", s.score, s.cover, s.cosine, s.near, s.own, passages[s.passage].Path, s.start, s.end, kb.Clip(s.text, 90))
	}
	parts, cited := arrange(c)
	b.WriteString("\n    says " + strconv.Quote(Text(shownParts(parts))))
	for i := range cited {
		b.WriteString(" " + cited[i].at(passages[cited[i].passage].Path))
	}
	return b.String()
}

// mostExplained is how many sentences an explanation lists.
const mostExplained = 40
