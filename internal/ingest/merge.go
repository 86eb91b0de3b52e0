package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/chunk"
	"github.com/seed-4f2d999b/knowledge/internal/index"
)

// tier is a size class of segments: the smaller ones are merged when there
// are many, so that neither searches nor single edits pay for long histories.
type tier struct{ below, most int64 }

var tiers = []tier{{512 << 10, 8}, {4 << 20, 8}, {32 << 20, 8}}

// merge joins the documents of small segments into one new segment, when
// there are too many of one tier. Vectors are copied.
func (r *run) merge(ctx context.Context) error {
	names := map[string]bool{}
	for _, d := range r.docs {
		names[d.Segment] = true
	}
	release, err := r.x.Pool.Hold(slices.Collect(maps.Keys(names)))
	if err != nil {
		return err
	}
	defer release()
	size := map[string]int64{}
	paths := map[string][]string{}
	for p, d := range r.docs {
		n, err := r.x.Pool.TextBytes(d.Segment, d.Number)
		if err != nil {
			return err
		}
		size[d.Segment] += n
		paths[d.Segment] = append(paths[d.Segment], p)
	}
	for _, t := range tiers {
		var small []string
		for s, n := range size {
			if n < t.below {
				small = append(small, s)
			}
		}
		if int64(len(small)) <= t.most {
			continue
		}
		slices.Sort(small)
		name, n, err := r.join(ctx, small, paths)
		if err != nil {
			return err
		}
		for _, s := range small {
			delete(size, s)
			paths[name] = append(paths[name], paths[s]...)
		}
		size[name] = n
	}
	return nil
}

func (r *run) join(ctx context.Context, segments []string, paths map[string][]string) (string, int64, error) {
	b := index.NewBuilder(chunk.Version, r.x.Embedder.Dims())
	numbers := map[string]int{} // by path
	seen := map[index.DocKey]int{}
	for _, s := range segments {
		list := slices.Clone(paths[s])
		slices.SortFunc(list, func(a, b string) int { return cmp.Compare(r.docs[a].Number, r.docs[b].Number) })
		for _, p := range list {
			if err := ctx.Err(); err != nil {
				return "", 0, err
			}
			err := r.x.Pool.Document(s, r.docs[p].Number, func(d index.StoredDocument) error {
				if n, ok := seen[d.Key]; ok {
					numbers[p] = n
					return nil
				}
				n := b.Add(d.Key.Hash, d.Text, d.Chunks)
				seen[d.Key], numbers[p] = n, n
				if d.Vectors == nil || d.Vectors.Dims() != r.x.Embedder.Dims() {
					return r.embed(ctx, b, d.Text, d.Chunks)
				}
				for i := range d.Chunks {
					b.Vectors().AddRow(d.Vectors, d.First+i)
				}
				return nil
			})
			if err != nil {
				return "", 0, err
			}
		}
	}
	name := b.Name()
	if err := r.x.Catalog.UseSegments(ctx, r.job, name); err != nil {
		return "", 0, err
	}
	size := b.TextBytes()
	_, n, err := b.Write(r.x.Pool.Dir, r.x.Embedder.ID())
	if err != nil {
		return "", 0, err
	}
	r.res.Written += n
	for p, number := range numbers {
		d := r.docs[p]
		d.Segment, d.Number = name, number
		r.docs[p] = d
	}
	return name, size, nil
}
