package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"log"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// across prints the uses of what other modules declare.
func across() {
	root, err := filepath.Abs(os.Args[1])
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		log.Fatal(err)
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: root, Tests: true}, os.Args[2:]...)
	if err != nil {
		log.Fatal(err)
	}
	modules := map[string]*packages.Module{} // by path of a package
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		if p.Module != nil {
			modules[p.PkgPath] = p.Module
		}
	})
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	said := map[string]bool{}
	say := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); !said[s] {
			said[s] = true
			fmt.Fprintln(w, s)
		}
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			fmt.Fprintln(os.Stderr, "reference:", e)
		}
		for _, f := range p.Syntax {
			at := p.Fset.PositionFor(f.FileStart, false)
			rel, err := filepath.Rel(root, at.Filename)
			if err != nil || strings.HasPrefix(rel, "..") {
				continue // made by the build
			}
			say("file\t%s", filepath.ToSlash(rel))
			called := map[*ast.Ident]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if id := named(n.Fun); id != nil {
						called[id] = true
					}
				case *ast.Ident:
					to, module, name := declared(p, modules, n)
					if module == "" {
						return true
					}
					kind := "use"
					if _, isType := p.TypesInfo.Uses[n].(*types.TypeName); called[n] && !isType {
						kind = "call"
					}
					say("use\t%s\t%d\t%s\t%s\t%d\t%s\t%s", filepath.ToSlash(rel), p.Fset.PositionFor(n.Pos(), false).Line, module, to.Filename, to.Line, name, kind)
				}
				return true
			})
		}
	}
}

// named returns the name that a call or an instantiation calls.
func named(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return named(e.X)
	case *ast.IndexListExpr:
		return named(e.X)
	}
	return nil
}

// declared returns where another module declares what a name means: a function,
// method, type, constant, variable or field; module is "" for anything else.
func declared(p *packages.Package, modules map[string]*packages.Module, id *ast.Ident) (at token.Position, module, name string) {
	obj := p.TypesInfo.Uses[id]
	switch x := obj.(type) {
	case *types.Func:
		obj = x.Origin()
	case *types.Var:
		obj = x.Origin()
	case *types.TypeName, *types.Const:
	default:
		return at, "", ""
	}
	if obj.Pkg() == nil || !obj.Pos().IsValid() {
		return at, "", ""
	}
	m := modules[strings.TrimSuffix(obj.Pkg().Path(), "_test")]
	if m == nil || m.Main || m.Dir == "" {
		return at, "", ""
	}
	at = p.Fset.PositionFor(obj.Pos(), false)
	rel, err := filepath.Rel(m.Dir, at.Filename)
	if err != nil || strings.HasPrefix(rel, "..") {
		return at, "", ""
	}
	at.Filename = filepath.ToSlash(rel)
	return at, m.Path, obj.Name()
}
