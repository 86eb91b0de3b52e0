package search_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// A query goes to every target, and the hits of all are ranked together. The
// id of a hit leads to its place, also after the file was edited elsewhere.
func Example() {
	ctx := context.Background()
	emb := embed.Default()
	dir, err := os.MkdirTemp("", "search-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	idx := indexed(ctx, dir, emb, map[string]string{
		"retry.go":  "// Retry calls f until it succeeds, and waits longer each time.\nfunc Retry(f func() error) error {\n",
		"render.go": "// Render writes a page.\nfunc Render(w io.Writer) error {\n",
	})
	defer idx.Release()

	targets := []search.Target{{Label: "example", Index: idx}}
	reply, err := search.Run(ctx, targets, emb, search.Request{Query: "try again after a failure", Limit: 1})
	if err != nil {
		log.Fatal(err)
	}
	hit := reply.Hits[0]
	fmt.Println(hit.At)
	place, err := search.Show(ctx, targets, hit.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(place.Path, place.Start, place.End)
	// Output:
	// retry.go:L1-2
	// retry.go 1 2
}

// indexed makes an index of documents, each of one chunk.
func indexed(ctx context.Context, dir string, emb kb.Embedder, docs map[string]string) kb.Index {
	all := index.NewPool(dir, emb.ID(), "")
	for _, d := range []string{all.Dir, all.Generations} {
		if err := os.Mkdir(d, 0o700); err != nil {
			log.Fatal(err)
		}
	}
	m := kb.Manifest{Store: "abcdefghijklmnop", Generation: 1, Chunker: 1, Embedder: emb.ID()}
	segment := all.NewSegment(m.Chunker, emb.Dims())
	for path, body := range docs {
		d := kb.SegmentDocument{
			Hash:   kb.HashDocument([]byte(body)),
			Text:   kb.Text{Body: body, Language: "go"},
			Chunks: []kb.Chunk{{To: len(body), Start: 1, End: 2}},
		}
		vectors, err := emb.Embed(ctx, []string{embed.Text(body, &d.Chunks[0])})
		if err != nil {
			log.Fatal(err)
		}
		d.Vectors = vectors
		n, err := segment.Add(ctx, d)
		if err != nil {
			log.Fatal(err)
		}
		m.Documents = append(m.Documents, kb.Located{Path: path, Location: kb.Location{Number: n}})
	}
	name, err := segment.Name(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for i := range m.Documents {
		m.Documents[i].Segment = name
	}
	if _, err := segment.Write(ctx); err != nil {
		log.Fatal(err)
	}
	generation, err := all.NewGeneration(ctx, m)
	if err != nil {
		log.Fatal(err)
	}
	if _, _, err := generation.Write(ctx, "example.gen"); err != nil {
		log.Fatal(err)
	}
	idx, err := all.Open(ctx, "example.gen")
	if err != nil {
		log.Fatal(err)
	}
	return idx
}
