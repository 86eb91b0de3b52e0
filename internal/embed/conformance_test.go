package embed

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
)

func TestConformance(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	conforms(t, e)
}

// conforms runs the suite that every row of Backends passes.
func conforms(t *testing.T, e kb.Embedder) { kbtest.Embedder(t, e) }
