package main

import (
	"math"
	"regexp"
	"strings"
)

// block is a heading, a paragraph or an item of a list.
type block struct {
	level int // of a heading; 0 for text
	text  string
}

var (
	headLine = regexp.MustCompile(`^(#{1,6}) +(.+?) *#*(?:\{.*)?$`)
	itemLine = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+`)
	keyLine  = regexp.MustCompile(`^(title|description):\s*(.+)$`)
	dullLine = regexp.MustCompile(`^\s*(?:[|:{<!\[]|---|\.\.\s|import )`)
)

// blocks returns what a text of Markdown, or of reStructuredText, is made of,
// without code, tables and front matter but for its title and description.
func blocks(text string) []block {
	var out []block
	var para []string
	end := func() {
		if s := clean(strings.Join(para, " ")); s != "" {
			out = append(out, block{0, s})
		}
		para = para[:0]
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	front, fence := len(lines) > 0 && strings.TrimSpace(lines[0]) == "---", false
	for i, l := range lines {
		t := strings.TrimSpace(l)
		switch {
		case front:
			if g := keyLine.FindStringSubmatch(l); g != nil {
				out = append(out, block{0, clean(strings.Trim(g[2], `"'`))})
			}
			front = i == 0 || t != "---"
		case strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~"):
			fence = !fence
			end()
		case fence || strings.HasPrefix(l, "        "):
		case t == "" || dullLine.MatchString(l) && !strings.HasPrefix(t, "["):
			end()
		case headLine.MatchString(t):
			end()
			g := headLine.FindStringSubmatch(t)
			out = append(out, block{len(g[1]), clean(g[2])})
		case i > 0 && len(t) > 3 && strings.Trim(t, t[:1]) == "" && strings.Contains("=-~^", t[:1]):
			if len(para) == 1 { // the line above was a heading
				out = append(out, block{2, clean(para[0])})
				para = para[:0]
			}
		default:
			if itemLine.MatchString(l) {
				end()
				t = itemLine.ReplaceAllString(l, "")
			}
			para = append(para, strings.TrimPrefix(t, "> "))
		}
	}
	end()
	return out
}

// align pairs the blocks of two pages of the same order by their lengths and
// kinds, after Gale and Church 1993: one with one, or one left out.
func align(en, es []block) []pair {
	const skip = 4.0
	n, m := len(en), len(es)
	if n == 0 || m == 0 || n*m > 4_000_000 {
		return nil
	}
	cost := make([]float64, (n+1)*(m+1))
	at := func(i, j int) *float64 { return &cost[i*(m+1)+j] }
	match := func(i, j int) float64 {
		a, b := &en[i], &es[j]
		if (a.level > 0) != (b.level > 0) {
			return 50
		}
		c := 3 * math.Abs(math.Log(float64(len(a.text)+5)*1.15/float64(len(b.text)+5)))
		if a.text == b.text {
			c = 0
		}
		return c + shared(a.text, b.text)
	}
	for i := range n + 1 {
		for j := range m + 1 {
			if i+j == 0 {
				continue
			}
			best := math.Inf(1)
			if i > 0 {
				best = *at(i-1, j) + skip
			}
			if j > 0 {
				best = min(best, *at(i, j-1)+skip)
			}
			if i > 0 && j > 0 {
				best = min(best, *at(i-1, j-1)+match(i-1, j-1))
			}
			*at(i, j) = best
		}
	}
	var out []pair
	for i, j := n, m; i > 0 && j > 0; {
		switch c := *at(i, j); {
		case c == *at(i-1, j-1)+match(i-1, j-1):
			i, j = i-1, j-1
			if match(i, j) < 1.5 {
				out = append(out, sentencePairs(en[i].text, es[j].text)...)
			}
		case c == *at(i-1, j)+skip:
			i--
		default:
			j--
		}
	}
	return out
}

var telling = regexp.MustCompile(`\b(?:\d+|[A-Z][a-z]*[A-Z]\w*|[a-z]+_\w+)\b`)

// shared is the cost of names and numbers that only one of two texts has.
func shared(a, b string) float64 {
	missing := 0
	for _, w := range telling.FindAllString(a, 6) {
		if !strings.Contains(b, w) {
			missing++
		}
	}
	return 0.5 * float64(missing)
}

var sentenceEnd = regexp.MustCompile(`[.!?:]["')]?\s+`)

// sentencePairs returns two texts sentence by sentence where they have as
// many, else as a whole where they are short.
func sentencePairs(en, es string) []pair {
	a, b := sentenceEnd.Split(en, -1), sentenceEnd.Split(es, -1)
	if len(a) != len(b) {
		if len(en)+len(es) > 700 {
			return nil
		}
		a, b = []string{en}, []string{es}
	}
	var out []pair
	for i := range a {
		if r := float64(len(a[i])+10) / (float64(len(b[i])) + 10); r > 0.5 && r < 1.7 {
			out = append(out, pair{translated, a[i], b[i]})
		}
	}
	return out
}

const (
	mostSection  = 1200 // bytes of a section that are paired with its heading
	leastSection = 120
)

// sectionPairs pairs headings with what stands below them, and the first
// sentence of a section with the rest.
func sectionPairs(list []block) []pair {
	var out []pair
	title := ""
	for i := range list {
		b := &list[i]
		if b.level == 0 {
			continue
		}
		var text strings.Builder
		for _, x := range list[i+1:] {
			if x.level > 0 || text.Len() > mostSection {
				break
			}
			text.WriteString(x.text + " ")
		}
		if title == "" {
			title = b.text
		}
		if text.Len() < leastSection {
			continue
		}
		out = append(out, pair{headed, b.text, text.String()})
		s := strings.TrimSpace(text.String())
		if at := sentenceEnd.FindStringIndex(s); at != nil && at[0] > 30 && len(s)-at[1] > leastSection {
			out = append(out, pair{opened, s[:at[0]], title + " " + b.text + " " + s[at[1]:]})
		}
	}
	return out
}
