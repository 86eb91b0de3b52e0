package product_test

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// TestInstructions: what an agent pays for in every session is short, and
// names the tools that there are.
func TestInstructions(t *testing.T) {
	text := product.Commands().Instructions()
	if n := tokens.Estimate(text); n > 120 {
		t.Errorf("%d tokens:\n%s", n, text)
	}
	for _, c := range product.Commands().All() {
		if c.Native && strings.Count(text, "`"+c.Name+"`") != 1 {
			t.Errorf("%s: %s", c.Name, text)
		}
	}
}
