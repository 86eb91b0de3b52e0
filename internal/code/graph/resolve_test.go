package graph

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// facts makes documents out of lines:
//
//	== path language
//	pkg NAME
//	KIND Outer.name FROM-TO       a declaration; ":" parts names that hold dots;
//	                              a signature may stand before the lines, "_" for blanks
//	import PATH NAME LOCAL LINE   "-" for nothing
//	call|use|type|inherit Qualifier.Name LINE    Name/2: with two arguments
//	bind NAME TYPE FROM-TO
func facts(t testing.TB, text string) []Document {
	t.Helper()
	var docs []Document
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		for k := range w {
			if w[k] == "-" {
				w[k] = ""
			}
		}
		if w[0] == "==" {
			docs = append(docs, Document{Path: w[1], Language: w[2], Body: func() (string, error) {
				t.Error("body was read")
				return "", nil
			}})
			continue
		}
		d := &docs[len(docs)-1]
		from, to := 0, 0
		if n, err := fmt.Sscanf(w[len(w)-1], "%d-%d", &from, &to); n == 1 || err != nil {
			to = from
		}
		switch w[0] {
		case "pkg":
			d.Facts.Package = w[1]
		case "import":
			d.Facts.Imports = append(d.Facts.Imports, kb.Import{Path: w[1], Name: w[2], Local: w[3], Line: from})
		case "bind":
			d.Facts.Bindings = append(d.Facts.Bindings, kb.Binding{Name: w[1], Type: w[2], From: from, To: to})
		case "call", "use", "type", "inherit":
			ref := kb.Reference{Name: w[1], Line: from}
			if name, args, ok := strings.Cut(ref.Name, "/"); ok {
				w[1], ref.Name = name, name
				ref.Args, _ = strconv.Atoi(args)
				ref.Args++
			}
			if n := strings.LastIndexByte(w[1], '.'); n >= 0 {
				ref.Qualifier, ref.Name = w[1][:n], w[1][n+1:]
			}
			ref.Kind = map[string]kb.UseKind{"call": kb.UseCall, "use": kb.UseName, "type": kb.UseType, "inherit": kb.UseInherit}[w[0]]
			d.Facts.References = append(d.Facts.References, ref)
		default:
			s := kb.Symbol{Kind: w[0], Name: w[1], Start: from, Line: from, End: to}
			sep := "."
			if strings.Contains(w[1], ":") {
				sep = ":"
			}
			if parts := strings.Split(w[1], sep); len(parts) > 1 {
				s.Path, s.Name = parts[:len(parts)-1], parts[len(parts)-1]
			}
			if len(w) > 3 {
				s.Signature = strings.ReplaceAll(w[2], "_", " ")
			}
			d.Symbols = append(d.Symbols, s)
		}
	}
	slices.SortFunc(docs, func(a, b Document) int { return strings.Compare(a.Path, b.Path) })
	return docs
}

func edges(t testing.TB, docs []Document) []kb.Edge {
	t.Helper()
	var all []kb.Edge
	if err := resolveAll(t.Context(), docs, func(e kb.Edge) { all = append(all, e) }); err != nil {
		t.Fatal(err)
	}
	return all
}

// resolveAll emits the edges between documents, each once.
func resolveAll(ctx context.Context, docs []Document, emit func(kb.Edge)) error {
	r := newResolver(newWords(), "")
	for i := range docs {
		r.keep(&docs[i], int32(i), make([]int32, len(docs[i].Symbols)))
	}
	seen := map[kb.Edge]bool{}
	return r.resolve(ctx, func(u used) {
		from, to := &docs[u.from], &docs[u.to.file]
		s := &to.Symbols[u.to.sym]
		e := kb.Edge{Kind: u.kind, Confidence: u.sure, From: kb.Spot{Path: from.Path, Line: int(u.line)},
			To: kb.Spot{Path: to.Path, Line: lineOf(s), Decl: s.Qualified()}}
		if !seen[e] {
			seen[e] = true
			emit(e)
		}
	}, nil)
}

// short writes an edge as "a.py:3 > b.py:1 call 0.9".
func short(e kb.Edge) string {
	s := fmt.Sprintf("%s:%d > %s:%d %s", e.From.Path, e.From.Line, e.To.Path, e.To.Line, e.Kind)
	if e.Confidence != 1 {
		s += " " + strconv.FormatFloat(e.Confidence, 'g', 2, 64)
	}
	return s
}

func TestResolve(t *testing.T) {
	for _, c := range append(resolveCases[:len(resolveCases):len(resolveCases)], nativeCases...) {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range edges(t, facts(t, c.docs)) {
				got = append(got, short(e))
			}
			var want []string
			for line := range strings.Lines(c.want) {
				if line = strings.TrimSpace(line); line != "" {
					want = append(want, line)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// Whatever the facts, every edge begins at a reference, ends at a declaration,
// and comes in the same order each time.
func TestResolveAnyFacts(t *testing.T) {
	languages := []string{"python", "typescript", "java", "rust", "c", "cpp", "ruby", "php", "swift", "elixir", "haskell", "lua", "bash", "zig", "csharp", "kotlin", "text"}
	names := []string{"a", "b", "c", "A", "B", "run", "self", "new", "super", "crate", "*", "", ".", "..", "default", "__init__", "very_special"}
	paths := []string{".", "..", "./a", "../b", "a.b", "crate::a", "super::super::a", "a::*", "", "...", "self", "/", "a/b.h", "@x/a"}
	kinds := []string{"class", "function", "method", "var", "module", "namespace", "trait"}
	for seed := range uint64(150) {
		g := rand.New(rand.NewPCG(seed, 7))
		pick := func(of []string) string { return of[g.IntN(len(of))] }
		var docs []Document
		for n := range 1 + g.IntN(6) {
			d := Document{Path: fmt.Sprintf("%s/%s%d", pick([]string{"src", "a", "a/b", "tests"}), pick([]string{"mod.rs", "a.py", "index.ts", "lib.rs"}), n)}
			if g.IntN(3) == 0 {
				d.Path = pick([]string{"a/__init__.py", "src/lib.rs", "src/a.rs", "src/mod.rs", "a/b.py", "index.ts", "b.ts", "a.h"})
			}
			d.Language = pick(languages)
			d.Facts.Package = pick(names)
			for range g.IntN(12) {
				from := g.IntN(30) - 1
				s := kb.Symbol{Name: pick(names), Kind: pick(kinds), Start: from, Line: from + g.IntN(2), End: from + g.IntN(9) - 1}
				for range g.IntN(3) {
					s.Path = append(s.Path, pick(names))
				}
				d.Symbols = append(d.Symbols, s)
			}
			for range g.IntN(8) {
				d.Facts.Imports = append(d.Facts.Imports, kb.Import{Path: pick(paths), Name: pick(names), Local: pick(names), Line: g.IntN(30)})
			}
			for range g.IntN(12) {
				from := g.IntN(30)
				d.Facts.Bindings = append(d.Facts.Bindings, kb.Binding{Name: pick([]string{"a", "self.b", "@c", "A"}), Type: pick(names), From: from, To: from + g.IntN(9) - 1})
			}
			for range g.IntN(30) {
				q := ""
				for range g.IntN(3) {
					q = strings.TrimPrefix(q+"."+pick(names), ".")
				}
				d.Facts.References = append(d.Facts.References, kb.Reference{Name: pick(names), Qualifier: q, Kind: kb.UseKind(g.IntN(4)), Line: g.IntN(31)})
			}
			docs = append(docs, d)
		}
		slices.SortFunc(docs, func(a, b Document) int { return strings.Compare(a.Path, b.Path) })
		docs = slices.CompactFunc(docs, func(a, b Document) bool { return a.Path == b.Path })
		decls, refs := map[kb.Spot]bool{}, map[string]bool{}
		for _, d := range docs {
			for k := range d.Symbols {
				s := &d.Symbols[k]
				decls[kb.Spot{Path: d.Path, Line: lineOf(s), Decl: s.Qualified()}] = true
			}
			for _, ref := range d.Facts.References {
				refs[fmt.Sprint(d.Path, ref.Line, ref.Kind)] = true
			}
		}
		all := edges(t, docs)
		for _, e := range all {
			if !decls[e.To] {
				t.Fatalf("seed %d: %+v ends at no declaration", seed, e)
			}
			if !refs[fmt.Sprint(e.From.Path, e.From.Line, e.Kind)] {
				t.Fatalf("seed %d: %+v begins at no reference", seed, e)
			}
			if e.Confidence <= 0 || e.Confidence > 1 {
				t.Fatalf("seed %d: %+v", seed, e)
			}
		}
		if d := cmp.Diff(all, edges(t, docs)); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
	}
}

func TestTakes(t *testing.T) {
	for _, c := range []struct {
		sig  string
		want string // the numbers from 0 to 4 that it takes
	}{
		{"void f()", "0"},
		{"public <T> T f(String a, Class<T> b) throws E", "2"},
		{"f(Map<String, List<B>> m, int... rest)", "1234"},
		{"fun f(a: Int, b: (Int, Int) -> Int = g(1, 2), vararg c: Int)", "1234"},
		{"void f(params object[] a)", "01234"},
		{"void f(int a = 1, int b = 2)", "012"},
		{"void f(int a, int", "01234"},
		{"", "01234"},
	} {
		got, s := "", symbol{}
		s.least, s.most = arguments("f", c.sig)
		for n := range 5 {
			if s.takes(n) {
				got += strconv.Itoa(n)
			}
		}
		if got != c.want {
			t.Errorf("%q takes %s, want %s", c.sig, got, c.want)
		}
	}
}

// Facts that lead back to themselves end.
func TestResolveCycles(t *testing.T) {
	docs := facts(t, `
== a/__init__.py python
import .b * - 1
import .b x y 2
call y 3
call zzz 4
class A 5-9
inherit B 5
method A.go 6-7
call self.nowhere 6
call super.nowhere 7
bind self.f self.f 6-7
== a/b.py python
import . * - 1
import . y x 2
import . A A 3
class B 4-5
inherit A 4
call x 6
call B.go 7
`)
	var got []string
	for _, e := range edges(t, docs) {
		got = append(got, short(e))
	}
	want := []string{"a/__init__.py:5 > a/b.py:4 inherit", "a/b.py:4 > a/__init__.py:5 inherit", "a/b.py:7 > a/__init__.py:6 call 0.8"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Sizes at which anything that is not near linear would not end.
func TestResolveHostileSizes(t *testing.T) {
	var docs []Document
	const n = 400
	for i := range n {
		d := Document{Path: fmt.Sprintf("m%05d.py", i), Language: "python"}
		d.Facts.Imports = append(d.Facts.Imports, kb.Import{Path: fmt.Sprintf("m%05d", (i+1)%n), Name: "*", Line: 1})
		d.Symbols = append(d.Symbols, kb.Symbol{Name: fmt.Sprintf("C%d", i), Kind: "class", Line: 2, Start: 2, End: 2000})
		d.Facts.References = append(d.Facts.References, kb.Reference{Name: fmt.Sprintf("C%d", (i+1)%n), Kind: kb.UseInherit, Line: 2})
		for k := range 500 {
			d.Facts.References = append(d.Facts.References, kb.Reference{Name: "absent", Qualifier: "self", Kind: kb.UseCall, Line: k + 3},
				kb.Reference{Name: "lost", Kind: kb.UseCall, Line: k + 3})
			d.Facts.Bindings = append(d.Facts.Bindings, kb.Binding{Name: "x", From: k, To: k + 1})
		}
		docs = append(docs, d)
	}
	docs[0].Symbols = append(docs[0].Symbols, kb.Symbol{Name: "lost", Kind: "function", Line: 3000, Start: 3000, End: 3000},
		kb.Symbol{Name: "absent", Kind: "function", Line: 3001, Start: 3001, End: 3001})
	deep := Document{Path: "z.py", Language: "python"}
	for k := range 3000 {
		deep.Symbols = append(deep.Symbols, kb.Symbol{Name: "f", Kind: "function", Line: k + 1, Start: k + 1, End: 9000 - k})
		deep.Facts.References = append(deep.Facts.References, kb.Reference{Name: "lost", Kind: kb.UseCall, Line: k + 1,
			Qualifier: strings.Repeat("f.", k) + "f"})
	}
	docs = append(docs, deep)
	if got := len(edges(t, docs)); got < n {
		t.Errorf("%d edges", got)
	}
}

func TestResolveStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := resolveAll(ctx, facts(t, "== a.py python\ncall f 1\nfunction f 2-3"), func(kb.Edge) { t.Error("emitted") })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkResolve(b *testing.B) {
	var docs []Document
	const n = 10000
	for i := range n {
		d := Document{Path: fmt.Sprintf("p%d/m%05d.py", i/100, i), Language: "python"}
		for k := range 5 {
			o := (i*7 + k*13) % n
			d.Facts.Imports = append(d.Facts.Imports, kb.Import{Path: fmt.Sprintf("p%d.m%05d", o/100, o), Name: fmt.Sprintf("C%d", o), Local: fmt.Sprintf("C%d", o), Line: 1})
		}
		c := fmt.Sprintf("C%d", i)
		d.Symbols = append(d.Symbols, kb.Symbol{Name: c, Kind: "class", Line: 10, Start: 10, End: 300})
		for m := range 20 {
			l := 11 + m*10
			d.Symbols = append(d.Symbols, kb.Symbol{Name: fmt.Sprintf("m%d", m), Path: []string{c}, Kind: "method", Line: l, Start: l, End: l + 9})
			o := (i*7 + m%5*13) % n
			d.Facts.Bindings = append(d.Facts.Bindings, kb.Binding{Name: "x", Type: fmt.Sprintf("C%d", o), From: l, To: l + 9})
			for k := range 5 {
				d.Facts.References = append(d.Facts.References, kb.Reference{Name: fmt.Sprintf("m%d", k), Qualifier: []string{"self", "x", "", "y", "C1"}[k], Kind: kb.UseCall, Line: l + k})
			}
		}
		docs = append(docs, d)
	}
	b.ResetTimer()
	b.ReportAllocs()
	for b.Loop() {
		k := 0
		if err := resolveAll(b.Context(), docs, func(kb.Edge) { k++ }); err != nil || k == 0 {
			b.Fatal(err, k)
		}
	}
}
