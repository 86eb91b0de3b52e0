package eval

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// limits are the numbers of packages search and rank that no Tuning has, since
// they bound requests and replies and order nothing, with the test that fails
// when one is another.
var limits = map[string]string{
	"MaxQuery": "TestLimits", "MaxLimit": "TestLimits", "MaxDepth": "TestLimits",
	"maxSymbols": "TestLimits", "maxUses": "TestLimits", "most": "TestLimits",
	"maxLinks": "TestLimits", "maxMembers": "TestLimits", "largeType": "TestLimits", "contextBytes": "TestLimits",
	"titleBytes": "search.TestTitle", "ExcerptRunes": "search.TestExcerpt",
	"maxTerms": "rank.TestParseBoundsTerms", "mostDigested": "rank.TestDigest", "mostCovered": "rank.TestCoversFirstWords",
	"mostParts": "rank.TestJoin", "MaxLines": "search.TestLinesThatAreAskedFor", "widestLine": "search.TestLinesThatAreAskedFor",
	"MaxAround": "code.TestAround",
	"leastHow":  "rank.TestAsksHow", "mostHow": "rank.TestAsksHow",
	// Those of packed replies, of which TestPinned has some whole.
	"packedPlaces": "TestPinned", "enough": "TestPinned",
	"unsureShare": "TestPinned", "literalShare": "TestPinned", "fewLinks": "TestPinned", "fewest": "TestPinned", "flowMeaning": "TestPinned", "packedValues": "find.TestPackedReply",
	"leastSlice": "TestPinned", "rowTokens": "TestPinned", "fewRows": "TestPinned", "longRows": "TestPinned", "someRowTokens": "TestPinned", "linedRowTokens": "TestPinned", "manyRows": "TestPinned",
	"largeInner": "TestPinned", "packedLinks": "TestPinned", "packWidth": "TestPinned", "nearby": "TestPinned",
	"furtherTokens": "find.TestFurtherFunctions", "furtherNames": "TestPinned", "furtherOfOne": "TestPinned",
	"closing": "TestPinned", "PackedTokens": "TestPinned", "pathsAtOnce": "search.TestManyPaths", "besides": "search.TestPassagesOfManyTargets",
	"MinBudget": "find.TestPackedReply", "MaxBudget": "find.TestPackedReply",
	"rememberedTokens": "search.TestMemory", "rememberedPlaces": "search.TestMemory",
	"maxTypes": "search.TestNeeded", "maxTests": "search.TestNeeded", "testDepth": "search.TestNeeded", "linkBytes": "search.TestNeeded",
}

// TestEveryNumberHasItsPlace: a named number of the two packages is in a Tuning,
// which TestEveryNumberIsPinned changes, or in limits.
func TestEveryNumberHasItsPlace(t *testing.T) {
	unused := maps.Clone(limits)
	for _, dir := range []string{"..", "../rank"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.CONST && g.Tok != token.VAR {
					continue
				}
				for _, s := range g.Specs {
					v := s.(*ast.ValueSpec)
					for i, x := range v.Values {
						if !isNumber(x) {
							continue
						}
						if limits[v.Names[i].Name] == "" {
							t.Errorf("%s: the number %s belongs in Tuning, or among the limits here with its test", name, v.Names[i].Name)
						}
						delete(unused, v.Names[i].Name)
					}
				}
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("limits that are no more: %v", slices.Sorted(maps.Keys(unused)))
	}
}

// isNumber reports whether an expression is made of numbers alone.
func isNumber(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind == token.INT || x.Kind == token.FLOAT
	case *ast.UnaryExpr:
		return isNumber(x.X)
	case *ast.BinaryExpr:
		return isNumber(x.X) || isNumber(x.Y)
	}
	return false
}

// limitFiles has more of everything than a reply shows.
func limitFiles() memory {
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	files := memory{
		"go.mod": []byte("module example.org/many\n\ngo 1.24\n"),
		"calls.go": []byte("package many\n\nfunc tick() {}\n\nfunc tock() {}\n\nfunc all() {\n" +
			lines(30, "\tcall%d()\n") + "}\n\n" + lines(30, "func call%d() {\n\ttick()\n}\n\n")),
		"loop.go":    []byte("package many\n\nfunc loop() {\n" + strings.Repeat("\ttock()\n", 2050) + "}\n"),
		"same.go":    []byte("package many\n\n" + lines(25, "type same%[1]d struct{}\n\nfunc (same%[1]d) Same() {}\n\n")),
		"narrow.py":  []byte("class Narrow:\n" + strings.Repeat("    a = 1\n", 147) + "    def last(self):\n        return 1\n"),
		"wide.py":    []byte("class Wide:\n" + lines(70, "    def method%d(self):\n        return 1\n\n")),
		"larger.py":  []byte("class Larger:\n" + strings.Repeat("    a = 1\n", 148) + "    def last(self):\n        return 1\n"),
		"long.py":    []byte("def long():\n" + strings.Repeat("    step(\"one of very many steps, which are alike\")\n", 600)),
		"z/other.md": []byte("# Other\n\nText.\n"),
	}
	for i := range 8 {
		files[fmt.Sprintf("d%d/near.md", i)] = []byte("# Near\n\nText.\n")
	}
	return files
}

// TestLimits pins what a reply shows of what there is more of, and the largest
// request that is taken.
func TestLimits(t *testing.T) {
	b, err := NewBench(t.Context(), "", embed.Default(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	p := &corpus{bench: b, stores: map[string]search.Target{}, ids: map[string]map[string][]string{}}
	p.add(t, "many", limitFiles(), true)
	targets := []search.Target{p.stores["many"]}
	got := map[string]int{}
	code := func(what, symbol string) search.CodeReply {
		r, err := search.Code(t.Context(), targets, search.CodeRequest{Symbol: symbol, What: what, Limit: 3000})
		if err != nil {
			t.Fatal(symbol, err)
		}
		return r
	}
	show := func(symbol string) search.Context {
		c, err := search.Show(t.Context(), targets, code(search.Definition, symbol).Symbols[0].ID)
		if err != nil {
			t.Fatal(symbol, err)
		}
		return c
	}
	got["declarations of a name"] = len(code(search.Definition, "Same").Symbols)
	got["callers"] = len(code(search.Callers, "tock").Uses)
	c := show("all")
	got["callees shown"], got["callees not shown"] = len(c.Callees), c.MoreCallees
	got["members"] = len(show("Wide").Members)
	got["lines of a type shown whole"] = show("Narrow").End
	got["members of a type one line longer"] = len(show("Larger").Members)
	got["kilobytes of code"] = len(show("long").Code) / 1000
	_, err = search.Locate(t.Context(), targets, search.Asked{Path: "near.md"})
	got["paths in a message"] = strings.Count(fmt.Sprint(err), "/near.md")
	refused := func(r *search.Request) int {
		if err := r.Complete(); err != nil {
			return 1
		}
		return 0
	}
	long := search.Request{Query: strings.Repeat("x", 100_000)}
	got["longer query refused"], got["kilobytes of it read"] = refused(&long), len(long.Query)>>10
	got["most hits refused"] = refused(&search.Request{Query: "x", Limit: 100})
	got["more hits refused"] = refused(&search.Request{Query: "x", Limit: 101})
	for depth, name := range map[int]string{5: "deepest calls", 6: "deeper calls"} {
		r := search.CodeRequest{Symbol: "tick", What: search.Callers, Depth: depth, Limit: 1}
		_, err := search.Code(t.Context(), targets, r)
		got[name+" refused"] = 0
		if kb.CodeOf(err) == kb.Invalid {
			got[name+" refused"] = 1
		}
	}
	want := map[string]int{
		"declarations of a name": 20, "callers": 2000, "callees shown": 12, "callees not shown": 18, "members": 60,
		"lines of a type shown whole": 150, "members of a type one line longer": 1, "kilobytes of code": 23,
		"paths in a message":   5,
		"longer query refused": 0, "kilobytes of it read": 64, "most hits refused": 0, "more hits refused": 1,
		"deepest calls refused": 0, "deeper calls refused": 1,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("limits moved (-want +got):\n%s", d)
	}
}
