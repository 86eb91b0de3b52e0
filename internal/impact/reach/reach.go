// Package reach follows the uses of changed declarations backwards, to those that
// may notice the change, and ranks the tests among them.
//
// Uses come from a view of resolved references. Where those end, three weaker
// steps go on: from a method to what its interface or base calls by the same
// name, from a member to the uses of its type, and, in languages without a type
// checker here, to uses of the name that were not resolved. How sure a step is
// lies in (0,1]; the strength of a path is the product of its steps.
package reach

import (
	"container/heap"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// Decl is a declaration of a view.
type Decl = graph.Decl

// IsTest reports whether a path is that of a test by the customs of its language.
func IsTest(path string) bool { return rank.IsTest(path) }

// Node is a declaration that a change reaches.
type Node struct {
	graph.Decl
	Strength   float64 // of the strongest path, in (0,1]; 1 for what changes itself
	Confidence float64 // the product of the confidences of the edges on it
	Depth      int     // how many steps it has; 0 for what changes itself
	At         int     // the line on which it uses the node before
	Of         *Node   // that node; nil for what changes itself
	Guessed    bool    // a step on the path is none of resolved references
	Loose      bool    // a step on the path leads from a member to its type: no caller
	Test       bool    // it is a test, or stands in one
	Mass       float64 // see Web.spread
	users      []arc
	number     int
}

// arc leads from a declaration to one that uses it.
type arc struct {
	to     *Node
	weight float64
}

// Web is what a change reaches.
type Web struct {
	Nodes   []*Node // in the order in which they were reached, the strongest first
	Cut     bool    // there is more than is followed
	Guesses int     // nodes that are reached by guesses alone
}

// What steps weigh.
const (
	byCall      = 0.9
	byName      = 0.75
	byType      = 0.35
	byInherit   = 0.5
	byDispatch  = 0.5  // from a method to the one that is called in its place
	byMember    = 0.15 // from a member to its type
	byLife      = 0.8  // from what makes a value, to its type
	byGuess     = 0.35 // to an unresolved use of the name
	mostNodes   = 3000
	leastStrong = 0.004
	mostGuesses = 300 // uses of one name that are no longer told apart
	mostNamed   = 30  // declarations of one name
)

// Source is where reach reads.
type Source struct {
	View  *graph.View
	Index kb.Index
}

// walk is the state of one Back.
type walk struct {
	Source
	ctx    context.Context
	web    *Web
	nodes  map[kb.Spot]*Node
	done   map[*Node]bool
	queue  nodeHeap
	decls  map[string][]graph.Decl
	tests  map[string][]Test
	named  map[string][]kb.Spot // unresolved uses by name; nil until it is needed
	unread bool                 // there are more documents than their names are read of
}

type nodeHeap []*Node

func (h nodeHeap) Len() int { return len(h) }
func (h nodeHeap) Less(i, j int) bool {
	if h[i].Strength != h[j].Strength {
		return h[i].Strength > h[j].Strength
	}
	return h[i].number < h[j].number
}
func (h nodeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *nodeHeap) Push(x any)   { *h = append(*h, x.(*Node)) }
func (h *nodeHeap) Pop() any     { n := len(*h) - 1; x := (*h)[n]; *h = (*h)[:n]; return x }

// Back returns what uses declarations, directly or not.
func (s Source) Back(ctx context.Context, changed []graph.Decl) (*Web, error) {
	w := &walk{Source: s, ctx: ctx, web: &Web{}, nodes: map[kb.Spot]*Node{}, done: map[*Node]bool{},
		decls: map[string][]graph.Decl{}, tests: map[string][]Test{}}
	for _, d := range changed {
		test := false
		if IsTest(d.Path) {
			o, in, err := w.owner(d.Path, d.Line)
			if err != nil {
				return nil, err
			}
			if test = in; in {
				d = o
			}
		}
		if n := w.node(d); n.Strength == 0 {
			n.Strength, n.Confidence, n.Test = 1, 1, test
			heap.Push(&w.queue, n)
		}
	}
	for w.queue.Len() > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := heap.Pop(&w.queue).(*Node)
		if w.done[n] {
			continue
		}
		if len(w.web.Nodes) == mostNodes {
			break
		}
		w.done[n] = true
		w.web.Nodes = append(w.web.Nodes, n)
		if n.Guessed {
			w.web.Guesses++
		}
		if n.Test {
			continue // nobody calls a test
		}
		if err := w.follow(n); err != nil {
			return nil, err
		}
	}
	w.web.Cut = w.unread
	for _, n := range w.nodes {
		w.web.Cut = w.web.Cut || !w.done[n] // too weak, or too many
	}
	w.web.spread()
	return w.web, nil
}

// node returns the node of a declaration.
func (w *walk) node(d graph.Decl) *Node {
	at := d.Spot()
	n := w.nodes[at]
	if n == nil {
		n = &Node{Decl: d, number: len(w.nodes)}
		w.nodes[at] = n
	}
	return n
}

// step notes that d uses n on a line.
func (w *walk) step(n *Node, d graph.Decl, test bool, line int, weight, confidence float64, guessed bool) *Node {
	to := w.node(d)
	if to == n {
		return to
	}
	to.Test = to.Test || test
	n.users = append(n.users, arc{to, weight})
	strength := n.Strength * weight
	if w.done[to] || strength <= to.Strength {
		return to
	}
	if strength < leastStrong {
		return to
	}
	to.Strength, to.Confidence, to.Depth, to.At, to.Of = strength, n.Confidence*confidence, n.Depth+1, line, n
	to.Guessed, to.Loose = n.Guessed || guessed, n.Loose
	heap.Push(&w.queue, to)
	return to
}

// follow adds the steps from a declaration to those that use it.
func (w *walk) follow(n *Node) error {
	edges, err := w.View.Into(n.Spot())
	if err != nil {
		return err
	}
	resolved := map[kb.Spot]bool{}
	for _, e := range edges {
		resolved[kb.Spot{Path: e.From.Path, Line: e.From.Line}] = true
		weight := [...]float64{kb.UseName: byName, kb.UseCall: byCall, kb.UseType: byType, kb.UseInherit: byInherit}[e.Kind]
		d, test, err := w.owner(e.From.Path, e.From.Line)
		if err != nil {
			return err
		}
		if d.Path != "" {
			w.step(n, d, test, e.From.Line, weight*e.Confidence, e.Confidence, false)
		}
	}
	if err := w.called(n); err != nil {
		return err
	}
	if err := w.member(n); err != nil {
		return err
	}
	if err := w.fixture(n); err != nil {
		return err
	}
	return w.guess(n, resolved)
}

// owner returns the test that a line stands in, else the innermost declaration
// around it; one without a path where there is none.
func (w *walk) owner(path string, line int) (graph.Decl, bool, error) {
	decls, err := w.in(path)
	if err != nil {
		return graph.Decl{}, false, err
	}
	if IsTest(path) {
		tests, err := w.testsOf(path)
		if err != nil {
			return graph.Decl{}, false, err
		}
		for _, t := range tests {
			if t.Start <= line && line <= t.End {
				return graph.Decl{Path: path, Name: t.Name, Qualified: t.Symbol, Kind: "function", Line: t.Line, Start: t.Start, End: t.End}, true, nil
			}
		}
	}
	best := -1
	for i, d := range decls {
		if d.Start <= line && line <= d.End && d.Kind != "field" && (best < 0 || d.End-d.Start <= decls[best].End-decls[best].Start) {
			best = i
		}
	}
	if best < 0 {
		return graph.Decl{}, false, nil
	}
	return decls[best], false, nil
}

func (w *walk) in(path string) ([]graph.Decl, error) {
	d, ok := w.decls[path]
	if !ok {
		var err error
		if d, err = w.View.Symbols(path); err != nil {
			return nil, err
		}
		w.decls[path] = d
	}
	return d, nil
}

func (w *walk) testsOf(path string) ([]Test, error) {
	t, ok := w.tests[path]
	if !ok {
		var err error
		if t, err = w.TestsIn(w.ctx, path); err != nil {
			return nil, err
		}
		w.tests[path] = t
	}
	return t, nil
}

// container returns the declaration that a member stands in by its name, in its
// document or, as methods of Go may, in another of the folder.
func (w *walk) container(d graph.Decl) (graph.Decl, bool, error) {
	i := strings.LastIndexByte(d.Qualified, '.')
	if i < 0 {
		return graph.Decl{}, false, nil
	}
	all, err := w.View.Find(d.Qualified[:i])
	if err != nil {
		return graph.Decl{}, false, err
	}
	dir := func(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }
	best := slices.IndexFunc(all, func(c graph.Decl) bool { return c.Path == d.Path && c.Qualified == d.Qualified[:i] })
	if best < 0 {
		best = slices.IndexFunc(all, func(c graph.Decl) bool {
			return dir(c.Path) == dir(d.Path) && c.Qualified == d.Qualified[:i] && strings.HasSuffix(c.Path, ".go")
		})
	}
	if best < 0 {
		return graph.Decl{}, false, nil
	}
	return all[best], true, nil
}

// called follows a method to those that are called in its place: of an interface
// in Go, else of a base that declares one of that name.
func (w *walk) called(n *Node) error {
	if n.Kind != "method" && n.Kind != "function" || !strings.Contains(n.Qualified, ".") {
		return nil
	}
	all, err := w.View.Find(n.Name)
	if err != nil || len(all) > mostNamed {
		return err
	}
	var bases []graph.Decl
	for _, d := range all {
		if d.Qualified == n.Qualified || !strings.Contains(d.Qualified, ".") || d.Kind == "field" {
			continue
		}
		c, ok, err := w.container(d)
		if err != nil {
			return err
		}
		if !ok || c.Path != d.Path {
			continue
		}
		if strings.HasSuffix(d.Path, ".go") {
			if strings.HasSuffix(n.Path, ".go") && c.Start <= d.Start && d.End <= c.End { // methods of types stand beside them
				bases = append(bases, d)
			}
			continue
		}
		if yes, err := w.inherits(n.Decl, c); err != nil {
			return err
		} else if yes {
			bases = append(bases, d)
		}
	}
	for _, d := range bases {
		w.step(n, d, false, d.Line, byDispatch/math.Sqrt(float64(len(bases))), 1/float64(len(bases)), true)
	}
	return nil
}

// inherits reports whether the class of a method names another as its base.
func (w *walk) inherits(d graph.Decl, base graph.Decl) (bool, error) {
	own, ok, err := w.container(d)
	if err != nil || !ok {
		return false, err
	}
	out, err := w.View.Out(own.Spot())
	return slices.ContainsFunc(out, func(e kb.Edge) bool {
		return e.Kind == kb.UseInherit && e.To.Path == base.Path && e.To.Decl == base.Qualified
	}), err
}

// member follows a member to its type, whose users have values with it.
func (w *walk) member(n *Node) error {
	if n.Guessed && n.Depth > 2 {
		return nil
	}
	c, ok, err := w.container(n.Decl)
	if err != nil || !ok {
		return err
	}
	weight := byMember
	if strings.HasPrefix(n.Name, "__") || n.Name == "constructor" || n.Name == "initialize" || n.Name == c.Name {
		weight = byLife
	}
	if to := w.step(n, c, false, n.Line, weight, weight, true); to.Of == n {
		to.Loose = true
	}
	return nil
}
