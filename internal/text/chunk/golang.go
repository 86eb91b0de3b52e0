package chunk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	outlines "github.com/seed-4f2d999b/knowledge/internal/code/syntax"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// splitGo finds the declarations of a Go file with the standard parser. A file
// with a syntax error goes to the window: the parser gives up after the tenth
// error, and the rest of the file would be one piece.
func splitGo(t kb.Text, ls *lines) (outline, bool) {
	file, err := parseGo(t.Body)
	if err != nil || file == nil {
		return outline{}, false
	}
	g := goSplitter{ls: ls, base: int(file.FileStart)}
	g.o.units = make([]unit, 0, len(file.Decls)+1)
	imports := unit{kind: "imports"}
	g.end = g.line(file.Name.End())
	for _, d := range file.Decls {
		gen, isGen := d.(*ast.GenDecl)
		if isGen && gen.Tok == token.IMPORT {
			g.end = g.line(gen.End() - 1)
			continue
		}
		if len(g.o.units) == 0 {
			g.o.units = append(g.o.units, imports)
		}
		if isGen {
			g.gen(gen)
		} else if fn, ok := d.(*ast.FuncDecl); ok {
			g.fn(fn)
		}
	}
	if len(g.o.units) == 0 {
		g.o.units = append(g.o.units, imports)
	}
	return g.o, true
}

func parseGo(src string) (*ast.File, error) {
	return parser.ParseFile(token.NewFileSet(), "", src, parser.ParseComments|parser.SkipObjectResolution)
}

type goSplitter struct {
	ls   *lines
	base int
	o    outline
	end  int // line on which the last declaration ended
	hint int // line of the last position asked for
}

// offset returns the byte offset of a position.
func (g *goSplitter) offset(p token.Pos) int {
	return min(max(int(p)-g.base, 0), len(g.ls.body))
}

// line returns the 0-based line of a position. Asked in order it takes linear
// time over the file; //line directives have no say.
func (g *goSplitter) line(p token.Pos) int {
	off := g.offset(p)
	if g.ls.at[g.hint] > off {
		lo, hi := 0, g.hint
		for lo+1 < hi {
			if m := (lo + hi) / 2; g.ls.at[m] <= off {
				lo = m
			} else {
				hi = m
			}
		}
		g.hint = lo
		return lo
	}
	g.hint = g.ls.find(off, g.hint)
	return g.hint
}

// add appends a unit that begins after the last declaration's lines, so that
// free-standing comments go with what follows them, and ends on line end.
func (g *goSplitter) add(u unit, end int) {
	u.start = g.end + 1
	if u.start > end { // two declarations share a line
		k := len(g.o.units) - 1
		g.o.units[k].symbols = append(g.o.units[k].symbols, u.symbols...)
		return
	}
	g.end = end
	g.o.units = append(g.o.units, u)
}

func (g *goSplitter) fn(d *ast.FuncDecl) {
	kind, path := "function", []string{d.Name.Name}
	if d.Recv != nil {
		kind = "method"
		if len(d.Recv.List) > 0 {
			if t := outlines.GoTypeName(d.Recv.List[0].Type); t != nil {
				path = []string{t.Name, d.Name.Name}
			}
		}
	}
	u := unit{path: path, kind: kind}
	s := g.symbol(d.Name, kind, d.Doc, d.Pos(), d.End())
	if d.Name.Name != "_" {
		end := d.End()
		if d.Body != nil {
			end = d.Body.Lbrace
		}
		s.Signature = g.fold("", d.Pos(), end)
		u.symbols = []symbol{s}
	}
	g.add(u, s.End-1)
}

func (g *goSplitter) gen(d *ast.GenDecl) {
	last := g.line(d.End() - 1)
	if d.Tok == token.TYPE {
		for k, spec := range d.Specs {
			s, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			end := g.line(s.End() - 1)
			if k == len(d.Specs)-1 {
				end = last
			}
			g.add(g.typ(d, s), end)
		}
		if len(d.Specs) == 0 {
			g.add(unit{kind: "block"}, last)
		}
		return
	}
	kind := "var"
	if d.Tok == token.CONST {
		kind = "const"
	}
	u := unit{kind: kind}
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		doc, pos := s.Doc, s.Pos()
		if doc == nil && !d.Lparen.IsValid() {
			doc, pos = d.Doc, d.Pos()
		}
		if doc == nil {
			doc = s.Comment
		}
		signature := ""
		for _, name := range s.Names {
			if name.Name == "_" {
				continue
			}
			if u.path == nil {
				u.path = []string{name.Name}
			}
			if signature == "" {
				signature = g.firstLine(kind+" ", s.Pos(), s.End())
			}
			sym := g.symbol(name, kind, doc, pos, s.End())
			sym.Signature = signature
			u.symbols = append(u.symbols, sym)
		}
	}
	g.add(u, last)
}

// typ returns the unit of a type, with the methods of an interface.
func (g *goSplitter) typ(d *ast.GenDecl, s *ast.TypeSpec) unit {
	doc, pos := s.Doc, s.Pos()
	if doc == nil && !d.Lparen.IsValid() {
		doc, pos = d.Doc, d.Pos()
	}
	sym := g.symbol(s.Name, "type", doc, pos, s.End())
	u := unit{path: []string{s.Name.Name}, kind: "type"}
	switch x := s.Type.(type) {
	case *ast.StructType:
		sym.Signature = g.fold("type ", s.Pos(), x.Fields.Pos())
		u.symbols = []symbol{sym}
	case *ast.InterfaceType:
		sym.Signature = g.fold("type ", s.Pos(), x.Methods.Pos())
		u.symbols = append(make([]symbol, 0, 1+len(x.Methods.List)), sym)
		for _, m := range x.Methods.List {
			if _, ok := m.Type.(*ast.FuncType); !ok || len(m.Names) != 1 {
				continue
			}
			ms := g.symbol(m.Names[0], "method", m.Doc, m.Pos(), m.End())
			ms.Signature = g.fold("", m.Pos(), m.End())
			ms.Path = u.path
			u.symbols = append(u.symbols, ms)
		}
	default:
		sym.Signature = g.fold("type ", s.Pos(), s.End())
		u.symbols = []symbol{sym}
	}
	return u
}

// symbol makes a symbol that reaches from its doc comment, if it is above,
// to end.
func (g *goSplitter) symbol(name *ast.Ident, kind string, doc *ast.CommentGroup, pos, end token.Pos) symbol {
	s := symbol{Symbol: kb.Symbol{Name: name.Name, Kind: kind}}
	if doc != nil {
		s.Doc = goDoc(doc)
		if doc.Pos() < pos {
			pos = doc.Pos()
		}
	}
	s.Start = g.line(pos) + 1
	s.line = g.line(name.Pos())
	s.End = g.line(end-1) + 1
	return s
}

func (g *goSplitter) fold(prefix string, from, to token.Pos) string {
	src := g.ls.body[g.offset(from):g.offset(to)]
	if prefix != "" {
		src = prefix + src[:min(len(src), 4*noteBytes)]
	}
	return fold(src, noteBytes)
}

// firstLine is like fold, of the first line only, without an opening bracket
// at its end.
func (g *goSplitter) firstLine(prefix string, from, to token.Pos) string {
	src := g.ls.body[g.offset(from):g.offset(to)]
	if n := strings.IndexByte(src, '\n'); n >= 0 {
		src = strings.TrimRight(src[:n], " \t\r{([")
	}
	return fold(prefix+src[:min(len(src), 4*noteBytes)], noteBytes)
}

// goDoc returns the first sentence of a comment group.
func goDoc(doc *ast.CommentGroup) string {
	k, rest := 0, ""
	return sentence(func() (string, bool) {
		for rest == "" {
			if k == len(doc.List) {
				return "", false
			}
			rest = doc.List[k].Text
			k++
			if strings.HasPrefix(rest, "//") {
				line := rest
				rest = ""
				return line, true
			}
		}
		line, more, found := strings.Cut(rest, "\n")
		rest = more
		if !found {
			rest = ""
		}
		return line, true
	})
}
