package chunk

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestSplitDocuments shows what each format of documents takes for headings
// and what not. The samples show the rest.
func TestSplitDocuments(t *testing.T) {
	text := strings.Repeat("Some text.\n", 5)
	tests := []struct {
		name, language, body string
		want                 []string
	}{
		{"markdown: the title of front matter stands above until a heading of level 1", "markdown",
			"---\ntitle: 'T'\n---\n## A\n" + text + "# B\n" + text + "## C\n" + text,
			[]string{"L1-9 section T/A T,A", "L10-15 section B B", "L16-21 section B/C C"}},
		{"markdown: front matter without title", "markdown",
			"+++\nweight = 1\ntitles = 2\na = 1\nb = 2\n+++\n# A\n" + text,
			[]string{"L1-6 block", "L7-12 section A A"}},
		{"markdown: a fence that begins in a list item ends where the item's text is indented", "markdown",
			"1.  ```sh\n    # no\n    ```\n\n   - a\n\n     ~~~~\n     # no\n     ~~~~\n\n# A\n" + text,
			[]string{"L1-10 section", "L11-16 section A A"}},
		{"markdown: lazy text of a list item is no heading", "markdown",
			"- a\nb\n---\n> c\nd\n---\ne\n---\n" + text,
			[]string{"L1-6 section", "L7-13 section e e"}},
		{"markdown: HTML blocks hold no headings, but are some", "markdown",
			"<div>\n# no\n</div>\n\n<pre>\n\n# no\n</pre>\n<h1 align=center>\n  A <b>b</b>\n</h1>\n" + text + "\n<details>\n\n## B\n" + text + "\n<https://x.y>\n===\n</h2>\n",
			[]string{"L1-8 section", "L9-19 section A b A b", "L20-26 section A b/B B", "L27-29 section <https://x.y> <https://x.y>"}},
		{"markdown: attributes are not shown", "markdown",
			"# A {#a .b}\n" + text + "# B {c=\"d\"}\n" + text + "# C {d}\n" + text,
			[]string{"L1-6 section A A", "L7-12 section B B", "L13-18 section C {d} C {d}"}},
		{"mdx: statements of the module, also over blank lines", "mdx",
			"import a from 'a'\nimport {\n  b,\n} from 'b'\n\n# A\n" + text + "\nexport const f = () => {\n\n  return 1\n}\n\nexport default A\n\nmore text\nimport no from 'no'\n\nexport of goods\n",
			[]string{"L1-12 section A A", "L13-17 function A/f f", "L18-19 const A", "L20-22 section A", "L23-23 const A"}},
		{"mdx: no headings in tags and expressions that go on below, but between tags", "mdx",
			"<A\n  b={`\n# no\n`}\n/>\n\n{/*\n# no\n*/}\n\n<B>\n    # C\n" + text + "</B>\n\na < b {\n\n# D\n" + text,
			[]string{"L1-11 section", "L12-21 section C C", "L22-27 section D D"}},
		{"mdx: a tag and a statement without end", "mdx",
			"export const a = {\n\n<A\n\n# B\n" + text,
			[]string{"L1-2 const a a", "L3-10 section B B"}},
		{"rst: levels by the order of styles, with a line above another style", "rst",
			"=\nno\n==\n\n===\nA b\n===\n" + text + "\nBB\n===\n" + text + "\nC\n~~~\n" + text + "\nD\n===\n" + text,
			[]string{"L1-13 section A b A b", "L14-21 section A b/BB BB", "L22-29 section A b/BB/C C", "L30-36 section A b/D D"}},
		{"rst: rules, tables, literal blocks, comments and directives are no titles", "rst",
			text + "------\n" + text + "\n-----\n\n=====  =====\na      b\n=====  =====\n\n+----+\n| a  |\n+====+\n| b  |\n+----+\n\nText::\n\n  no\n  ==\n\n.. no\n   ==\n\n.. a::\n\n   no\n   ==\n",
			[]string{"L1-36 section"}},
		{"rst: a short underline is none, unless of four or more", "rst",
			"A title\n===\n\nA title\n====\n" + text,
			[]string{"L1-10 section A title A title"}},
		{"rst: objects of some length are sections, nested and left again", "rst",
			"AA\n==\n\n.. class:: B(x)\n\n" + strings.Repeat("   Text.\n", 6) + "\n   .. py:method:: async c(y) -> z\n\n" + strings.Repeat("      Text.\n", 6) + "\n   .. attribute:: d\n\n.. c:function:: int *e(void)\n\n.. option:: --f <n>\n\n" + text,
			[]string{"L1-12 section AA/B AA,B", "L13-21 section AA/B/c c", "L22-23 section AA/B d", "L24-32 section AA e,--f"}},
		{"asciidoc: blocks hold no titles, one without end is none", "asciidoc",
			"= A\n\n----\n== no\n----\n\n====\n....\n====\n....\n== no\n====\n\n--\n== no\n--\n\n****\n\n[[b,x]]\n[.lead]\n== B ==\n" + text + "\n[source,java]\n-------------\n== no\n-------------\n",
			[]string{"L1-19 section A A", "L20-32 section A/B B"}},
		{"asciidoc: underlined titles", "asciidoc",
			"A b c\n=====\n\nB\n---\n\nB b\n---\n" + text + "\nText\nc\n-\n",
			[]string{"L1-6 section A b c A b c", "L7-17 section A b c/B b B b"}},
		{"org: headlines, not in blocks; a block without end is none", "org",
			"* A\n" + text + "#+begin_src c\n* no\n#+end_src\n*no\n #+BEGIN_QUOTE\n** DONE [#B] B :x:y:\n" + text,
			[]string{"L1-11 section A A", "L12-17 section A/B B"}},
		{"latex: sections, not in verbatim text", "latex",
			"\\section{A \\& \\emph{b}}\n" + text + "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n\\subsection*{C}\n\\label{c}\n" + text,
			[]string{"L1-9 section A & b A & b", "L10-16 section A & b/C C"}},
		{"latex: a style has no sections", "latex", "\\newcommand{\\section}{}\n", []string{"L1-1 block"}},
		{"html: a page with little text is left to the window", "html",
			"<html>\n<h1>A</h1>\n<p>Text.</p>\n</html>\n", []string{"L1-4 block"}},
		{"html: a template is left to the window", "html",
			strings.Repeat("<h1>{{ a }}</h1>\n<p>Some text of the page.</p>\n", 30), []string{"L1-60 block"}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, rows(t, tt.language, tt.body)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// TestAnchors shows what links call the headings of each format.
func TestAnchors(t *testing.T) {
	page := strings.Repeat("<p>Some text of the page to read.</p>\n", 40)
	tests := []struct{ language, body, name, want string }{
		{"markdown", "# A {#a .b}\n", "A", "#a"},
		{"markdown", "<h2 id=\"a\">A</h2>\n", "A", "#a"},
		{"markdown", "# A\n", "A", ""},
		{"rst", ".. _a b:\n\n.. _c:\n\nAA\n==\n", "AA", "#a b"},
		{"rst", ".. _a: https://x.y\n\nAA\n==\n", "AA", ""},
		{"asciidoc", "[#a.b]\n== A\n", "A", "#a"},
		{"asciidoc", "[[a,b]]\n== A\n", "A", "#a"},
		{"asciidoc", "[id=\"a\",role=b]\n== A\n", "A", "#a"},
		{"asciidoc", "== A [[a]]\n", "A", "#a"},
		{"asciidoc", "[appendix]\n== A\n", "A", ""},
		{"org", "* A\n:PROPERTIES:\n:CUSTOM_ID: a\n:END:\n", "A", "#a"},
		{"latex", "\\section{A}\\label{a}\n", "A", "#a"},
		{"html", "<h1 data-id=b id=a>A</h1>\n" + page, "A", "#a"},
		{"html", "<h1><a name='a'>A</a></h1>\n" + page, "A", "#a"},
		{"html", "<section id=\"a\">\n<h1>A</h1>\n" + page, "A", "#a"},
		{"html", "<h1 title=\"<h2>\">A &lt;b&gt; 1 < 2</h1>\n" + page, "A <b> 1 < 2", ""},
	}
	for _, tt := range tests {
		got := "no such heading"
		for _, c := range check(t, kb.Text{Body: tt.body, Language: tt.language}) {
			for _, s := range c.Symbols {
				if s.Name == tt.name && s.Kind == "heading" {
					got = s.Signature
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.language, tt.body[:min(len(tt.body), 60)], got, tt.want)
		}
	}
}

func TestDecodeNotebook(t *testing.T) {
	tests := []struct {
		name, raw, body, language string
		flags                     kb.DocFlags
	}{
		{"format 4",
			`{"cells":[{"cell_type":"markdown","source":["# A\n","b"],"attachments":{"x":{"image/png":"AAAA"}}},{"cell_type":"code","source":"x = 1\r\n","outputs":[{"text":"secret"}]},{"cell_type":"raw","source":"r\u0000"},{"cell_type":"code","source":[]}],"metadata":{"language_info":{"name":"python"}},"nbformat":4}`,
			"# %% [markdown] cell 1\n# A\nb\n\n# %% cell 2\nx = 1\n\n# %% [raw] cell 3\nr\ufffd\n\n# %% cell 4\n", "notebook", 0},
		{"format 3",
			`{"worksheets":[{"cells":[{"cell_type":"heading","level":2,"source":"A title"},{"cell_type":"code","language":"python","input":["x"],"outputs":[]}]}],"nbformat":3}`,
			"# %% [markdown] cell 1\n## A title\n\n# %% cell 2\nx\n", "notebook", kb.FlagProse},
		{"another language",
			"\ufeff" + `{"cells":[{"cell_type":"code","source":"f <- 1"}],"metadata":{"kernelspec":{"language":"R"}}}`,
			"# %% [r] cell 1\nf <- 1\n", "notebook", 0},
		{"pictures in the text",
			`{"cells":[{"cell_type":"markdown","source":"![a](data:image/png;base64,` + strings.Repeat("A+/", 40) + `==) data:x;base64,QQ=="}]}`,
			"# %% [markdown] cell 1\n![a](data:image/png;base64,…) data:x;base64,QQ==\n", "notebook", kb.FlagProse},
		{"no cells", `{"cells":[]}`, "", "notebook", 0},
		{"broken", `{"cells":[{"cell_type":`, `{"cells":[{"cell_type":`, "json", 0},
		{"another kind of JSON", `{"a":1}`, `{"a":1}`, "json", 0},
		{"no JSON", "a\n", "a\n", "json", 0},
		{"cells of a wrong type", `{"cells":[{"source":1}]}`, `{"cells":[{"source":1}]}`, "json", 0},
	}
	for _, tt := range tests {
		got, err := Decode("a/x.ipynb", []byte(tt.raw))
		want := kb.Text{Body: tt.body, Language: tt.language, Flags: tt.flags}
		if tt.language == "notebook" {
			want.Encoding = "ipynb"
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, d)
		}
	}
}

func TestSplitNotebook(t *testing.T) {
	code := "def f():\n" + strings.Repeat("    call(1)\n", 8)
	tests := []struct {
		name, body string
		want       []string
	}{
		{"declarations and sections lie in their cells",
			"# %% [markdown] cell 1\nText.\n\n# %% cell 2\n" + code + "\nclass A:\n    def g(self):\n        pass\n\n# %% [markdown] cell 3\n# B\n\n## C\n\n# %% cell 4\nx = 1\n",
			[]string{"L1-14 function cell 2/f f", "L15-18 class cell 2/A A,g", "L19-25 section cell 3/B B,C"}},
		{"only the next number is a cell", "# %% cell 1\n# %% cell 3\n# %% cell 2\n" + code,
			[]string{"L1-12 function cell 2/f f"}},
		{"magic sets the language of a cell",
			"# %% cell 1\n%%writefile a.go\nfunc F() {\n" + strings.Repeat("\tcall(1)\n", 8) + "}\n\n# %% [r] cell 2\n%%bash\ng() {\n" + strings.Repeat("  x\n", 8) + "}\n",
			[]string{"L1-13 function cell 1/F F", "L14-25 function cell 2/g g"}},
		{"no cells", "x\n", []string{"L1-1 block"}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, rows(t, "notebook", tt.body)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}
