package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// location cites a chunk: path:Lstart-Lend, or columns of a long line.
func location(p string, c *kb.Chunk) string {
	if c.ColTo > 0 {
		return fmt.Sprintf("%s:L%d:c%d-%d", p, c.Start, c.ColFrom, c.ColTo)
	}
	if c.Start == c.End {
		return fmt.Sprintf("%s:L%d", p, c.Start)
	}
	return fmt.Sprintf("%s:L%d-%d", p, c.Start, c.End)
}

// dated adds to a place the revision that it is cited at, as in "pay.go:12 @ abc1234".
func (t *Target) dated(at string) string {
	if t.Rev == "" {
		return at
	}
	return at + revMark + t.Rev
}

const revMark = " @ "

// titleBytes is how long the name of a chunk may be.
const titleBytes = 80

// Title names a chunk: its declaration path joined with dots, its headings, or
// the names it defines. Of headings that are too many the outer ones go: the
// innermost says what stands there.
func Title(c *kb.Chunk) string {
	if c.Kind == "section" || c.Kind == "heading" {
		const sep, more = " › ", "… › "
		t := strings.Join(c.Decl, sep)
		for rest := c.Decl; len(t) > titleBytes && len(rest) > 1; {
			rest = rest[1:]
			t = more + strings.Join(rest, sep)
		}
		return kb.Clip(t, titleBytes)
	}
	if len(c.Decl) > 0 {
		t := strings.Join(c.Decl, ".")
		if n := len(c.Symbols); n > 1 && c.Kind != "type" && c.Kind != "class" {
			t += fmt.Sprintf(" +%d", n-1)
		}
		return kb.Clip(t, titleBytes)
	}
	return ""
}

// meant returns the declaration of a chunk that answers: the function that a
// survey found best, the innermost around the line that the query names, the one
// that it calls by name, or the innermost around the line that tells most. The
// last is no more than a guess, which names the hit and leaves it its lines: on
// whole issues fewer hits would name the function that was changed. Of a name
// it is sure when nothing else in the chunk has words of the query that it lacks.
func (s *shower) meant(c *kb.Chunk, l *lines, hit *rank.Scored) (y *kb.Symbol, sure bool) {
	if len(c.Symbols) == 0 || c.Kind == "section" {
		return nil, false
	}
	if line := cmp.Or(s.survey.line(hit), hit.Line); line > 0 {
		return innermost(c, line), true
	}
	for i := range c.Symbols {
		switch o := &c.Symbols[i]; {
		case o.Name == s.q.Text:
			return o, true
		case (s.calls(o.Name) || s.q.Means(o.Name)) && (y == nil || len(o.Name) > len(y.Name)):
			y = o
		}
	}
	if y == nil {
		at, _ := l.window(1, 80)
		return innermost(c, at), false
	}
	return y, l.set(y.Start, y.End) == l.set(c.Start, c.End)
}

// calls reports whether the query has a name as it is declared: with "!" where
// there is one of each.
func (s *shower) calls(name string) bool {
	return s.q.Names(strings.TrimRight(name, "!?=")) && strings.Contains(strings.ToLower(s.q.Text), strings.ToLower(name))
}

// innermost returns the declaration of a chunk with the fewest lines around a line.
func innermost(c *kb.Chunk, line int) (at *kb.Symbol) {
	for i := range c.Symbols {
		y := &c.Symbols[i]
		if y.Start <= line && line <= y.End && (at == nil || y.End-y.Start < at.End-at.Start) {
			at = y
		}
	}
	return at
}

// title names a chunk for the declaration in it that answers, if one is known,
// and says which declaration that or its first is.
func (s *shower) title(c *kb.Chunk, meant *kb.Symbol) (string, *kb.Symbol) {
	switch {
	case len(c.Symbols) == 0 || c.Kind == "section":
		return Title(c), nil
	case len(c.Symbols) == 1 || meant == nil:
		return Title(c), &c.Symbols[0]
	}
	return qualified(c, *meant), meant
}

// narrow cites the lines of a declaration, and its id, in place of those of its chunk: fewer
// where others lie beside it, more where it is a function that goes on. A type
// that goes on has its members elsewhere.
func narrow(h *Hit, c *kb.Chunk, y *kb.Symbol, l *lines) {
	if y == nil || !y.Declares() || c.ColTo > 0 || y.End > c.End && !slices.Contains(functions, y.Kind) {
		return
	}
	beside := slices.ContainsFunc(c.Symbols, func(o kb.Symbol) bool { return o.End < y.Start || o.Start > y.End })
	if !beside && y.End <= c.End {
		return // it is all that there is
	}
	h.ID = ownID(h.ID, c, y)
	h.At, h.Where.Start, h.Where.End = span(h.Where.Path, y.Start, y.End), y.Start, y.End
	l.within(y.Start, y.End)
}

// qualified names one of a chunk's symbols, with what encloses it where the
// chunk's own path tells.
func qualified(c *kb.Chunk, sym kb.Symbol) string {
	if n := len(c.Decl); n > 0 && c.Decl[n-1] == sym.Name {
		return Title(&kb.Chunk{Decl: c.Decl, Kind: c.Kind})
	}
	return sym.Name
}
