package graph

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/code/syntax"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	// passBytes is how much source is checked with its bodies in one pass: the
	// syntax trees and the table of uses of more would not fit in memory.
	passBytes = 1 << 20
	// deepFile is the size above which the depth of a syntax tree is looked
	// at, and maxDepth the depth that the checker's recursion stands: the
	// runtime kills a program whose stack grows over 1 GB.
	deepFile = 64 << 10
	maxDepth = 4000
	// maxPasses is how many builds of one package are looked at.
	maxPasses = 80
)

// passTime is how long one pass of the checker may take.
var passTime = time.Minute

// stopped ends a check from within the checker.
type stopped struct{}

// check runs the checker over files. It returns nil when the checker failed
// or took too long.
func (g *goLinker) check(ctx context.Context, path string, asts []*ast.File, imp types.Importer, bodies bool) (*types.Package, map[*ast.Ident]types.Object) {
	type result struct {
		pkg  *types.Package
		uses map[*ast.Ident]types.Object
	}
	done := make(chan result, 1)
	ctx, cancel := context.WithTimeout(ctx, passTime)
	defer cancel()
	go func() {
		var r result
		defer func() {
			if recover() != nil { // a defect of the checker, or stopped
				r = result{}
			}
			done <- r
		}()
		info := &types.Info{}
		if bodies {
			info.Uses = map[*ast.Ident]types.Object{}
		}
		conf := types.Config{
			IgnoreFuncBodies: !bodies, FakeImportC: true, DisableUnusedImportCheck: true, Importer: imp,
			Sizes: sizes,
			Error: func(error) {
				if ctx.Err() != nil {
					panic(stopped{})
				}
			},
		}
		pkg, _ := conf.Check(path, g.fset, asts, info)
		r = result{pkg, info.Uses}
	}()
	select {
	case r := <-done:
		return r.pkg, r.uses
	case <-ctx.Done():
		return nil, nil
	}
}

var sizes = types.SizesFor("gc", "amd64")

// edges lists what a file uses of what documents of the store declare.
func (g *goLinker) edges(t *task, p *parsed, uses map[*ast.Ident]types.Object) {
	tf := g.fset.File(p.ast.FileStart)
	if tf == nil {
		return
	}
	w := walker{lines: lines{tf: tf, at: tf.Lines()}}
	var out []edge
	ast.Inspect(p.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.BasicLit:
			return false
		case *ast.CallExpr:
			if id := syntax.GoTypeName(n.Fun); id != nil {
				w.callees = append(w.callees, id)
			}
		case *ast.SelectorExpr:
			t.unresolved(&w, n, p.file.doc, uses)
		case *ast.StructType:
			for _, f := range n.Fields.List {
				if len(f.Names) == 0 {
					w.bases = append(w.bases, syntax.GoTypeName(f.Type))
				}
			}
		case *ast.InterfaceType:
			for _, f := range n.Methods.List {
				if len(f.Names) == 0 {
					w.inherit(f.Type)
				}
			}
		case *ast.Ident:
			obj := uses[n]
			if obj == nil {
				w.kind(n, nil)
				return true
			}
			target := t.target(obj)
			kind := w.kind(n, obj)
			if target != noRef && g.crosses(p.file.doc, target.doc) {
				out = append(out, edge{w.lines.of(n.Pos()), target, kind, 100})
			}
		}
		return true
	})
	g.b.pack(p.file.doc, fold(out))
}

// walker remembers what the identifiers ahead are used for.
type walker struct {
	lines   lines
	callees []*ast.Ident // of calls that the walk is in, inner ones last
	bases   []*ast.Ident
}

// inherit notes the interfaces of an embedded element: A of A | ~B.
func (w *walker) inherit(e ast.Expr) {
	switch x := e.(type) {
	case *ast.BinaryExpr:
		w.inherit(x.X)
		w.inherit(x.Y)
	case *ast.UnaryExpr:
		w.inherit(x.X)
	default:
		w.bases = append(w.bases, syntax.GoTypeName(e))
	}
}

func (w *walker) kind(id *ast.Ident, obj types.Object) kb.UseKind {
	for i := len(w.callees) - 1; i >= 0; i-- {
		if w.callees[i] == id {
			w.callees = append(w.callees[:i], w.callees[i+1:]...)
			if _, ok := obj.(*types.TypeName); ok {
				return kb.UseType
			}
			return kb.UseCall
		}
	}
	for i, b := range w.bases {
		if b == id {
			w.bases = append(w.bases[:i], w.bases[i+1:]...)
			return kb.UseInherit
		}
	}
	if _, ok := obj.(*types.TypeName); ok {
		return kb.UseType
	}
	return kb.UseName
}

// target returns the declaration of an object, noRef for one that is local or
// outside of the store.
func (t *task) target(obj types.Object) ref {
	if r, ok := t.seen[obj]; ok {
		return r
	}
	r := noRef
	switch x := obj.(type) {
	case *types.PkgName, *types.Builtin, *types.Nil, *types.Label:
	case *types.Func:
		r = t.find(x.Origin())
	case *types.Var:
		r = t.find(x.Origin())
	default:
		r = t.find(obj)
	}
	t.seen[obj] = r
	return r
}

func (t *task) find(obj types.Object) ref {
	if obj.Pkg() == nil || !obj.Pos().IsValid() {
		return noRef
	}
	pos := obj.Pos()
	if r, ok := findSpan(t.spans, pos); ok {
		return r
	}
	if u, ok := t.g.unitOf[obj.Pkg().Path()]; ok {
		if r, ok := findSpan(t.g.apiSpans(u), pos); ok {
			return r
		}
	}
	return noRef
}

// findSpan looks a position up in spans, which are in order. It reports
// whether the position is of one of them.
func findSpan(spans []*span, pos token.Pos) (ref, bool) {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to >= pos })
	if i == len(spans) || pos < spans[i].from {
		return noRef, false
	}
	if d := spans[i].at(pos); d >= 0 {
		return ref{spans[i].doc, d}, true
	}
	return noRef, true
}
