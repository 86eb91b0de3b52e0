package graph

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/syntax"
)

// parsed is a Go file with its syntax tree.
type parsed struct {
	file *goFile
	ast  *ast.File
	span *span
	full bool // with the bodies of functions
}

// span is where the positions of one parsed file lie, and which of them are
// declarations.
type span struct {
	from, to token.Pos
	doc      int32
	refs     []posRef // in order of pos
}

type posRef struct {
	pos  token.Pos
	decl int32
}

// at returns the declaration whose name stands at a position, -1 for none.
func (s *span) at(p token.Pos) int32 {
	i := sort.Search(len(s.refs), func(i int) bool { return s.refs[i].pos >= p })
	if i < len(s.refs) && s.refs[i].pos == p {
		return s.refs[i].decl
	}
	return -1
}

// parse reads one file; nil for one that is too deep to check.
func (g *goLinker) parse(u *unit, f *goFile, body string) *parsed {
	a, _ := parser.ParseFile(g.fset, f.path, body, parser.SkipObjectResolution|parser.AllErrors)
	if a == nil {
		return nil
	}
	p := &parsed{file: f, ast: a, full: true}
	if len(body) > deepFile && tooDeep(a) {
		g.drop(p)
		return nil
	}
	tf := g.fset.File(a.FileStart)
	if tf == nil {
		return nil
	}
	if u.open && strings.Contains(body, ".(") {
		assertAny(a)
	}
	c := collector{b: g.b, lines: lines{tf: tf, at: tf.Lines()}}
	c.file(a)
	where := g.b.declare(f.doc, c.decls)
	p.span = &span{from: token.Pos(tf.Base()), to: token.Pos(tf.Base() + tf.Size()), doc: f.doc, refs: make([]posRef, len(where))}
	for i, to := range where {
		p.span.refs[i] = posRef{c.pos[i], to}
	}
	sort.Slice(p.span.refs, func(i, j int) bool { return p.span.refs[i].pos < p.span.refs[j].pos })
	return p
}

// drop forgets the lines of a file, which take as much as its declarations.
func (g *goLinker) drop(p *parsed) {
	if tf := g.fset.File(p.ast.FileStart); tf != nil {
		g.fset.RemoveFile(tf)
	}
}

func trees(files []*parsed) []*ast.File {
	asts := make([]*ast.File, len(files))
	for i, p := range files {
		asts[i] = p.ast
	}
	return asts
}

// strip takes off a file what others cannot see: the bodies of functions and
// what fills tables whose type is written down.
func (p *parsed) strip() {
	if !p.full {
		return
	}
	p.full = false
	for _, d := range p.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			d.Body = nil
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, s := range d.Specs {
				s, ok := s.(*ast.ValueSpec)
				if !ok {
					continue
				}
				if s.Type != nil {
					s.Values = nil
				}
				for _, v := range s.Values {
					hollow(v)
				}
			}
		}
	}
}

// hollow empties the composite literals and functions of an expression as far
// as its type does not depend on them. Of an array that is as long as its
// elements the last one stays.
func hollow(e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			n.Body.List = nil
			return false
		case *ast.CompositeLit:
			a, _ := n.Type.(*ast.ArrayType)
			counts := false
			if a != nil {
				_, counts = a.Len.(*ast.Ellipsis)
			}
			switch {
			case n.Type == nil:
			case !counts:
				n.Elts = nil
			case len(n.Elts) > 0 && !slices.ContainsFunc(n.Elts, keyed):
				last := n.Elts[len(n.Elts)-1]
				key := &ast.BasicLit{ValuePos: last.Pos(), Kind: token.INT, Value: strconv.Itoa(len(n.Elts) - 1)}
				n.Elts = []ast.Expr{&ast.KeyValueExpr{Key: key, Colon: last.Pos(), Value: last}}
			default:
				for _, x := range n.Elts {
					if kv, ok := x.(*ast.KeyValueExpr); ok {
						x = kv.Value
					}
					if inner, ok := x.(*ast.CompositeLit); ok {
						inner.Elts = nil
					}
				}
			}
			return false
		}
		return true
	})
}

func keyed(e ast.Expr) bool { _, ok := e.(*ast.KeyValueExpr); return ok }

// assertAny makes every x.(T) a func(...interface{}) interface{} {}(x).(T).
// The checker gives up on x.(T) when the type of x comes from a package that
// is not in the store; so it goes on with T.
func assertAny(a *ast.File) {
	ast.Inspect(a, func(n ast.Node) bool {
		if n, ok := n.(*ast.TypeAssertExpr); ok && n.X != nil {
			at, end := n.X.Pos(), n.X.End()
			empty := func() ast.Expr {
				return &ast.InterfaceType{Interface: at, Methods: &ast.FieldList{Opening: at, Closing: at}}
			}
			n.X = &ast.CallExpr{
				Fun: &ast.FuncLit{
					Type: &ast.FuncType{
						Func:    at,
						Params:  &ast.FieldList{Opening: at, Closing: at, List: []*ast.Field{{Type: &ast.Ellipsis{Ellipsis: at, Elt: empty()}}}},
						Results: &ast.FieldList{List: []*ast.Field{{Type: empty()}}},
					},
					Body: &ast.BlockStmt{Lbrace: at, Rbrace: at},
				},
				Lparen: at, Args: []ast.Expr{n.X}, Rparen: end,
			}
		}
		return true
	})
}

func tooDeep(a *ast.File) bool {
	depth, deep := 0, false
	ast.Inspect(a, func(n ast.Node) bool {
		if n == nil {
			depth--
			return true
		}
		if depth >= maxDepth {
			deep = true
			return false
		}
		depth++
		return true
	})
	return deep
}

// lines finds the lines of positions, quickly when asked in order; //line
// directives have no say.
type lines struct {
	tf   *token.File
	at   []int
	hint int
}

func (l *lines) of(p token.Pos) int32 {
	off := int(p) - l.tf.Base()
	if l.at[l.hint] > off {
		l.hint = max(sort.SearchInts(l.at[:l.hint], off+1)-1, 0)
	}
	for steps := 0; l.hint+1 < len(l.at) && l.at[l.hint+1] <= off; steps++ {
		if steps > 8 {
			l.hint += sort.SearchInts(l.at[l.hint:], off+1) - 1
			break
		}
		l.hint++
	}
	return int32(l.hint + 1)
}

// collector lists the declarations of a file that others can refer to.
type collector struct {
	b     *builder
	lines lines
	decls []declared
	pos   []token.Pos
}

func (c *collector) add(id *ast.Ident, qual, kind string, n ast.Node) {
	if id == nil || id.Name == "_" || id.Name == "" {
		return
	}
	d := declared{name: c.b.name(id.Name), qual: c.b.name(qual), kind: c.b.name(kind), line: c.lines.of(id.Pos())}
	d.start, d.end = min(c.lines.of(n.Pos()), d.line), max(c.lines.of(n.End()-1), d.line)
	c.decls = append(c.decls, d)
	c.pos = append(c.pos, id.Pos())
}

func (c *collector) file(a *ast.File) {
	for _, d := range a.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				c.add(d.Name, "", "function", d)
			} else if len(d.Recv.List) > 0 {
				c.add(d.Name, receiver(d.Recv.List[0].Type), "method", d)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				c.spec(d, s)
			}
		}
	}
}

func (c *collector) spec(d *ast.GenDecl, s ast.Spec) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		c.add(s.Name, "", "type", s)
		c.fields(s.Type, s.Name.Name)
	case *ast.ValueSpec:
		kind := "var"
		if d.Tok == token.CONST {
			kind = "const"
		}
		for _, id := range s.Names {
			c.add(id, "", kind, s)
		}
		if len(s.Names) == 0 {
			return
		}
		if s.Type != nil {
			c.fields(s.Type, s.Names[0].Name)
		}
		for i, v := range s.Values {
			c.fields(v, s.Names[min(i, len(s.Names)-1)].Name)
		}
	}
}

// fields adds the fields and methods of the types that are written out in a
// package-level declaration.
func (c *collector) fields(n ast.Expr, qual string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncType, *ast.BasicLit:
			return false
		case *ast.StructType:
			for _, f := range n.Fields.List {
				for _, id := range f.Names {
					c.add(id, qual, kindField, f)
				}
				if len(f.Names) == 0 {
					c.add(syntax.GoTypeName(f.Type), qual, kindField, f)
				} else {
					c.fields(f.Type, qual+"."+f.Names[0].Name)
				}
			}
			return false
		case *ast.InterfaceType:
			for _, f := range n.Methods.List {
				for _, id := range f.Names {
					c.add(id, qual, "method", f)
				}
			}
			return false
		}
		return true
	})
}

// receiver returns the name of a receiver's type: "T" of *T, T[K, V], (*T).
func receiver(e ast.Expr) string {
	if id := syntax.GoTypeName(e); id != nil {
		return id.Name
	}
	return ""
}
