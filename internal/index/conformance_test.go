package index

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
)

// TestConformance: every engine, and the same on the other side of a pipe.
func TestConformance(t *testing.T) {
	for _, engine := range vector.EngineNames() {
		local := func(t *testing.T) kb.Indexes {
			p := testPool(t)
			p.Embedder, p.Engine = kbtest.IndexEmbedder, engine
			return p
		}
		t.Run(engine, func(t *testing.T) { kbtest.Indexes(t, local) })
		t.Run(engine+" as JSON", func(t *testing.T) {
			kbtest.Indexes(t, func(t *testing.T) kb.Indexes { return kbtest.Remote(local(t)) })
		})
	}
}
