// Reference prints what golang.org/x/tools/go/callgraph/static says of the
// calls in a Go module, for bench/callgraph to compare with. It has a go.mod
// of its own, so that the product does not depend on x/tools.
//
//	file  PATH                               a file that was looked at
//	decl  PATH LINE                          a function or method declared
//	call  PATH LINE  PATH LINE  NAME         a call and the function it reaches
//	more  PATH LINE  PATH LINE  NAME         the same by the same rule (ssa's StaticCallee), but in all
//	                                         functions: static enters no closure that is passed on
//
// With -across before the folder it prints instead, for bench/crossrefs, what
// go/packages and go/types say of the uses of other modules:
//
//	file  PATH                                   a file that was looked at
//	use   PATH LINE  MODULE PATH LINE  NAME KIND a name and its declaration; KIND is call or use
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/callgraph/static"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "-across" {
		os.Args = os.Args[1:]
		across()
		return
	}
	root, err := filepath.Abs(os.Args[1])
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		log.Fatal(err)
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: root, Tests: true}, os.Args[2:]...)
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var fset *token.FileSet
	place := func(p token.Pos) (string, bool) {
		at := fset.PositionFor(p, false)
		rel, err := filepath.Rel(root, at.Filename)
		if !p.IsValid() || err != nil || strings.HasPrefix(rel, "..") {
			return "", false
		}
		return fmt.Sprintf("%s\t%d", filepath.ToSlash(rel), at.Line), true
	}
	lines := map[string]bool{}
	say := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); !lines[s] {
			lines[s] = true
			fmt.Fprintln(out, s)
		}
	}
	for _, p := range pkgs {
		fset = p.Fset
		for _, e := range p.Errors {
			fmt.Fprintln(os.Stderr, "reference:", e)
		}
		for _, f := range p.Syntax {
			if at, ok := place(f.FileStart); ok {
				say("file\t%s", strings.Split(at, "\t")[0])
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					if at, ok := place(fn.Name.Pos()); ok {
						say("decl\t%s", at)
					}
				}
			}
		}
	}
	prog, _ := ssautil.Packages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	tell := func(word string, site ssa.CallInstruction, callee *ssa.Function) {
		if o := callee.Origin(); o != nil {
			callee = o
		}
		if callee.Parent() != nil || callee.Synthetic != "" {
			return
		}
		from, ok := place(site.Pos())
		to, ok2 := place(callee.Pos())
		if ok && ok2 {
			say("%s\t%s\t%s\t%s", word, from, to, callee.Name())
		}
	}
	wrapper := func(fn *ssa.Function) bool {
		return fn.Synthetic != "" && !strings.HasPrefix(fn.Synthetic, "package init") && fn.Origin() == nil
	}
	for fn, node := range static.CallGraph(prog).Nodes {
		if fn == nil || wrapper(fn) {
			continue
		}
		for _, e := range node.Out {
			if e.Site != nil {
				tell("call", e.Site, e.Callee.Func)
			}
		}
	}
	for fn := range ssautil.AllFunctions(prog) {
		if wrapper(fn) {
			continue
		}
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				if site, ok := i.(ssa.CallInstruction); ok && site.Common().StaticCallee() != nil {
					tell("more", site, site.Common().StaticCallee())
				}
			}
		}
	}
}
