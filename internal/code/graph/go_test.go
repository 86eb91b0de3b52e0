package graph

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// tree is a Source in memory. Loads are counted by path.
type tree struct {
	files   map[string]string
	symbols map[string][]kb.Symbol
	facts   map[string]kb.Facts
	before  func(path string) error // runs when a text is read
	mu      sync.Mutex              // held meanwhile
}

func (t *tree) Entries() []Entry {
	var out []Entry
	for p, body := range t.files {
		out = append(out, Entry{Path: p, Hash: kb.HashDocument([]byte(body)), Language: language(p), Size: int64(len(body))})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

func language(p string) string { return strings.TrimPrefix(filepath.Ext(p), ".") }

func (t *tree) Load(_ context.Context, paths []string) ([]Document, error) {
	var out []Document
	for _, p := range paths {
		body := t.files[p]
		out = append(out, Document{
			Path: p, Hash: kb.HashDocument([]byte(body)), Language: language(p), Symbols: t.symbols[p], Facts: t.facts[p],
			Body: func() (string, error) {
				if t.before != nil {
					t.mu.Lock()
					defer t.mu.Unlock()
					if err := t.before(p); err != nil {
						return "", err
					}
				}
				return body, nil
			},
		})
	}
	return out, nil
}

func readTree(t testing.TB, name string) *tree {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	out := &tree{files: map[string]string{}}
	for _, f := range a.Files {
		out.files[f.Name] = string(f.Data)
	}
	return out
}

// linked links a tree and opens the view.
func linked(t testing.TB, src Source, prev *View) (*View, Stats) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "view")
	stats, err := Link(t.Context(), src, prev, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v, stats
}

// dump lists every declaration and edge of a view.
func dump(t testing.TB, v *View) []string {
	t.Helper()
	paths, err := v.Paths()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range paths {
		ds, err := v.Symbols(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range ds {
			out = append(out, fmt.Sprintf("%+v", d))
		}
		es, err := v.Out(kb.Spot{Path: p})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			out = append(out, fmt.Sprintf("%+v", e))
		}
		n, err := v.InDegree(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(p, " is used by ", n))
	}
	return out
}

func TestGoEdgesOfEveryLine(t *testing.T) {
	src := readTree(t, "go.txtar")
	v, stats := linked(t, src, nil)
	if stats.Failed != 0 {
		t.Errorf("%d passes failed", stats.Failed)
	}
	for p, body := range src.files {
		if !strings.HasSuffix(p, ".go") {
			continue
		}
		es, err := v.Out(kb.Spot{Path: p})
		if err != nil {
			t.Fatal(err)
		}
		got := map[int][]string{}
		for _, e := range es {
			to := e.To.Decl
			if e.To.Path != p {
				to = e.To.Path + " " + to
			}
			got[e.From.Line] = append(got[e.From.Line], e.Kind.String()+" "+to)
			if e.Confidence != 1 {
				t.Errorf("%s:%d: confidence %v", p, e.From.Line, e.Confidence)
			}
			if line := strings.Split(src.files[e.To.Path], "\n")[e.To.Line-1]; !strings.Contains(line, e.To.Decl[strings.LastIndexByte(e.To.Decl, '.')+1:]) {
				t.Errorf("%s is not on line %d of %s: %q", e.To.Decl, e.To.Line, e.To.Path, line)
			}
		}
		for i, line := range strings.Split(body, "\n") {
			var want []string
			if _, note, ok := strings.Cut(line, "//= "); ok {
				want = strings.Split(note, ", ")
			}
			g := got[i+1]
			slices.Sort(want)
			slices.Sort(g)
			if diff := cmp.Diff(want, g); diff != "" {
				t.Errorf("%s:%d: %s\n%s", p, i+1, strings.TrimSpace(line), diff)
			}
		}
	}
}

func TestHostileGo(t *testing.T) {
	before := passTime
	passTime = 20 * time.Second
	defer func() { passTime = before }()
	src := &tree{files: map[string]string{
		"deep/deep.go":   "package deep\n\nvar x = " + strings.Repeat("(", 40000) + "1" + strings.Repeat(")", 40000) + "\n",
		"wide/wide.go":   "package wide\n\nvar x = 1" + strings.Repeat("+1", 40000) + "\n",
		"deep/fine.go":   "package deep\n\nfunc a() { b() }\n\nfunc b() {}\n",
		"empty/empty.go": "",
		"junk/junk.go":   strings.Repeat("}{)(package func import `\n", 2000),
		"self/self.go":   "package self\n\nimport \"self\"\n\ntype T [len(T{})]T\n\ntype I interface{ I }\n\nfunc f() { self.f(); f() }\n",
		"long/long.go":   "package long\n\nfunc f() { f(); f() } //" + strings.Repeat("x", 300000) + "\n",
		"line/line.go":   "package line\n\n//line other.go:1000\nfunc f() { f() }\n",
		"crlf/crlf.go":   "package crlf\r\n\r\nfunc f() {\r\n\tf()\r\n}\r\n",
	}}
	v, stats := linked(t, src, nil)
	for name, want := range map[string][]string{
		"deep/fine.a": nil,
		"deep/fine.b": {"call deep/fine.go:3 a"},
		"self/self.f": {"call self/self.go:9 f"},
		"line/line.f": {"call line/line.go:4 f"},
		"crlf/crlf.f": {"call crlf/crlf.go:4 f"},
	} {
		es, err := v.Into(one(t, v, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, places(es)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if stats.Failed == 0 {
		t.Error("nothing was too deep")
	}
}

func TestAPackageThatTakesTooLong(t *testing.T) {
	before := passTime
	passTime = 0
	defer func() { passTime = before }()
	src := readTree(t, "go.txtar")
	v, stats := linked(t, src, nil)
	if stats.Failed == 0 || stats.Edges != 0 {
		t.Errorf("%+v", stats)
	}
	if ds, err := v.Find("Cart.Add"); err != nil || len(ds) != 1 {
		t.Errorf("declarations need no checker: %v, %v", ds, err)
	}
	passTime = before
	fresh, _ := linked(t, src, nil)
	again, stats := linked(t, src, v)
	if diff := cmp.Diff(dump(t, fresh), dump(t, again)); diff != "" || stats.Failed > 0 {
		t.Errorf("the next link does not try again: %s", diff)
	}
}

func TestGuessedModule(t *testing.T) {
	src := &tree{files: map[string]string{
		"a/a.go":   "package a\n\nimport \"example.org/x/v2/b\"\n\nfunc A() { b.B() }\n",
		"b/b.go":   "package b\n\nimport \"example.org/x/v2/c/d\"\n\nfunc B() { d.D() }\n",
		"c/d/d.go": "package d\n\nfunc D() {}\n",
	}}
	v, _ := linked(t, src, nil)
	es, err := v.Into(one(t, v, "D"))
	if err != nil || len(es) != 1 {
		t.Errorf("%v, %v", es, err)
	}
}

func TestSkeleton(t *testing.T) {
	scan := func(s string) goFile {
		f := goFile{path: "x.go"}
		f.scanGo(s)
		return f
	}
	base := "//go:build linux && !cgo\n\n// Package p.\npackage p\n\nimport (\n\t\"a\"\n\tb \"c/d\" // why\n)\nimport `e`\n\nvar s struct{ x int }\n\nfunc f(a struct{ b int }, c interface{ D() }) (e struct{}) {\n\tif x := '{'; true { _ = \"}\" /* } */ }\n\treturn // }\n}\n\nfunc g() int\n\nvar h = func() int { return 1 }\n"
	f := scan(base)
	if f.pkg != "p" || f.build != "linux && !cgo" || !slices.Equal(f.imports, []string{"a", "c/d", "e"}) {
		t.Errorf("%+v", f)
	}
	same := func(from, to string) bool {
		edited := strings.Replace(base, from, to, 1)
		if edited == base {
			t.Fatalf("no %q", from)
		}
		return scan(edited).skeleton == f.skeleton
	}
	for from, to := range map[string]string{"// Package p.": "// P.", "return //": "return; return //", "'{'": "'}'", "\n\nfunc g": "\n\n\n\nfunc g", "/* } */": "{ }"} {
		if !same(from, to) {
			t.Errorf("%q → %q shows", from, to)
		}
	}
	for from, to := range map[string]string{"b int": "b int8", "D()": "E()", "g() int": "g() string", "x int }": "y int }", "return 1": "return 2"} {
		if same(from, to) {
			t.Errorf("%q → %q does not show", from, to)
		}
	}
}

func TestBuilds(t *testing.T) {
	for path, want := range map[string]string{
		"a.go": "linux/amd64", "a_windows.go": "windows/amd64", "a_linux_arm64.go": "linux/arm64", "a_arm.go": "linux/arm",
		"windows.go": "linux/amd64", "a_windows_test.go": "windows/amd64", "a_unix.go": "linux/amd64", "ios/a_ios.go": "ios/arm64",
		"a.go //go:build plan9": "plan9/amd64", "a.go //go:build !unix": "windows/amd64", "a.go //go:build special": "linux/amd64",
		"a.go //go:build ignore": "none", "a_linux.go //go:build darwin": "none", "a.go //go:build solaris && illumos": "illumos/amd64",
		"a.go //go:build go1.99": "linux/amd64",
	} {
		p, build, _ := strings.Cut(path, " //go:build ")
		c, ok := configFor(&goFile{path: p, build: build})
		got := c.os + "/" + c.arch
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
