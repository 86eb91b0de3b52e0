package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// tier is a size class of segments, from the class before it on: they are
// merged when there are many, so that searches do not pay for long histories.
// A class is merged by itself, so that an edit, which adds a small segment,
// seldom writes large ones again.
type tier struct{ below, most int64 }

// What a first index fills to the brim (segmentBytes) is in no tier: merging
// it would write the whole index twice.
var tiers = []tier{{512 << 10, 8}, {4 << 20, 8}, {segmentBytes * 3 / 4, 8}}

// joinBytes is how much text goes into one merged segment. A segment in the
// making takes about five times its text in memory; without a bound 90 MB of
// text in segments that a slow machine had cut short took 500 MB.
const joinBytes = 2 * segmentBytes

// merge joins the documents of small segments into new ones of at most
// joinBytes, when there are too many of one tier. Vectors are copied.
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
	floor := int64(0)
	for _, t := range tiers {
		var small []string
		for s, n := range size {
			if n >= floor && n < t.below {
				small = append(small, s)
			}
		}
		floor = t.below
		if int64(len(small)) <= t.most {
			continue
		}
		for _, group := range groups(small, size) {
			name, n, err := r.join(ctx, group, paths)
			if err != nil {
				return err
			}
			for _, s := range group {
				delete(size, s)
				paths[name] = append(paths[name], paths[s]...)
			}
			size[name] = n
		}
	}
	return nil
}

// groups packs segments, the smallest first, into groups of at most joinBytes
// of text. What would stay alone is in none.
func groups(segments []string, size map[string]int64) [][]string {
	slices.SortFunc(segments, func(a, b string) int {
		return cmp.Or(cmp.Compare(size[a], size[b]), cmp.Compare(a, b))
	})
	var out [][]string
	var sum int64
	start := 0
	for i, s := range segments {
		if sum+size[s] > joinBytes {
			out = append(out, segments[start:i])
			start, sum = i, 0
		}
		sum += size[s]
	}
	out = append(out, segments[start:])
	return slices.DeleteFunc(out, func(g []string) bool { return len(g) < 2 })
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
				n := b.Add(d.Key.Hash, d.Text, d.Chunks, &d.Facts)
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
