package vector_test

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
)

func TestEngines(t *testing.T) {
	for _, name := range vector.EngineNames() {
		t.Run(name, func(t *testing.T) {
			kbtest.Engine(t, vector.Brute, vector.RandomVectors, func(t *testing.T, m *vector.Matrix) vector.Engine {
				e, err := vector.NewEngine(name, m)
				if err != nil {
					t.Fatal(err)
				}
				if e.Name() != name || e.Len() != m.Rows() || e.Dims() != m.Dims() {
					t.Fatalf("engine says it is %s of %d x %d", e.Name(), e.Len(), e.Dims())
				}
				t.Cleanup(func() { e.Close() })
				return e
			})
		})
	}
}
