// Package ingest brings a store's index up to date with its source: walk,
// decode, chunk, embed, write, publish. Work is streamed through a few
// workers, each filling one segment at a time, so that memory is bounded
// whatever the size of the store, and a segment is durable as soon as it is
// written: a job that dies loses the segments in flight and nothing else.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/chunk"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	// segmentBytes is how much text goes into one segment of a first index.
	// Fewer segments make searches faster; a segment in the making takes about
	// twice its text in memory, times the workers.
	segmentBytes = 16 << 20
	// leastSegment keeps small stores from being scattered over all workers.
	leastSegment = 1 << 20
	maxWorkers   = 8
)

// Indexer indexes stores. It is safe for concurrent use on different stores.
type Indexer struct {
	Catalog     *catalog.Catalog
	Pool        *index.Pool
	Generations string // folder of the manifests
	Embedder    kb.Embedder
	Workers     int              // 0: GOMAXPROCS, at most 8
	EmbedAtOnce time.Duration    // see embedAtOnce, which 0 stands for
	Now         func() time.Time // nil: time.Now
}

// Result says what a run did.
type Result struct {
	Head     kb.Head
	Read     int  // documents read
	Indexed  int  // documents indexed anew
	Shared   int  // documents read whose index existed already
	Removed  int  // documents that are gone
	UpToDate bool // nothing had changed, nothing was published
	Written  int64
}

// String says it in one sentence.
func (r Result) String() string {
	if r.UpToDate {
		return fmt.Sprintf("up to date: %d documents", r.Head.Documents)
	}
	return fmt.Sprintf("%d documents, %d chunks: %d indexed, %d shared, %d removed", r.Head.Documents, r.Head.Chunks, r.Indexed, r.Shared, r.Removed)
}

// ManifestPath returns where the manifest called name lies.
func (x *Indexer) ManifestPath(name string) string { return filepath.Join(x.Generations, name) }

// Options say how careful a run is.
type Options struct {
	Force bool // read and index everything again
	// Skip are documents that are left out, each with the reason that is noted.
	Skip map[string]string
	// Last are documents that are indexed when all others are durable, one at
	// a time: workers have died at them.
	Last []string
	// At is told which document a worker, by number, is at; "" when it is at none.
	At func(worker int, path string)
}

// Run makes a generation of store st from snap and publishes it. job names
// who keeps the files in use meanwhile. kb.Busy when somebody else published
// in between.
func (x *Indexer) Run(ctx context.Context, job string, st kb.Store, snap kb.Snapshot, o Options) (Result, error) {
	if o.At == nil {
		o.At = func(int, string) {}
	}
	r := &run{x: x, job: job, store: st, snap: snap, o: o, force: o.Force, used: map[string]bool{}, docs: map[string]index.Document{}, located: map[index.DocKey]location{}}
	res, err := r.do(ctx)
	if r.prev != nil {
		r.prev.Close()
	}
	return res, err
}

type location struct {
	segment string
	number  int
}

type run struct {
	x     *Indexer
	job   string
	store kb.Store
	snap  kb.Snapshot
	o     Options
	force bool
	prev  *index.Generation
	res   Result

	mu      sync.Mutex
	used    map[string]bool             // segments kept from being deleted
	docs    map[string]index.Document   // by path, of the new generation
	located map[index.DocKey]location   // documents that are indexed
	waiting map[index.DocKey][]kb.Entry // documents that another worker is indexing
	failed  []string
	unreads map[string]uint64 // stamps of documents that were ruled out

	done atomic.Int64
	// embedding is the time all workers have spent embedding, in nanoseconds.
	embedding atomic.Int64
	total     int64
	began     time.Time
}

func (r *run) do(ctx context.Context) (Result, error) {
	if err := r.openPrevious(); err != nil {
		return r.res, err
	}
	entries, err := r.walk(ctx)
	if err != nil {
		return r.res, err
	}
	todo, err := r.reuse(ctx, entries)
	if err != nil {
		return r.res, err
	}
	if len(todo) > 0 {
		if err := r.findSegments(ctx); err != nil {
			return r.res, err
		}
		if err := r.index(ctx, todo); err != nil {
			return r.res, err
		}
	}
	return r.publish(ctx)
}

// openPrevious opens the live generation. One that is damaged is as good as
// none: everything is indexed again.
func (r *run) openPrevious() error {
	h := r.store.Head
	if h == nil {
		return nil
	}
	g, err := r.x.Pool.OpenGeneration(r.x.ManifestPath(h.Manifest))
	switch {
	case err == nil:
		r.prev = g
	case kb.CodeOf(err) == kb.Newer:
		return err
	default:
		r.force = true
	}
	if r.prev != nil && r.prev.Chunker() > chunk.Version {
		return kb.Errorf(kb.Newer, "store %q was indexed by a newer version of knowledge", r.store.Label()).WithHint("restart this session to use that version")
	}
	return nil
}

func (r *run) walk(ctx context.Context) ([]kb.Entry, error) {
	var entries []kb.Entry
	last := time.Time{}
	err := r.snap.Walk(ctx, func(e kb.Entry) error {
		if why, skip := r.o.Skip[e.Path]; skip {
			r.failed = append(r.failed, "skipped: "+e.Path+": "+why)
			r.passOver(e)
			return nil
		}
		entries = append(entries, e)
		if now := time.Now(); now.Sub(last) > 100*time.Millisecond {
			last = now
			kb.Report(ctx, kb.Progress{Phase: "walk", Done: int64(len(entries))})
		}
		return nil
	})
	return entries, err
}

// reuse takes over what the previous generation has of unchanged documents
// and returns the rest.
func (r *run) reuse(ctx context.Context, entries []kb.Entry) ([]kb.Entry, error) {
	if r.prev == nil {
		return entries, nil
	}
	manifest := r.prev.Manifest()
	r.res.Removed = len(manifest)
	if err := r.x.Catalog.UseSegments(ctx, r.job, r.prev.Segments()...); err != nil {
		return nil, err
	}
	for _, s := range r.prev.Segments() {
		r.used[s] = true
	}
	usable := r.prev.Chunker() == chunk.Version && !r.force
	var todo []kb.Entry
	i := 0
	for _, e := range entries { // both are in order of path
		for i < len(manifest) && manifest[i].Path < e.Path {
			i++
		}
		if i == len(manifest) || manifest[i].Path != e.Path {
			todo = append(todo, e)
			continue
		}
		r.res.Removed--
		if stamp := index.StampHash(e.Stamp); usable && stamp != 0 && stamp == manifest[i].Stamp {
			r.docs[e.Path] = manifest[i]
			continue
		}
		todo = append(todo, e)
	}
	return todo, nil
}

// findSegments learns which documents are indexed already, by whichever store.
func (r *run) findSegments(ctx context.Context) error {
	if r.force {
		return nil
	}
	files, err := listFiles(r.x.Pool.Dir, index.Ext)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := strings.TrimSuffix(f.Name, index.Ext)
		v, err := r.x.Pool.SegmentChunker(name)
		if err != nil || v != chunk.Version {
			continue // gone meanwhile, damaged, or of another version: of no use here
		}
		keys, err := r.x.Pool.SegmentKeys(name)
		if err != nil {
			continue
		}
		for i, k := range keys {
			if _, ok := r.located[k]; !ok || r.used[name] {
				r.located[k] = location{name, i}
			}
		}
	}
	return nil
}

// use keeps a segment from being deleted and reports whether it is there.
func (r *run) use(ctx context.Context, name string) (bool, error) {
	r.mu.Lock()
	known := r.used[name]
	r.mu.Unlock()
	if known {
		return true, nil
	}
	if err := r.x.Catalog.UseSegments(ctx, r.job, name); err != nil {
		return false, err
	}
	if _, err := r.x.Pool.SegmentChunker(name); err != nil {
		return false, nil
	}
	r.mu.Lock()
	r.used[name] = true
	r.mu.Unlock()
	return true, nil
}

// index reads the documents of todo and indexes what is new.
func (r *run) index(ctx context.Context, todo []kb.Entry) error {
	workers := r.x.Workers
	if workers <= 0 {
		workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	r.total, r.began = int64(len(todo)), time.Now()
	r.waiting = map[index.DocKey][]kb.Entry{}
	first, last := todo, []kb.Entry(nil)
	if len(r.o.Last) > 0 {
		first = nil
		for _, e := range todo {
			if slices.Contains(r.o.Last, e.Path) {
				last = append(last, e)
			} else {
				first = append(first, e)
			}
		}
	}
	if err := r.parallel(ctx, batch(first, workers), workers); err != nil {
		return err
	}
	for _, e := range last {
		if err := r.parallel(ctx, [][]kb.Entry{{e}}, 1); err != nil {
			return err
		}
	}
	// What stands twice in the source was indexed once.
	for k, entries := range r.waiting {
		for _, e := range entries {
			if at, ok := r.located[k]; ok {
				r.docs[e.Path] = index.Document{Path: e.Path, Stamp: index.StampHash(e.Stamp), Segment: at.segment, Number: at.number}
			}
		}
	}
	return nil
}

// parallel makes segments of batches, several at a time.
func (r *run) parallel(ctx context.Context, batches [][]kb.Entry, workers int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan []kb.Entry)
	var wg sync.WaitGroup
	for n := range min(workers, len(batches)) {
		wg.Go(func() {
			for b := range next {
				if err := r.segment(ctx, n, b); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, b := range batches {
		if ctx.Err() != nil {
			break
		}
		next <- b
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// batch splits entries, in order, into the documents of one segment each.
func batch(entries []kb.Entry, workers int) [][]kb.Entry {
	var total int64
	size := func(e kb.Entry) int64 {
		if e.Size < 0 {
			return 8 << 10 // a repository tells only when it is read
		}
		return e.Size + 256
	}
	for _, e := range entries {
		total += size(e)
	}
	limit := min(max(total/int64(workers)+1, leastSegment), segmentBytes)
	var out [][]kb.Entry
	var sum int64
	start := 0
	for i, e := range entries {
		if i > start && sum+size(e) > limit {
			out = append(out, entries[start:i])
			start, sum = i, 0
		}
		sum += size(e)
	}
	if start < len(entries) {
		out = append(out, entries[start:])
	}
	return out
}

func (r *run) atOnce() time.Duration {
	if r.x.EmbedAtOnce > 0 {
		return r.x.EmbedAtOnce
	}
	return embedAtOnce
}

// added is a document in the segment in the making.
type added struct {
	entry  kb.Entry
	key    index.DocKey
	number int
}

// A segment is written when its embedding has taken this long, or this share
// of all embedding so far: with a slow provider that bounds what is embedded
// again when a worker dies, whatever the size of the documents.
const (
	embedAtOnce  = time.Second
	embedPortion = 100
)

// segment indexes one batch, into one segment unless the documents turn out
// larger than their source said or embedding is slow.
func (r *run) segment(ctx context.Context, worker int, entries []kb.Entry) error {
	b := index.NewBuilder(chunk.Version, r.x.Embedder.Dims())
	var mine []added
	var spent time.Duration
	defer r.o.At(worker, "")
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		r.o.At(worker, e.Path)
		raw, err := r.snap.Read(ctx, e)
		var t kb.Text
		if err == nil {
			t, err = chunk.Decode(e.Path, raw)
		}
		if err != nil {
			if err := r.unread(ctx, e, err); err != nil {
				return err
			}
			continue
		}
		key := index.DocKey{Hash: kb.HashDocument(raw), Language: t.Language}
		shared, err := r.claim(ctx, e, key)
		if err != nil {
			return err
		}
		if !shared {
			chunks := chunk.Split(t)
			number := b.Add(key.Hash, t, chunks)
			began := time.Now()
			if err := r.embed(ctx, b, t, chunks); err != nil {
				return err
			}
			took := time.Since(began)
			spent += took
			r.embedding.Add(int64(took))
			mine = append(mine, added{e, key, number})
		}
		r.progress(ctx)
		if b.TextBytes() >= segmentBytes || spent > max(r.atOnce(), time.Duration(r.embedding.Load()/embedPortion)) {
			r.o.At(worker, "")
			if err := r.write(ctx, b, mine); err != nil {
				return err
			}
			b, mine, spent = index.NewBuilder(chunk.Version, r.x.Embedder.Dims()), nil, 0
		}
	}
	r.o.At(worker, "")
	return r.write(ctx, b, mine)
}

// write makes a segment durable and its documents known.
func (r *run) write(ctx context.Context, b *index.Builder, mine []added) error {
	if b.Documents() == 0 {
		return nil
	}
	name := b.Name()
	if err := r.x.Catalog.UseSegments(ctx, r.job, name); err != nil {
		return err
	}
	_, n, err := b.Write(r.x.Pool.Dir, r.x.Embedder.ID())
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.res.Written += n
	r.used[name] = true
	for _, a := range mine {
		r.located[a.key] = location{name, a.number}
		r.docs[a.entry.Path] = index.Document{Path: a.entry.Path, Stamp: index.StampHash(a.entry.Stamp), Segment: name, Number: a.number}
	}
	r.res.Indexed += len(mine)
	return nil
}

// claim reports whether a document is indexed already, or is being indexed by
// another worker; otherwise it is the caller's to index.
func (r *run) claim(ctx context.Context, e kb.Entry, key index.DocKey) (bool, error) {
	r.mu.Lock()
	r.res.Read++
	at, ok := r.located[key]
	if !ok {
		if w, taken := r.waiting[key]; taken {
			r.waiting[key] = append(w, e)
			r.res.Shared++
			r.mu.Unlock()
			return true, nil
		}
		r.waiting[key] = nil
		r.mu.Unlock()
		return false, nil
	}
	r.mu.Unlock()
	there, err := r.use(ctx, at.segment)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !there {
		delete(r.located, key)
		r.waiting[key] = nil
		return false, nil
	}
	r.docs[e.Path] = index.Document{Path: e.Path, Stamp: index.StampHash(e.Stamp), Segment: at.segment, Number: at.number}
	r.res.Shared++
	return true, nil
}

// unread deals with a document that could not be read: what its content rules
// out the source has counted, what has vanished is gone, and the rest is
// named; none of it stops the others.
func (r *run) unread(ctx context.Context, e kb.Entry, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c := kb.CodeOf(err); c == kb.Away || c == kb.Full || c == kb.Canceled {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if kb.CodeOf(err) == kb.Unsupported {
		r.passOver(e)
	}
	if c := kb.CodeOf(err); c != kb.Unsupported && c != kb.NotFound {
		r.failed = append(r.failed, fmt.Sprintf("could not be read: %s: %v", e.Path, err))
	}
	r.done.Add(1)
	return nil
}

// passOver remembers a document that is left out as it is, so that a look at
// the source does not take it for a change.
func (r *run) passOver(e kb.Entry) {
	if e.Stamp == "" {
		return
	}
	if r.unreads == nil {
		r.unreads = map[string]uint64{}
	}
	r.unreads[e.Path] = index.StampHash(e.Stamp)
}

// embed adds the vectors of a document's chunks. A chunk is embedded with the
// names of what encloses it, which its own lines do not repeat.
func (r *run) embed(ctx context.Context, b *index.Builder, t kb.Text, chunks []kb.Chunk) error {
	texts := make([]string, len(chunks))
	for i := range chunks {
		texts[i] = embedText(t.Body, &chunks[i])
	}
	vecs, err := r.x.Embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	if len(vecs) != len(texts) {
		return kb.Errorf(kb.Away, "the embedder %s returned %d vectors for %d texts", r.x.Embedder.ID(), len(vecs), len(texts))
	}
	for _, v := range vecs {
		b.Vectors().Add(v)
	}
	return nil
}

func embedText(body string, c *kb.Chunk) string {
	if len(c.Decl) == 0 {
		return body[c.From:c.To]
	}
	return strings.Join(c.Decl, " ") + "\n" + body[c.From:c.To]
}

func (r *run) progress(ctx context.Context) {
	n := r.done.Add(1)
	p := kb.Progress{Phase: "index", Done: n, Total: r.total}
	if s := time.Since(r.began).Seconds(); s > 0.2 {
		p.Rate = float64(n) / s
		p.ETA = float64(r.total-n) / p.Rate
	}
	kb.Report(ctx, p)
}

// publish merges small segments, writes the manifest and makes it live.
func (r *run) publish(ctx context.Context) (Result, error) {
	if r.unchanged() {
		r.res.UpToDate, r.res.Head = true, *r.store.Head
		return r.res, nil
	}
	kb.Report(ctx, kb.Progress{Phase: "write", Done: r.total, Total: r.total})
	if err := r.merge(ctx); err != nil {
		return r.res, err
	}
	expect := int64(0)
	if r.store.Head != nil {
		expect = r.store.Head.Generation
	}
	now := time.Now
	if r.x.Now != nil {
		now = r.x.Now
	}
	m := index.Manifest{Store: r.store.ID, Generation: expect + 1, Commit: r.snap.Version(), Chunker: chunk.Version, Embedder: r.x.Embedder.ID(), Created: now().Unix()}
	segments := map[string]bool{}
	for _, d := range r.docs {
		m.Documents = append(m.Documents, d)
		segments[d.Segment] = true
	}
	// The job's id keeps two writers of one number from meeting at a file.
	name := fmt.Sprintf("%s-%d-%s%s", r.store.ID, m.Generation, r.job, index.GenerationExt)
	if err := r.x.Catalog.UseSegments(ctx, r.job, name); err != nil {
		return r.res, err
	}
	totals, err := r.x.Pool.WriteGeneration(r.x.ManifestPath(name), m, r.prev)
	if err != nil {
		return r.res, err
	}
	head := kb.Head{
		Generation: m.Generation, Manifest: name, Commit: m.Commit, Embedder: m.Embedder,
		Documents: totals.Documents, Chunks: totals.Chunks, TextBytes: totals.TextBytes, IndexBytes: totals.IndexBytes,
		Languages: totals.Languages, Skipped: r.snap.Skipped(), Notes: r.notes(), Unread: r.unreads, Indexed: now().UTC(),
	}
	for s := range segments {
		head.Segments = append(head.Segments, s)
	}
	slices.Sort(head.Segments)
	if err := r.x.Catalog.Publish(ctx, r.store.ID, expect, head); err != nil {
		return r.res, err
	}
	r.res.Head = head
	return r.res, nil
}

// unchanged reports whether the new generation would say what the live one says.
func (r *run) unchanged() bool {
	if r.prev == nil || r.force || r.store.Head == nil || r.store.Head.Commit != r.snap.Version() {
		return false
	}
	if r.prev.Chunker() != chunk.Version || r.prev.Embedder() != r.x.Embedder.ID() {
		return false
	}
	manifest := r.prev.Manifest()
	if len(manifest) != len(r.docs) || len(r.failed) > 0 {
		return false
	}
	return !slices.ContainsFunc(manifest, func(d index.Document) bool { return r.docs[d.Path] != d })
}

// notes are what a reader should know of the run, bounded.
func (r *run) notes() []string {
	notes := r.snap.Notes()
	slices.Sort(r.failed)
	const most = 5
	for i, f := range r.failed {
		if i == most {
			notes = append(notes, fmt.Sprintf("and %d more were left out", len(r.failed)-most))
			break
		}
		notes = append(notes, f)
	}
	return notes
}

// Sweep deletes the files that no store and no running job needs.
func (x *Indexer) Sweep(ctx context.Context) error {
	segs, err := listFiles(x.Pool.Dir, index.Ext)
	if err != nil {
		return err
	}
	gens, err := listFiles(x.Generations, index.GenerationExt)
	if err != nil {
		return err
	}
	for i := range segs {
		segs[i].Name = strings.TrimSuffix(segs[i].Name, index.Ext)
	}
	_, err = x.Catalog.Garbage(ctx, append(segs, gens...), 0, func(name string) error {
		if strings.HasSuffix(name, index.GenerationExt) {
			return remove(x.ManifestPath(name))
		}
		siblings, err := filepath.Glob(filepath.Join(x.Pool.Dir, name+".*"+index.VecExt))
		if err != nil {
			return err
		}
		var errs []error
		for _, f := range append(siblings, index.SegmentPath(x.Pool.Dir, name)) {
			errs = append(errs, remove(f))
		}
		return errors.Join(errs...)
	})
	return err
}

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
