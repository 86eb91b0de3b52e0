package cluster

import (
	"fmt"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
)

// TestFindNearlyAll: a store that is nearly all of its class is asked without a filter, and
// gets as many of its own chunks as with one, though others stand before them.
func TestFindNearlyAll(t *testing.T) {
	ctx := t.Context()
	x := empty(t, weaviatetest.New(t).URL)
	segment := func(documents int, body string) string {
		t.Helper()
		w := x.NewSegment(kbtest.IndexChunker, 8)
		for i := range documents {
			if _, err := w.Add(ctx, documentOf(fmt.Sprintf("%s n%d\n", body, i))); err != nil {
				t.Fatal(err)
			}
		}
		name, err := w.Name(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(ctx); err != nil {
			t.Fatal(err)
		}
		return name
	}
	ours := segment(40, "alpha text")
	ask := func(words int) (found int) {
		t.Helper()
		got, _, err := x.Find(ctx, index.FarQuery{Segments: []string{ours}, Terms: []string{"alpha"}, Weights: [3]float64{1, 1, 1}, Words: words})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range got {
			if f.Segment != ours {
				t.Errorf("a chunk of another segment: %+v", f)
			}
		}
		return len(got)
	}
	if n := ask(8); n != 8 {
		t.Errorf("alone: %d chunks", n)
	}
	segment(4, "alpha alpha alpha alpha")
	x.counted = map[string]counted{}
	for _, words := range []int{8, 40} { // 9 asked for, 5 of ours: asked again; 45 asked for
		if n := ask(words); n != words {
			t.Errorf("beside another: %d chunks of %d", n, words)
		}
	}
}
