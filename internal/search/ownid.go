package search

import (
	"hash/fnv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A declaration that shares its chunk with others has an id of its own: that of
// the chunk, a dot, and a mark made of its name, which stays when neighbours
// come and go. The id of the chunk alone is about its first declaration.

// ownID returns the id of a declaration of a chunk.
func ownID(id string, c *kb.Chunk, y *kb.Symbol) string {
	i := 0
	for i < len(c.Symbols) && !sameSymbol(&c.Symbols[i], y) {
		i++
	}
	if i == 0 || i == len(c.Symbols) || c.Kind == "section" {
		return id
	}
	return ownMark(id, mark(c, i))
}

func ownMark(id, mark string) string {
	if mark == "" {
		return id
	}
	return id + "." + mark
}

func sameSymbol(a, b *kb.Symbol) bool { return b != nil && a.Name == b.Name && a.Start == b.Start }

// mark is made of a declaration's name and how many before it are called the same.
func mark(c *kb.Chunk, i int) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.Symbols[i].Name))
	for k := range i {
		if c.Symbols[k].Name == c.Symbols[i].Name {
			_, _ = h.Write([]byte{0})
		}
	}
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	n := h.Sum32()
	return string([]byte{letters[n>>5&31], letters[n&31]})
}

// marked returns the declaration of a chunk that has a mark, nil for none.
func marked(c *kb.Chunk, m string) *kb.Symbol {
	for i := range c.Symbols {
		if i > 0 && mark(c, i) == m {
			return &c.Symbols[i]
		}
	}
	return nil
}

// cutMark parts an id, or what a slip of the finger made of one, from the mark
// of a declaration, "" without one.
func cutMark(id string) (chunk, m string) {
	if chunk, m, ok := strings.Cut(id, "."); ok && len(m) == len("xy") && len(chunk) >= kb.IDLen-1 && len(chunk) <= kb.IDLen+1 {
		return chunk, strings.ToLower(m)
	}
	return id, ""
}

func isID(s string) bool {
	_, _, ok := kb.ParseID(s)
	return ok
}
