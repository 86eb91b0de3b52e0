// Command concurrent lists the packages of this module that start goroutines,
// by go statement, by the Go method of a group, or by a timer's function, in
// their own files or in their tests:
//
//	concurrent [-not]
//
// These are what .ci/run tests with the race detector; -not lists the others.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func main() {
	not := flag.Bool("not", false, "list those that start none")
	flag.Parse()
	if err := list(os.Stdout, *not); err != nil {
		fmt.Fprintln(os.Stderr, "concurrent:", err)
		os.Exit(1)
	}
}

func list(w io.Writer, not bool) error {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for dec := json.NewDecoder(out); ; {
		var p struct {
			Dir, ImportPath                    string
			GoFiles, TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		starts := false
		for _, f := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			starts = starts || startsGoroutine(file)
		}
		if starts != not {
			fmt.Fprintln(w, p.ImportPath)
		}
	}
	return cmd.Wait()
}

// startsGoroutine reports whether a file starts one, as far as its words tell:
// go f(), group.Go(f), time.AfterFunc and context.AfterFunc, t.Parallel, and
// test servers, which serve in one.
func startsGoroutine(f *ast.File) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				switch sel.Sel.Name {
				case "Go", "AfterFunc", "Parallel", "RunParallel":
					found = true
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "httptest" && (n.Sel.Name == "NewServer" || n.Sel.Name == "NewUnstartedServer" || n.Sel.Name == "NewTLSServer") {
				found = true
			}
		}
		return !found
	})
	return found
}
