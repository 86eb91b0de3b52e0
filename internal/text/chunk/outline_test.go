package chunk

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var update = flag.Bool("update", false, "rewrite testdata/outlines")

// TestOutlines compares what is found in each of testdata/samples with the
// outline of the same name, which is made to be read. -update rewrites them.
func TestOutlines(t *testing.T) {
	for name, body := range samples(t) {
		text, err := Decode(name, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n", text.Language)
		for _, c := range check(t, text) {
			fmt.Fprintf(&b, "L%d-%d %s %s\n", c.Start, c.End, c.Kind, strings.Join(c.Decl, " > "))
			for _, s := range c.Symbols {
				fmt.Fprintf(&b, "    %s %s L%d-%d | %s", s.Kind, s.Name, s.Start, s.End, s.Signature)
				if s.Doc != "" {
					fmt.Fprintf(&b, " | %s", s.Doc)
				}
				b.WriteByte('\n')
			}
		}
		golden := filepath.Join("testdata", "outlines", filepath.Base(name)+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), b.String()); d != "" {
			t.Errorf("%s (-want +got; go test -update rewrites):\n%s", name, d)
		}
	}
}

// row is a chunk in few words: "L1-3 kind Decl/Path name,name".
func row(c kb.Chunk) string {
	var names []string
	for _, s := range c.Symbols {
		names = append(names, s.Name)
	}
	return strings.TrimRight(fmt.Sprintf("L%d-%d %s %s %s", c.Start, c.End, c.Kind, strings.Join(c.Decl, "/"), strings.Join(names, ",")), " ")
}

func rows(t *testing.T, language, body string) []string {
	t.Helper()
	var out []string
	for _, c := range check(t, kb.Text{Body: body, Language: language}) {
		out = append(out, row(c))
	}
	return out
}

// statements returns n lines of a body.
func statements(n int) string { return strings.Repeat("\tcall(1)\n", n) }

func TestSplitGo(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string
	}{
		{"package and imports are a chunk, with the licence above",
			"// Copyright x.\n\n// Package a is.\npackage a\n\nimport \"fmt\"\nimport (\n\t\"os\"\n)\n\nfunc A() {\n}\n",
			[]string{"L1-10 imports", "L11-12 function A A"}},
		{"small declarations share a chunk that is named after the weightiest",
			"package a\n\nconst (\n\tA = 1\n\tB = 2\n)\n\ntype T []string\n\nfunc (t T) Len() int { return 0 }\n",
			[]string{"L1-2 imports", "L3-10 type T A,B,T,Len"}},
		{"a declaration of eight lines stands alone",
			"package a\n\nvar x = 1\n\nfunc F() {\n" + statements(6) + "}\n\nvar y = 1\n",
			[]string{"L1-2 imports", "L3-4 var x x", "L5-13 function F F", "L14-14 var y y"}},
		{"a free comment goes with what follows",
			"package a\n\nfunc F() {\n" + statements(7) + "}\n\n// Section.\n\n// G does.\nfunc (s *Server[K]) G() {\n" + statements(7) + "}\n",
			[]string{"L1-2 imports", "L3-12 function F F", "L13-24 method Server/G G"}},
		{"a large function is cut; its parts keep the path, the first has the symbol",
			"package a\n\nfunc F() {\n" + strings.Repeat("\tif x {\n\t\tcall(1)\n\t}\n\n", 40) + "}\n",
			[]string{"L1-2 imports", "L3-43 function F F", "L44-83 function F", "L84-123 function F", "L124-164 function F"}},
		{"the methods of an interface are symbols",
			"package a\n\n// R reads. Well.\ntype R interface {\n\tio.Closer\n\t// Read reads.\n\tRead(p []byte) int\n}\n",
			[]string{"L1-2 imports", "L3-8 type R R,Read"}},
		{"declarations on one line share it",
			"package a; var x = 1; func F() {}; type T int\n",
			[]string{"L1-1 imports  x,F,T"}},
		{"a blank name is no symbol",
			"package a\n\nvar _ I = T{}\n",
			[]string{"L1-2 imports", "L3-3 var"}},
		{"a syntax error leaves it to the window",
			"package a\n\nimport \"fmt\"\n\n// F does.\nfunc F( {\n" + statements(7) + "}\n\nfunc (s *S) G() {\n" + statements(7) + "}\n",
			[]string{"L1-4 imports", "L5-15 function F F", "L16-24 method S/G G"}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, rows(t, "go", tt.body)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestGoSymbols(t *testing.T) {
	body := "package a\n\n" +
		"// Serve accepts\n// connections, e.g. TCP. It blocks.\nfunc (s *Server) Serve(\n\tl  net.Listener,\n) error {\n\treturn nil\n}\n\n" +
		"//go:embed x\n// Server is one.\ntype Server struct {\n\ta int\n}\n\n" +
		"const (\n\tA, B = 1, 2 // both\n\n\t// C is.\n\tC = 3\n)\n"
	var got []kb.Symbol
	for _, c := range check(t, kb.Text{Body: body, Language: "go"}) {
		got = append(got, c.Symbols...)
	}
	want := []kb.Symbol{
		{Name: "Serve", Kind: "method", Signature: "func (s *Server) Serve( l net.Listener, ) error", Doc: "Serve accepts connections, e.g. TCP.", Start: 3, End: 9, Line: 5, Path: []string{"Server"}},
		{Name: "Server", Kind: "type", Signature: "type Server struct", Doc: "Server is one.", Start: 11, End: 15, Line: 13},
		{Name: "A", Kind: "const", Signature: "const A, B = 1, 2", Doc: "both", Start: 18, End: 18, Line: 18},
		{Name: "B", Kind: "const", Signature: "const A, B = 1, 2", Doc: "both", Start: 18, End: 18, Line: 18},
		{Name: "C", Kind: "const", Signature: "const C = 3", Doc: "C is.", Start: 20, End: 21, Line: 21},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestSplitMarkdown(t *testing.T) {
	text := strings.Repeat("Some text.\n", 5)
	tests := []struct {
		name, body string
		want       []string
	}{
		{"sections by heading, with the path of headings",
			"# A\n\n" + text + "\n## B\n" + text + "# C\n" + text,
			[]string{"L1-8 section A A", "L9-14 section A/B B", "L15-20 section C C"}},
		{"a section with next to no text joins the first below it",
			"# A\n\n## B\n\n### C\n" + text + "## D\nx\n## E\n",
			[]string{"L1-10 section A/B/C A,B,C", "L11-12 section A/D D", "L13-13 section A/E E"}},
		{"underlined headings",
			"A\n===\n" + text + "\nB\nc\n---\n" + text + "\n---\n",
			[]string{"L1-8 section A A", "L9-18 section A/B c B c"}},
		{"no headings in fences, comments, front matter and indented code",
			"---\n# a: b\n---\n\n```\n# no\n~~~\n```\n~~~~md\n~~~\n# no\n~~~~\n<!--\n# no\n-->\n    # no\n#no\n",
			[]string{"L1-4 block", "L5-17 section"}},
		{"text before the first heading is a section without a path",
			text + "\n# A\n" + text,
			[]string{"L1-6 section", "L7-12 section A A"}},
		{"headings are shown as read",
			"# The `a*b` [link](x) **bold** <br> {#id}\n" + text,
			[]string{"L1-6 section The a*b link bold The a*b link bold"}},
		{"a long section is cut at blank lines outside fences",
			"# A\n\n" + strings.Repeat(text+"\n", 5) + "```\n" + strings.Repeat("a\n\n", 10) + "```\n\n" + strings.Repeat(text+"\n", 5),
			[]string{"L1-32 section A A", "L33-85 section A"}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, rows(t, "markdown", tt.body)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestSplitWindow(t *testing.T) {
	body := func(n int) string { return strings.Repeat("    call(1)\n", n) }
	tests := []struct {
		name, language, body string
		want                 []string
	}{
		{"imports, constants, and decorators with their function", "python",
			"import a\nfrom b import (\n    c,\n)\n\nX = 1\n\n# Note.\n@app.route(\n    '/x',\n)\ndef f():\n" + body(7),
			[]string{"L1-5 imports", "L6-7 const X X", "L8-19 function f f"}},
		{"the head of a class joins its first method", "python",
			"class A:\n    '''Doc.'''\n\n    def f(self):\n    " + strings.ReplaceAll(body(8), "\n", "\n    ") + "\n    def g(self):\n" + strings.ReplaceAll(body(9), "    call", "        call"),
			[]string{"L1-13 class A A,f", "L14-23 method A/g g"}},
		{"strings of several lines hold no declarations", "python",
			"s = '''\ndef no():\n  pass\n'''\n\ndef f():\n" + body(8),
			[]string{"L1-5 block", "L6-14 function f f"}},
		{"keywords are no names", "javascript",
			"class A {\n  if (x) {\n  }\n  for (;;) {\n  }\n  m(a) {\n  }\n}\n",
			[]string{"L1-8 class A A,m"}},
		{"a prototype, a call and a macro use are no definitions", "c",
			"int f(int a);\nf(1);\nMODULE(x)\nreturn g(a) {\n}\n",
			[]string{"L1-5 block"}},
		{"an unknown language is cut at low indentation after blank lines", "text",
			strings.Repeat("a:\n  b\n\n  c\n  d\n\n", 20),
			[]string{"L1-42 block", "L43-84 block", "L85-120 block"}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, rows(t, tt.language, tt.body)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestLongLine(t *testing.T) {
	body := "a\n" + strings.Repeat("x", 10_000) + "\nb\n"
	var got []string
	for _, c := range check(t, kb.Text{Body: body, Language: "text"}) {
		got = append(got, fmt.Sprintf("L%d-%d:c%d-%d", c.Start, c.End, c.ColFrom, c.ColTo))
	}
	want := []string{"L1-1:c0-0", "L2-2:c0-4000", "L2-2:c4000-8000", "L2-2:c8000-10000", "L3-3:c0-0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
