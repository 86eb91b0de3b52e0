package deps

import (
	"strings"
	"testing"
)

// BenchmarkImports scans 8 KB of each language.
func BenchmarkImports(b *testing.B) {
	for _, e := range ecosystems {
		text := []byte(strings.Repeat("import a.b.c;\nuse d::e;\nlet x = require(\"f\"); // some words of code\n    return x + 1\n", 80))
		b.Run(e.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				e.imports(text, func(string) {})
			}
		})
	}
}
