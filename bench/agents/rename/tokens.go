package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	gotoken "go/token"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/code/syntax"
)

// The kinds of tokens that are looked at.
const (
	name  = iota + 1 // of something in the program
	prose            // a comment, or what a literal holds
)

// token is a piece of a file that may be rewritten.
type token struct {
	from, to int
	kind     int
	// outside: this occurrence stays, whatever becomes of the others: a name in
	// an import from elsewhere, or a member of what was imported from there.
	outside bool
	// foreign: this occurrence could be a name from elsewhere: a member, what is
	// called, or a type, and not where it is declared.
	foreign bool
	// owner is the name before the dot.
	owner string
	// imported: it stands in an import from elsewhere, so that the name stays in
	// every file.
	imported bool
}

// sources are the languages that are rewritten.
var sources = set(`go python typescript tsx javascript rust java ruby c cpp kotlin scala csharp php swift`)

// tokenise fills in the tokens of a file.
func (p *project) tokenise(ctx context.Context, f *file) error {
	if f.language == "go" {
		return p.tokeniseGo(f)
	}
	return p.grammars.Parse(ctx, f.language, f.text, func(t *grammar.Tree) error {
		(&walker{p: p, f: f, t: t}).walk()
		return nil
	})
}

// tokeniseGo reads Go with its own scanner; a name from elsewhere is a member.
func (p *project) tokeniseGo(f *file) error {
	fset := gotoken.NewFileSet()
	tree, err := parser.ParseFile(fset, f.path, f.text, parser.ImportsOnly)
	if err != nil {
		return err
	}
	elsewhere := map[string]bool{} // local names of packages from elsewhere
	for _, i := range tree.Imports {
		at, _ := strconv.Unquote(i.Path.Value)
		if p.ownGo(at) {
			continue
		}
		local := at[strings.LastIndexByte(at, '/')+1:]
		if i.Name != nil {
			local = i.Name.Name
		}
		elsewhere[local] = true
	}
	var s scanner.Scanner
	file := fset.AddFile(f.path, -1, len(f.text))
	s.Init(file, []byte(f.text), nil, scanner.ScanComments)
	var before, owner string
	var last gotoken.Token
	for {
		pos, tok, lit := s.Scan()
		if tok == gotoken.EOF {
			return nil
		}
		at := file.Offset(pos)
		k := token{from: at, to: at + len(lit)}
		switch {
		case tok == gotoken.IDENT:
			k.kind = name
			if last == gotoken.PERIOD {
				k.foreign, k.owner, k.outside = true, owner, elsewhere[owner]
			}
			k.imported = elsewhere[lit] && last != gotoken.PERIOD
			f.tokens = append(f.tokens, k)
		case tok == gotoken.COMMENT && (!strings.HasPrefix(lit, "//go:") || strings.HasPrefix(lit, "//go:linkname ")):
			k.kind = prose
			f.tokens = append(f.tokens, k)
		case tok == gotoken.STRING:
			v, _ := strconv.Unquote(lit)
			k.kind = prose
			k.outside = isImport(tree, lit) && !p.ownGo(v)
			if !k.outside {
				f.tokens = append(f.tokens, k)
			}
		}
		if last == gotoken.PERIOD || tok != gotoken.PERIOD {
			owner = ""
		}
		if tok == gotoken.PERIOD {
			owner = before
		}
		before = ""
		if tok == gotoken.IDENT && last != gotoken.PERIOD {
			before = lit
		}
		last = tok
	}
}

// isImport reports whether a literal is the path of an import.
func isImport(tree *ast.File, lit string) bool {
	for _, i := range tree.Imports {
		if i.Path.Value == lit {
			return true
		}
	}
	return false
}

// ownGo reports whether a package is of the checkout's modules. In Go's own
// source the library is the project, whose paths do not name its module.
func (p *project) ownGo(at string) bool {
	first, _, _ := strings.Cut(at, "/")
	for _, m := range p.goModules {
		if at == m || strings.HasPrefix(at, m+"/") || m == "std" && !strings.Contains(first, ".") {
			return true
		}
	}
	return false
}

// outline is what must stay the same of a file: its declarations with their
// kinds and lines, and how many pieces do not parse, of which no more may come.
type outline struct {
	declarations []string
	errors       int
}

func (p *project) outline(ctx context.Context, language, text string) (outline, error) {
	if language == "go" {
		return goOutline(text)
	}
	o, err := syntax.Read(ctx, p.grammars, language, text)
	if err != nil {
		return outline{}, err
	}
	var out outline
	for _, d := range o.Decls {
		out.declarations = append(out.declarations,
			fmt.Sprintf("%s in lines %d-%d, %d deep", d.Kind, d.Line+1, d.End+1, len(d.Path)))
	}
	return out, p.grammars.Parse(ctx, language, text, func(t *grammar.Tree) error {
		for _, n := range t.Nodes {
			if n.Flags&(grammar.IsError|grammar.Missing) != 0 {
				out.errors++
			}
		}
		return nil
	})
}

func goOutline(text string) (outline, error) {
	fset := gotoken.NewFileSet()
	tree, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return outline{}, err
	}
	var out outline
	ast.Inspect(tree, func(n ast.Node) bool {
		kind := ""
		switch n.(type) {
		case *ast.FuncDecl:
			kind = "func"
		case *ast.TypeSpec:
			kind = "type"
		case *ast.ValueSpec:
			kind = "value"
		case *ast.Field:
			kind = "field"
		default:
			return true
		}
		from, to := fset.Position(n.Pos()).Line, fset.Position(n.End()).Line
		out.declarations = append(out.declarations, fmt.Sprintf("%s in lines %d-%d", kind, from, to))
		return true
	})
	return out, nil
}
