package search

import (
	"math/bits"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// lines are the lines of a chunk, each with what it tells about the query.
type lines struct {
	tuning *Tuning
	first  int        // number of the first line
	must   int        // number of the line that is shown in any case, 0 for none
	meant  *kb.Symbol // the declaration that answers, nil where none is known
	sure   bool       // it is more than a guess
	text   []string
	asked  *asking

	// What scan finds out, when it is first asked for.
	terms []uint64  // query terms of each line, a bit each
	doc   []uint64  // of a line that declares: the query terms of its doc comment
	bonus []float64 // of each line, whatever is asked
	whole []string  // all lines of the chunk, of which text is a part
	start int       // number of the first of them
	of    *kb.Chunk
}

// asking is what lines are looked through for.
type asking struct {
	idf   []float64      // by query term
	index map[string]int // of them
}

func newAsking(q *rank.Query) *asking {
	a := &asking{idf: make([]float64, len(q.Terms)), index: make(map[string]int, len(q.Terms))}
	for i, t := range q.Terms {
		a.index[t], a.idf[i] = i, q.TermIDF(t)
	}
	return a
}

// bestLines prepares the choice of the lines to show.
func (t *Tuning) bestLines(a *asking, p *kb.Passage) lines {
	text := strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")
	return lines{tuning: t, first: p.Chunk.Start, text: text, asked: a, whole: text, start: p.Chunk.Start, of: &p.Chunk}
}

// scan looks the lines through for the query, once: most places of a reply have
// no room for theirs.
func (l *lines) scan() {
	if l.of == nil {
		return
	}
	text, first := l.text, l.first
	l.text, l.first = l.whole, l.start
	l.terms = make([]uint64, len(l.text))
	l.doc = make([]uint64, len(l.text))
	l.bonus = make([]float64, len(l.text))
	var s terms.Scanner
	for i, text := range l.text {
		s.Scan(text, func(term []byte, _ bool) {
			if j, ok := l.asked.index[string(term)]; ok && l.asked.idf[j] > 0 {
				l.terms[i] |= 1 << j
			}
		})
		if len(strings.TrimSpace(text)) < 3 {
			l.bonus[i] = l.tuning.BlankBonus
		}
	}
	for i := range l.of.Symbols {
		l.declare(&l.of.Symbols[i])
	}
	a := first - l.start
	b := a + len(text)
	l.text, l.first = text, first
	l.terms, l.doc, l.bonus = l.terms[a:b], l.doc[a:b], l.bonus[a:b]
	l.whole, l.of = nil, nil
}

// declare marks the line that declares a symbol.
func (l *lines) declare(s *kb.Symbol) {
	from := max(0, s.Start-l.first)
	at := s.Line - l.first
	if s.Line == 0 {
		at = -1
		if sig := s.Signature[:min(len(s.Signature), 24)]; sig != "" {
			for i := from; i < len(l.text) && i <= s.End-l.first; i++ {
				if strings.HasPrefix(strings.TrimSpace(l.text[i]), sig) {
					at = i
					break
				}
			}
		}
	}
	if at < 0 || at >= len(l.text) || s.Kind == "heading" {
		return
	}
	l.bonus[at] = l.tuning.DeclaresBonus
	for i := from; i < at; i++ {
		l.doc[at] |= l.terms[i]
	}
}

// set returns the query terms in the lines from start to end.
func (l *lines) set(start, end int) (set uint64) {
	l.scan()
	for i := max(0, start-l.first); i < len(l.terms) && i <= end-l.first; i++ {
		set |= l.terms[i]
	}
	return set
}

// within leaves out the lines that are not from start to end.
func (l *lines) within(start, end int) {
	a, b := max(0, start-l.first), min(len(l.text), end-l.first+1)
	if a < b {
		l.first += a
		l.text = l.text[a:b]
		if l.of == nil {
			l.terms, l.doc, l.bonus = l.terms[a:b], l.doc[a:b], l.bonus[a:b]
		}
	}
}

// weight is how much a set of query terms tells.
func (l *lines) weight(set uint64) float64 {
	sum := 0.0
	for set != 0 { // in order, so that sums are the same everywhere
		i := bits.TrailingZeros64(set)
		sum += l.asked.idf[i]
		set &= set - 1
	}
	return sum
}

// window returns the n lines in a row that tell most, each cut to width bytes.
func (l *lines) window(n, width int) (first int, code string) {
	if len(l.text) == 0 {
		return 0, ""
	}
	l.scan()
	n = min(n, len(l.text))
	best, at := -1.0, 0
	for i := 0; i+n <= len(l.text); i++ {
		if must := l.must - l.first; l.must > 0 && (i > must || must >= i+n) {
			continue
		}
		score := 0.0
		declares := 0.0 // once: a row of declarations is no better than one
		var seen, doc uint64
		for j := i; j < i+n; j++ {
			declares = max(declares, l.bonus[j])
			score += min(0, l.bonus[j])
			seen |= l.terms[j]
			doc |= l.doc[j]
		}
		score += declares + l.weight(seen) + l.tuning.DocShare*l.weight(doc&^seen)
		if score > best+1e-9 {
			best, at = score, i
		}
	}
	end := at + n
	for end > at+1 && strings.TrimSpace(l.text[end-1]) == "" {
		end--
	}
	for at < end-1 && strings.TrimSpace(l.text[at]) == "" {
		at++
	}
	var b strings.Builder
	for i := at; i < end; i++ {
		if i > at {
			b.WriteByte('\n')
		}
		b.WriteString(kb.Clip(strings.TrimRight(l.text[i], " \t\r"), width))
	}
	return l.first + at, b.String()
}
