package ingest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/index/vector"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// SameVector reports whether v is what the embedder makes of a chunk.
func (x *Indexer) SameVector(ctx context.Context) func(body string, c *kb.Chunk, v []float32) (bool, error) {
	return func(body string, c *kb.Chunk, v []float32) (bool, error) {
		got, err := x.Embedder.Embed(ctx, []string{embed.Text(body, c)})
		if err != nil || len(got) != 1 {
			return false, err
		}
		return index.Same(got[0], v), nil
	}
}

// RebuildVectors makes the vectors of a segment of pool anew, from its text.
func (x *Indexer) RebuildVectors(ctx context.Context, pool *index.Pool, name string) error {
	bare := &index.Pool{Dir: pool.Dir} // opens no vectors, which may be damaged
	release, err := bare.Hold([]string{name})
	if err != nil {
		return err
	}
	defer release()
	keys, err := bare.SegmentKeys(name)
	if err != nil {
		return err
	}
	rows := vector.NewBuilder(x.Embedder.Dims())
	for d := range keys {
		err := bare.Document(name, d, func(doc index.StoredDocument) error {
			texts := make([]string, len(doc.Chunks))
			for i := range doc.Chunks {
				texts[i] = embed.Text(doc.Text.Body, &doc.Chunks[i])
			}
			list, err := x.Embedder.Embed(ctx, texts)
			if err != nil {
				return err
			}
			if len(list) != len(texts) {
				return kb.Errorf(kb.Away, "the embedder %s returned %d vectors for %d texts", x.Embedder.ID(), len(list), len(texts))
			}
			for _, v := range list {
				rows.Add(v)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return (&index.Pool{Dir: pool.Dir, Embedder: x.Embedder.ID()}).WriteVectors(name, rows)
}

// mendVectors makes what is missing of the vectors of a generation and returns
// how many segments that were.
func (r *run) mendVectors(ctx context.Context) (int, error) {
	missing := r.prev.WithoutVectors()
	if r.prev.Embedder() != r.x.Embedder.ID() {
		return 0, nil // all of it is indexed again
	}
	for _, name := range missing {
		if err := r.x.RebuildVectors(ctx, r.x.Pool, name); err != nil {
			return 0, err
		}
	}
	return len(missing), nil
}

// Extract writes what one generation consists of, and nothing else, into the
// folder out: segments with all of whose documents it lists are taken as they
// are; of the others, which hold what other stores or earlier generations had,
// the listed documents are put into new ones. It returns the new manifest's
// totals and the names of its segments. The manifest is written at path.
func (x *Indexer) Extract(ctx context.Context, g *index.Generation, m index.Manifest, out, path string) (index.Totals, []string, error) {
	pool := &index.Pool{Dir: out, Embedder: m.Embedder}
	byName := map[string][]int{} // documents of m by segment
	docs := g.Manifest()
	for i, d := range docs {
		byName[d.Segment] = append(byName[d.Segment], i)
	}
	var names []string
	for _, name := range g.Segments() { // in the order of the layout, so that the result is always the same
		mine := byName[name]
		slices.SortStableFunc(mine, func(a, b int) int { return docs[a].Number - docs[b].Number })
		keys, err := x.Pool.SegmentKeys(name)
		if err != nil {
			return index.Totals{}, nil, err
		}
		used := map[int]bool{}
		for _, i := range mine {
			used[docs[i].Number] = true
		}
		if len(used) == len(keys) {
			if err := errors.Join(
				link(index.SegmentPath(x.Pool.Dir, name), index.SegmentPath(out, name)),
				link(index.VectorsPath(x.Pool.Dir, name, m.Embedder), index.VectorsPath(out, name, m.Embedder))); err != nil {
				return index.Totals{}, nil, err
			}
			names = append(names, name)
			continue
		}
		b := index.NewBuilder(g.Chunker(), x.Embedder.Dims())
		numbers := map[int]int{}
		for _, i := range mine {
			if err := ctx.Err(); err != nil {
				return index.Totals{}, nil, err
			}
			n, ok := numbers[docs[i].Number]
			if !ok {
				err := x.Pool.Document(name, docs[i].Number, func(d index.StoredDocument) error {
					if d.Vectors == nil || d.Vectors.Dims() != x.Embedder.Dims() {
						return kb.Errorf(kb.Corrupt, "segment %s has no vectors of %s", name, x.Embedder.ID())
					}
					n = b.Add(d.Key.Hash, d.Text, d.Chunks, &d.Facts)
					for c := range d.Chunks {
						b.Vectors().AddRow(d.Vectors, d.First+c)
					}
					return nil
				})
				if err != nil {
					return index.Totals{}, nil, err
				}
				numbers[docs[i].Number] = n
			}
			docs[i].Number = n
		}
		fresh, _, err := b.Write(out, m.Embedder)
		if err != nil {
			return index.Totals{}, nil, err
		}
		for _, i := range mine {
			docs[i].Segment = fresh
		}
		names = append(names, fresh)
	}
	m.Documents = docs
	totals, err := pool.WriteGeneration(path, m, g, nil)
	return totals, names, err
}

// link gives a file a second name, or copies it where that cannot be.
func link(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return kb.Errorf(kb.Corrupt, "a file of the index is missing: %w", err).WithHint("look with: knowledge verify")
	}
	defer in.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return kb.Errorf(kb.Denied, "cannot write %q: %w", to, err).WithHint("check the permissions of the data directory")
	}
	if _, err := io.Copy(f, in); err != nil {
		f.Close()
		return kb.Errorf(kb.Full, "cannot write %q: %w", to, err).WithHint("free some space, then try again")
	}
	return f.Close()
}
