package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// root is the repository, seen from this package.
const root = "../../.."

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(path.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestArchitecture(t *testing.T) {
	breaches, err := check(os.DirFS(root), read(t, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range breaches {
		t.Error(b)
	}
}

// TestIndexIsAnInterface: ARCHITECTURE.md says which packages know that the
// index is one of files.
func TestIndexIsAnInterface(t *testing.T) {
	allowed := []string{"internal/app/app.go", "internal/index/cluster", "internal/data/transfer", "internal/data/verify", "internal/search/eval"}
	err := fs.WalkDir(os.DirFS(root), "internal", func(p string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") {
			return err
		}
		if strings.Contains(read(t, p), strconv.Quote(module+"/internal/index")) && !slices.Contains(allowed, p) && !slices.Contains(allowed, path.Dir(p)) {
			t.Errorf("%s imports internal/index: use kb.Index and kb.Indexes", p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestChecker shows the checker trees with one defect each.
func TestChecker(t *testing.T) {
	const table = `
| package | layer | what it does |
|---|---|---|
| ` + "`internal/kb`" + ` | kb | words |
| internal/data/db | tools | rows |
| internal/job | parts | runs |
| internal/governance/gate | upper parts | asks |
| internal/search | flows | finds |
| internal/answers/answer | upper flows | says |
| internal/app | app | all |
| internal/specs | rooms | knows |
| internal/specs/kdd | parts | joins |
| internal/web | rooms | reads |
| internal/product/producttest | faces | tries |
| internal/face/cli | faces | talks |
| cmd/knowledge | main | starts |
`
	const allow = "\n| where | exception | why |\n|---|---|---|\n"
	sound := map[string]string{
		"internal/kb/kb.go":                   "package kb\nimport \"strings\"\n",
		"internal/data/db/db.go":              "package db\n" + imports("internal/kb"),
		"internal/job/job.go":                 "package job\n" + imports("internal/data/db", "internal/kb"),
		"internal/job/job_test.go":            "package job_test\n" + imports("internal/job"),
		"internal/job/testdata/x.go":          "not Go at all",
		"internal/governance/gate/gate.go":    "package gate\n" + imports("internal/job"),
		"internal/search/search.go":           "package search\n" + imports("internal/governance/gate"),
		"internal/answers/answer/answer.go":   "package answer\n" + imports("internal/search"),
		"internal/app/app.go":                 "package app\n" + imports("internal/answers/answer"),
		"internal/app/app_test.go":            "package app_test\n" + imports("internal/app", "internal/specs", machine),
		"internal/specs/specs.go":             "package specs\n" + imports("internal/app", "internal/specs/kdd"),
		"internal/specs/kdd/kdd.go":           "package kdd\n",
		"internal/specs/specs_test.go":        "package specs_test\n" + imports("internal/web", machine),
		"internal/web/web.go":                 "package web\n",
		"internal/product/producttest/x.go":   "package producttest\n" + imports("internal/specs", "internal/web"),
		"internal/face/cli/cli.go":            "package cli\n" + imports("internal/app") + "type kind int\nfunc (kind) init() {}\n",
		"cmd/knowledge/main.go":               "package main\n" + imports("internal/face/cli"),
		"internal/face/cli/testdata/notes.md": "",
	}
	for _, tt := range []struct {
		name  string
		file  string
		text  string
		table string // appended to the table
		want  []string
	}{
		{name: "sound"},
		{name: "unlisted", file: "internal/x/x.go", text: "package x\n", want: []string{"internal/x is not listed in ARCHITECTURE.md"}},
		{name: "only tests, unlisted", file: "internal/x/x_test.go", text: "package x\n", want: []string{"internal/x is not listed in ARCHITECTURE.md"}},
		{name: "importing the unlisted", file: "internal/app/x.go", text: "package app\n" + imports("internal/x"), want: []string{"internal/app/x.go imports internal/x, which is not listed in ARCHITECTURE.md"}},
		{name: "missing", table: "| internal/gone | parts | x |\n", want: []string{"internal/gone is listed in ARCHITECTURE.md and not there"}},
		{name: "listed twice", table: "| internal/data/db | tools | x |\n", want: []string{"internal/data/db is listed twice in ARCHITECTURE.md"}},
		{name: "no such layer", file: "internal/x/x.go", text: "package x\n", table: "| internal/x | cellar | x |\n", want: []string{`internal/x is in a layer "cellar" that does not exist`}},
		{name: "no description", file: "internal/x/x.go", text: "package x\n", table: "| internal/x | tools | |\n", want: []string{"ARCHITECTURE.md does not say what internal/x does"}},
		{name: "up", file: "internal/data/db/x.go", text: "package db\n" + imports("internal/job"), want: []string{"internal/data/db/x.go imports internal/job: up, from tools to parts"}},
		{name: "sideways between rooms", file: "internal/specs/x.go", text: "package specs\n" + imports("internal/web"), want: []string{"internal/specs/x.go imports internal/web: sideways, from rooms to rooms"}},
		{name: "up in an internal test", file: "internal/app/x_test.go", text: "package app\n" + imports("internal/specs"), want: []string{"internal/app/x_test.go imports internal/specs: up, from app to rooms"}},
		{name: "up to the upper half", file: "internal/job/x.go", text: "package job\n" + imports("internal/governance/gate"), want: []string{"internal/job/x.go imports internal/governance/gate: up, from parts to upper parts"}},
		{name: "up between flows", file: "internal/search/x.go", text: "package search\n" + imports("internal/answers/answer"), want: []string{"internal/search/x.go imports internal/answers/answer: up, from flows to upper flows"}},
		{name: "sideways in a test", file: "internal/x/x_test.go", text: "package x\n" + imports("internal/job"), table: "| internal/x | parts | x |\n", want: []string{"internal/x/x_test.go imports internal/job: sideways, from parts to parts"}},
		{name: "allowed for the package", file: "internal/x/x_test.go", text: "package x\n" + imports("internal/job"), table: "| internal/x | parts | x |\n" + allow + "| internal/x | imports internal/job | because |\n"},
		{name: "allowed for the file", file: "internal/x/x_test.go", text: "package x\n" + imports("internal/job"), table: "| internal/x | parts | x |\n" + allow + "| internal/x/x_test.go | imports internal/job | because |\n"},
		{name: "idle exception", table: allow + "| internal/data/db | imports internal/job | because |\n", want: []string{`the exception "imports internal/job" for internal/data/db is needed no more`}},
		{name: "exception without reason", file: "internal/data/db/x.go", text: "package db\n" + imports("internal/job"), table: allow + "| internal/data/db | imports internal/job | |\n", want: []string{"the exception for internal/data/db gives no reason"}},
		{name: "past a door", file: "internal/face/cli/x.go", text: "package cli\n" + imports("internal/specs/kdd"), want: []string{"internal/face/cli/x.go imports internal/specs/kdd, past the door of internal/specs"}},
		{name: "an open package", file: "internal/face/cli/x.go", text: "package cli\n" + imports("internal/specs/kdd"), table: allow + "| internal/specs/kdd | open | because |\n"},
		{name: "open for no one", table: allow + "| internal/specs/kdd | open | because |\n", want: []string{`the exception "open" for internal/specs/kdd is needed no more`}},
		{name: "kb beyond std", file: "internal/kb/x.go", text: "package kb\nimport _ \"golang.org/x/text/cases\"\n", want: []string{"internal/kb/x.go imports golang.org/x/text/cases: layer kb takes only the standard library"}},
		{name: "kb up", file: "internal/kb/x.go", text: "package kb\n" + imports("internal/data/db"), want: []string{"internal/kb/x.go imports internal/data/db: up, from kb to tools"}},
		{name: "long", file: "internal/data/db/x.go", text: "package db\n" + strings.Repeat("\n", maxLines), want: []string{"internal/data/db/x.go has 401 lines, more than 400"}},
		{name: "long with a reason", file: "internal/data/db/x.go", text: "package db\n" + strings.Repeat("\n", maxLines), table: allow + "| internal/data/db/x.go | long file | because |\n"},
		{name: "long tests", file: "internal/data/db/x_test.go", text: "package db\n" + strings.Repeat("\n", maxTestLines), want: []string{"internal/data/db/x_test.go has 801 lines, more than 800"}},
		{name: "long function", file: "internal/data/db/x.go", text: "package db\nfunc f() {\n" + strings.Repeat("\n", maxFunction-1) + "}\n", want: []string{"internal/data/db/x.go: f has 81 lines, more than 80"}},
		{name: "long function with a reason", file: "internal/data/db/x.go", text: "package db\nfunc f() {\n" + strings.Repeat("\n", maxFunction-1) + "}\n", table: allow + "| internal/data/db/x.go | long f | because |\n"},
		{name: "long function of a test", file: "internal/data/db/x_test.go", text: "package db\nfunc f() {\n" + strings.Repeat("\n", maxFunction-1) + "}\n"},
		{name: "long exception that is idle", table: allow + "| internal/data/db/x.go | long f | because |\n", want: []string{`the exception "long f" for internal/data/db/x.go is needed no more`}},
		{name: "directory util", file: "internal/util/x.go", text: "package x\n", table: "| internal/util | tools | x |\n", want: []string{"internal/util: a package named util says nothing about what is in it"}},
		{name: "package helpers", file: "internal/x/x_test.go", text: "package helpers_test\n", table: "| internal/x | tools | x |\n", want: []string{"internal/x: a package named helpers says nothing about what is in it"}},
		{name: "init", file: "internal/data/db/x.go", text: "package db\nfunc init() {}\n", want: []string{"internal/data/db/x.go declares init: nothing registers itself here"}},
		{name: "init in a test", file: "internal/data/db/x_test.go", text: "package db\nfunc init() {}\n", want: []string{"internal/data/db/x_test.go declares init: nothing registers itself here"}},
		{name: "kind compared", file: "internal/app/x.go", text: "package app\nvar a = x.Kind != kb.KindRepo\n", want: []string{"internal/app/x.go:2 compares with a kind of store (kb.KindRepo) outside the table of kinds"}},
		{name: "kind switched", file: "internal/app/x.go", text: "package app\nfunc f() {\n\tswitch x {\n\tcase kb.KindFolder:\n\t}\n}\n", want: []string{"internal/app/x.go:4 compares with a kind of store (kb.KindFolder) outside the table of kinds"}},
		{name: "kind by name", file: "internal/app/x.go", text: "package app\nvar a = \"web\" == string(x.Kind)\n", want: []string{`internal/app/x.go:2 compares with a kind of store ("web") outside the table of kinds`}},
		{name: "kind used", file: "internal/app/x.go", text: "package app\nvar a = kb.Spec{Kind: kb.KindFolder}\nvar b = c == \"web\"\n"},
		{name: "kind in a test", file: "internal/app/x_test.go", text: "package app\nvar a = x.Kind != kb.KindRepo\n"},
		{name: "kind allowed", file: "internal/app/x.go", text: "package app\nvar a = x.Kind != kb.KindRepo\n", table: allow + "| internal/app/x.go | compares kinds | because |\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for name, text := range sound {
				tree[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if tt.file != "" {
				tree[tt.file] = &fstest.MapFile{Data: []byte(tt.text)}
			}
			got, err := check(tree, table+tt.table)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCheckerCountsImports: of the packages of a module, those of tests aside.
func TestCheckerCountsImports(t *testing.T) {
	table := "| package | layer | what it does |\n|---|---|---|\n| internal/app | app | all |\n| cmd/x | main | starts |\n"
	var tools []string
	tree := fstest.MapFS{}
	for i := range maxImports + 1 {
		name := "internal/tool" + strconv.Itoa(i)
		table += "| " + name + " | tools | x |\n"
		tree[name+"/x.go"] = &fstest.MapFile{Data: []byte("package x\n")}
		tools = append(tools, name)
	}
	file := func(name string, list []string) {
		tree[name] = &fstest.MapFile{Data: []byte("package x\n" + imports(list...))}
	}
	file("cmd/x/main.go", tools)
	file("internal/app/app.go", tools[1:])
	file("internal/app/app_test.go", tools)
	expect := func(text string, want ...string) {
		t.Helper()
		if got, err := check(tree, text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, want %q, %v", got, want, err)
		}
	}
	expect(table)
	file("internal/app/more.go", tools[:1])
	expect(table, "internal/app imports 13 packages of this module, more than 12")
	expect(table + "\n| where | exception | why |\n|---|---|---|\n| internal/app | many imports | because |\n")
}

func imports(packages ...string) string {
	var b strings.Builder
	for _, p := range packages {
		b.WriteString("import _ " + strconv.Quote(module+"/"+p) + "\n")
	}
	return b.String()
}

func TestDependencies(t *testing.T) {
	direct, _ := requirements(read(t, "go.mod"))
	for _, w := range checkDependencies(read(t, "CONTRIBUTING.md"), direct) {
		t.Error(w)
	}
	// What nothing imports is not required, and what is imported is direct.
	used := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")):
			return fs.SkipDir
		case d.IsDir() && p != ".":
			if _, err := os.Stat(path.Join(root, p, "go.mod")); err == nil {
				return fs.SkipDir // another module
			}
			return nil
		case d.IsDir() || path.Ext(p) != ".go":
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, read(t, p), parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if host, _, _ := strings.Cut(to, "/"); !strings.Contains(host, ".") || strings.HasPrefix(to, module+"/") {
				continue
			}
			m := moduleOf(to, direct)
			if m == "" {
				t.Errorf("%s imports %s, which no direct requirement of go.mod has: run go mod tidy", p, to)
			}
			used[m] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range direct {
		if !used[m] {
			t.Errorf("go.mod requires %s directly and nothing imports it: run go mod tidy", m)
		}
	}
}

// moduleOf returns the module among modules that has the package, or "".
func moduleOf(pkg string, modules []string) (m string) {
	for _, x := range modules {
		if (pkg == x || strings.HasPrefix(pkg, x+"/")) && len(x) > len(m) {
			m = x
		}
	}
	return m
}

func TestCheckDependencies(t *testing.T) {
	const gomod = "module x\n\ngo 1.26\n\nrequire a.example/one v1.0.0\n\nrequire (\n\tb.example/two v1.0.0\n\t// a remark\n\tc.example/three v1.0.0 // indirect\n)\n\ntool c.example/three/cmd\n"
	direct, indirect := requirements(gomod)
	if diff := cmp.Diff([][]string{{"a.example/one", "b.example/two"}, {"c.example/three"}}, [][]string{direct, indirect}); diff != "" {
		t.Error(diff)
	}
	const head = "| module | why |\n|---|---|\n"
	for _, tt := range []struct {
		table string
		want  []string
	}{
		{head + "| `a.example/one` | x |\n| b.example/two | y |\n", nil},
		{head + "| a.example/one | x |\n", []string{"b.example/two is required by go.mod and not listed in CONTRIBUTING.md"}},
		{head + "| a.example/one | x |\n| b.example/two | |\n", []string{"b.example/two is listed without a reason"}},
		{head + "| a.example/one | x |\n| a.example/one | x |\n| b.example/two | y |\n", []string{"a.example/one is listed twice in CONTRIBUTING.md"}},
		{head + "| a.example/one | x |\n| b.example/two | y |\n| c.example/three | z |\n", []string{"c.example/three is listed in CONTRIBUTING.md and no direct requirement of go.mod"}},
	} {
		if diff := cmp.Diff(tt.want, checkDependencies(tt.table, direct)); diff != "" {
			t.Errorf("%s\n%s", tt.table, diff)
		}
	}
	for pkg, want := range map[string]string{"b.example/two/x": "b.example/two", "b.example/twofold": "", "c.example/three": ""} {
		if got := moduleOf(pkg, direct); got != want {
			t.Errorf("moduleOf(%q) = %q, want %q", pkg, got, want)
		}
	}
}

// prose returns the hand-written documents by path.
func prose(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/design/*.md"} {
		names, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			out[n] = read(t, n)
		}
	}
	return out
}

var (
	linkRE = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	pathRE = regexp.MustCompile("`((?:internal|cmd|docs|bench|commands|bin|\\.ci|\\.claude-plugin)/[\\w./-]*|[A-Z]+\\.md|go\\.mod|\\.mcp\\.json)`")
	verbRE = regexp.MustCompile(`(?m)(?:^    |^\$ |` + "`" + `)(?:go run \./cmd/)?knowledge ([a-z][a-z:_-]*)`)
)

// Prose that names files rots unless something reads it.
func TestProseNamesWhatExists(t *testing.T) {
	for name, text := range prose(t) {
		for _, m := range linkRE.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(path.Join(root, path.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
		for _, m := range pathRE.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(path.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", name, m[1])
			}
		}
	}
}

// faceVerbs are the words after "knowledge" that are not in the registry: the
// faces, shorter ways to type a command, and what the command line's library brings.
var faceVerbs = []string{"mcp", "serve", "ui", "watch", "work", "crawl", "ask", "add-repo", "add-folder", "version", "completion", "help"}

func TestProseNamesCommandsThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, v := range faceVerbs {
		known[v] = true
	}
	n := 0
	for name, text := range prose(t) {
		for _, m := range verbRE.FindAllStringSubmatch(text, -1) {
			n++
			if _, err := product.Commands().Find(m[1]); err != nil && !known[m[1]] {
				t.Errorf("%s shows %q, which is no command", name, m[0])
			}
		}
	}
	if n == 0 {
		t.Error("no command was found in the prose: the pattern is out of date")
	}
}

// The README repeats the exit statuses, for those who read nothing else.
func TestReadmeExitStatuses(t *testing.T) {
	var want [][]string
	for _, e := range command.Exits() {
		want = append(want, []string{strconv.Itoa(e.Status), e.Means})
	}
	if diff := cmp.Diff(want, tableRows(read(t, "README.md"), "status", "meaning")); diff != "" {
		t.Error(diff)
	}
}

// The first screen of the README is all that many read.
func TestReadmeFirstScreen(t *testing.T) {
	lines := strings.SplitAfterN(read(t, "README.md"), "\n", 41)
	first := strings.Join(lines[:min(40, len(lines))], "")
	for _, want := range []string{`go run -v ./cmd/knowledge search "`, "go test ./..."} {
		if !strings.Contains(first, want) {
			t.Errorf("the first 40 lines of README.md lack %s", want)
		}
	}
}
