package cli

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// TestAddOnly: a command that is set up alone is what it is among all the others.
func TestAddOnly(t *testing.T) {
	all := bare(t).root()
	words, alone := []string{"mcp", "serve", "watch", "work"}, 0
	for _, c := range product.Commands().All() {
		if c.Name != "help" { // cobra's is set up when it runs
			words = append(words, c.Word())
		}
	}
	for _, word := range words {
		s := bare(t)
		s.words = []string{"--data-dir", "x", word}
		root := s.root()
		got, want := commandNamed(root, word), commandNamed(all, word)
		if got == nil || want == nil {
			t.Errorf("%s is not set up", word)
			continue
		}
		if len(root.Commands()) < len(all.Commands()) {
			alone++
		}
		if got.UsageString() != want.UsageString() || got.Long != want.Long || got.GroupID != want.GroupID || len(got.Commands()) != len(want.Commands()) {
			t.Errorf("%s differs when it is set up alone", word)
		}
	}
	if alone < len(words)*3/4 {
		t.Errorf("of %d only %d are set up alone", len(words), alone)
	}
}
