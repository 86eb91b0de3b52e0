package cluster

import (
	"os"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
)

// real is the variable with the address of a real cluster, which these tests
// empty; `.ci/extra cluster` starts one.
const real = "KNOWLEDGE_WEAVIATE_URL"

// empty returns indexes on a cluster without any objects, in a data directory of
// their own.
func empty(t *testing.T, addresses string) *Indexes {
	t.Helper()
	c, err := weaviate.New(addresses, "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	x := New(dir, index.NewPool(dir, kbtest.IndexEmbedder, ""), c)
	t.Cleanup(c.Close)
	drop := func() {
		k := classesOf(kbtest.IndexEmbedder, kbtest.IndexChunker)
		for _, class := range []string{fileClass, headClass, k.chunks, k.documents} {
			if err := c.Drop(t.Context(), class); err != nil {
				t.Fatal(err)
			}
		}
	}
	drop()
	return x
}

// TestConformance: the suite of indexes against the double, and against a real cluster
// where there is one; each with the engine asked always, and with few documents
// looked at all.
func TestConformance(t *testing.T) {
	addresses := os.Getenv(real)
	for name, few := range map[string]int{"searched": -1, "fetched": fewDocuments} {
		t.Run("double, "+name, func(t *testing.T) {
			kbtest.Indexes(t, func(t *testing.T) kb.Indexes {
				x := empty(t, weaviatetest.New(t).URL)
				x.SetFew(few)
				return x
			})
		})
		t.Run("real, "+name, func(t *testing.T) {
			if addresses == "" {
				t.Skip(real + " names no cluster")
			}
			kbtest.Indexes(t, func(t *testing.T) kb.Indexes {
				x := empty(t, addresses)
				x.SetFew(few)
				return x
			})
		})
	}
}
