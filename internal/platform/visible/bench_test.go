package visible_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

// hits returns the project's own documentation in pieces of the size of a hit.
func hits(t testing.TB) (out []string) {
	files, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Skip("no documentation beside the package")
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for text := string(raw); text != ""; {
			n := min(1500, len(text))
			out = append(out, strings.ToValidUTF8(text[:n], ""))
			text = text[n:]
		}
	}
	return out
}

// What it costs to judge one hit of 1.5 kB.
func BenchmarkToAssistant(b *testing.B) {
	texts := hits(b)
	visible.ToAssistant(texts[0]) // makes the tables
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		visible.ToAssistant(texts[i%len(texts)])
	}
}
