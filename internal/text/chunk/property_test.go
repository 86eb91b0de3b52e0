package chunk

import (
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/code/grammar"
	"github.com/seed-4f2d999b/knowledge/internal/code/lang"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// verify checks every promise of the package on the chunks of one text.
func verify(t kb.Text, chunks []kb.Chunk) error {
	if t.Body == "" {
		if len(chunks) != 0 {
			return fmt.Errorf("%d chunks of an empty text", len(chunks))
		}
		return nil
	}
	if len(chunks) == 0 {
		return fmt.Errorf("no chunks")
	}
	lines := strings.SplitAfter(t.Body, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	content := func(i int) string { return strings.TrimSuffix(lines[i-1], "\n") }
	at, line, col := 0, 1, 0 // what the next chunk must begin with
	for k, c := range chunks {
		bad := func(format string, args ...any) error {
			return fmt.Errorf("chunk %d L%d-%d c%d-%d [%d,%d): %s", k, c.Start, c.End, c.ColFrom, c.ColTo, c.From, c.To, fmt.Sprintf(format, args...))
		}
		if c.From != at || c.To <= c.From || c.To > len(t.Body) {
			return bad("begins at byte %d, not %d, or is empty", c.From, at)
		}
		if c.Start != line || c.End < c.Start || c.End > len(lines) {
			return bad("begins on line %d, not %d, of %d", c.Start, line, len(lines))
		}
		body := t.Body[c.From:c.To]
		if c.ColTo > 0 {
			whole := content(c.Start)
			if c.Start != c.End || len(whole) <= kb.MaxLineBytes {
				return bad("is part of a line of only %d bytes", len(whole))
			}
			if c.ColFrom != col || len(body) > kb.MaxLineBytes {
				return bad("does not go on at column %d, or is too long", col)
			}
			if strings.TrimSuffix(body, "\n") != whole[c.ColFrom:c.ColTo] {
				return bad("columns do not give its text")
			}
			if utf8.ValidString(t.Body) && !utf8.ValidString(body) {
				return bad("cuts a rune")
			}
			col = c.ColTo
			if c.ColTo == len(whole) {
				line, col = c.End+1, 0
			}
		} else {
			if col != 0 {
				return bad("begins inside a line")
			}
			if body != strings.Join(lines[c.Start-1:c.End], "") {
				return bad("text is not that of its lines")
			}
			n := c.End - c.Start + 1
			if n > MaxLines || len(body) > MaxBytes {
				return bad("%d lines, %d bytes", n, len(body))
			}
			for i := c.Start; i <= c.End; i++ {
				if len(content(i)) > kb.MaxLineBytes {
					return bad("holds line %d of %d bytes", i, len(content(i)))
				}
			}
			line = c.End + 1
		}
		at = c.To
		if c.Kind == "" {
			return bad("no kind")
		}
		for _, s := range c.Symbols {
			if s.Name == "" || s.Kind == "" || s.Start < 1 || s.End < s.Start || s.End > len(lines) {
				return bad("symbol %+v of %d lines", s, len(lines))
			}
			if len(s.Signature) > 200 || len(s.Doc) > 200 || strings.ContainsAny(s.Signature+s.Doc, "\n\t") {
				return bad("symbol %+v: long notes", s)
			}
		}
	}
	if at != len(t.Body) || line != len(lines)+1 {
		return fmt.Errorf("ends at byte %d of %d, line %d of %d", at, len(t.Body), line-1, len(lines))
	}
	return nil
}

// fine merges less than what is shipped, so that short examples show where
// the boundaries are.
var fine = merging{fullLines: 12, fullBytes: 500, realLines: 8, realBytes: 600}

func check(t testing.TB, text kb.Text) []kb.Chunk {
	t.Helper()
	finely, err := new(Cutter).cut(t.Context(), text, fine)
	if err != nil {
		t.Fatal(err)
	}
	chunks := finely.Chunks
	if err := verify(text, chunks); err != nil {
		t.Fatalf("%s: %v", text.Language, err)
	}
	return chunks
}

// withGrammars is shared, since a grammar is compiled once.
var withGrammars = &Cutter{Grammars: &grammar.Set{Wanted: Wanted, Folder: filepath.Join(os.TempDir(), "knowledge-grammars")}}

// promises cuts a text without grammars and with them, and verifies both.
func promises(t testing.TB, text kb.Text) error {
	t.Helper()
	cut, err := withGrammars.Split(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return errors.Join(verify(text, Split(text)), verify(text, cut.Chunks), truthful(text, cut.Facts))
}

// truthful reports facts about lines that a text does not have.
func truthful(t kb.Text, f kb.Facts) error {
	n := strings.Count(t.Body, "\n") + 1
	for _, x := range f.Imports {
		if x.Line < 1 || x.Line > n {
			return fmt.Errorf("an import on line %d of %d", x.Line, n)
		}
	}
	for _, x := range f.References {
		if x.Line < 1 || x.Line > n || x.Name == "" {
			return fmt.Errorf("a use of %q on line %d of %d", x.Name, x.Line, n)
		}
	}
	for _, x := range f.Bindings {
		if x.From < 1 || x.From > x.To || x.To > n || x.Name == "" {
			return fmt.Errorf("a binding of %q on lines %d to %d of %d", x.Name, x.From, x.To, n)
		}
	}
	return nil
}

// samples are texts of many languages: the seeds of the fuzz targets.
func samples(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob("testdata/samples/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = string(b)
	}
	return out
}

func TestSplitKeepsPromisesOnOddTexts(t *testing.T) {
	odd := map[string]string{
		"empty":           "",
		"one newline":     "\n",
		"blank lines":     strings.Repeat("\n \n\t\r\n", 500),
		"no final":        "a\nb",
		"crlf":            "# A\r\n\r\ntext\r\n## B\r\nfunc x() {\r\n}\r\n",
		"lone cr":         "a\rb\rc",
		"bom":             bom + "package a\n\nfunc A() {}\n",
		"bom only":        bom,
		"long line":       strings.Repeat("x", 1<<20),
		"long line nl":    strings.Repeat("x", 1<<20) + "\n",
		"limit":           strings.Repeat("x", kb.MaxLineBytes) + "\n",
		"limit+1":         strings.Repeat("x", kb.MaxLineBytes+1) + "\n",
		"two limits":      strings.Repeat("x", 2*kb.MaxLineBytes) + "\n",
		"long runes":      strings.Repeat("日本語", 5000) + "\nb\n",
		"long words":      strings.Repeat("some words, ", 2000) + "\n\n\nb\n",
		"long between":    "a\n\n" + strings.Repeat("y ", 4000) + "\n\n\n" + strings.Repeat("z", 9000) + "\n",
		"continuations":   strings.Repeat("\x80", 9000),
		"deep":            strings.Repeat("{\n", 3000) + strings.Repeat("}\n", 3000),
		"deep go":         "package a\nvar x = " + strings.Repeat("[]", 20000) + "int{}\n",
		"deep parens":     "package a\nvar x = " + strings.Repeat("(", 20000) + "\n",
		"indent":          strings.Repeat(" ", 5000) + "x\n" + strings.Repeat("\t", 3000) + "y\n",
		"staircase":       staircase(1500),
		"classes":         strings.Repeat("class A:\n  def f(self):\n    pass\n", 400),
		"headings":        strings.Repeat("# A\n", 1000),
		"deeper headings": strings.Repeat("# A\n## B\n### C\n", 400),
		"open fence":      "# A\n```go\n" + strings.Repeat("# not a heading\n", 300),
		"open comment":    "/*\n" + strings.Repeat("int f(void) {\n}\n", 300),
		"open string":     strings.Repeat("const a = `\nfunction f() {\n}\n", 301),
		"quotes":          strings.Repeat(`"'`+"`", 3000) + "\n",
		"decorators":      strings.Repeat("@a(\n", 800) + "def f(): pass\n",
		"comments":        strings.Repeat("// c\n", 1500) + "int f() {\n}\n",
		"front matter":    "---\ntitle: x\n---\n# A\ntext\n",
		"open front":      "---\n" + strings.Repeat("a: b\n", 500),
	}
	for name, body := range odd {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, l := range append([]string{"", "text"}, everyLanguage()...) {
				if err := promises(t, kb.Text{Body: body, Language: l}); err != nil {
					t.Errorf("as %q: %v", l, err)
				}
			}
		})
	}
}

// everyLanguage lists the languages with rules or a splitter of their own.
func everyLanguage() []string {
	all := map[string]bool{}
	for _, l := range lang.Table {
		if l.Lines != "" {
			all[l.Name] = true
		}
	}
	for l := range splitters {
		all[l] = true
	}
	return slices.Sorted(maps.Keys(all))
}

func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i%300))
		b.WriteString("def f():\n")
	}
	return b.String()
}

func TestSplitIsDeterministic(t *testing.T) {
	for name, body := range samples(t) {
		text := kb.Text{Body: body, Language: lang.Of(name, []byte(body))}
		if d := cmp.Diff(check(t, text), check(t, text)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestSplitSamplesAsEveryLanguage takes each sample for each language: broken
// syntax of every kind.
func TestSplitSamplesAsEveryLanguage(t *testing.T) {
	for name, body := range samples(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			for _, l := range everyLanguage() {
				for _, text := range []kb.Text{
					{Body: body, Language: l},
					{Body: strings.ReplaceAll(body, "\n", "\r\n"), Language: l},
					{Body: body[:len(body)*2/3], Language: l},
				} {
					if err := promises(t, text); err != nil {
						t.Fatalf("as %s: %v", l, err)
					}
				}
			}
		})
	}
}

// TestSplitGoToolchain runs over the Go toolchain's own sources: part of them,
// or all with KNOWLEDGE_CORPUS=all.
func TestSplitGoToolchain(t *testing.T) {
	dirs := []string{"bufio", "container", "encoding/json", "net/http", "runtime/internal", "text", "go/parser", "testing", "unicode"}
	if os.Getenv("KNOWLEDGE_CORPUS") == "all" {
		dirs = []string{""}
	}
	for _, d := range dirs {
		walk(t, filepath.Join(build.Default.GOROOT, "src", d))
	}
}

// TestSplitFolders runs over all files in the folders that
// KNOWLEDGE_CORPUS_DIRS lists.
func TestSplitFolders(t *testing.T) {
	list := os.Getenv("KNOWLEDGE_CORPUS_DIRS")
	if list == "" {
		t.Skip("KNOWLEDGE_CORPUS_DIRS names no folders")
	}
	for _, d := range filepath.SplitList(list) {
		walk(t, d)
	}
}

func walk(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(dir); err != nil {
		t.Logf("no folder %s", dir)
		return
	}
	var files, chunks, symbols, unparsed int
	var bytes int64
	took := map[string]time.Duration{}
	size := map[string]int{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > 4<<20 {
			return nil
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return nil
		}
		text, err := Decode(p, raw)
		if err != nil {
			if kb.CodeOf(err) != kb.Unsupported {
				t.Errorf("%s: %v", p, err)
			}
			return nil
		}
		if text.Encoding == "" && text.Body != string(raw) {
			t.Errorf("%s: the text is not the file's bytes", p)
		}
		start := time.Now()
		cut, err := withGrammars.Split(t.Context(), text)
		if err != nil {
			return err
		}
		took[text.Language] += time.Since(start)
		size[text.Language] += len(text.Body)
		cs := cut.Chunks
		if err := errors.Join(verify(text, cs), truthful(text, cut.Facts)); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		if cut.Failed != "" {
			unparsed++
			t.Logf("  %s: %s", p, cut.Failed)
		}
		files++
		bytes += int64(len(raw))
		chunks += len(cs)
		for _, c := range cs {
			symbols += len(c.Symbols)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d files, %d bytes, %d chunks, %d symbols", dir, files, bytes, chunks, symbols)
	t.Logf("  %d files that no grammar could read", unparsed)
	for l, d := range took {
		if size[l] > 100_000 {
			t.Logf("  %-12s %9d bytes, %6.1f MB/s", l, size[l], float64(size[l])/1e6/d.Seconds())
		}
	}
}

func TestEveryRowOfRulesIsALanguages(t *testing.T) {
	used := map[string]bool{"": true}
	for _, l := range lang.Table {
		if l.Lines != "" && rulesOf[l.Lines] == nil {
			t.Errorf("%s: there are no rules %q", l.Name, l.Lines)
		}
		used[l.Lines] = true
	}
	for name := range rulesOf {
		if !used[name] {
			t.Errorf("no language has the rules %q", name)
		}
	}
}
