// Command goast prints the declarations of the Go files named on its standard
// input, one JSON array a declaration: path, kind, name, scope, first line,
// line of the name, last line.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
)

func main() {
	out := json.NewEncoder(os.Stdout)
	s := bufio.NewScanner(os.Stdin)
	for s.Scan() {
		path := s.Text()
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		line := func(p token.Pos) int { return set.Position(p).Line }
		say := func(kind string, name *ast.Ident, scope string, n ast.Node) {
			if name.Name != "_" {
				_ = out.Encode([]any{path, kind, name.Name, scope, line(n.Pos()), line(name.Pos()), line(n.End())})
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				scope := ""
				if d.Recv != nil && len(d.Recv.List) > 0 {
					t := d.Recv.List[0].Type
					if p, ok := t.(*ast.StarExpr); ok {
						scope, t = "*", p.X
					}
					switch x := t.(type) {
					case *ast.IndexExpr:
						t = x.X
					case *ast.IndexListExpr:
						t = x.X
					}
					if id, ok := t.(*ast.Ident); ok {
						scope += id.Name
					}
				}
				say("callable", d.Name, scope, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch x := spec.(type) {
					case *ast.TypeSpec:
						say("type", x.Name, "", x)
						switch t := x.Type.(type) {
						case *ast.StructType:
							for _, fd := range t.Fields.List {
								for _, n := range fd.Names {
									say("field", n, x.Name.Name, fd)
								}
							}
						case *ast.InterfaceType:
							for _, fd := range t.Methods.List {
								for _, n := range fd.Names {
									say("callable", n, x.Name.Name, fd)
								}
							}
						}
					case *ast.ValueSpec:
						for _, n := range x.Names {
							say("constant", n, "", x)
						}
					}
				}
			}
		}
	}
}
