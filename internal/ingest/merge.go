package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// tier is a size class of segments, from the class before it on: they are
// merged when there are many, so that searches do not pay for long histories.
// A class is merged by itself, so that an edit, which adds a small segment,
// seldom writes large ones again. Many are more than most, and more than one in
// share of all: of a large store that has dozens of full segments a search does
// not get faster by joining a few, and the first index of Linux, of which some
// folders fill no segment, took a tenth longer for it.
type tier struct {
	below int64
	most  int
}

const share = 4

// crowded reports whether a store of so many segments has too many of a class.
func (t tier) crowded(small, all int) bool { return small > max(t.most, all/share) }

// patience is how many times as many may become too many while somebody waits: joining
// a few takes about a second, and who edits and searches all the time would wait for
// it at every eighth search.
const patience = 4

// tiers have no place for a segment that a first index filled to the brim
// (segmentBytes): merging it would write the whole index twice.
var tiers = []tier{{512 << 10, 8}, {4 << 20, 8}, {segmentBytes * 3 / 4, 8}}

// joinBytes is how much text goes into one merged segment. A segment in the
// making takes about five times its text in memory; without a bound 90 MB of
// text in segments that a slow machine had cut short took 500 MB.
const joinBytes = 2 * segmentBytes

// merge joins the documents of small segments into new ones of at most
// joinBytes, when there are too many of one tier. Vectors are copied. What takes long
// is not waited for: what was edited is published before, and of several such groups
// the runs of later edits join the others.
func (r *run) merge(ctx context.Context) error {
	paths := map[string][]string{} // by segment
	for p, d := range r.docs {
		paths[d.Segment] = append(paths[d.Segment], p)
	}
	names := slices.Collect(maps.Keys(paths))
	sizes, err := r.x.Indexes.Sizes(ctx, names)
	if err != nil {
		return err
	}
	size := map[string]int64{}
	for i, name := range names {
		for _, p := range paths[name] {
			n := r.docs[p].Number
			if n >= len(sizes[i]) {
				return kb.Errorf(kb.Corrupt, "segment %s is damaged: it has fewer documents than its users say", name).
					WithHint("run store:index with force to rebuild the store")
			}
			size[name] += sizes[i][n]
		}
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
		if r.o.Waited {
			t.most *= patience
		}
		if !t.crowded(len(small), len(size)) {
			continue
		}
		for _, group := range groups(small, size) {
			long, err := r.ahead(ctx, group, size)
			if err != nil {
				return err
			}
			name, n, err := r.join(ctx, group, paths)
			if err != nil {
				return err
			}
			for _, s := range group {
				delete(size, s)
				paths[name] = append(paths[name], paths[s]...)
			}
			size[name] = n
			if long {
				return nil
			}
		}
	}
	return nil
}

// promptly is the text that is joined while who waits for an edit waits: some 100 ms.
const promptly = 1 << 20

// ahead publishes an edited store as it is before a group of its segments is joined,
// where that takes long, which it reports.
func (r *run) ahead(ctx context.Context, group []string, size map[string]int64) (long bool, err error) {
	sum := int64(0)
	for _, s := range group {
		sum += size[s]
	}
	if sum <= promptly || r.prev == nil {
		return false, nil
	}
	if err := r.announce(ctx, r.docs, r.o.Partial); err != nil {
		return false, err
	}
	head := r.res.Head
	r.store.Head = &head
	kb.Report(ctx, kb.Progress{Phase: "merge", Done: r.total, Total: r.total})
	return true, nil
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

// join puts the documents of segments into one and returns its name and the
// bytes of its text.
func (r *run) join(ctx context.Context, segments []string, paths map[string][]string) (string, int64, error) {
	b := r.newSegment()
	joined := map[string]int{} // numbers by path
	seen := map[kb.DocKey]int{}
	for _, name := range segments {
		s, err := r.x.Indexes.Segment(ctx, name)
		if err != nil {
			return "", 0, err
		}
		var fresh []int // numbers in the segment of what b lacks
		for _, p := range paths[name] {
			n := r.docs[p].Number
			if _, ok := seen[s.Keys[n]]; !ok {
				seen[s.Keys[n]] = -1
				fresh = append(fresh, n)
			}
		}
		slices.Sort(fresh)
		numbers, err := r.move(ctx, b, name, s.Dims, fresh)
		if err != nil {
			return "", 0, err
		}
		for i, n := range fresh {
			seen[s.Keys[n]] = numbers[i]
		}
		for _, p := range paths[name] {
			joined[p] = seen[s.Keys[r.docs[p].Number]]
		}
	}
	size := b.TextBytes()
	name, n, err := r.writeSegment(ctx, b)
	if err != nil {
		return "", 0, err
	}
	r.res.Written += n
	for p, number := range joined {
		d := r.docs[p]
		d.Location = kb.Location{Segment: name, Number: number}
		r.docs[p] = d
	}
	return name, size, nil
}

// move adds documents of a segment whose vectors have dims dimensions to b and
// returns their numbers there. Vectors are copied where the embedder's are of
// as many.
func (r *run) move(ctx context.Context, b kb.SegmentWriter, name string, dims int, numbers []int) ([]int, error) {
	if dims == r.x.Embedder.Dims() {
		return b.Take(ctx, name, numbers)
	}
	out := make([]int, 0, len(numbers))
	err := r.x.eachStored(ctx, r.x.Indexes, name, numbers, func(d kb.SegmentDocument) error {
		n, err := b.Add(ctx, d)
		out = append(out, n)
		return err
	})
	return out, err
}
