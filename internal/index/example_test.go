package index_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A document goes into a segment, a generation says which documents a store
// has, and an open generation answers.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "index-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var all kb.Indexes = index.NewPool(dir, "none-2", "")
	for _, d := range []string{"segments", "generations"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			log.Fatal(err)
		}
	}

	body := "func Serve(listen func()) error {\n"
	segment := all.NewSegment(1, 2)
	number, err := segment.Add(ctx, kb.SegmentDocument{
		Hash:    kb.HashDocument([]byte(body)),
		Text:    kb.Text{Body: body, Language: "go"},
		Chunks:  []kb.Chunk{{To: len(body), Start: 1, End: 1, Decl: []string{"Serve"}}},
		Vectors: [][]float32{{0.6, 0.8}},
	})
	if err != nil {
		log.Fatal(err)
	}
	name, _ := segment.Name(ctx) // so that a caller can say that it is in use before it exists
	if _, err := segment.Write(ctx); err != nil {
		log.Fatal(err)
	}

	generation, err := all.NewGeneration(ctx, kb.Manifest{Store: "abcdefghijklmnop", Generation: 1, Chunker: 1, Embedder: "none-2",
		Documents: []kb.Located{{Path: "server.go", Location: kb.Location{Segment: name, Number: number}}}})
	if err != nil {
		log.Fatal(err)
	}
	manifest := kb.ManifestName("abcdefghijklmnop", 1, "example")
	if _, _, err := generation.Write(ctx, manifest); err != nil {
		log.Fatal(err)
	}

	idx, err := all.Open(ctx, manifest)
	if err != nil {
		log.Fatal(err)
	}
	defer idx.Release()
	terms := []string{"listen", "client"} // as package terms normalises words
	stats, err := idx.Stats(ctx, terms, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("chunks with each term:", stats.Frequency)
	found, err := idx.Retrieve(ctx, kb.Retrieval{Vector: []float32{1, 0}, Near: 3})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range found {
		fmt.Printf("%s:%d cosine %.1f\n", c.Path, c.Start, c.Cosine)
	}
	// Output:
	// chunks with each term: [1 0]
	// server.go:1 cosine 0.6
}
