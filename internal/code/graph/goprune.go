package graph

import (
	"go/ast"
	"go/token"
)

// pruner leaves out of the files around those that are checked what they
// cannot refer to. A package like runtime is built in fifty ways that differ
// in a few files each: with the whole package around them, four fifths of the
// time would go into declarations that are known already.
//
// What is kept follows from names alone: the package-level declarations of
// every identifier of the files that are checked, of every identifier of those, and so
// on; methods when their type and their name are asked for. More than needed,
// never less, but for the methods that make a type fit an interface: without
// them the checker reports an error, which nobody reads.
type pruner struct {
	ids   map[string]int32
	files map[*parsed][]*part
}

// part is a package-level declaration that can be left out.
type part struct {
	decl   ast.Decl
	names  []int32 // that it declares
	recv   int32   // of a method: its type's name; -1 else
	idents []int32 // that stand in it
}

func (p *pruner) id(s string) int32 {
	if id, ok := p.ids[s]; ok {
		return id
	}
	id := int32(len(p.ids))
	p.ids[s] = id
	return id
}

// idents returns the identifiers of a tree.
func (p *pruner) idents(n ast.Node) []int32 {
	var out []int32
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			out = append(out, p.id(id.Name))
		}
		return true
	})
	return out
}

// parts cuts a stripped file up; imports are in none.
func (p *pruner) parts(f *parsed) []*part {
	if parts, ok := p.files[f]; ok {
		return parts
	}
	var out []*part
	add := func(d ast.Decl, n ast.Node, recv int32, names ...*ast.Ident) {
		x := &part{decl: d, recv: recv, idents: p.idents(n)}
		for _, id := range names {
			x.names = append(x.names, p.id(id.Name))
		}
		out = append(out, x)
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			recv := int32(-1)
			if d.Recv != nil && len(d.Recv.List) > 0 {
				recv = p.id(receiver(d.Recv.List[0].Type))
			}
			add(d, d, recv, d.Name)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			if d.Tok == token.CONST && counted(d) {
				var names []*ast.Ident
				for _, s := range d.Specs {
					if s, ok := s.(*ast.ValueSpec); ok {
						names = append(names, s.Names...)
					}
				}
				add(d, d, -1, names...)
				continue
			}
			for _, s := range d.Specs {
				one := &ast.GenDecl{TokPos: d.TokPos, Tok: d.Tok, Specs: []ast.Spec{s}}
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(one, s, -1, s.Name)
				case *ast.ValueSpec:
					add(one, s, -1, s.Names...)
				}
			}
		}
	}
	p.files[f] = out
	return out
}

// counted reports whether the constants of a group depend on their place in it.
func counted(d *ast.GenDecl) bool {
	found := false
	for _, s := range d.Specs {
		s, ok := s.(*ast.ValueSpec)
		if !ok || len(s.Values) == 0 {
			return true
		}
		for _, v := range s.Values {
			ast.Inspect(v, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == "iota" {
					found = true
				}
				return !found
			})
		}
	}
	return found
}

// prune returns the trees to check: those of the files whose turn it is as
// they are, of the others what those can refer to.
func (p *pruner) prune(files []*parsed, isTurn func(*parsed) bool) []*ast.File {
	var parts []*part
	var queue []int32
	for _, f := range files {
		if isTurn(f) {
			queue = append(queue, p.idents(f.ast)...)
			continue
		}
		parts = append(parts, p.parts(f)...)
	}
	byName := make([][]*part, len(p.ids))
	byRecv := make([][]*part, len(p.ids))
	for _, x := range parts {
		if x.recv >= 0 {
			byRecv[x.recv] = append(byRecv[x.recv], x)
		}
		for _, n := range x.names {
			byName[n] = append(byName[n], x)
		}
	}
	wanted := make([]bool, len(p.ids))
	kept := make(map[*part]bool)
	keep := func(x *part) {
		if !kept[x] {
			kept[x] = true
			queue = append(queue, x.idents...)
		}
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if wanted[n] {
			continue
		}
		wanted[n] = true
		for _, x := range byName[n] {
			if x.recv < 0 || wanted[x.recv] {
				keep(x)
			}
		}
		for _, x := range byRecv[n] {
			if wanted[x.names[0]] {
				keep(x)
			}
		}
	}
	out := make([]*ast.File, len(files))
	for i, f := range files {
		out[i] = f.ast
		if isTurn(f) {
			continue
		}
		a := *f.ast
		a.Decls = nil
		for _, d := range f.ast.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				a.Decls = append(a.Decls, d)
			}
		}
		imports := len(a.Decls)
		for _, x := range p.parts(f) {
			if kept[x] {
				a.Decls = append(a.Decls, x.decl)
			}
		}
		if len(a.Decls) == imports {
			a.Decls = nil // nor does it need its imports
		}
		out[i] = &a
	}
	return out
}
