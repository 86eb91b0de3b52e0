package chunk

import (
	"runtime"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// TestNestsAreCut: nests of quotes, lists, front matter and tags are cut and
// read as specifications without a stack of their depth; four times as deep
// allocates much less than sixteen times as much.
func TestNestsAreCut(t *testing.T) {
	lists := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", min(i, 200)) + "- x\n")
		}
		return b.String()
	}
	for name, nest := range map[string]struct {
		language string
		text     func(n int) string
	}{
		"quotes":     {"markdown", func(n int) string { return "# A\n\n" + strings.Repeat(">", n) + " x\n" }},
		"spaced":     {"markdown", func(n int) string { return strings.Repeat("> ", n) + "x\n" }},
		"lists":      {"markdown", func(n int) string { return strings.Repeat("- ", n) + "x\n" }},
		"list lines": {"a.md", lists},
		"brackets":   {"markdown", func(n int) string { return strings.Repeat("[", n) + "x" + strings.Repeat("](u)", n) + "\n" }},
		"emphasis":   {"markdown", func(n int) string { return strings.Repeat("*a **b ", n) + "\n" }},
		"fences":     {"markdown", func(n int) string { return strings.Repeat("```\n", n) }},
		"yaml front": {"markdown", func(n int) string {
			return "---\na: " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n---\n# A\n"
		}},
		"json front": {"markdown", func(n int) string {
			return "---\n" + strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) + "\n---\n# A\n"
		}},
		"json":        {"json", func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat("]", n) + "\n" }},
		"yaml":        {"yaml", func(n int) string { return "a: " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n" }},
		"html blocks": {"markdown", func(n int) string { return strings.Repeat("<div>\n", n) + "x\n" + strings.Repeat("</div>\n", n) }},
	} {
		costs := func(n int) uint64 {
			text := nest.text(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cut, err := (&Cutter{}).Split(t.Context(), kb.Text{Language: nest.language, Body: text})
			if err != nil || len(cut.Chunks) == 0 {
				t.Fatalf("%s: %d chunks, %v", name, len(cut.Chunks), err)
			}
			specdoc.Parse(text)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if short, long := costs(10_000), costs(40_000); long > 8*short+1<<20 {
			t.Errorf("%s: %d bytes at a depth of 10,000, %d at 40,000", name, short, long)
		}
	}
}

// TestLabelOfKeyword cuts a label that is spelt like a keyword whose scope may
// lack a name.
func TestLabelOfKeyword(t *testing.T) {
	if err := promises(t, kb.Text{Body: "int a;\nnamespace: b;\n", Language: "cpp"}); err != nil {
		t.Error(err)
	}
}
