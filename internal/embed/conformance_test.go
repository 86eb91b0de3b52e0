package embed

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
)

func TestConformance(t *testing.T) {
	for name := range Backends {
		t.Run(name, func(t *testing.T) {
			e, err := New(Config{Backend: name})
			if err != nil {
				t.Fatal(err)
			}
			kbtest.Embedder(t, e)
		})
	}
}
