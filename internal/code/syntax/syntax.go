// Package syntax reads declarations, imports and uses of names from the trees
// of package grammar. What every language has in common is done once, by the
// walk: lines, doc comments, nesting, qualified names. A language is a table
// row: the node types that its rules look at and one function that is called
// for each of them.
package syntax

import (
	"context"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Decl is one declaration. Lines are 0-based.
type Decl struct {
	Name string
	Kind string   // as in kb.Symbol: "function", "method", "class", …
	Path []string // names of the enclosing declarations, outermost first
	Line int      // on which the name stands
	// Start is its first line, with the doc comment, attributes and decorators
	// that belong to it; End its last line.
	Start, End int
	// Signature and Doc are byte ranges of the text, empty when there is none:
	// the declaration up to its body, and the comment or doc string with its marks.
	Signature, Doc [2]int
	// Inner marks a declaration that is no place to cut at: an enumerator, a
	// function inside a function.
	Inner bool
	// Body is the line on which its body begins, -1 without one.
	Body int
}

// Outline is what a text declares and uses.
type Outline struct {
	Decls []Decl // in order of their starts, enclosing ones first
	Facts kb.Facts
	// Imports are the lines, half open, on which something is imported.
	Imports [][2]int
	// Broken is the share of the text's bytes that did not parse.
	Broken float64
}

// spec is the rules of one language.
type spec struct {
	grammar string
	// rules are the node types that are looked at, and tokens the literal
	// tokens ("async") that come out of the parse at all. A test refuses types
	// that the grammar does not have.
	rules  rules
	chains chains
	// typ returns the type that a node names, use records what it uses and
	// pattern binds what it assigns to, of a type; made returns the type that an
	// expression makes a value of. See combine.go.
	typ     func(w *walk, n int32) string
	use     func(w *walk, n int32, kind kb.UseKind)
	pattern func(w *walk, n int32, typ string)
	made    func(w *walk, n int32) string
	tokens  []string
	// comments are the node types of comments; attributes those of what may
	// stand between a comment and its declaration as a sibling ("attribute_item").
	comments   []string
	attributes []string
	// prepare, if not nil, makes the text that is parsed out of the file's: of
	// the same length, with everything of another language blanked.
	prepare func(text string) string
	// data is for formats of data: a text that is larger than maxData or
	// declares nothing is as if nothing had parsed.
	data bool
	// brittle is for a grammar that loses its way at what it does not know
	// (zsh and fish for that of bash): any error is as if nothing had parsed.
	brittle bool
}

// rule reads a node: it goes on into it with w.children or w.visit, or passes
// over what is in it. Nodes without a rule are gone into by themselves.
type rule func(w *walk, n int32)

// rules are rules by node types, several of them with blanks between.
type rules []struct {
	types string
	rule  rule
}

// The rules that many languages share.
var (
	skip   rule = func(*walk, int32) {}
	scoped rule = func(w *walk, n int32) { w.within(n, func() { w.children(n) }) }
)

// Known reports whether there are rules for a language.
func Known(language string) bool { return specOf(language) != nil }

// Wanted says which nodes the rules need out of a parse; see grammar.Set.
func Wanted(language, node string, named bool) grammar.Want {
	if named {
		return grammar.Emit
	}
	for _, s := range specs {
		if s.grammar == language {
			for _, t := range s.tokens {
				if t == node {
					return grammar.Leaf
				}
			}
		}
	}
	return grammar.Skip
}

// maxDepth is how deep rules follow nested nodes. What lies deeper is text
// like any other, only not looked at for names.
const maxDepth = 1000

// Read parses a text and reads its outline. Errors are those of
// grammar.Set.Parse, and NotFound for a language without rules.
func Read(ctx context.Context, set *grammar.Set, language, text string) (Outline, error) {
	s := specOf(language)
	if s == nil {
		return Outline{}, kb.Errorf(kb.NotFound, "there are no rules for %q", language)
	}
	if s.data && len(text) > maxData {
		return Outline{Broken: 1}, nil
	}
	if s.prepare != nil {
		text = s.prepare(text)
	}
	var out Outline
	err := set.Parse(ctx, s.grammar, text, func(t *grammar.Tree) error {
		w := newWalk(s, t)
		if len(t.Nodes) > 0 {
			w.visit(0)
		}
		out = w.finish()
		return nil
	})
	return out, err
}

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

// fieldOf returns the name of the field that a node stands in, "" for none.
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

// but visits what is in a node but for one.
func (w *walk) but(n, not int32) {
	for c := w.first(n); c >= 0; c = w.next(n, c) {
		if c != not {
			w.visit(c)
		}
	}
}

// butField visits what is in a node but for what stands in some fields.
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

// after visits what stands behind c in n, -1 for nothing.
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

// between returns the operator that stands between two operands.
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

// declaration is what rules say of one. A node of 0 or less is none.
type declaration struct {
	node int32  // all of it
	name int32  // node of the name; -1: what stands in as
	as   string // the name, when it is not the text of name
	kind string
	body int32 // at which the signature ends
	// outer is the node around it that still belongs to it (decorators, an
	// export statement, a template).
	outer int32
	// owners are names put between the path and the name: ["Server"] for a
	// method that is declared outside its type.
	owners []string
	inner  bool
	doc    int32 // a doc string inside the body
	// sigStart and sigEnd are where the signature begins and ends instead of
	// at node and body, 0 for there.
	sigStart, sigEnd int
}

// behind returns where a node's text goes on behind the children of some types
// that it begins with (annotations); those of a child of type inside count.
func (w *walk) behind(n int32, inside string, types ...string) int {
	at := int(w.nodes[n].Start)
	in := n
	if m := w.child(n, inside); m >= 0 && w.nodes[m].Start == w.nodes[n].Start {
		in = m
	}
	for c := w.first(in); c >= 0; c = w.next(in, c) {
		if !slices.Contains(types, w.typ(c)) || strings.TrimSpace(w.t.Source[at:w.nodes[c].Start]) != "" {
			break
		}
		at = int(w.nodes[c].End)
	}
	return at + len(w.t.Source[at:]) - len(strings.TrimLeft(w.t.Source[at:], " \t\r\n"))
}

// declare records a declaration and calls inside, if not nil, with it as the
// enclosing one and no region. It returns its index.
func (w *walk) declare(d declaration, inside func()) int {
	name := d.as
	if name == "" {
		name = w.text(d.name)
	}
	whole := d.node
	if d.outer > 0 {
		whole = d.outer
	}
	x := Decl{Name: name, Kind: d.kind, Inner: d.inner, Body: -1, Start: w.start(whole), End: w.end(whole)}
	// Both are appended to later: the slice must not be shared.
	x.Path = append(append(make([]string, 0, len(w.path)+len(d.owners)), w.path...), d.owners...)
	if len(x.Path) == 0 {
		x.Path = nil
	}
	x.Line = x.Start
	if d.name >= 0 {
		x.Line = w.start(d.name)
	} else {
		x.Line = w.start(d.node)
	}
	from, to := int(w.nodes[d.node].Start), int(w.nodes[d.node].End)
	if d.body > 0 {
		to = int(w.nodes[d.body].Start)
		x.Body = w.start(d.body)
	}
	if d.sigEnd > 0 {
		to = d.sigEnd
	}
	if d.sigStart > 0 {
		from = d.sigStart
	}
	x.Signature = [2]int{from, max(from, to)}
	w.lead(&x, int(w.nodes[whole].Start))
	if d.doc > 0 {
		x.Doc = [2]int{int(w.nodes[d.doc].Start), int(w.nodes[d.doc].End)}
	}
	i := len(w.out.Decls)
	w.out.Decls = append(w.out.Decls, x)
	if inside != nil {
		w.scope = append(w.scope, i)
		n := len(w.path)
		w.path = append(append(w.path, d.owners...), name)
		w.within(0, inside)
		w.path = w.path[:n]
		w.scope = w.scope[:len(w.scope)-1]
	}
	return i
}

// lead moves the start of a declaration up over the comments and attributes
// that end right above it, and takes the last run of comments as its doc.
func (w *walk) lead(x *Decl, start int) {
	i := sort.Search(len(w.leads), func(i int) bool { return w.leads[i].start >= start })
	doc := [2]int{-1, -1}
	for i--; i >= 0; i-- {
		l := &w.leads[i]
		if l.to < x.Start-1 || l.end > start && l.from < x.Start {
			break
		}
		if l.to >= x.Start && l.from >= x.Start {
			continue // inside or on the same line
		}
		x.Start = l.from
		if l.comment {
			if doc[0] >= 0 && l.end <= doc[0] || doc[0] < 0 {
				if doc[1] < 0 {
					doc[1] = l.end
				}
				doc[0] = l.start
			}
		}
	}
	if doc[0] >= 0 {
		x.Doc = doc
	}
}

// within calls f with another region.
func (w *walk) within(region int32, f func()) {
	old := w.region
	w.region = region
	f()
	w.region = old
}

// bindHere binds a name for the region, or the declaration around without one.
func (w *walk) bindHere(name, typ string) {
	if w.region != 0 {
		w.bind(w.region, name, typ)
		return
	}
	w.bindIn(w.enclosing(), name, typ)
}

// enclosing returns the innermost declaration around, nil at top level.
func (w *walk) enclosing() *Decl {
	if n := len(w.scope); n > 0 {
		return &w.out.Decls[w.scope[n-1]]
	}
	return nil
}

// in reports whether the innermost declaration around is of one of the kinds,
// top whether what stands here belongs to no declaration and no block.
func (w *walk) in(kinds ...string) bool {
	d := w.enclosing()
	return d != nil && slices.Contains(kinds, d.Kind)
}

func (w *walk) top() bool { return w.enclosing() == nil && w.region == 0 }

// enclosingKind returns the innermost declaration around of one of the kinds.
func (w *walk) enclosingKind(kinds ...string) *Decl {
	for i := len(w.scope) - 1; i >= 0; i-- {
		d := &w.out.Decls[w.scope[i]]
		for _, k := range kinds {
			if d.Kind == k {
				return d
			}
		}
	}
	return nil
}

// importing records lines on which something is imported.
func (w *walk) importing(n int32) {
	from, to := w.start(n), w.end(n)+1
	if k := len(w.out.Imports) - 1; k >= 0 && from <= w.out.Imports[k][1] {
		w.out.Imports[k][1] = max(to, w.out.Imports[k][1])
		return
	}
	w.out.Imports = append(w.out.Imports, [2]int{from, to})
}

// imported records an import.
func (w *walk) imported(n int32, path, name, local string) {
	w.out.Facts.Imports = append(w.out.Facts.Imports, kb.Import{Path: path, Name: name, Local: local, Line: w.start(n) + 1})
}

// use records that a name is used, with the number of arguments as in
// kb.Reference.
func (w *walk) use(n int32, name, qualifier string, kind kb.UseKind, args ...int) {
	if name == "" {
		return
	}
	r := kb.Reference{Name: name, Qualifier: qualifier, Kind: kind, Line: w.start(n) + 1}
	if len(args) > 0 {
		r.Args = args[0]
	}
	w.out.Facts.References = append(w.out.Facts.References, r)
}

// argued gives the call that was recorded i-th its number of arguments: those
// in the list args, and more besides it.
func (w *walk) argued(i int, args int32, more int) {
	if i >= len(w.out.Facts.References) {
		return
	}
	for c := int32(-1); args >= 0; more++ {
		if c < 0 {
			c = w.first(args)
		} else {
			c = w.next(args, c)
		}
		for c >= 0 && w.nodes[c].Symbol != grammar.ErrorSymbol && w.mark[w.nodes[c].Symbol]&isComment != 0 {
			c = w.next(args, c)
		}
		if c < 0 {
			break
		}
	}
	w.out.Facts.References[i].Args = more + 1
}

// bind records a name that is local to the lines of node within.
func (w *walk) bind(within int32, name, typ string) {
	if name == "" || name == "_" {
		return
	}
	w.out.Facts.Bindings = append(w.out.Facts.Bindings, kb.Binding{Name: name, Type: typ, From: w.start(within) + 1, To: w.end(within) + 1})
}

// bindIn is bind for the lines of the innermost declaration around, or the
// whole text at top level.
func (w *walk) bindIn(d *Decl, name, typ string) {
	if name == "" || name == "_" {
		return
	}
	b := kb.Binding{Name: name, Type: typ, From: 1, To: len(w.at)}
	if d != nil {
		b.From, b.To = d.Start+1, d.End+1
	}
	w.out.Facts.Bindings = append(w.out.Facts.Bindings, b)
}

func (w *walk) finish() Outline {
	sort.SliceStable(w.out.Decls, func(i, j int) bool { return w.out.Decls[i].Start < w.out.Decls[j].Start })
	broken := 0
	for i := 0; i < len(w.nodes); {
		n := &w.nodes[i]
		if n.Flags&grammar.IsError != 0 {
			broken += int(n.End - n.Start)
			i = int(n.Next)
			continue
		}
		i++
	}
	if len(w.t.Source) > 0 {
		w.out.Broken = float64(broken) / float64(len(w.t.Source))
		if w.s.brittle && broken > 0 || w.s.data && len(w.out.Decls) == 0 {
			w.out.Broken = 1
		}
	}
	return w.out
}

// plainType strips what a kb.Binding's type goes without: pointers,
// references, generic arguments, nullability, array marks, keywords before it.
func plainType(s string) string {
	if i := strings.IndexAny(s, "<[({"); i > 0 {
		s = s[:i]
	}
	s = strings.TrimSpace(s)
	if i := strings.LastIndexAny(s, " \t\n"); i >= 0 {
		s = s[i+1:]
	}
	return strings.Trim(s, "&*?!: \t\"'")
}
