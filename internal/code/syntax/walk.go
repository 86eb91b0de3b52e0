package syntax

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
)

// walk is one reading of one tree.
type walk struct {
	t     *grammar.Tree
	s     *spec
	of    []rule // by symbol
	links map[string]link
	mark  []uint8
	nodes []grammar.Node
	at    []int // where lines begin
	last  int   // line that was asked for last
	depth int
	scope []int // indexes in decls of those around
	path  []string
	// region is for rules of languages with blocks: the node for whose lines
	// what is declared next holds, 0 for that of the declaration around.
	region int32
	// state is what the rules of a language remember over a reading.
	state any
	out   Outline
	leads []lead // comments and attributes, in order
}

type lead struct {
	from, to int // lines, inclusive
	start    int // bytes
	end      int
	comment  bool
}

const (
	isComment uint8 = 1 << iota
	isAttribute
)

// numbers are the rules of a spec by the numbers of a grammar.
type numbers struct {
	of    []rule
	links map[string]link
	mark  []uint8 // isComment, isAttribute
}

// numbered keeps the numbers of each spec and grammar: they are looked up by
// name, which for a small file takes as long as reading it.
var numbered sync.Map // of numbersKey to numbers

type numbersKey struct {
	s *spec
	l *grammar.Language
}

func numbersOf(s *spec, l *grammar.Language) numbers {
	key := numbersKey{s, l}
	if n, ok := numbered.Load(key); ok {
		return n.(numbers)
	}
	out := numbers{of: make([]rule, len(l.Symbols)), mark: make([]uint8, len(l.Symbols)), links: map[string]link{}}
	byType := map[string]rule{}
	for _, r := range s.rules {
		for t := range strings.FieldsSeq(r.types) {
			byType[t] = r.rule
		}
	}
	for _, c := range s.chains {
		for t := range strings.FieldsSeq(c.types) {
			out.links[t] = c.link
		}
	}
	for sym, name := range l.Symbols {
		if l.Named[sym] {
			out.of[sym] = byType[name]
		}
		if slices.Contains(s.comments, name) {
			out.mark[sym] |= isComment
		}
		if slices.Contains(s.attributes, name) {
			out.mark[sym] |= isAttribute
		}
	}
	numbered.Store(key, out)
	return out
}

func newWalk(s *spec, t *grammar.Tree) *walk {
	n := numbersOf(s, t.Language)
	w := &walk{t: t, s: s, nodes: t.Nodes, of: n.of, mark: n.mark, links: n.links}
	w.at = append(w.at, 0)
	for i := 0; i < len(t.Source); {
		k := strings.IndexByte(t.Source[i:], '\n')
		if k < 0 {
			break
		}
		i += k + 1
		w.at = append(w.at, i)
	}
	// A comment that shares its line with code before it belongs to that.
	// Comments are looked up by the line they end on.
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.Symbol == grammar.ErrorSymbol || w.mark[n.Symbol] == 0 {
			continue
		}
		from := w.lineOf(int(n.Start))
		if strings.TrimSpace(t.Source[w.at[from]:n.Start]) != "" {
			continue
		}
		end := int(n.End)
		for end > int(n.Start) && (t.Source[end-1] == '\n' || t.Source[end-1] == '\r') {
			end-- // some grammars count the line end into the comment
		}
		w.leads = append(w.leads, lead{from: from, to: w.lineOf(max(end-1, int(n.Start))), start: int(n.Start), end: end, comment: w.mark[n.Symbol]&isComment != 0})
	}
	return w
}

// lineOf returns the 0-based line that holds a byte.
func (w *walk) lineOf(off int) int {
	if w.at[w.last] <= off && (w.last+1 == len(w.at) || off < w.at[w.last+1]) {
		return w.last
	}
	w.last = sort.SearchInts(w.at, off+1) - 1
	return w.last
}

func (w *walk) start(n int32) int { return w.lineOf(int(w.nodes[n].Start)) }

// end returns the last line of a node that holds more than its line end.
func (w *walk) end(n int32) int {
	from, to := int(w.nodes[n].Start), int(w.nodes[n].End)
	for to > from && (w.t.Source[to-1] == '\n' || w.t.Source[to-1] == '\r') {
		to--
	}
	return w.lineOf(max(from, to-1))
}

// typ returns a node's type as the grammar names it.
func (w *walk) typ(n int32) string {
	if n < 0 {
		return ""
	}
	if w.nodes[n].Symbol == grammar.ErrorSymbol {
		return "ERROR"
	}
	return w.t.Symbols[w.nodes[n].Symbol]
}

// text returns the bytes of a node, "" for none.
func (w *walk) text(n int32) string {
	if n < 0 {
		return ""
	}
	return w.t.Source[w.nodes[n].Start:w.nodes[n].End]
}

// first returns the first child of a node, -1 when it has none; next the
// sibling behind one under the same parent.
func (w *walk) first(n int32) int32 {
	if n >= 0 && n+1 < int32(w.nodes[n].Next) {
		return n + 1
	}
	return -1
}

func (w *walk) next(parent, n int32) int32 {
	if k := w.nodes[n].Next; k < w.nodes[parent].Next {
		return int32(k)
	}
	return -1
}

// field returns the first child of n in the field called name, -1 when there is none.
func (w *walk) field(n int32, name string) int32 {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if f := w.nodes[c].Field; f != 0 && w.t.Fields[f] == name {
			return c
		}
	}
	return -1
}

// fieldOf returns the name of the field that a node is in, "" for none.
func (w *walk) fieldOf(n int32) string { return w.t.Fields[w.nodes[n].Field] }

// child returns the first child of n of one of the types, -1 when there is none.
func (w *walk) child(n int32, types ...string) int32 {
	if n < 0 {
		return -1
	}
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		t := w.typ(c)
		for _, want := range types {
			if t == want {
				return c
			}
		}
	}
	return -1
}

// visit calls the rules for a node, or goes into it when there are none for
// its type.
func (w *walk) visit(n int32) {
	if n < 0 {
		return
	}
	if w.depth >= maxDepth {
		return
	}
	w.depth++
	if w.ruled(n) {
		w.of[w.nodes[n].Symbol](w, n)
	} else {
		w.children(n)
	}
	w.depth--
}

// children visits what is in a node.
func (w *walk) children(n int32) {
	if n < 0 {
		return
	}
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		w.visit(c)
	}
}

// each calls f with what is right in a node.
func (w *walk) each(n int32, f func(c int32)) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		f(c)
	}
}

// but visits what is in a node but for one.
func (w *walk) but(n, not int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if c != not {
			w.visit(c)
		}
	}
}

// butField visits the children of a node but for those in some fields.
func (w *walk) butField(n int32, fields ...string) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if !slices.Contains(fields, w.fieldOf(c)) {
			w.visit(c)
		}
	}
}

// butType visits what is in a node but for nodes of some types.
func (w *walk) butType(n int32, types ...string) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if !slices.Contains(types, w.typ(c)) {
			w.visit(c)
		}
	}
}

// over calls f with the nodes of a type that are right in a node and visits the others.
func (w *walk) over(n int32, typ string, f func(c int32)) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if w.typ(c) == typ {
			f(c)
		} else {
			w.visit(c)
		}
	}
}

// after visits the children of n behind c, all for -1.
func (w *walk) after(n, c int32) {
	for c >= 0 {
		if c = w.next(n, c); c >= 0 {
			w.visit(c)
		}
	}
}

// ruled reports whether there is a rule for a node's type.
func (w *walk) ruled(n int32) bool {
	return n >= 0 && w.nodes[n].Symbol != grammar.ErrorSymbol && w.of[w.nodes[n].Symbol] != nil
}

// between returns the operator between two operands.
func (w *walk) between(left, right int32) string {
	if left < 0 || right < 0 {
		return ""
	}
	s := strings.TrimSpace(w.t.Source[w.nodes[left].End:max(w.nodes[left].End, w.nodes[right].Start)])
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSpace(s)
}

// visitAll visits nodes, of which -1 is none.
func (w *walk) visitAll(nodes ...int32) {
	for _, n := range nodes {
		w.visit(n)
	}
}
