package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// mutant is one change of one line.
type mutant struct {
	Project  string
	File     string
	Line     int // from 1
	Col      int // in bytes, from 0
	Operator string
	Old, New string
}

// String is the row of the recipe.
func (m mutant) String() string {
	return strings.Join([]string{m.Project, m.File, strconv.Itoa(m.Line), strconv.Itoa(m.Col), m.Operator, strconv.Quote(m.Old), strconv.Quote(m.New)}, "\t")
}

const (
	perProject = 42
	seed       = 30
)

// swaps are the operators, by what stands there.
var swaps = map[string][2]string{
	"==": {"equal", "!="}, "!=": {"equal", "=="},
	"<": {"bound", "<="}, "<=": {"bound", "<"}, ">": {"bound", ">="}, ">=": {"bound", ">"},
	"&&": {"logic", "||"}, "||": {"logic", "&&"}, "and": {"logic", "or"}, "or": {"logic", "and"},
	"+": {"sum", "-"}, "-": {"sum", "+"}, "+=": {"sum", "-="}, "-=": {"sum", "+="}, "*": {"product", "+"},
	"!": {"not", ""}, "not": {"not", ""},
	"true": {"truth", "false"}, "false": {"truth", "true"}, "True": {"truth", "False"}, "False": {"truth", "True"},
	"break": {"loop", "continue"}, "continue": {"loop", "break"}, "++": {"step", "--"}, "--": {"step", "++"},
}

// change returns the operator for a token and what it makes of it.
func change(text string, number bool) (op, to string, ok bool) {
	if s, ok := swaps[text]; ok {
		return s[0], s[1], true
	}
	if n, err := strconv.Atoi(text); number && err == nil {
		return "number", strconv.Itoa(n + 1), true
	}
	return "", "", false
}

// goSites lists what can be changed in a file of Go.
func goSites(text []byte) (out []mutant) {
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("x.go", -1, len(text))
	s.Init(file, text, nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return out
		}
		word := lit
		if tok.IsOperator() || tok.IsKeyword() {
			word = tok.String()
		}
		op, to, ok := change(word, tok == token.INT)
		if !ok {
			continue
		}
		at := fset.Position(pos)
		out = append(out, mutant{Line: at.Line, Col: at.Column - 1, Operator: op, Old: word, New: to})
	}
}

// pythonTokens prints the tokens of a file that may be changed, as JSON.
const pythonTokens = `
import json, sys, tokenize
out = []
with open(sys.argv[1], "rb") as f:
    line = None
    for t in tokenize.tokenize(f.readline):
        if t.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            col = len(t.line[:t.start[1]].encode())
            out.append([t.start[0], col, t.string, t.type == tokenize.NUMBER, t.line])
json.dump(out, sys.stdout)
`

// pythonSites lists what can be changed in a file of Python. Signatures, imports
// and decorators stay: "*" is no product there.
func pythonSites(path string) ([]mutant, error) {
	raw, err := exec.Command("python3", "-c", pythonTokens, path).Output()
	if err != nil {
		return nil, fmt.Errorf("tokens of %s: %w", path, err)
	}
	var rows [][]any
	if err := json.Unmarshal(raw, &rows); err != nil {
		return nil, err
	}
	var out []mutant
	for _, r := range rows {
		word, line := r[2].(string), strings.TrimSpace(r[4].(string))
		op, to, ok := change(word, r[3].(bool))
		if !ok || word == "*" || strings.HasPrefix(line, "def ") || strings.HasPrefix(line, "from ") || strings.HasPrefix(line, "import ") ||
			strings.HasPrefix(line, "@") || strings.HasPrefix(line, "class ") || word == "not" && strings.Contains(line, "is not") || word == "not" && strings.Contains(line, "not in") {
			continue
		}
		if word == "not" {
			word += " "
		}
		out = append(out, mutant{Line: int(r[0].(float64)), Col: int(r[1].(float64)), Operator: op, Old: word, New: to})
	}
	return out, nil
}

// apply returns a text with a mutant in it.
func (m mutant) apply(text []byte) ([]byte, error) {
	lines := strings.SplitAfter(string(text), "\n")
	if m.Line > len(lines) || !strings.HasPrefix(lines[m.Line-1][min(m.Col, len(lines[m.Line-1])):], m.Old) {
		return nil, fmt.Errorf("%s:%d does not have %q at %d", m.File, m.Line, m.Old, m.Col)
	}
	l := lines[m.Line-1]
	lines[m.Line-1] = l[:m.Col] + m.New + l[m.Col+len(m.Old):]
	return []byte(strings.Join(lines, "")), nil
}

// draw writes the recipe: for each project the first sites of a seeded order
// that compile, one a line, every third into the set that is kept aside. No test
// is run and nothing is ranked.
func draw(repos, open, aside string) error {
	var sets [2][]mutant
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	for i := range projects {
		p := &projects[i]
		dir, err := checkout(repos, p, filepath.Join(os.TempDir(), "impact-draw"))
		if err != nil {
			return err
		}
		if err := os.Chdir(dir); err != nil { // imports are found from there
			return err
		}
		list, err := p.draw(dir)
		if err != nil {
			return err
		}
		for i, m := range list {
			k := 0
			if i%3 == 2 {
				k = 1
			}
			sets[k] = append(sets[k], m)
		}
		fmt.Printf("%s: %d mutants\n", p.name, len(list))
	}
	if err := os.Chdir(here); err != nil {
		return err
	}
	for k, path := range []string{open, aside} {
		var b strings.Builder
		for _, m := range sets[k] {
			b.WriteString(m.String() + "\n")
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// draw returns the mutants of one project.
func (p *project) draw(dir string) ([]mutant, error) {
	files, err := lab.List(dir)
	if err != nil {
		return nil, err
	}
	var sites []mutant
	for _, name := range lab.Keys(files) {
		if !p.source(name) {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		var found []mutant
		if p.lang == "go" {
			text, err := os.ReadFile(at)
			if err != nil {
				return nil, err
			}
			found = goSites(text)
		} else if found, err = pythonSites(at); err != nil {
			return nil, err
		}
		for _, m := range found {
			m.Project, m.File = p.name, name
			sites = append(sites, m)
		}
	}
	r := rand.New(rand.NewPCG(seed, uint64(len(p.name))))
	r.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
	var out []mutant
	taken := map[string]bool{}
	k := newChecker()
	for _, m := range sites {
		key := m.File + ":" + strconv.Itoa(m.Line)
		if taken[key] {
			continue
		}
		taken[key] = true
		if ok, err := p.compiles(k, dir, m); err != nil {
			return nil, err
		} else if ok {
			out = append(out, m)
		}
		if len(out) == perProject {
			break
		}
	}
	return out, nil
}

// compiles reports whether the changed file does, and puts the file back.
func (p *project) compiles(k *checker, dir string, m mutant) (bool, error) {
	back, err := m.put(dir)
	if err != nil {
		return false, err
	}
	defer back()
	if p.lang == "go" {
		return k.compiles(filepath.Join(dir, filepath.FromSlash(filepath.Dir(m.File)))), nil
	}
	return exec.Command("python3", "-c", "import ast,sys; ast.parse(open(sys.argv[1]).read())", filepath.Join(dir, m.File)).Run() == nil, nil
}

// checker type-checks packages of Go; what they import it reads once.
type checker struct {
	fset *token.FileSet
	from types.Importer
}

func newChecker() *checker {
	fset := token.NewFileSet()
	if build.Default.GOROOT == "" { // compiled without paths
		out, _ := exec.Command("go", "env", "GOROOT").Output()
		build.Default.GOROOT = strings.TrimSpace(string(out))
	}
	return &checker{fset, importer.ForCompiler(fset, "source", nil)}
}

func (k *checker) compiles(dir string) bool {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return false
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(k.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: k.from}
	_, err = conf.Check(p.ImportPath, k.fset, files, nil)
	return err == nil
}

// put changes the file in a folder, and returns what puts it back.
func (m mutant) put(dir string) (func(), error) {
	at := filepath.Join(dir, filepath.FromSlash(m.File))
	text, err := os.ReadFile(at)
	if err != nil {
		return nil, err
	}
	changed, err := m.apply(text)
	if err != nil {
		return nil, err
	}
	return func() { _ = os.WriteFile(at, text, 0o644) }, os.WriteFile(at, changed, 0o644)
}

// readMutants reads a recipe.
func readMutants(path string) ([]mutant, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []mutant
	for s := bufio.NewScanner(f); s.Scan(); {
		c := strings.Split(s.Text(), "\t")
		if len(c) != 7 {
			return nil, fmt.Errorf("%s: %q is no row", path, s.Text())
		}
		m := mutant{Project: c[0], File: c[1], Operator: c[4]}
		m.Line, _ = strconv.Atoi(c[2])
		m.Col, _ = strconv.Atoi(c[3])
		m.Old, _ = strconv.Unquote(c[5])
		m.New, _ = strconv.Unquote(c[6])
		if !slices.ContainsFunc(projects, func(p project) bool { return p.name == m.Project }) {
			return nil, fmt.Errorf("%s: there is no project %q", path, m.Project)
		}
		out = append(out, m)
	}
	return out, nil
}
