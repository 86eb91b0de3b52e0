package answer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// choose takes the sentences of an answer: the best, then what adds to it
// without repeating it (maximal marginal relevance), within the words allowed.
func (q *question) choose(all []scored) []scored {
	if len(all) == 0 {
		return nil
	}
	best := all[0].score
	var out []scored
	left := MostWords
	used := make([]bool, len(all))
	for len(out) < mostParts {
		at, top := -1, math.Inf(-1)
		for i := range all {
			s := &all[i]
			if used[i] || s.score < floor*best || s.words() > left {
				continue
			}
			v := s.score - novelty*s.nearest(out)
			if v > top {
				at, top = i, v
			}
		}
		if at < 0 || len(out) > 0 && all[at].nearest(out) > 0.85 {
			if at < 0 {
				break
			}
			used[at] = true
			continue
		}
		used[at] = true
		out = append(out, all[at])
		left -= all[at].words()
		for _, i := range q.company(all, at) {
			if !used[i] && all[i].words() <= left && len(out) < mostParts+2 {
				used[i] = true
				out = append(out, all[i])
				left -= all[i].words()
			}
		}
	}
	return out
}

// company returns what a sentence cannot do without: the code that it
// announces or goes on from.
func (q *question) company(all []scored, at int) []int {
	s := &all[at]
	if s.form != prose {
		return nil
	}
	r, _ := utf8.DecodeRuneInString(s.text)
	before := unicode.IsLower(r)
	after := !strings.ContainsAny(s.text[len(s.text)-1:], ".!?")
	var out []int
	for i := range all {
		o := &all[i]
		if o.passage != s.passage || o.form != code {
			continue
		}
		if before && o.end < s.start && o.end >= s.start-2 || after && o.start > s.end && o.start <= s.end+3 {
			out = append(out, i)
		}
	}
	return out[:min(len(out), 3)]
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
	if s.about == "" || s.form == code && !strings.Contains(s.text, ":") ||
		(s.length >= 7 || s.form == prose && s.length >= 5) && !dangling(s) {
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
	return s.form == prose && strings.Count(s.about, " ") < 4 && danglingRE.MatchString(s.text)
}

var danglingRE = lazyregexp.New(`^(?:(?:\S+ ){0,2}(?:it|its|them|they)\b|(?:It|Its|This|They|These|Those)\b)`)

// nearest is the likeness to the nearest of those chosen: the share of its
// words, or the cosine, whichever is more.
func (s *scored) nearest(chosen []scored) float64 {
	most := 0.0
	for i := range chosen {
		c := &chosen[i]
		n := 0
		for t := range s.tokens {
			if c.tokens[t] {
				n++
			}
		}
		v := float64(n) / float64(max(1, min(len(s.tokens), len(c.tokens))))
		if s.vector != nil && c.vector != nil && v > 0.3 {
			v = max(v, 0.8*dot(s.vector, c.vector))
		}
		most = max(most, v)
	}
	return most
}

// support is how much of the question the chosen sentences cover, in [0,1]:
// by weight, a concept at its best among them, and a little for likeness in
// meaning. A concept that no store knows counts in full against it.
func (q *question) support(chosen []scored) float64 {
	if len(chosen) == 0 || q.sum == 0 {
		return 0
	}
	sum, cosine := 0.0, 0.0
	for ci := range q.concepts {
		most := 0.0
		for i := range chosen {
			most = max(most, chosen[i].around[ci])
		}
		sum += q.concepts[ci].weight * most
	}
	cover := 0.0
	for i := range chosen {
		cover = max(cover, chosen[i].cover)
		cosine = max(cosine, chosen[i].cosine)
	}
	return supportOne*cover + supportAll*sum/q.sum + supportCosine*max(0, cosine-0.25)
}

const supportOne, supportAll, supportCosine = 0.6, 0.4, 0.35

// part is one sentence of the answer as it is shown.
type part struct {
	text   string
	source int // number, from 1
	form   form
}

// arrange orders what was chosen (by source, the best first, then by line),
// numbers the sources and writes the sentences.
func arrange(chosen []scored, passages []search.Passage) (parts []part, cited []citation) {
	number := map[int]int{}
	byScore := slices.Clone(chosen)
	kb.SortStableFunc(byScore, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for i := range byScore {
		if p := byScore[i].passage; number[p] == 0 {
			number[p] = len(number) + 1
			cited = append(cited, citation{passage: p, start: byScore[i].start, end: byScore[i].end, score: byScore[i].score})
		}
	}
	for i := range chosen {
		p := chosen[i].passage
		c := &cited[number[p]-1]
		c.lines = append(c.lines, [2]int{chosen[i].start, chosen[i].end})
		c.start, c.end = min(c.start, chosen[i].start), max(c.end, chosen[i].end)
	}
	sorted := slices.Clone(chosen)
	kb.SortStableFunc(sorted, func(a, b scored) int {
		return cmp.Or(cmp.Compare(number[a.passage], number[b.passage]), cmp.Compare(a.start, b.start), cmp.Compare(a.block, b.block))
	})
	for i := range sorted {
		s := &sorted[i]
		text := s.text
		if s.form == row {
			var cells []string
			for c := range strings.SplitSeq(strings.Trim(text, "| "), "|") {
				if c = strings.TrimSpace(c); c != "" {
					cells = append(cells, c)
				}
			}
			text = strings.Join(cells, " · ")
		}
		if s.needsHead() {
			text = s.about + ": " + text
		}
		parts = append(parts, part{text: text, source: number[s.passage], form: s.form})
	}
	return parts, cited
}

// citation is one source of an answer.
type citation struct {
	passage    int
	start, end int
	lines      [][2]int
	score      float64
}

func (c *citation) at(path string) string {
	if c.start == c.end {
		return fmt.Sprintf("%s:L%d", path, c.start)
	}
	return fmt.Sprintf("%s:L%d-%d", path, c.start, c.end)
}

// excerpt returns the cited lines of a passage, joined with newlines.
func (c *citation) excerpt(p *kb.Passage) string {
	lines := strings.Split(p.Text, "\n")
	var b strings.Builder
	last := 0
	kb.SortFunc(c.lines, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	for _, span := range c.lines {
		for n := max(span[0], last+1); n <= span[1]; n++ {
			if i := n - p.Chunk.Start; i >= 0 && i < len(lines) {
				b.WriteString(strings.TrimRightFunc(lines[i], unicode.IsSpace) + "\n")
			}
			last = max(last, n)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
