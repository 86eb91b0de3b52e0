package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	//go:embed facts.py
	factsPlugin []byte
	//go:embed functions.py
	pythonFunctions string
	//go:embed functions.cjs
	nodeFunctions string
)

// mutant is one line of one file that is changed, and which of the failures that
// follow is asked about. It holds facts alone.
type mutant struct {
	ID         string
	Project    string
	Dependency string `json:",omitempty"` // whose file it is; "" for the project
	File       string // below the project's or the dependency's folder
	Line       int
	Operator   string
	Function   string // that holds the line
	From, To   int    // its lines
	Kind       string // raised, assertion
	Far        bool   // in a dependency, or two calls and more below the last own frame
	Style      string `json:",omitempty"` // of the trace
	Test       string // that failed and is asked about
	Error      string
	Failed     int      // tests, 25 at most in Python
	Frames     []string // path:line:function, the outermost first
}

// function is a function of a file.
type function struct {
	name           string
	from, to, body int
}

// site is a line that can be changed.
type site struct {
	dep, file string
	line      int
	fn        function
	op        operator
}

// path is the file of a mutant as the tests run it.
func (p *project) path(dep, file string) string {
	if dep == "" {
		return filepath.Join(p.dir(), file)
	}
	return filepath.Join(p.installed(dep), file)
}

// functions returns the functions of files, in order of the files.
func (p *project) functions(files []string) ([][]function, error) {
	if p.Language == "go" {
		var out [][]function
		for _, f := range files {
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, f, nil, 0)
			if err != nil {
				return nil, err
			}
			var list []function
			for _, d := range tree.Decls {
				if x, ok := d.(*ast.FuncDecl); ok && x.Body != nil {
					list = append(list, function{x.Name.Name, set.Position(x.Pos()).Line, set.Position(x.End()).Line, set.Position(x.Body.Pos()).Line + 1})
				}
			}
			out = append(out, list)
		}
		return out, nil
	}
	name, args := "python3", []string{"-c", pythonFunctions}
	if p.Language == "javascript" {
		script := filepath.Join(p.root, "functions.cjs")
		if err := os.WriteFile(script, []byte(nodeFunctions), 0o644); err != nil {
			return nil, err
		}
		name, args = "node", []string{"--expose-internals", script}
	}
	c := exec.Command(name, args...)
	c.Stdin = strings.NewReader(strings.Join(files, "\n"))
	b, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("the functions of %s: %w", p.Name, err)
	}
	var out [][]function
	for line := range bytes.Lines(b) {
		var rows [][]any
		if err := json.Unmarshal(line, &rows); err != nil {
			return nil, err
		}
		var list []function
		for _, r := range rows {
			n := func(i int) int { return int(r[i].(float64)) }
			list = append(list, function{r[0].(string), n(1), n(2), n(3)})
		}
		out = append(out, list)
	}
	if len(out) != len(files) {
		return nil, fmt.Errorf("the functions of %d files of %d", len(out), len(files))
	}
	return out, nil
}

// covered returns the lines that the suite runs, by file.
func (p *project) covered() (map[string]map[int]bool, error) {
	out := map[string]map[int]bool{}
	mark := func(file string, from, to int) {
		if out[file] == nil {
			out[file] = map[int]bool{}
		}
		for l := from; l <= to; l++ {
			out[file][l] = true
		}
	}
	switch p.Language {
	case "python":
		b, err := os.ReadFile(filepath.Join(p.root, "coverage.json"))
		if err != nil {
			return nil, err
		}
		var got map[string]map[int]int
		if err := json.Unmarshal(b, &got); err != nil {
			return nil, err
		}
		for f, lines := range got {
			for l := range lines {
				mark(f, l, l)
			}
		}
	case "go":
		b, err := os.ReadFile(filepath.Join(p.root, "coverage.out"))
		if err != nil {
			return nil, err
		}
		for _, m := range regexp.MustCompile(`(?m)^(\S+):(\d+)\.\d+,(\d+)\.\d+ \d+ ([1-9]\d*)$`).FindAllStringSubmatch(string(b), -1) {
			from, _ := strconv.Atoi(m[2])
			to, _ := strconv.Atoi(m[3])
			mark(p.goFile(m[1]), from, to)
		}
	default:
		return out, p.nodeCovered(mark)
	}
	return out, nil
}

// goFile returns the path of a file that Go names by its package.
func (p *project) goFile(name string) string {
	for dep := range p.Dependencies {
		if rest, ok := strings.CutPrefix(name, dep+"/"); ok {
			return filepath.Join(p.installed(dep), rest)
		}
	}
	b, _ := os.ReadFile(filepath.Join(p.dir(), "go.mod"))
	module, _, _ := strings.Cut(strings.TrimPrefix(string(b), "module "), "\n")
	return filepath.Join(p.dir(), strings.TrimPrefix(name, strings.TrimSpace(module)+"/"))
}

// nodeCovered reads what Node says of ranges that ran: a line counts that the
// innermost range around it says ran.
func (p *project) nodeCovered(mark func(string, int, int)) error {
	files, err := filepath.Glob(filepath.Join(p.root, "coverage", "*.json"))
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var got struct {
			Result []struct {
				URL       string
				Functions []struct {
					Ranges []struct{ StartOffset, EndOffset, Count int }
				}
			}
		}
		if err := json.Unmarshal(b, &got); err != nil {
			return err
		}
		for _, r := range got.Result {
			u, err := url.Parse(r.URL)
			if err != nil || u.Scheme != "file" || !strings.HasPrefix(u.Path, p.root) {
				continue
			}
			text, err := os.ReadFile(u.Path)
			if err != nil {
				continue
			}
			at, size := 0, map[int]int{}
			ran := map[int]bool{}
			for n, line := range bytes.SplitAfter(text, []byte("\n")) {
				middle := at + len(line) - len(bytes.TrimLeft(line, " \t"))
				for _, f := range r.Functions {
					for _, x := range f.Ranges {
						if x.StartOffset <= middle && middle < x.EndOffset && (size[n] == 0 || x.EndOffset-x.StartOffset <= size[n]) {
							size[n], ran[n] = x.EndOffset-x.StartOffset, x.Count > 0
						}
					}
				}
				if ran[n] {
					mark(u.Path, n+1, n+1)
				}
				at += len(line)
			}
		}
	}
	return err
}

// sites returns the lines that can be changed, in the order of a seeded draw:
// one of the project and one of a dependency by turns.
func (p *project) sites() ([]site, error) {
	if out, err := p.run("short", place{}, true); err != nil || out.broken {
		return nil, fmt.Errorf("the suite of %s as it is: %v\n%s", p.Name, err, tail(out.log, 2000))
	}
	lines, err := p.covered()
	if err != nil {
		return nil, err
	}
	var files []string
	for f := range lines {
		if slices.ContainsFunc(p.sources(), func(s string) bool { return strings.HasPrefix(f, s+"/") || f == s }) && !testFile(f) {
			files = append(files, f)
		}
	}
	slices.Sort(files)
	functions, err := p.functions(files)
	if err != nil {
		return nil, err
	}
	var own, deps []site
	for i, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		dep, rel := "", strings.TrimPrefix(f, p.dir()+"/")
		for d := range p.Dependencies {
			if r, ok := strings.CutPrefix(f, p.installed(d)+"/"); ok {
				dep, rel = d, r
			}
		}
		for n, line := range strings.Split(string(text), "\n") {
			fn, ok := innermost(functions[i], n+1)
			if !ok || !lines[f][n+1] {
				continue
			}
			for _, op := range operators {
				if to := op.do(line, p.Language); to != "" && to != line {
					s := site{dep, rel, n + 1, fn, op}
					if dep == "" {
						own = append(own, s)
					} else {
						deps = append(deps, s)
					}
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(p.Seed, 30))
	for _, l := range [][]site{own, deps} {
		rng.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
	}
	var out []site
	for i := range max(len(own), len(deps)) {
		if i < len(own) {
			out = append(out, own[i])
		}
		if i < len(deps) {
			out = append(out, deps[i])
		}
	}
	return out, nil
}

var testRE = regexp.MustCompile(`(?:^|/)(?:tests?|testing|testdata|examples?|__tests__)/|_test\.go$|(?:^|/)(?:test_|conftest)|\.(?:test|spec)\.`)

func testFile(path string) bool { return testRE.MatchString(path) }

func innermost(list []function, line int) (best function, ok bool) {
	for _, f := range list {
		if f.body <= line && line <= f.to && (!ok || f.to-f.from <= best.to-best.from) {
			best, ok = f, true
		}
	}
	return best, ok
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// changed calls f while one line of a file is another.
func changed(path string, line int, op operator, lang string, f func() error) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Split(string(before), "\n")
	if line > len(lines) {
		return fmt.Errorf("%s has no line %d", path, line)
	}
	to := op.do(lines[line-1], lang)
	if to == "" {
		return fmt.Errorf("%s:%d has nothing for %s to change", path, line, op.name)
	}
	lines[line-1] = to
	if err := os.WriteFile(path+kept, before, 0o644); err != nil {
		return err
	}
	defer restore(path)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		return err
	}
	return f()
}

// kept is the end of the name of a file as it was, while it is changed.
const kept = ".as-it-was"

func restore(path string) { _ = os.Rename(path+kept, path) }

// mend restores what a run that was ended left changed.
func (p *project) mend() error {
	return filepath.WalkDir(p.root, func(path string, d os.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(path, kept); ok {
			restore(name)
		}
		return err
	})
}
