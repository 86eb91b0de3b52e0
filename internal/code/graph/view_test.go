package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func spots(ds []Decl) []string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%s:%d %s %s", d.Path, d.Line, d.Kind, d.Qualified))
	}
	return out
}

func TestFind(t *testing.T) {
	v, _ := linked(t, readTree(t, "go.txtar"), nil)
	for name, want := range map[string][]string{
		"New":                       {"cart.go:52 function New"},
		"Cart":                      {"cart.go:33 type Cart", "check/check.go:5 function Cart"},
		"Cart.Owner":                {"cart.go:36 field Cart.Owner"},
		"(*Cart).Add":               {"cart.go:61 method Cart.Add"},
		"Cart::Add":                 {"cart.go:61 method Cart.Add"},
		"Price":                     {"cart.go:22 method Pricer.Price", "item/item.go:7 method Item.Price"},
		"Item.Price":                {"item/item.go:7 method Item.Price"},
		"item.Item.Price":           {"item/item.go:7 method Item.Price"},
		"item.NewShelf":             {"item/item.go:13 function NewShelf"},
		"loop/a.A":                  {"loop/a/a.go:5 function A"},
		"check/check.Cart":          {"check/check.go:5 function Cart"},
		"inner.depth":               {"cart.go:38 field Cart.inner.depth"},
		"Limit":                     {"cart.go:11 const Limit"},
		"nothing":                   nil,
		"Nothing.Price":             nil,
		"":                          nil,
		"Cart.":                     nil,
		"elsewhere/a.A":             nil,
		"examples/testdata/one.run": {"examples/testdata/one.go:5 function run"},
	} {
		got, err := v.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, spots(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func one(t *testing.T, v *View, name string) kb.Spot {
	t.Helper()
	ds, err := v.Find(name)
	if err != nil || len(ds) != 1 {
		t.Fatalf("%s: %v, %v", name, ds, err)
	}
	return ds[0].Spot()
}

func places(es []kb.Edge) []string {
	var out []string
	for _, e := range es {
		out = append(out, fmt.Sprintf("%s %s:%d %s", e.Kind, e.From.Path, e.From.Line, e.From.Decl))
	}
	return out
}

func TestEdgesOfADeclaration(t *testing.T) {
	v, _ := linked(t, readTree(t, "go.txtar"), nil)
	into, err := v.Into(one(t, v, "base.Len"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"call cart.go:63 Cart.Add", "use cart.go:67 Cart.Add", "call cart.go:79 sum", "call out_test.go:10 use"}
	if diff := cmp.Diff(want, places(into)); diff != "" {
		t.Error(diff)
	}
	out, err := v.Out(one(t, v, "item.Max"))
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 1 || out[0].To.Decl != "number" {
		t.Errorf("a declaration's edges hold itself, or lack others: %+v", out)
	}
	if es, err := v.Into(kb.Spot{Path: "cart.go", Decl: "Nothing"}); err != nil || es != nil {
		t.Errorf("%v, %v", es, err)
	}
	if es, err := v.Out(kb.Spot{Path: "none.go", Decl: "Nothing"}); err != nil || es != nil {
		t.Errorf("%v, %v", es, err)
	}
	n, err := v.InDegree("item/item.go")
	users := map[string]bool{}
	ds, err2 := v.Symbols("item/item.go")
	for _, d := range ds {
		es, err := v.Into(d.Spot())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			users[e.From.Path] = true
		}
	}
	delete(users, "item/item.go")
	if err != nil || err2 != nil || n != len(users) || n != 4 {
		t.Errorf("in-degree %d of %v, %v", n, slices.Sorted(maps.Keys(users)), err)
	}
}

func TestCallersGoUp(t *testing.T) {
	v, _ := linked(t, readTree(t, "go.txtar"), nil)
	show := func(cs []Call, err error) []string {
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range cs {
			out = append(out, fmt.Sprintf("%d %s→%s", c.Depth, c.Edge.From.Decl, c.Edge.To.Decl))
		}
		return out
	}
	got := show(v.Callers(one(t, v, "List.Push"), 3, 0))
	want := []string{"1 lists→List.Push", "1 Shelf.Put→List.Push", "2 Cart.Add→Shelf.Put", "3 TestAdd→Cart.Add"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if one := show(v.Callers(one(t, v, "List.Push"), 3, 2)); len(one) != 2 {
		t.Errorf("limit: %v", one)
	}
	// a and b call each other: a cycle ends.
	if got := show(v.Callees(one(t, v, "loop/a.A"), 10, 0)); !slices.Equal(got, []string{"1 A→B"}) {
		t.Errorf("cycle: %v", got)
	}
}

func TestAChangedDocument(t *testing.T) {
	src := readTree(t, "go.txtar")
	v, _ := linked(t, src, nil)
	body := "package item\n\n\n" + strings.TrimPrefix(src.files["item/item.go"], "package item\n")
	now := v.At(Now{
		Hash: func(p string) (kb.DocHash, bool) {
			if p == "item/item.go" {
				return kb.HashDocument([]byte(body)), true
			}
			f, ok := src.files[p]
			return kb.HashDocument([]byte(f)), ok && p != "more_test.go"
		},
		Symbols: func(p string) []kb.Symbol {
			if p != "item/item.go" {
				t.Errorf("asked for %s", p)
			}
			return []kb.Symbol{{Name: "Max", Kind: "function", Start: 23, End: 28, Line: 24}, {Name: "Item", Kind: "type", Start: 5, End: 7, Line: 5}}
		},
	})
	es, err := now.Into(kb.Spot{Path: "item/item.go", Decl: "Max"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"call cart.go:81 sum", "call tool/main.go:8 main"}, places(es)); diff != "" {
		t.Error(diff)
	}
	for _, e := range es {
		if e.To.Line != 24 {
			t.Errorf("the target stands on line %d", e.To.Line)
		}
	}
	for _, s := range []kb.Spot{{Path: "item/item.go"}, {Path: "item/item.go", Decl: "Max"}, {Path: "more_test.go"}} {
		if es, err := now.Out(s); err != nil || len(es) > 0 {
			t.Errorf("%v: %v, %v", s, es, err)
		}
	}
	if ds, err := now.Find("NewShelf"); err != nil || len(ds) > 0 {
		t.Errorf("%v, %v", ds, err)
	}
	if ds, err := now.Find("Item.Cost"); err != nil || len(ds) != 1 || ds[0].Line != 5 {
		t.Errorf("a field: %v, %v", ds, err)
	}
	if ds, err := now.Find("newItem"); err != nil || len(ds) > 0 {
		t.Errorf("of a document that is gone: %v, %v", ds, err)
	}
	if ds, err := v.Find("NewShelf"); err != nil || len(ds) != 1 {
		t.Errorf("the view itself changed: %v, %v", ds, err)
	}
}

func TestStamp(t *testing.T) {
	src := readTree(t, "go.txtar")
	v, _ := linked(t, src, nil)
	got, err := v.Stamp()
	if err != nil || got != StampOf(src.Entries()) {
		t.Errorf("%s, %v", got, err)
	}
	src.files["new.go"] = "package shop\n"
	if got == StampOf(src.Entries()) {
		t.Error("another document, the same stamp")
	}
}

// TestIncrementalIsFresh edits the fixture at random and compares a view that
// was linked from the one before with one linked from nothing.
func TestIncrementalIsFresh(t *testing.T) {
	src := readTree(t, "go.txtar")
	original := maps.Clone(src.files)
	paths := slices.Sorted(maps.Keys(original))
	r := rand.New(rand.NewPCG(1, 2))
	v, _ := linked(t, src, nil)
	copied := 0
	for round := range 12 {
		p := paths[r.IntN(len(paths))]
		what := ""
		switch body := src.files[p]; r.IntN(6) {
		case 0:
			what = "deleted"
			delete(src.files, p)
		case 1:
			what = "restored all"
			src.files = maps.Clone(original)
		case 2:
			what = "moved down"
			src.files[p] = "\n\n" + body
		case 3:
			what = "added a function"
			src.files[p] = body + "\nfunc added() { added() }\n"
		case 4:
			what = "a body changed"
			src.files[p] = strings.Replace(body, "{ ", "{ _ = 1; ", 1)
		case 5:
			what = "renamed"
			src.files[p] = strings.ReplaceAll(body, "Max", "Least")
		}
		fresh, _ := linked(t, src, nil)
		next, stats := linked(t, src, v)
		if stats.Copied+stats.Checked != stats.Packages {
			t.Fatalf("%+v", stats)
		}
		copied += stats.Copied
		if diff := cmp.Diff(dump(t, fresh), dump(t, next)); diff != "" {
			t.Fatalf("round %d, %s %s: %s", round, p, what, diff)
		}
		v = next
	}
	if copied < 60 {
		t.Errorf("only %d packages were taken over", copied)
	}
}

func TestAnEditRelinksLittle(t *testing.T) {
	src := readTree(t, "go.txtar")
	v, stats := linked(t, src, nil)
	if stats.Copied != 0 || stats.Checked != stats.Packages {
		t.Errorf("%+v", stats)
	}
	read := map[string]bool{}
	src.before = func(p string) error { read[p] = true; return nil }
	_, stats = linked(t, src, v)
	if stats.Checked != 0 || len(read) != 2 { // the go.mod files
		t.Errorf("unchanged: %+v, read %v", stats, read)
	}
	src.files["item/item.go"] = strings.Replace(src.files["item/item.go"], "return a\n", "return (a)\n", 1)
	if _, stats = linked(t, src, v); stats.Checked != 1 {
		t.Errorf("a body: %+v", stats)
	}
	src.files["item/item.go"] += "\nconst More = 1\n"
	if _, stats = linked(t, src, v); stats.Checked < 3 || stats.Copied < 5 {
		t.Errorf("a declaration: %+v", stats)
	}
}

func TestViewsOfTheSameAreTheSame(t *testing.T) {
	dir := t.TempDir()
	var files [2][]byte
	for i := range files {
		p := filepath.Join(dir, fmt.Sprint(i))
		if _, err := Link(t.Context(), readTree(t, "go.txtar"), nil, p, nil); err != nil {
			t.Fatal(err)
		}
		files[i], _ = os.ReadFile(p)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two views of the same documents differ")
	}
}

func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view")
	src := readTree(t, "go.txtar")
	if _, err := Link(t.Context(), src, nil, path, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	r := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		b := bytes.Clone(whole)
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := Open(bad)
		if err == nil {
			err = errors.Join(v.Verify(), poke(v))
			v.Close()
		}
		if err == nil {
			t.Fatal("a flipped bit was not found")
		}
		if c := kb.CodeOf(err); c != kb.Corrupt && c != kb.Newer {
			t.Fatalf("%v", err)
		}
	}
	if err := os.WriteFile(bad, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(bad); kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("half a file: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("no file: %v", err)
	}
}

// poke asks a view for everything and returns the first error.
func poke(v *View) error {
	paths, err := v.Paths()
	for _, p := range paths {
		ds, err2 := v.Symbols(p)
		err = errors.Join(err, err2)
		for _, d := range ds {
			_, e1 := v.Into(d.Spot())
			_, e2 := v.Out(d.Spot())
			_, e3 := v.Find(d.Qualified)
			err = errors.Join(err, e1, e2, e3)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// TestDamageBelowTheChecksums feeds wrong bytes to the readers of frames: it
// must not panic nor hang, whatever it returns.
func TestDamageBelowTheChecksums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		b := make([]byte, r.IntN(60))
		for i := range b {
			b[i] = byte(r.Uint32())
			if r.IntN(2) == 0 {
				b[i] &= 7
			}
		}
		readRows(&dec{b: b}, r.IntN(10))
		readArrows(&dec{b: b}, r.IntN(10))
		unshare(&dec{b: b})
	}
}

func TestCancel(t *testing.T) {
	for _, p := range []string{"item/item.go", "unit/scale_other.go", "go.mod"} {
		src := readTree(t, "go.txtar")
		ctx, cancel := context.WithCancel(t.Context())
		times := 0
		src.before = func(at string) error {
			if at == p {
				if times++; times > 1 || p == "go.mod" {
					cancel()
				}
			}
			return nil
		}
		path := filepath.Join(t.TempDir(), "view")
		if _, err := Link(ctx, src, nil, path, nil); kb.CodeOf(err) != kb.Canceled {
			t.Errorf("%s: %v", p, err)
		}
		cancel()
		if _, err := os.Stat(path); err == nil {
			t.Error("a view was written")
		}
	}
}

func TestWhatCannotBeReadIsLeftOut(t *testing.T) {
	src := readTree(t, "go.txtar")
	src.before = func(p string) error {
		if p == "item/item.go" || p == "tool/go.mod" {
			return kb.Errorf(kb.Corrupt, "no")
		}
		return nil
	}
	v, _ := linked(t, src, nil)
	if ds, err := v.Find("Cart.Add"); err != nil || len(ds) != 1 {
		t.Errorf("%v, %v", ds, err)
	}
}

func TestProgress(t *testing.T) {
	last := -1
	src := readTree(t, "go.txtar")
	src.files["readme.md"] = "# hello\n"
	_, err := Link(t.Context(), src, nil, filepath.Join(t.TempDir(), "view"), func(done, total int) {
		if done < last || done > total || total != len(src.files) {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	})
	if err != nil || last < len(src.files)-2 { // go.mod files are read ahead
		t.Errorf("%d, %v", last, err)
	}
}

func TestEmpty(t *testing.T) {
	v, stats := linked(t, &tree{}, nil)
	if stats.Documents != 0 || stats.Edges != 0 {
		t.Errorf("%+v", stats)
	}
	if ds, err := v.Find("x"); err != nil || ds != nil {
		t.Errorf("%v, %v", ds, err)
	}
	if n, err := v.InDegree("x"); err != nil || n != 0 {
		t.Errorf("%v, %v", n, err)
	}
}

func TestOtherLanguages(t *testing.T) {
	src := &tree{
		files: map[string]string{"a.py": "def f():\n    pass\n", "b.py": "import a\n\ndef g():\n    a.f()\n", "notes.md": "# f\n"},
		symbols: map[string][]kb.Symbol{
			"a.py":     {{Name: "f", Kind: "function", Start: 1, End: 2, Line: 1}},
			"b.py":     {{Name: "g", Kind: "function", Start: 3, End: 4, Line: 3}},
			"notes.md": {{Name: "f", Kind: "heading", Start: 1, End: 1, Line: 1}},
		},
		facts: map[string]kb.Facts{
			"b.py": {Imports: []kb.Import{{Path: "a", Local: "a", Line: 1}}, References: []kb.Reference{{Name: "f", Qualifier: "a", Kind: kb.UseCall, Line: 4}}},
		},
	}
	// Documents of languages carry names, not endings.
	v, stats := linked(t, named{src}, nil)
	es, err := v.Into(one(t, v, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"call b.py:4 g"}, places(es)); diff != "" {
		t.Error(diff)
	}
	if stats.Declarations != 2 || stats.Edges != 1 {
		t.Errorf("%+v", stats)
	}
}

// The declarations of one language are not those of another beside it.
func TestLanguagesSideBySide(t *testing.T) {
	src := &tree{files: map[string]string{"go.mod": "module x\n"}, symbols: map[string][]kb.Symbol{}, facts: map[string]kb.Facts{}}
	var want []string
	for i := range 20 {
		f, g, h := fmt.Sprintf("F%d", i), fmt.Sprintf("G%d", i), fmt.Sprintf("h%d", i)
		src.files[fmt.Sprintf("p%02d/a.go", i)] = fmt.Sprintf("package p\n\nfunc %s() { %s() }\n\nfunc %s() {}\n", f, g, g)
		p := fmt.Sprintf("p%02d/b.py", i)
		src.files[p] = "def h():\n    h()\n"
		src.symbols[p] = []kb.Symbol{{Name: h, Kind: "function", Start: 1, End: 2, Line: 1}}
		want = append(want, fmt.Sprintf("p%02d/a.go:3 function %s", i, f), fmt.Sprintf("p%02d/a.go:5 function %s", i, g), fmt.Sprintf("%s:1 function %s", p, h))
	}
	v, _ := linked(t, named{src}, nil)
	var got []string
	for i := range 20 {
		for _, name := range []string{"F", "G", "h"} {
			ds, err := v.Find(fmt.Sprintf("%s%d", name, i))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, spots(ds)...)
		}
		es, err := v.Into(one(t, v, fmt.Sprintf("G%d", i)))
		if diff := cmp.Diff([]string{fmt.Sprintf("call p%02d/a.go:3 F%d", i, i)}, places(es)); err != nil || diff != "" {
			t.Error(diff, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// named gives documents the names of their languages.
type named struct{ *tree }

func (n named) Load(ctx context.Context, paths []string) ([]Document, error) {
	docs, err := n.tree.Load(ctx, paths)
	for i := range docs {
		docs[i].Language = map[string]string{"py": "python", "md": "markdown"}[docs[i].Language]
	}
	return docs, err
}

func TestUncertainEdgesAreKept(t *testing.T) {
	b := newBuilder([]Entry{{Path: "a"}, {Path: "b"}}, t.TempDir())
	defer b.close()
	at := b.symbols(0, []kb.Symbol{{Name: "f.g", Kind: "function", Line: 2, Start: 1, End: 3, Path: []string{"C"}}, {Name: "f.g", Kind: "function", Line: 9, Start: 9, End: 9, Path: []string{"C"}},
		{Name: "f.g", Kind: "heading", Line: 5, Path: []string{"C"}}, {Name: "f.g", Kind: "function", Line: 9, Path: []string{"C"}}})
	if !slices.Equal(at, []int32{0, 1, -1, 1}) {
		t.Errorf("declarations %v", at)
	}
	b.symbols(1, nil)
	b.add(1, 3, ref{0, at[1]}, kb.UseInherit, 0.7)
	b.add(1, 3, ref{0, at[3]}, kb.UseInherit, 0.9)
	b.add(1, 4, ref{0, at[2]}, kb.UseCall, 0)
	b.add(1, 0, ref{0, at[1]}, kb.UseCall, 1)
	b.pack(1, fold(b.docs[1].edges))
	path := filepath.Join(t.TempDir(), "view")
	g := &goLinker{b: b, layout: newLayout(nil, nil)}
	if _, _, err := b.write(t.Context(), path, g.writeState); err != nil {
		t.Fatal(err)
	}
	v, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	es, err := v.Out(kb.Spot{Path: "b"})
	want := []kb.Edge{{From: kb.Spot{Path: "b", Line: 3}, To: kb.Spot{Path: "a", Line: 9, Decl: "C.f.g"}, Kind: kb.UseInherit, Confidence: 0.9}}
	if diff := cmp.Diff(want, es); err != nil || diff != "" {
		t.Error(diff, err)
	}
}
