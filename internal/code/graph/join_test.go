package graph

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// joinedTree has three stores: a project, a module that it uses, and one that
// this uses and the project does not name.
func joinedTree() *tree {
	t := &tree{files: map[string]string{
		"own/go.mod": "module example.org/own\n\nrequire example.org/lib v1.0.0\n",
		"own/main.go": `package main

import "example.org/lib"

func main() {
	s := lib.Open("x")
	s.Base.Walk(func(i lib.Item) { println(i.Name) })
	plain()
}

func plain() {}
`,
		"own/sub/sub.go":  "package sub\n\nimport \"example.org/lib\"\n\n// S is a store.\ntype S struct{ *lib.Store }\n",
		"own/use/use.go":  "package use\n\nimport \"example.org/own/sub\"\n\nfunc use(s sub.S) error { return s.Close() }\n",
		"own/none/one.go": "package none\n\nfunc one() int { return 1 }\n",
		"lib/go.mod":      "module example.org/lib\n\nrequire example.org/base v1.0.0\n",
		"lib/lib.go": `package lib

import "example.org/base"

// Store holds items.
type Store struct{ Base *base.Tree }

// Item is one of them.
type Item = base.Item

// Open opens a Store.
func Open(name string) *Store { return &Store{} }

// Close closes it.
func (s *Store) Close() error { return nil }
`,
		"lib/lib_test.go":    "package lib\n\nfunc helper() { Open(\"\") }\n",
		"lib/other/other.go": "package other\n\nfunc Unused() {}\n",
		"base/go.mod":        "module example.org/base\n",
		"base/base.go":       "package base\n\ntype Item struct{ Name string }\n\ntype Tree struct{}\n\nfunc (t *Tree) Walk(f func(Item)) {}\n",
	}}
	return t
}

// joined joins the stores of a tree, each linked by itself first.
func joined(t *testing.T, all *tree, prev *View) (*View, Stats) {
	t.Helper()
	var members []Member
	for _, name := range []string{"own", "lib", "base"} {
		one := &tree{files: map[string]string{}, symbols: map[string][]kb.Symbol{}, facts: map[string]kb.Facts{}}
		for p, body := range all.files {
			if rest, ok := strings.CutPrefix(p, name+"/"); ok {
				one.files[rest] = body
			}
		}
		v, _ := linked(t, one, nil)
		members = append(members, Member{Name: name, View: v})
	}
	path := filepath.Join(t.TempDir(), "join")
	stats, err := Join(t.Context(), all, members, prev, path, filepath.Join(os.TempDir(), "knowledge-grammars"), nil)
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

// leaving lists the edges of a join.
func leaving(t *testing.T, v *View, all *tree) (out []string) {
	t.Helper()
	for _, e := range all.Entries() {
		if name, rest := CutMember(e.Path); name == "own" {
			cs, err := v.Leaving("own", kb.Spot{Path: rest})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cs {
				out = append(out, fmt.Sprintf("%s:%d %s %s %s:%d %s", c.From.Path, c.From.Line, c.Kind, c.To.Store, c.To.Path, c.To.Line, c.To.Decl))
			}
		}
	}
	return out
}

// TestJoin finds uses of functions, methods, fields and types, through types of
// packages that the project does not import, and of nothing else.
func TestJoin(t *testing.T) {
	all := joinedTree()
	v, stats := joined(t, all, nil)
	want := []string{
		"main.go:6 call lib lib.go:12 Open",
		"main.go:7 call base base.go:7 Tree.Walk",
		"main.go:7 type lib lib.go:9 Item",
		"main.go:7 use base base.go:3 Item.Name",
		"main.go:7 use lib lib.go:6 Store.Base",
		"sub/sub.go:6 inherit lib lib.go:6 Store",
		"use/use.go:5 call lib lib.go:15 Store.Close",
	}
	got := leaving(t, v, all)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the uses of other stores are\n%s", d)
	}
	if stats.Checked != 3 {
		t.Errorf("%d packages were checked with their bodies, not those three that reach another store", stats.Checked)
	}
	paths, err := v.Paths()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		if p == "lib/other/other.go" || p == "lib/lib_test.go" {
			t.Errorf("%s takes part, which nothing of the project reaches", p)
		}
	}
	back, err := v.Arriving("lib", kb.Spot{Path: "lib.go", Line: 15, Decl: "Store.Close"})
	if err != nil || len(back) != 1 || back[0].From.Path != "use/use.go" || back[0].From.Decl != "use" {
		t.Errorf("who uses Close: %+v, %v", back, err)
	}
}

// TestJoinIncremental edits stores at random: a join made from the one before
// says what one made from nothing says.
func TestJoinIncremental(t *testing.T) {
	all := joinedTree()
	before, _ := joined(t, all, nil)
	again, stats := joined(t, all, before)
	if stats.Checked != 0 || stats.Copied != 3 {
		t.Errorf("a join of the same checks %d packages and copies %d, not 0 and 3", stats.Checked, stats.Copied)
	}
	if d := cmp.Diff(leaving(t, before, all), leaving(t, again, all)); d != "" {
		t.Errorf("a join of the same says something else:\n%s", d)
	}
	edits := []func(){
		func() { all.files["own/main.go"] += "\nfunc more(s *lib.Store) error { return s.Close() }\n" },
		func() {
			all.files["lib/lib.go"] = strings.Replace(all.files["lib/lib.go"], "import", "// moved\nimport", 1)
		},
		func() {
			all.files["base/base.go"] = strings.Replace(all.files["base/base.go"], "{}\n", "{ _ = 1 }\n", 1)
		},
		func() {
			all.files["base/base.go"] = "package base\n\n// x\n" + strings.TrimPrefix(all.files["base/base.go"], "package base\n")
		},
		func() {
			all.files["own/none/one.go"] = "package none\n\nimport \"example.org/own/sub\"\n\nfunc one(s sub.S) error { return s.Close() }\n"
		},
		func() { all.files["lib/more.go"] = "package lib\n\nfunc More() int { return 1 }\n" },
		func() {
			all.files["own/more/more.go"] = "package more\n\nimport \"example.org/lib\"\n\nvar m = lib.More()\n"
		},
		func() { delete(all.files, "lib/more.go") },
		func() { all.files["lib/lib.go"] = strings.ReplaceAll(all.files["lib/lib.go"], "Close", "Shut") },
		func() { delete(all.files, "own/use/use.go") },
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 24 {
		k := rnd.IntN(len(edits))
		if round < len(edits) {
			k = round
		}
		edits[k]()
		now, _ := joined(t, all, before)
		fresh, _ := joined(t, all, nil)
		if d := cmp.Diff(leaving(t, fresh, all), leaving(t, now, all)); d != "" {
			t.Fatalf("after edit %d of round %d a join from the one before differs:\n%s", k, round, d)
		}
		before = now
	}
}

// TestStated reads the properties of types that a package states, at their own
// depth, outside of comments, and a default export without a name.
func TestStated(t *testing.T) {
	body := `/** Colours. */
export interface Pen {
	/*
	hidden: this;
	*/
	readonly red: this; // blue: this
	size?: number;
	nested: {
		inner: string;
	};
	draw(): void;
}
declare const pen: Pen;
export default function (x: number): Pen;
`
	d := Document{Path: "pens/index.d.ts", Language: "typescript",
		Symbols: []kb.Symbol{
			{Name: "Pen", Kind: "interface", Start: 1, Line: 2, End: 12},
			{Name: "draw", Kind: "method", Line: 11, Start: 11, End: 11, Path: []string{"Pen"}},
		},
		Facts: kb.Facts{Bindings: []kb.Binding{{Name: "self.red", From: 2, To: 12}, {Name: "self.size", Type: "number", From: 2, To: 12}}},
		Body:  func() (string, error) { return body, nil },
	}
	stated(&d)
	var got []string
	for _, s := range d.Symbols[2:] {
		got = append(got, fmt.Sprintf("%s %s %d", s.Kind, s.Qualified(), s.Line))
	}
	if diff := cmp.Diff([]string{"property Pen.red 6", "property Pen.size 7", "property Pen.nested 8", "function default 14"}, got); diff != "" {
		t.Error(diff)
	}
	if d.Facts.Bindings[0].Type != "Pen" || d.Facts.Bindings[1].Type != "number" {
		t.Errorf("the types of the properties are %+v", d.Facts.Bindings)
	}
	code := d
	code.Path, code.Symbols = "pens/index.ts", nil
	if stated(&code); code.Symbols != nil {
		t.Errorf("code that is no statement of types got %+v", code.Symbols)
	}
}

// TestPackageFiles says where the module of a package may lie.
func TestPackageFiles(t *testing.T) {
	for _, c := range []struct{ manifest, sub, want string }{
		{`{"main": "./dist/index.js"}`, "", "dist/index.d.ts dist/index.js src/index index"},
		{`{"types": "t/a.d.ts", "main": "b.cjs"}`, "", "t/a.d.ts b.d.cts b.d.ts b.cjs"},
		{`{"exports": {".": {"import": {"types": "./a.d.mts", "default": "./a.mjs"}}}}`, "", "a.d.mts a.d.ts a.mjs"},
		{`{"exports": {"./*": "./lib/*.js", "./x/*": ["./y/*.js"]}}`, "x/z", "y/z.d.ts y/z.js"},
		{`{"exports": "./only.js"}`, "", "only.d.ts only.js"},
		{`{"exports": {"types": "./only.d.ts"}}`, "", "only.d.ts"},
		{`{"main": "../../etc/passwd"}`, "", "etc/passwd"},
		{`{"main": ["x"], "exports": [[[[[[[[[["deep"]]]]]]]]]]}`, "", "src/index"},
		{`{}`, "sub/a", "sub/a src/sub/a"},
	} {
		var p npmPackage
		if err := json.Unmarshal([]byte(c.manifest), &p); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.files(c.sub), " "); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %q: %s, not %s …", c.manifest, c.sub, got, c.want)
		}
	}
}
