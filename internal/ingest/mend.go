package ingest

import (
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// SameVector reports whether v is what the embedder makes of a chunk.
func (x *Indexer) SameVector(ctx context.Context) func(body string, c *kb.Chunk, v []float32) (bool, error) {
	return func(body string, c *kb.Chunk, v []float32) (bool, error) {
		got, err := x.Embedder.Embed(ctx, []string{embed.Text(body, c)})
		if err != nil || len(got) != 1 {
			return false, err
		}
		return embed.Same(got[0], v), nil
	}
}

// storedBatch is how many documents are taken out of a segment at a time.
const storedBatch = 64

// eachStored calls f for documents of a segment, with their vectors made anew.
func (x *Indexer) eachStored(ctx context.Context, from kb.Indexes, name string, numbers []int,
	f func(kb.SegmentDocument) error) error {
	for batch := range slices.Chunk(numbers, storedBatch) {
		docs, err := from.Stored(ctx, name, batch)
		if err != nil {
			return err
		}
		for _, d := range docs {
			if d.Vectors, err = x.embed(ctx, d.Text.Body, d.Chunks); err != nil {
				return err
			}
			if err := f(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// RebuildVectors makes the vectors of a segment anew, from its text. It lies
// among indexes, which need not be the indexer's own.
func (x *Indexer) RebuildVectors(ctx context.Context, indexes kb.Indexes, name string) error {
	sizes, err := indexes.Sizes(ctx, []string{name})
	if err != nil {
		return err
	}
	numbers := make([]int, len(sizes[0]))
	for i := range numbers {
		numbers[i] = i
	}
	w := indexes.NewVectors(name, x.Embedder.Dims())
	err = x.eachStored(ctx, indexes, name, numbers, func(d kb.SegmentDocument) error { return w.Add(ctx, d.Vectors) })
	if err != nil {
		return err
	}
	return w.Write(ctx)
}

// mendVectors makes what is missing of the vectors of a generation and returns
// how many segments that were.
func (r *run) mendVectors(ctx context.Context) (int, error) {
	if r.was.Embedder != r.x.Embedder.ID() {
		return 0, nil // all of it is indexed again
	}
	for _, name := range r.was.Bare {
		if err := r.x.RebuildVectors(ctx, r.x.Indexes, name); err != nil {
			return 0, err
		}
	}
	return len(r.was.Bare), nil
}
