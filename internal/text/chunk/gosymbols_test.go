package chunk

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The symbols of Go files are what go/types says they declare: package-level
// objects, methods, and the methods that interfaces name; compared by kind,
// qualified name and the line of the name.
func TestGoSymbolsAgainstTypes(t *testing.T) {
	const enough = 200
	var dirs []string
	for _, d := range []string{"net/http", "encoding/json", "go/types", "strings", "text/template", "text/template/parse", "sync", "os", "time", "fmt", "bufio", "database/sql", "crypto/tls", "io", "net", "go/ast", "go/parser", "archive/zip"} {
		dirs = append(dirs, filepath.Join(build.Default.GOROOT, "src", filepath.FromSlash(d)))
	}
	files, both, ours, theirs := 0, 0, 0, 0
	for _, dir := range dirs {
		paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		fset := token.NewFileSet()
		var parsed []*ast.File
		for _, p := range paths {
			if ok, err := build.Default.MatchFile(dir, filepath.Base(p)); err != nil || !ok || strings.HasSuffix(p, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
		cfg := types.Config{IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}, Importer: nowhere{}}
		_, _ = cfg.Check(filepath.Base(dir), fset, parsed, info) // what is imported is missing
		want := map[string][]string{}
		for id, obj := range info.Defs {
			if row := declared(obj); row != "" && id.Name != "_" {
				pos := fset.Position(id.Pos())
				want[pos.Filename] = append(want[pos.Filename], fmt.Sprintf("%s L%d", row, pos.Line))
			}
		}
		for _, f := range parsed {
			if files == enough {
				break
			}
			files++
			name := fset.Position(f.Pos()).Filename
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range Split(kb.Text{Body: string(raw), Language: "go"}) {
				for _, s := range c.Symbols {
					kind := s.Kind
					if kind == "method" {
						kind = "function"
					}
					got = append(got, fmt.Sprintf("%s %s L%d", kind, s.Qualified(), s.Line))
				}
			}
			list := want[name]
			ours, theirs = ours+len(got), theirs+len(list)
			for _, g := range got {
				if slices.Contains(list, g) {
					both++
				} else {
					t.Logf("%s: only ours: %s", filepath.Base(name), g)
				}
			}
			for _, w := range list {
				if !slices.Contains(got, w) {
					t.Logf("%s: only theirs: %s", filepath.Base(name), w)
				}
			}
		}
	}
	if files < 100 {
		t.Skipf("%d files of Go's own sources are here", files)
	}
	precision, recall := float64(both)/float64(ours), float64(both)/float64(theirs)
	t.Logf("%d files: %d declared, %d found: precision %.4f, recall %.4f", files, theirs, ours, precision, recall)
	if precision < 0.98 || recall < 0.98 {
		t.Errorf("precision %.4f, recall %.4f", precision, recall)
	}
}

// nowhere has no packages.
type nowhere struct{}

func (nowhere) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("no package %s", path)
}

// declared names what an object declares, "" for fields, parameters, imports
// and what is local.
func declared(obj types.Object) string {
	switch o := obj.(type) {
	case *types.Func:
		sig := o.Type().(*types.Signature)
		if sig.Recv() == nil {
			return "function " + o.Name()
		}
		typ := sig.Recv().Type()
		if p, ok := typ.(*types.Pointer); ok {
			typ = p.Elem()
		}
		if n, ok := typ.(*types.Named); ok {
			return "function " + n.Obj().Name() + "." + o.Name()
		}
		return "" // of an interface without a name
	case *types.TypeName:
		if o.Parent() == o.Pkg().Scope() {
			return "type " + o.Name()
		}
	case *types.Const:
		if o.Parent() == o.Pkg().Scope() {
			return "const " + o.Name()
		}
	case *types.Var:
		if o.Parent() == o.Pkg().Scope() {
			return "var " + o.Name()
		}
	}
	return ""
}
