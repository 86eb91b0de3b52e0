package chunk

import (
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func FuzzSplit(f *testing.F) {
	for name, body := range samples(f) {
		f.Add(name, body)
	}
	f.Add("x.md", "# A\n```\n# b\n")
	f.Add("x.md", "---\ntitle: a\n---\n1. ```\n<div>\n# b {#c}\n")
	f.Add("x.mdx", "import a from 'b'\n\nexport const c = {\n\n<A b={`\n# d\n{/*\n")
	f.Add("x.rst", ".. _a:\n\n==\nb\n==\n\nc::\n\n d\n\n.. py:class:: e(f)\n")
	f.Add("x.adoc", "[[a]]\n== b\n----\n====\n|===\nc\n-\n--\n")
	f.Add("x.org", "#+title: a\n* TODO [#A] [[b][c]] :d:\n:PROPERTIES:\n#+begin_e\n")
	f.Add("x.html", strings.Repeat("<p>some text of a page", 60)+"<h1 id='a>b<i></h1><a name=c><h2><!--<script>")
	f.Add("x.tex", "\\section*[a]{b{c}\\d}\\label{e\n\\begin{verbatim}\n")
	f.Add("x.py", "class A:\n\tdef f(): '''\n")
	f.Add("x.go", "package a\nfunc (")
	f.Add("x.rb", "<<~A\n")
	f.Add("x.txt", strings.Repeat("x", kb.MaxLineBytes+1)+"\n\n\n")
	f.Fuzz(func(t *testing.T, path, body string) {
		text := kb.Text{Body: body, Language: lang.Of(path, []byte(body))}
		if err := promises(t, text); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add("a.go", []byte("package a\n"))
	f.Add("a", []byte("#!/usr/bin/env python3\nimport a\n"))
	f.Add("a.txt", []byte("\xFF\xFEa\x00"))
	f.Add("a.txt", []byte("\xFE\xFF\xD8\x00"))
	f.Add("a.txt", []byte("\x81\x8D"))
	f.Add("a.ipynb", []byte(`{"cells":[{"cell_type":"code","source":["%%bash\n","a"]},{"cell_type":"markdown","source":"# %% cell 3\n## b"}]}`))
	f.Add("a.ipynb", []byte(`{"worksheets":[{"cells":[{"cell_type":"heading","source":"a\u0000"},{"cell_type":"code","language":"r","input":"f <- function() {"}]}]}`))
	f.Add("a.ipynb", []byte(`{"cells":[{"cell_type":`))
	f.Add("a.html", []byte("<h1 a=\"<h2>"+strings.Repeat("text <b", 300)))
	f.Fuzz(func(t *testing.T, path string, raw []byte) {
		text, err := Decode(path, raw)
		if err != nil {
			if kb.CodeOf(err) != kb.Unsupported {
				t.Fatal(err)
			}
			return
		}
		if !utf8.ValidString(text.Body) || strings.Contains(text.Body, "\x00") || text.Language == "" {
			t.Fatalf("%+v", text)
		}
		if text.Encoding == "" && text.Body != string(raw) {
			t.Fatal("the text is not the bytes")
		}
		if err := promises(t, text); err != nil {
			t.Fatal(err)
		}
	})
}

func bench(b *testing.B, text kb.Text) {
	b.Helper()
	b.SetBytes(int64(len(text.Body)))
	b.ReportAllocs()
	for b.Loop() {
		Split(text)
	}
}

// goFile is a large file of the Go standard library.
func goFile(b *testing.B) string {
	b.Helper()
	raw, err := os.ReadFile(filepath.Join(build.Default.GOROOT, "src", "net", "http", "server.go"))
	if err != nil {
		b.Skip(err)
	}
	return string(raw)
}

func BenchmarkSplitGo(b *testing.B) {
	bench(b, kb.Text{Body: goFile(b), Language: "go"})
}

// BenchmarkParseGo is the yardstick for BenchmarkSplitGo: the parser alone.
func BenchmarkParseGo(b *testing.B) {
	body := goFile(b)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := parseGo(body); err != nil {
			b.Fatal(err)
		}
	}
}

func benchSample(b *testing.B, name, language string) {
	b.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "samples", name))
	if err != nil {
		b.Fatal(err)
	}
	bench(b, kb.Text{Body: strings.Repeat(string(raw), 1+100_000/len(raw)), Language: language})
}

func BenchmarkSplitPython(b *testing.B)     { benchSample(b, "tool.py", "python") }
func BenchmarkSplitTypescript(b *testing.B) { benchSample(b, "app.ts", "typescript") }
func BenchmarkSplitC(b *testing.B)          { benchSample(b, "server.c", "c") }
func BenchmarkSplitMarkdown(b *testing.B)   { benchSample(b, "guide.md", "markdown") }

func BenchmarkDecode(b *testing.B) {
	raw := []byte(goFile(b))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := Decode("a.go", raw); err != nil {
			b.Fatal(err)
		}
	}
}
