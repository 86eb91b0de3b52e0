package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// part is one sentence of the answer as it is shown.
type part struct {
	text   string
	source int // number, from 1
	form   form
	item   bool
}

// arrange orders what was chosen (by source, the best first, then by line),
// numbers the sources and writes the sentences.
func arrange(c choice) (parts []part, cited []citation) {
	number := map[int]int{}
	byScore := slices.Clone(c.picks)
	kb.SortStableFunc(byScore, func(a, b *scored) int { return cmp.Compare(b.score, a.score) })
	for _, s := range slices.Concat(byScore, c.all) {
		if p := s.passage; number[p] == 0 {
			number[p] = len(number) + 1
			cited = append(cited, citation{passage: p, start: s.start, end: s.end, score: s.score})
		}
	}
	sorted := slices.Clone(c.all)
	kb.SortStableFunc(sorted, func(a, b *scored) int {
		return cmp.Or(cmp.Compare(number[a.passage], number[b.passage]), cmp.Compare(a.at, b.at))
	})
	about := ""
	for i, s := range sorted {
		c := &cited[number[s.passage]-1]
		c.cite(s.start, s.end)
		text := s.text
		switch {
		case s.form == row:
			text = s.rowText()
			if s.headLine > 0 {
				c.cite(s.headLine, s.headLine)
			}
		case s.form == code && s.lines != nil:
			text = strings.Join(s.lines, "\n")
		}
		if i > 0 && sorted[i-1].passage != s.passage {
			about = ""
		}
		first := i == 0 || sorted[i-1].passage != s.passage || sorted[i-1].section != s.section
		if s.needsHead() && s.about != about && first {
			about = s.about
			head := strings.TrimRight(about, ":.") + ":"
			if s.form == code {
				parts = append(parts, part{text: head, source: number[s.passage]})
			} else {
				text = head + " " + text
			}
			if s.aboutLine > 0 {
				c.cite(s.aboutLine, s.aboutLine)
			}
		}
		item := s.opens && i > 0 && sorted[i-1].passage == s.passage && (s.lead == sorted[i-1].at || s.list == sorted[i-1].list)
		parts = append(parts, part{text: text, source: number[s.passage], form: s.form, item: item})
	}
	return parts, cited
}

// needsHead reports whether a sentence says too little without its heading.
func (s *scored) needsHead() bool {
	if s.about == "" {
		return false
	}
	if identifierRE.MatchString(s.about) && !strings.Contains(s.text, strings.Trim(s.about, "`")) && s.form == prose && s.list == 0 {
		return true
	}
	if strings.HasSuffix(s.about, "?") || s.list > 0 && s.lead >= 0 || s.form == code && (s.lead >= 0 || !s.manual && !strings.Contains(s.text, ":")) ||
		s.form != code && (s.length >= 7 || s.form == prose && s.length >= 5) && !dangling(s) {
		return false
	}
	for t := range tokensOf(s.about) {
		if !s.tokens[t] {
			return true
		}
	}
	return false
}

// identifierRE is a heading that is the name of what its section describes.
var identifierRE = lazyregexp.New("^`?[\\w.:<>@$-]*(?:[_.:][\\w.]|[a-z][A-Z])[\\w.:<>()-]*`?$")

// dangling reports whether a sentence speaks of something by a pronoun that
// its short heading names.
func dangling(s *scored) bool {
	return s.form == prose && s.lead < 0 && strings.Count(s.about, " ") < 5 && (dangles(s.text) || danglingRE.MatchString(s.text))
}

var danglingRE = lazyregexp.New(`^(?:(?:\S+ ){0,2}(?:it|its|them|they)\b|(?:It|Its|This|They|These|Those)\b)`)

// rowText is a row with the head of its table: "Option: --all · Default: no".
func (s *scored) rowText() string {
	var out []string
	for i, c := range cells(s.text) {
		if c == "" {
			continue
		}
		if i > 0 && i < len(s.head) && s.head[i] != "" {
			c = s.head[i] + ": " + c
		}
		out = append(out, c)
	}
	return strings.Join(out, " · ")
}

// citation is one source of an answer.
type citation struct {
	passage    int
	start, end int
	lines      [][2]int
	score      float64
}

func (c *citation) cite(start, end int) {
	c.lines = append(c.lines, [2]int{start, end})
	c.start, c.end = min(c.start, start), max(c.end, end)
}

func (c *citation) at(path string) string {
	if c.start == c.end {
		return fmt.Sprintf("%s:L%d", path, c.start)
	}
	return fmt.Sprintf("%s:L%d-%d", path, c.start, c.end)
}

// excerpt returns the cited lines of a passage, joined with newlines.
func (c *citation) excerpt(p *search.Passage) string {
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

// ended is a sentence with a full stop where it has no sign.
func ended(t string) string {
	if r, _ := utf8.DecodeLastRuneInString(t); unicode.IsLetter(r) || unicode.IsDigit(r) {
		return t + "."
	}
	return t
}
