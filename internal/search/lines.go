package search

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/rank"
	"github.com/seed-4f2d999b/knowledge/internal/terms"
)

// lines are the lines of a chunk, each with what it tells about the query.
type lines struct {
	first int // number of the first line
	text  []string
	terms []map[int]bool // query terms of each line
	bonus []float64
	idf   []float64 // by query term
}

// bestLines prepares the choice of the lines to show.
func bestLines(q *rank.Query, p *kb.Passage) lines {
	l := lines{first: p.Chunk.Start, text: strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")}
	index := make(map[string]int, len(q.Terms))
	l.idf = make([]float64, len(q.Terms))
	for i, t := range q.Terms {
		index[t] = i
		l.idf[i] = q.TermIDF(t)
	}
	l.terms = make([]map[int]bool, len(l.text))
	l.bonus = make([]float64, len(l.text))
	var s terms.Scanner
	for i, t := range l.text {
		s.Scan(t, func(term []byte, _ bool) {
			if j, ok := index[string(term)]; ok && l.idf[j] > 0 {
				if l.terms[i] == nil {
					l.terms[i] = map[int]bool{}
				}
				l.terms[i][j] = true
			}
		})
		trimmed := strings.TrimSpace(t)
		switch {
		case trimmed == "", len(trimmed) < 3:
			l.bonus[i] = -0.5
		case declares(trimmed, p.Chunk.Symbols):
			l.bonus[i] = 2 // the line that says what this is
		}
	}
	return l
}

// declares reports whether a line is the one that a signature was taken from.
func declares(line string, symbols []kb.Symbol) bool {
	for i := range symbols {
		s := symbols[i].Signature
		if n := min(len(s), 24); n > 0 && strings.HasPrefix(line, s[:n]) {
			return true
		}
	}
	return false
}

// window returns the n lines in a row that tell most, each cut to width bytes.
func (l *lines) window(n, width int) (first int, code string) {
	if len(l.text) == 0 {
		return 0, ""
	}
	n = min(n, len(l.text))
	best, at := -1.0, 0
	for i := 0; i+n <= len(l.text); i++ {
		score := 0.0
		seen := map[int]bool{}
		for j := i; j < i+n; j++ {
			score += l.bonus[j]
			for t := range l.terms[j] {
				if !seen[t] {
					seen[t] = true
				}
			}
		}
		for t := range l.idf { // in order, so that sums do not depend on map order
			if seen[t] {
				score += l.idf[t]
			}
		}
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
		b.WriteString(clip(strings.TrimRight(l.text[i], " \t\r"), width))
	}
	return l.first + at, b.String()
}
