package embed

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goTexts returns n bytes of the standard library's source in texts of about
// 40 lines, as an index holds them.
func goTexts(b *testing.B, n int) (texts []string, size int) {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no go command here: ", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		if size > n {
			return fs.SkipAll
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := strings.SplitAfter(string(raw), "\n")
		for len(lines) > 0 {
			k := min(40, len(lines))
			texts = append(texts, strings.Join(lines[:k], ""))
			lines = lines[k:]
		}
		size += len(raw)
		return nil
	})
	if err != nil || len(texts) == 0 {
		b.Skip("no source of the standard library here: ", err)
	}
	return texts, size
}

func BenchmarkEmbed(b *testing.B) {
	texts, size := goTexts(b, 20<<20)
	e := Default()
	b.SetBytes(int64(size))
	b.ReportMetric(float64(len(texts)), "texts")
	for b.Loop() {
		for i := 0; i < len(texts); i += 64 {
			if _, err := e.Embed(context.Background(), texts[i:min(i+64, len(texts))]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkCount(b *testing.B) {
	texts, size := goTexts(b, 20<<20)
	c := newCounter()
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, t := range texts {
			c.count(t)
			c.reset()
		}
	}
}

// What the first search of a process pays.
func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		(&lazy{}).load()
	}
}
