package ingest

import (
	"context"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Free reports whether embedding asks nobody who may want to be paid.
func (x *Indexer) Free() bool { return embed.Cheap(x.Embedder) }

// SameVector returns what reports whether v is what the embedder makes of a chunk; nil
// where that would be asked of a provider.
func (x *Indexer) SameVector(ctx context.Context) func(body string, c *kb.Chunk, v []float32) (bool, error) {
	if !embed.Cheap(x.Embedder) {
		return nil // nobody pays to compare
	}
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
		var texts []string
		for i := range docs {
			texts = append(texts, textsOf(docs[i].Text.Body, docs[i].Chunks)...)
		}
		vectors, err := x.embed(ctx, texts)
		if err != nil {
			return err
		}
		for _, d := range docs {
			d.Vectors, vectors = vectors[:len(d.Chunks):len(d.Chunks)], vectors[len(d.Chunks):]
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
	numbers, err := allOf(ctx, indexes, name)
	if err != nil {
		return err
	}
	w := indexes.NewVectors(name, x.Embedder.Dims())
	err = x.eachStored(ctx, indexes, name, numbers, func(d kb.SegmentDocument) error { return w.Add(ctx, d.Vectors) })
	if err != nil {
		return err
	}
	return w.Write(ctx)
}

// allOf returns the numbers of all documents of a segment.
func allOf(ctx context.Context, indexes kb.Indexes, name string) ([]int, error) {
	sizes, err := indexes.Sizes(ctx, []string{name})
	if err != nil {
		return nil, err
	}
	numbers := make([]int, len(sizes[0]))
	for i := range numbers {
		numbers[i] = i
	}
	return numbers, nil
}

// Price estimates how many tokens RebuildVectors would send of a segment; 0 where nothing is sent.
func (x *Indexer) Price(ctx context.Context, indexes kb.Indexes, name string) (total int64, err error) {
	m, ok := x.Embedder.(metered)
	if !ok {
		return 0, nil
	}
	numbers, err := allOf(ctx, indexes, name)
	if err != nil {
		return 0, err
	}
	for batch := range slices.Chunk(numbers, storedBatch) {
		docs, err := indexes.Stored(ctx, name, batch)
		if err != nil {
			return 0, err
		}
		for i := range docs {
			n, err := m.Missing(textsOf(docs[i].Text.Body, docs[i].Chunks))
			if err != nil {
				return 0, err
			}
			total += n
		}
	}
	return total, nil
}

// mendVectors makes what is missing of the vectors of a generation, those of another
// embedder too, and returns how many segments that were.
func (r *run) mendVectors(ctx context.Context) (int, error) {
	for _, name := range r.was.Bare {
		if err := r.x.RebuildVectors(ctx, r.x.Indexes, name); err != nil {
			return 0, err
		}
	}
	return len(r.was.Bare), nil
}
