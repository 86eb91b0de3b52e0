package code_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

var patient = app.Waiting{Wait: time.Minute, Person: true}

// uses asks for the callers, callees or references of a symbol, each as
// "STORE path:line declaration".
func uses(t *testing.T, a *app.App, what, symbol string, depth int, stores ...string) []string {
	t.Helper()
	r, err := code.Ask(t.Context(), a, code.CodeRequest{
		CodeRequest: search.CodeRequest{Symbol: symbol, What: what, Depth: depth}, Stores: stores, Waiting: patient,
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, u := range r.Uses {
		out = append(out, fmt.Sprintf("%s %s %s", u.Store, u.At, u.Symbol))
		if u.ID == "" || u.Code == "" {
			t.Errorf("%s of %s: %+v has no id or no line", what, symbol, u)
		}
	}
	return out
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

const setGo = `package flags

// Set is a set of flags.
type Set struct{ Name string }

// NewSet makes a Set.
func NewSet(name string) *Set { return &Set{Name: name} }

// Parse reads arguments.
func (s *Set) Parse(args []string) error { return check(args) }

func check(args []string) error { return nil }
`

const runGo = `package main

import "example.org/flags"

func run() error {
	s := flags.NewSet("run")
	return s.Parse(nil)
}

func again(s *flags.Set) error {
	return s.Parse([]string{s.Name})
}

func main() { run() }
`

// goSite is a project that uses a module, which is a store of its own.
func goSite(t *testing.T, version string) (*producttest.Site, *app.App) {
	s := producttest.NewSite(t)
	s.Write("p/go.mod", "module example.org/p\n\ngo 1.25\n\nrequire example.org/flags v1.2.0\n")
	s.Write("p/run.go", runGo)
	dir := "mod/example.org/flags" + version
	s.Write(dir+"/go.mod", "module example.org/flags\n\ngo 1.25\n")
	s.Write(dir+"/set.go", setGo)
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "flags", Kind: kb.KindFolder, Source: filepath.Join(s.Root, filepath.FromSlash(dir))})
	return s, a
}

// TestAcrossGo follows calls of a Go project into the store of a module, and back.
func TestAcrossGo(t *testing.T) {
	s, a := goSite(t, "@v1.2.0")
	same(t, "what run calls", uses(t, a, search.Callees, "run", 1), "flags set.go:L7 NewSet", "flags set.go:L10 Set.Parse")
	same(t, "what run calls, and what that calls", uses(t, a, search.Callees, "run", 2),
		"flags set.go:L7 NewSet", "flags set.go:L10 Set.Parse", "flags set.go:L12 check")
	callers := []string{"p run.go:L7 run", "p run.go:L11 again"}
	same(t, "who calls Parse", uses(t, a, search.Callers, "Set.Parse", 1), callers...)
	same(t, "who calls Parse, asked of its store", uses(t, a, search.Callers, "Set.Parse", 1, "flags"), callers...)
	same(t, "who calls check", uses(t, a, search.Callers, "check", 3), "flags set.go:L10 Set.Parse", callers[0], callers[1], "p run.go:L14 main")
	same(t, "who names Set", uses(t, a, search.References, "Set", 1), "flags set.go:L7 NewSet", "flags set.go:L10 Set.Parse", "p run.go:L10 again")
	same(t, "who reads Name", uses(t, a, search.References, "Set.Name", 1), "flags set.go:L7 NewSet", "p run.go:L11 again")

	c, err := find.Show(t.Context(), a, "run.go:5", patient)
	if err != nil {
		t.Fatal(err)
	}
	c.Plain = true
	if text := c.Text(); !strings.Contains(text, "Set.Parse flags:set.go:10") {
		t.Errorf("the place of run does not show what it calls in flags:\n%s", text)
	}
	if c, err = find.Show(t.Context(), a, "flags:set.go:10", patient); err != nil {
		t.Fatal(err)
	}
	c.Plain = true
	if text := c.Text(); !strings.Contains(text, "run p:run.go:7\treturn s.Parse(nil)") {
		t.Errorf("the place of Parse does not show who calls it in p:\n%s", text)
	}

	// Either side changes.
	s.Write("mod/example.org/flags@v1.2.0/set.go", strings.Replace(setGo, "package flags\n", "package flags\n\nimport \"os\"\n\nvar _ = os.Args\n", 1))
	reindex(t, a, "flags")
	same(t, "what run calls after the module changed", uses(t, a, search.Callees, "run", 1), "flags set.go:L11 NewSet", "flags set.go:L14 Set.Parse")
	s.Write("p/run.go", strings.Replace(runGo, "return s.Parse(nil)", "_ = s\n\treturn nil", 1))
	reindex(t, a, "p")
	same(t, "who calls Parse after the project changed", uses(t, a, search.Callers, "Set.Parse", 1), "p run.go:L12 again")
	s.Write("mod/example.org/flags@v1.2.0/set.go", strings.Replace(setGo, "Parse", "Read", 2))
	reindex(t, a, "flags")
	same(t, "what again calls when Parse is gone", uses(t, a, search.Callees, "again", 1))
}

func reindex(t *testing.T, a *app.App, store string) {
	t.Helper()
	started, err := a.IndexStore(t.Context(), store, false)
	if err == nil {
		_, err = a.WaitJob(t.Context(), started.Job)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAcrossVersion leaves out a store of another version than the project uses, and says so.
func TestAcrossVersion(t *testing.T) {
	_, a := goSite(t, "@v1.1.0")
	r, err := code.Ask(t.Context(), a, code.CodeRequest{CodeRequest: search.CodeRequest{Symbol: "run", What: search.Callees}, Waiting: patient})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(r.Notes, "\n"); len(r.Uses) != 0 || !strings.Contains(notes, "store flags holds example.org/flags at v1.1.0, p uses v1.2.0") {
		t.Errorf("uses %+v, notes:\n%s", r.Uses, notes)
	}
}

// TestAcrossWorkspace joins repositories that lie side by side.
func TestAcrossWorkspace(t *testing.T) {
	_, a := goSite(t, "")
	same(t, "what run calls", uses(t, a, search.Callees, "run", 1), "flags set.go:L7 NewSet", "flags set.go:L10 Set.Parse")
}

// TestAcrossDamage makes a join anew that was damaged or deleted, and answers meanwhile.
func TestAcrossDamage(t *testing.T) {
	s, a := goSite(t, "@v1.2.0")
	want := uses(t, a, search.Callees, "run", 1)
	for name, harm := range map[string]func(path string) error{
		"deleted": os.Remove,
		"cut":     func(p string) error { return os.Truncate(p, 100) },
		"garbled": func(p string) error {
			b, err := os.ReadFile(p)
			if err == nil {
				for i := len(b) / 2; i < len(b)/2+200 && i < len(b); i++ {
					b[i] ^= 0xff
				}
				err = os.WriteFile(p, b, 0o644)
			}
			return err
		},
	} {
		joins, err := filepath.Glob(filepath.Join(s.Data, "views", "*.join"))
		if err != nil || len(joins) != 1 {
			t.Fatalf("%s: the joins are %v, %v", name, joins, err)
		}
		if err := harm(joins[0]); err != nil {
			t.Fatal(err)
		}
		for range 3 { // the first question may be the one that meets the damage
			if got := uses(t, a, search.Callees, "run", 1); len(got) == len(want) {
				break
			}
		}
		same(t, name, uses(t, a, search.Callees, "run", 1), want...)
	}
}

// TestAcrossNpm follows calls of a project in TypeScript into the sources of a
// package, whose manifest names what is built of them.
func TestAcrossNpm(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/package.json", `{"name": "p", "dependencies": {"greet": "^2.0.0"}}`)
	s.Write("p/package-lock.json", `{"lockfileVersion": 3, "packages": {"": {"name": "p"}, "node_modules/greet": {"version": "2.1.0"}}}`)
	s.Write("p/src/run.ts", `import { hello, Greeting } from "greet";
import { bow } from "greet/manners";

export function run(): string {
	const g: Greeting = hello("you");
	bow();
	return g.shout();
}
`)
	s.Write("p/src/made.ts", "import { hello } from \"greet\";\nexport const made = () => hello(\"all\");\n")
	s.Write("p/src/chain.ts", `import { made } from "./made";

export function chain(): string {
	return made().louder().shout();
}
`)
	s.Write("lib/greet/package.json", `{"name": "greet", "version": "2.1.0", "main": "dist/index.js", "dependencies": {"bows": "^1.0.0"},
	"exports": {".": {"types": "./dist/index.d.ts", "default": "./dist/index.js"}, "./manners": "./dist/manners.js"}}`)
	s.Write("lib/greet/src/index.ts", `export class Greeting {
	constructor(readonly name: string) {}
	shout(): string { return this.name.toUpperCase(); }
	louder() { return new Greeting(this.name + "!"); }
}

export function hello(name: string): Greeting { return new Greeting(name); }
`)
	s.Write("lib/greet/src/manners.ts", "export { bow } from \"bows\";\n")
	s.Write("lib/bows/package.json", `{"name": "bows", "version": "1.3.0", "main": "index.js"}`)
	s.Write("lib/bows/index.ts", "export function bow(): void {}\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "greet", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "lib", "greet")})
	s.Create(a, app.CreateStore{Name: "bows", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "lib", "bows")})
	same(t, "what run calls", uses(t, a, search.Callees, "run", 1),
		"greet src/index.ts:L7 hello", "bows index.ts:L1 bow", "greet src/index.ts:L3 Greeting.shout")
	same(t, "what chain calls", uses(t, a, search.Callees, "chain", 1),
		"p src/made.ts:L2 made", "greet src/index.ts:L3 Greeting.shout", "greet src/index.ts:L4 Greeting.louder")
	same(t, "who calls shout", uses(t, a, search.Callers, "Greeting.shout", 1), "p src/chain.ts:L4 chain", "p src/run.ts:L7 run")
	same(t, "who names Greeting", uses(t, a, search.References, "Greeting", 1),
		"greet src/index.ts:L7 hello", "p src/run.ts:L5 run")

	s.Write("p/package-lock.json", `{"lockfileVersion": 3, "packages": {"": {"name": "p"}, "node_modules/greet": {"version": "2.0.9"}}}`)
	same(t, "what run calls when another version is locked", uses(t, a, search.Callees, "run", 1))
}
