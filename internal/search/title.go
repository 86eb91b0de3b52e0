package search

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
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

// title names a chunk for the declaration in it that answers: the one that
// the query names, else the one that the best line lies in, else its first.
func (s *shower) title(c *kb.Chunk, l *lines) (string, *kb.Symbol) {
	if len(c.Symbols) == 0 || c.Kind == "section" {
		return Title(c), nil
	}
	if len(c.Symbols) == 1 {
		return Title(c), &c.Symbols[0]
	}
	for i := range c.Symbols {
		if sym := &c.Symbols[i]; s.q.Names(sym.Name) {
			return qualified(c, *sym), sym
		}
	}
	at, _ := l.window(1, 80)
	for i := range c.Symbols {
		if sym := &c.Symbols[i]; sym.Start <= at && at <= sym.End && sym.End <= c.End {
			return qualified(c, *sym), sym
		}
	}
	return Title(c), &c.Symbols[0]
}

// qualified names one of a chunk's symbols, with what encloses it where the
// chunk's own path tells.
func qualified(c *kb.Chunk, sym kb.Symbol) string {
	if n := len(c.Decl); n > 0 && c.Decl[n-1] == sym.Name {
		return Title(&kb.Chunk{Decl: c.Decl, Kind: c.Kind})
	}
	return sym.Name
}
