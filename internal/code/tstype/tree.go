package tstype

import (
	"slices"
	"sort"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
)

// tree is the named nodes of one text, comments passed over. A node is an index,
// -1 for none; the methods take -1 and say that there is nothing.
type tree struct {
	lang  *grammar.Language
	nodes []grammar.Node
	src   string
	lines []int // starts
}

func newTree(t *grammar.Tree) tree {
	x := tree{lang: t.Language, nodes: slices.Clone(t.Nodes), src: t.Source, lines: []int{0}}
	for i := range len(x.src) {
		if x.src[i] == '\n' {
			x.lines = append(x.lines, i+1)
		}
	}
	return x
}

// typ returns the type of a node, "" of none.
func (t *tree) typ(n int32) string {
	if n < 0 {
		return ""
	}
	s := t.nodes[n].Symbol
	if s == grammar.ErrorSymbol {
		return "ERROR"
	}
	return t.lang.Symbols[s]
}

func (t *tree) text(n int32) string {
	if n < 0 {
		return ""
	}
	return t.src[t.nodes[n].Start:t.nodes[n].End]
}

// line counts from 1.
func (t *tree) line(n int32) int {
	at := int(t.nodes[max(n, 0)].Start)
	return sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > at })
}

func (t *tree) first(n int32) int32 {
	if n < 0 {
		return -1
	}
	return t.skip(n, n+1)
}

func (t *tree) next(n, c int32) int32 { return t.skip(n, int32(t.nodes[c].Next)) }

// skip returns the child of n at c, or the next that is no comment.
func (t *tree) skip(n, c int32) int32 {
	for end := int32(t.nodes[n].Next); c < end; c = int32(t.nodes[c].Next) {
		if k := t.typ(c); k != "comment" && k != "html_comment" {
			return c
		}
	}
	return -1
}

// each is a loop over the children of a node.
func (t *tree) each(n int32) func(func(int32) bool) {
	return func(yield func(int32) bool) {
		for c := t.first(n); c >= 0; c = t.next(n, c) {
			if !yield(c) {
				return
			}
		}
	}
}

func (t *tree) field(n int32, name string) int32 {
	for c := range t.each(n) {
		if t.lang.Fields[t.nodes[c].Field] == name {
			return c
		}
	}
	return -1
}

// child returns the first child of one of the types.
func (t *tree) child(n int32, types ...string) int32 {
	for c := range t.each(n) {
		if slices.Contains(types, t.typ(c)) {
			return c
		}
	}
	return -1
}

// between is the text of n from the end of node a to the start of node b; to the
// start and the end of n where they are none.
func (t *tree) between(n, a, b int32) string {
	from, to := t.nodes[n].Start, t.nodes[n].End
	if a >= 0 {
		from = t.nodes[a].End
	}
	if b >= 0 {
		to = t.nodes[b].Start
	}
	if from > to {
		return ""
	}
	return t.src[from:to]
}

// unquoted is the name that a key or a string means; false for one that is computed.
func (t *tree) unquoted(n int32) (string, bool) {
	s := t.text(n)
	switch t.typ(n) {
	case "computed_property_name", "":
		return "", false
	case "string":
		if len(s) >= 2 {
			return s[1 : len(s)-1], true
		}
	}
	return s, true
}
