package answer

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// leastConfidence is the probability below which nothing is answered.
const leastConfidence = 0.4

// sign is something that tells how likely an answer is right.
type sign struct {
	name   string
	value  float64
	weight float64
}

// grounds are the signs of one answer.
type grounds []sign

// grounds returns what tells how likely what was chosen is right.
func (q *question) grounds(passages []search.Passage, c choice) grounds {
	if len(c.picks) == 0 || q.sum == 0 {
		return nil
	}
	first := c.picks[0]
	sum, unknown, strange := 0.0, 0.0, 0.0
	cover, cosine := 0.0, 0.0
	for ci := range q.concepts {
		k := &q.concepts[ci]
		most := 0.0
		for _, s := range c.all {
			most = max(most, s.around[ci])
		}
		sum += k.weight * most
		if !k.known && !k.topic {
			unknown += k.weight
			if isName(k.word) {
				strange = 1
			}
		}
	}
	for _, s := range c.all {
		cover, cosine = max(cover, s.cover), max(cosine, s.cosine)
	}
	return grounds{
		{"cover", cover, 3},
		{"all", sum / q.sum, 2},
		{"own", first.own, 1},
		{"cosine", cosine, 2},
		{"sure", q.sure, 1},
		{"unknown", unknown / q.sum, -3},
		{"strange", strange, -1},
		{"passage", passages[first.passage].Score, 1},
		{"spanish", flag(q.spanish), 0},
		{"leans", flag(len(q.before) > 0), 0},
		{"base", 1, -5},
	}
}

// probability is how likely the answer is right.
func (s grounds) probability() float64 {
	if s == nil {
		return 0
	}
	x := 0.0
	for _, v := range s {
		x += v.weight * v.value
	}
	return 1 / (1 + math.Exp(-x))
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// explain says what a confidence is made of.
func explain(q *question, c choice, of grounds, p float64) string {
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
	return b.String()
}
