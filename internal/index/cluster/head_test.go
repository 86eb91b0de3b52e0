package cluster

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
)

// TestHeads: of writers that publish the same round at once at most one wins, and
// who comes late is told.
func TestHeads(t *testing.T) {
	for name, addresses := range map[string]string{"double": "", "real": os.Getenv(real)} {
		t.Run(name, func(t *testing.T) {
			switch {
			case name == "double":
				addresses = weaviatetest.New(t).URL
			case addresses == "":
				t.Skip(real + " names no cluster")
			}
			x := empty(t, addresses)
			spec := kb.Spec{Kind: kb.KindRepo, Source: "https://example.org/a.git"}
			head := func(i int) *Head {
				return &Head{Store: spec.ID(), Name: "a", Spec: spec, Head: kb.Head{Manifest: fmt.Sprint(i)}}
			}
			for round := range int64(3) {
				errs := make([]error, 4)
				var wg sync.WaitGroup
				for i := range errs {
					wg.Go(func() { errs[i] = x.Publish(t.Context(), head(i), round) })
				}
				wg.Wait()
				won := -1
				for i, err := range errs {
					switch {
					case err == nil && won >= 0:
						t.Errorf("round %d: %d and %d have won", round, won, i)
					case err == nil:
						won = i
					case kb.CodeOf(err) != kb.Busy:
						t.Errorf("round %d: %v", round, err)
					}
				}
				now, err := x.Head(t.Context(), spec.ID())
				if err != nil || now == nil || now.Round != round+1 || now.Head.Manifest != fmt.Sprint(won) {
					t.Fatalf("round %d: %d has won, the head is %+v, %v", round, won, now, err)
				}
			}
			if err := x.Publish(t.Context(), head(9), 1); kb.CodeOf(err) != kb.Busy || err == nil {
				t.Errorf("a late writer: %v", err)
			}
			if h, err := x.Named(t.Context(), "a"); err != nil || h == nil || h.Round != 3 {
				t.Errorf("by name: %+v, %v", h, err)
			}
			if h, err := x.Named(t.Context(), "b"); err != nil || h != nil {
				t.Errorf("a name that nobody has: %+v, %v", h, err)
			}
		})
	}
}
