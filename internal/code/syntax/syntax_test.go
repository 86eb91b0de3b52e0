package syntax

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
)

var (
	update = flag.Bool("update", false, "rewrite the golden outlines")
	dump   = flag.String("dump", "", "LANGUAGE:FILE to print the tree and the outline of")
)

// set is shared: a grammar is compiled once for all tests.
var set = &grammar.Set{Wanted: Wanted, Folder: filepath.Join(os.TempDir(), "knowledge-grammars")}

func TestRulesNameNodesThatExist(t *testing.T) {
	for name, s := range specs {
		l, err := set.Language(t.Context(), s.grammar)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var nodes []string
		for _, r := range s.rules {
			nodes = append(nodes, strings.Fields(r.types)...)
		}
		for _, c := range s.chains {
			nodes = append(nodes, strings.Fields(c.types)...)
		}
		for _, n := range slices.Concat(nodes, s.comments, s.attributes) {
			if len(l.Symbol(n)) == 0 {
				t.Errorf("%s: the grammar has no node type %q", name, n)
			}
		}
		for _, n := range s.tokens {
			if !slices.Contains(l.Symbols, n) {
				t.Errorf("%s: the grammar has no token %q", name, n)
			}
		}
	}
}

// languages lists those that have rules.
func languages(t *testing.T) []string {
	t.Helper()
	var out []string
	used := map[string]bool{}
	for _, l := range lang.Table {
		if l.Rules == "" {
			continue
		}
		if specs[l.Rules] == nil {
			t.Errorf("%s: there are no rules %q", l.Name, l.Rules)
		}
		used[l.Rules] = true
		out = append(out, l.Name)
	}
	for name := range specs {
		if !used[name] {
			t.Errorf("no language has the rules %q", name)
		}
	}
	return out
}

// TestGolden reads testdata/LANGUAGE/*: each file X has its outline in X.outline.
func TestGolden(t *testing.T) {
	for _, name := range languages(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for f, src := range examples(t, name) {
				out, err := Read(t.Context(), set, name, src)
				if err != nil {
					t.Errorf("%s: %v", f, err)
					continue
				}
				got := show(src, out)
				if *update {
					if err := os.WriteFile(f+".outline", []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					continue
				}
				want, _ := os.ReadFile(f + ".outline")
				if d := cmp.Diff(string(want), got); d != "" {
					t.Errorf("%s (-want +got, -update rewrites):\n%s", f, d)
				}
			}
		})
	}
}

// examples returns the files of testdata/LANGUAGE, of which there must be one.
func examples(t *testing.T, name string) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, _ := filepath.Glob(filepath.Join("testdata", name, "*"))
	for _, f := range files {
		if strings.HasSuffix(f, ".outline") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = string(src)
	}
	if len(out) == 0 {
		t.Errorf("there is no example in testdata/%s", name)
	}
	return out
}

// TestBrokenSyntax reads files with pieces cut out: there is no panic, and the
// declarations lie within what is left.
func TestBrokenSyntax(t *testing.T) {
	for _, name := range languages(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, src := range examples(t, name) {
				for k := 1; k < 12; k++ {
					a, b := len(src)*k/12, len(src)*(k+k%3)/14
					check(t, name, src[:min(a, b)]+src[max(a, b):])
					check(t, name, src[:a])
				}
			}
		})
	}
}

func TestDeepNesting(t *testing.T) {
	for _, name := range languages(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range []string{"(", "{", "[", "if (x) {", "f(", "a.b(", "<a>", "- ", "class A { "} {
				check(t, name, strings.Repeat(p, 5000))
			}
		})
	}
}

func check(t *testing.T, name, text string) {
	t.Helper()
	out, err := Read(t.Context(), set, name, text)
	if err != nil {
		t.Logf("%s: %d bytes: %v", name, len(text), err)
		return
	}
	n := strings.Count(text, "\n") + 1
	for _, d := range out.Decls {
		if d.Start < 0 || d.Start > d.Line || d.Line > d.End || d.End >= n || d.Name == "" {
			t.Fatalf("%s: a declaration lies outside: %+v of %d lines in %q", name, d, n, text[:min(len(text), 200)])
		}
		for _, r := range [][2]int{d.Signature, d.Doc} {
			if r[0] < 0 || r[0] > r[1] || r[1] > len(text) {
				t.Fatalf("%s: a range lies outside: %+v", name, d)
			}
		}
	}
}

// show prints an outline for people: declarations with lines from 1, then
// imports, uses and bindings.
func show(src string, o Outline) string {
	var b strings.Builder
	fold := func(r [2]int) string { return strings.Join(strings.Fields(src[r[0]:r[1]]), " ") }
	for _, d := range o.Decls {
		inner := ""
		if d.Inner {
			inner = " inner"
		}
		fmt.Fprintf(&b, "%s %s L%d-%d name L%d%s\n", d.Kind, strings.Join(append(slices.Clone(d.Path), d.Name), "."), d.Start+1, d.End+1, d.Line+1, inner)
		fmt.Fprintf(&b, "\tsignature %s\n", fold(d.Signature))
		if s := fold(d.Doc); s != "" {
			fmt.Fprintf(&b, "\tdoc %s\n", s)
		}
	}
	if o.Facts.Package != "" {
		fmt.Fprintf(&b, "package %s\n", o.Facts.Package)
	}
	for _, i := range o.Facts.Imports {
		fmt.Fprintf(&b, "import %q %s as %s L%d\n", i.Path, i.Name, i.Local, i.Line)
	}
	for _, r := range o.Facts.References {
		fmt.Fprintf(&b, "%s %s | %s L%d\n", r.Kind, r.Qualifier, r.Name, r.Line)
	}
	for _, x := range o.Facts.Bindings {
		fmt.Fprintf(&b, "bind %s %s L%d-%d\n", x.Name, x.Type, x.From, x.To)
	}
	return b.String()
}

// TestDump helps to write rules: go test ./internal/code/syntax -run Dump -dump python:FILE
func TestDump(t *testing.T) {
	name, file, ok := strings.Cut(*dump, ":")
	if !ok {
		t.Skip("no -dump LANGUAGE:FILE")
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	language := name
	if s := specOf(name); s != nil {
		language = s.grammar
	}
	err = set.Parse(t.Context(), language, string(src), func(tree *grammar.Tree) error {
		var open []uint32
		for i := range tree.Nodes {
			n := &tree.Nodes[i]
			for len(open) > 0 && open[len(open)-1] <= uint32(i) {
				open = open[:len(open)-1]
			}
			typ := "ERROR"
			if n.Symbol != grammar.ErrorSymbol {
				typ = tree.Symbols[n.Symbol]
			}
			field := tree.Fields[n.Field]
			if field != "" {
				field += ": "
			}
			text := tree.Text(n)
			if len(text) > 40 {
				text = text[:40] + "…"
			}
			fmt.Printf("%s%s%s %q\n", strings.Repeat("  ", len(open)), field, typ, text)
			open = append(open, n.Next)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if specOf(name) != nil {
		out, err := Read(context.Background(), set, name, string(src))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Print(show(string(src), out))
	}
}

// A grammar that no rules use is dead weight in the binary.
func TestEveryGrammarIsUsed(t *testing.T) {
	used := map[string]bool{}
	for _, s := range specs {
		used[s.grammar] = true
	}
	for _, l := range grammar.Languages() {
		if !used[l] {
			t.Errorf("no rules use the grammar of %s", l)
		}
	}
}

// A pattern of nothing, Right(()), has a name without letters in its tree.
func TestScalaUnitPattern(t *testing.T) {
	o, err := Read(t.Context(), set, "scala", "object A {\n  def f(x: Either[Int, Unit]) = x match {\n    case Right(()) => 1\n    case Left(n) => n\n  }\n}\n")
	if err != nil || len(o.Decls) != 2 || o.Decls[1].Name != "f" {
		t.Errorf("got %+v, %v", o.Decls, err)
	}
}
