// Package tstype reads the types of TypeScript: those that declarations state and
// those that follow for expressions, as far as this is sure. It is no type checker.
// What it does not know is Unknown, and says nothing; what it says is wrong is wrong
// for the compiler too, but for errors here. A text is judged by two worlds, with a
// dependency in one version and in another, and what is wrong in the second alone
// is what the second breaks: what both misjudge cancels out.
package tstype

import (
	"context"
	_ "embed"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
)

// maxSteps bounds what one file may take: types that are looked at.
const maxSteps = 400_000

// maxParts bounds the parts of one union or intersection.
const maxParts = 4096

// maxDepth bounds how deep types and expressions are followed into each other.
const maxDepth = 48

//go:embed lib.d.ts.txt
var libText string

// Host finds the texts of a world.
type Host interface {
	// Read returns a text and the row of package syntax that it is written in.
	Read(path string) (text, language string, ok bool)
	// Resolve returns the path that a module's name means in a file. known is
	// false where nothing can be said: it is of a package that is not at hand.
	Resolve(from, spec string) (path string, known bool)
}

// World is the files that see each other. It is for one goroutine.
type World struct {
	ctx   context.Context
	set   *grammar.Set
	host  Host
	files map[string]*file
	lib   *file
	steps int
	depth int
	found map[seen]*Type // of expressions, in the file that is being looked at
}

// New returns the world of a host. set has to give all named nodes.
func New(ctx context.Context, set *grammar.Set, host Host) *World {
	w := &World{ctx: ctx, set: set, host: host, files: map[string]*file{}, found: map[seen]*Type{}}
	w.lib = w.parse("lib", libText, "typescript")
	w.files = map[string]*file{}
	return w
}

// file is one text with its names.
type file struct {
	tree
	path    string
	env     *env
	exports map[string]*symbol
	stars   []string // modules of which everything is passed on
	assign  int32    // the expression of export =, -1 without
	list    bool     // it says what it exports
	broken  bool     // it could not be read
}

// load returns the file at a path, nil when there is none.
func (w *World) load(path string) *file {
	if f, ok := w.files[path]; ok {
		return f
	}
	w.files[path] = nil
	text, language, ok := w.host.Read(path)
	if !ok {
		return nil
	}
	f := w.parse(path, text, language)
	w.files[path] = f
	return f
}

func (w *World) parse(path, text, language string) *file {
	f := &file{path: path, exports: map[string]*symbol{}, assign: -1}
	var up *env
	if w.lib != nil {
		up = w.lib.env
	}
	f.env = &env{up: up, file: f, names: map[string]*symbol{}}
	err := w.set.Parse(w.ctx, language, text, func(t *grammar.Tree) error {
		f.tree = newTree(t)
		return nil
	})
	if err != nil || len(f.nodes) == 0 {
		f.broken = true
		return f
	}
	w.hoist(f.env, 0)
	w.exported(f)
	return f
}

// env is the names that are seen at a place, innermost first.
type env struct {
	up    *env
	file  *file
	names map[string]*symbol // values, types and modules that are declared here
	types map[string]*Type   // what type parameters stand for
	this  *Type
}

// symbol is what one name stands for: several declarations where they merge.
type symbol struct {
	name   string
	decls  []decl
	alias  *alias
	see    func() (*symbol, look) // of import a = b.c
	within map[string]*symbol     // what a namespace or an enum exports
	spaces []*env                 // of a namespace, where its names are seen
	typ    *Type                  // of a parameter or of what is taken out of a pattern
	lazy   func() *Type           // which gives typ at first use
	value  *Type                  // found before
	busy   bool                   // its value is being found
	open   bool                   // its type is
}

type decl struct {
	env  *env
	node int32
}

// alias says where a name comes from: name "*" is the whole module. Without a spec it is of
// the file itself.
type alias struct {
	file *file
	spec string
	name string
}

func (e *env) add(name string, node int32) *symbol {
	s := e.names[name]
	if s == nil || s.alias != nil {
		s = &symbol{name: name}
		e.names[name] = s
	}
	s.decls = append(s.decls, decl{e, node})
	return s
}

// inner returns an env within another.
func (e *env) inner() *env {
	return &env{up: e, file: e.file, names: map[string]*symbol{}, this: e.this}
}

// find returns the symbol and the type parameter of a name, whichever is further in.
func (e *env) find(name string) (*symbol, *Type) {
	for ; e != nil; e = e.up {
		if t, ok := e.types[name]; ok {
			return nil, t
		}
		if s, ok := e.names[name]; ok {
			return s, nil
		}
	}
	return nil, nil
}

// value is find for values alone, which type parameters do not hide.
func (e *env) value(name string) *symbol {
	for ; e != nil; e = e.up {
		if s, ok := e.names[name]; ok {
			return s
		}
	}
	return nil
}
