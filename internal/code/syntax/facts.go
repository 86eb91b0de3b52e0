package syntax

import (
	"slices"
	"sort"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// declaration is what rules say of one. A node of 0 or less is none.
type declaration struct {
	node int32  // all of it
	name int32  // node of the name; -1: the name is as
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
// top whether the place is within no declaration and no block.
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
