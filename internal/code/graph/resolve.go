package graph

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// How sure a resolution is, by what led to it.
const (
	sureScope     = 1.0 // scopes and imports leave no choice
	sureReceiver  = 0.9 // the receiver's type was written or is that of its constructor
	sureInherited = 0.8 // found in a base class that another file declares
	sureOverload  = 0.7 // one of several declarations of that name in the same place
	sureUnique    = 0.6 // the receiver is not known, the name is declared once
)

// Bounds that keep hostile input from costing more than it is worth.
const (
	maxChain  = 12  // names of a qualifier that are followed
	maxFollow = 24  // re-exports and inferences that lead to each other
	maxBases  = 128 // ancestors of one type
	maxStars  = 64  // star imports of one scope that are tried
)

// used is a use of a declaration: in a line of a document, of a symbol of one.
// Documents are those of the resolver.
type used struct {
	from int32
	line int32
	to   decl
	kind kb.UseKind
	sure float64
}

// resolve emits an edge for every reference whose target is known, in order of
// documents and lines. The documents that were kept are all of one store that are
// not Go, in path order. done, which may be nil, is called with the position of a
// document that has no more edges. Errors: the context's, and those of the spill.
//
// Declarations hang in a tree: under the file that has them, or, in languages
// whose namespaces span files, under the namespace. A name is looked for from
// the innermost scope outwards, a qualified one in what its qualifier stands
// for; a name that is bound to something unknown is not looked for outside.
func (r *resolver) resolve(ctx context.Context, emit func(used), done func(doc int)) error {
	r.files, r.nests = make([]file, len(r.docs)), make([]*nesting, nestings)
	r.byPath = make(map[string]int32, len(r.docs))
	r.listPaths()
	for _, pass := range []func(int){r.place, r.plant, r.rehome, r.derive} {
		for i := range r.files {
			if i%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			pass(i)
		}
	}
	r.count()
	for i := range r.files {
		if i%16 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r.resolveFile(i, emit)
		if done != nil {
			done(i)
		}
	}
	return cmp.Or(ctx.Err(), r.spilt.err)
}

// kinds of nodes, as bits: a node can be declared more than once.
const (
	isType uint8 = 1 << iota
	isFunc
	isVar
	isSpace // namespace, module, package
	isFile  // stands for a file and what it offers
)

// node is a name in the tree of declarations.
type node struct {
	parent      int32
	name        int32
	first, last int32 // declarations, as a list through decl.next; -1 when none
	file        int32 // that it stands for; -1
	kind        uint8
	kids        bool
}

// decl is one declaration of a node.
type decl struct {
	file, sym, next int32
}

type pair struct{ a, b int32 }

// file is what the resolver keeps of a document.
type file struct {
	lang  *family
	root  int32 // the node in which its top level lies: of the file or of its package
	self  int32 // the node that its imports belong to
	nodes []int32
}

// nesting says which symbols of a document lie in which.
type nesting struct {
	file  int32
	order []int32 // symbols by first line, outer ones first
	outer []int32 // by symbol: the one around it, -1
	at    []int32 // first line of order
}

// nestings is of how many documents it is remembered.
const nestings = 4096

// link is one import.
type link struct {
	file, imp int32
	scope     int32 // node in which it holds
	next      int32 // one more of the same name in the same scope
	state     uint8 // 0 not tried, 1 being tried, 2 done
	node      int32
	conf      float64
}

// typed is the type of a field or of a variable that others can see.
type typed struct {
	file, at int32
	text     int32
	node     int32
	state    uint8
	mixed    bool // several types were seen
}

type base struct {
	file, at        int32
	qualifier, name string
}

type resolver struct {
	strs   *words // those marked as known are names
	docs   []kept
	paths  []symbolPath
	pathAt map[uint32]uint32 // of their names joined
	spilt  spill             // references and bindings
	opened int32             // the document whose facts are unpacked; -1
	facts  kb.Facts          // of it
	nests  []*nesting        // by document, of some
	files  []file
	nodes  []node
	decls  []decl
	child  map[pair]int32

	links  []link
	locals map[pair]int32    // scope, local name → first link
	stars  map[int32][]int32 // scope → links
	fields map[pair]int32    // node, name → typed
	typed  []typed
	bases  map[int32][]base
	orders map[int32][]int32 // memo of ancestors
	spaces map[string]int32  // roots by family
	unique map[pair]int32    // family, name of a method → its only node, or -1
	common map[int32]bool

	byPath   map[string]int32
	byTail   map[string][]int32     // last part of a path without extension → files
	modules  map[string]int32       // names that files give themselves (Haskell)
	inits    map[string]bool        // directories that are Python packages
	crates   map[string]int32       // Rust: name → root node
	crateAt  map[string]int32       // Rust: directory of the root → root node
	prefixes map[string]bool        // Rust: beginnings of names of the store's own crates; nil before they are asked for
	macros   map[pair]int32         // Rust: crate, name → its only macro, or -1; nil before they are asked for
	found    map[string]int32       // memo of modules by family, directory and path
	mono     map[string]bool        // JavaScript: npm scopes that are the store's own; nil before they are asked for
	folders  map[string]int32       // JavaScript: name of a folder → its index, -1 when several
	npm      map[string]*npmPackage // JavaScript: packages of the members of a join

	tops    map[int32]int32   // JavaScript: name → the only top-level node of it, or -1
	binds   map[int32][]int32 // of the file being resolved: name → bindings
	tried   map[int32]hit     // of that file: what its top level has under a name
	cur     int32             // that file
	stems   map[string]bool   // C: headers that file stemsOf includes
	stemsOf int32
	depth   int
	chained int // calls of a chain being followed
	args    int // of the reference being resolved, as in kb.Reference
}

// newResolver returns a resolver that knows no document yet, and keeps in a file
// in dir what would take memory.
func newResolver(strs *words, dir string) *resolver {
	return &resolver{
		strs: strs, spilt: spill{dir: dir}, opened: -1, paths: []symbolPath{nil}, pathAt: map[uint32]uint32{}, child: map[pair]int32{},
		locals: map[pair]int32{}, stars: map[int32][]int32{}, fields: map[pair]int32{}, bases: map[int32][]base{},
		orders: map[int32][]int32{}, spaces: map[string]int32{}, unique: map[pair]int32{}, common: map[int32]bool{},
		byTail: map[string][]int32{}, modules: map[string]int32{},
		inits: map[string]bool{}, crates: map[string]int32{}, crateAt: map[string]int32{}, found: map[string]int32{},
		cur: -1,
	}
}

// intern returns the number of a name.
func (r *resolver) intern(s string) int32 { return int32(r.strs.id(s, isKnown)) }

// known returns the number of a name, -1 when nothing declares or imports it.
func (r *resolver) known(s string) int32 {
	if n, ok := r.strs.lookup(s, isKnown); ok {
		return int32(n)
	}
	return -1
}

// get returns the child of a node, -1 when there is none.
func (r *resolver) get(n, name int32) int32 {
	if n < 0 || name < 0 {
		return -1
	}
	if c, ok := r.child[pair{n, name}]; ok {
		return c
	}
	return -1
}

// make returns the child of a node, a new one when there is none.
func (r *resolver) make(n, name int32) int32 {
	if c, ok := r.child[pair{n, name}]; ok {
		return c
	}
	c := r.free(n, name)
	r.child[pair{n, name}] = c
	if n >= 0 {
		r.nodes[n].kids = true
	}
	return c
}

// free returns a new node that is nobody's child.
func (r *resolver) free(parent, name int32) int32 {
	c := int32(len(r.nodes))
	r.nodes = append(r.nodes, node{parent: parent, name: name, first: -1, last: -1, file: -1})
	return c
}

// declare adds a declaration to a node.
func (r *resolver) declare(n, file, sym int32) {
	d := int32(len(r.decls))
	r.decls = append(r.decls, decl{file, sym, -1})
	v := &r.nodes[n]
	if v.first < 0 {
		v.first = d
	} else {
		r.decls[v.last].next = d
	}
	v.last = d
	v.kind |= r.docs[file].symbols[sym].is
}

// is reports whether a node has one of the kinds.
func (r *resolver) is(n int32, kinds uint8) bool { return n >= 0 && r.nodes[n].kind&kinds != 0 }

// real reports whether something declares the node or lies in it.
func (r *resolver) real(n int32) bool {
	return n >= 0 && (r.nodes[n].first >= 0 || r.nodes[n].kids || r.nodes[n].file >= 0)
}

// nest returns how the symbols of a document lie in each other, by their lines.
func (r *resolver) nest(i int32) *nesting {
	if f := r.nests[i%nestings]; f != nil && f.file == i {
		return f
	}
	f, syms := &nesting{file: i}, r.docs[i].symbols
	r.nests[i%nestings] = f
	f.order = make([]int32, len(syms))
	f.outer = make([]int32, len(syms))
	f.at = make([]int32, len(syms))
	for k := range syms {
		f.order[k] = int32(k)
	}
	slices.SortFunc(f.order, func(a, b int32) int {
		x, y := &syms[a], &syms[b]
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end),
			cmp.Compare(len(r.pathTo(x)), len(r.pathTo(y))), cmp.Compare(a, b))
	})
	top := int32(-1)
	for k, s := range f.order {
		f.at[k] = syms[s].start
		for top >= 0 && syms[top].end < syms[s].start {
			top = f.outer[top]
		}
		f.outer[s] = top
		// A declaration within one line holds nothing, unless it says so: two
		// may share a line.
		if top >= 0 && syms[top].start == syms[s].start && syms[top].end == syms[s].end &&
			len(r.pathTo(&syms[s])) <= len(r.pathTo(&syms[top])) {
			f.outer[s] = f.outer[top]
		}
		top = s
	}
	return f
}

// around returns the innermost symbol around a line, -1 at top level.
func (r *resolver) around(i int32, line int) int32 {
	if i < 0 || len(r.docs[i].symbols) == 0 {
		return -1
	}
	f := r.nest(i)
	k, _ := slices.BinarySearch(f.at, int32(line)+1)
	if k == 0 {
		return -1
	}
	s := f.order[k-1]
	for s >= 0 && int(r.docs[i].symbols[s].end) < line {
		s = f.outer[s]
	}
	return s
}

// lineOf returns the line of a symbol's name.
func lineOf(s *kb.Symbol) int {
	if s.Line > 0 {
		return s.Line
	}
	return s.Start
}
