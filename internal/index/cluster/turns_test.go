package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kb/kbtest"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate/weaviatetest"
)

// slow is a Far that takes its time, and notes how many ask at once and how little
// time any of them had.
type slow struct {
	index.Far
	now, most atomic.Int64
	least     atomic.Int64
}

func (s *slow) Find(ctx context.Context, q index.FarQuery) (words, near []index.FarChunk, err error) {
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	defer s.now.Add(-1)
	if end, ok := ctx.Deadline(); ok {
		s.least.Store(min(s.least.Load(), int64(time.Until(end))))
	}
	time.Sleep(20 * time.Millisecond)
	return s.Far.Find(ctx, q)
}

// TestTurns: of many retrievals at once a few ask the cluster, and those that wait
// for them have all of their time when it is their turn.
func TestTurns(t *testing.T) {
	x := empty(t, weaviatetest.New(t).URL)
	x.SetFew(-1)
	far := &slow{Far: x}
	far.least.Store(int64(time.Hour))
	x.thin.Far = far
	w := x.NewSegment(kbtest.IndexChunker, 4)
	doc := kb.SegmentDocument{Text: kb.Text{Language: "text", Body: "a lantern\n"}, Chunks: []kb.Chunk{{To: 10, Start: 1, End: 1, Kind: "text"}}, Vectors: [][]float32{{1, 0, 0, 0}}}
	doc.Hash = kb.HashDocument([]byte(doc.Text.Body))
	n, err := w.Add(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	name, err := w.Name(t.Context())
	if err == nil {
		_, err = w.Write(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	m := kb.Manifest{Store: "abcdefghijklmnop", Generation: 1, Chunker: kbtest.IndexChunker, Embedder: kbtest.IndexEmbedder,
		Documents: []kb.Located{{Path: "a.txt", Stamp: 1, Location: kb.Location{Segment: name, Number: n}}}}
	g, err := x.NewGeneration(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	manifest := kb.ManifestName(m.Store, 1, "turns")
	if _, _, err := g.Write(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
	open, err := x.Open(t.Context(), manifest)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Release()
	errs := make([]error, 64)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			got, err := open.Retrieve(t.Context(), kb.Retrieval{Terms: []string{"lantern"}, IDF: []float64{1}, Limit: 5})
			if err == nil && len(got) != 1 {
				err = fmt.Errorf("%d candidates", len(got))
			}
			errs[i] = err
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := far.most.Load(); n > 8 || n < 2 {
		t.Errorf("%d ask at once", n)
	}
	if least := time.Duration(far.least.Load()); least < 3500*time.Millisecond {
		t.Errorf("one has %s left when it asks", least)
	}
}
