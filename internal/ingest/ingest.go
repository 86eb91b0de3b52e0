// Package ingest brings a store's index up to date with its source: walk,
// decode, chunk, embed, write, publish. Work is streamed through a few
// workers, each filling one segment at a time, so that memory is bounded
// whatever the size of the store, and a segment is durable as soon as it is
// written: a job that dies loses the segments in flight and nothing else.
package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
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
	Indexes     kb.Indexes
	Embedder    kb.Embedder
	Cutter      chunk.Cutter
	Workers     int              // 0: GOMAXPROCS, at most 8
	EmbedAtOnce time.Duration    // 0: embedAtOnce
	FirstLook   time.Duration    // 0: firstLook
	Now         func() time.Time // nil: time.Now
}

// New returns an Indexer that keeps compiled grammars in a folder; see chunk.NewCutter.
func New(c *catalog.Catalog, indexes kb.Indexes, emb kb.Embedder, grammars string) *Indexer {
	return &Indexer{Catalog: c, Indexes: indexes, Embedder: emb, Cutter: chunk.NewCutter(grammars)}
}

// Close gives up what the Indexer keeps open.
func (x *Indexer) Close() error { return x.Cutter.Close() }

func (x *Indexer) firstLook() time.Duration {
	if x.FirstLook > 0 {
		return x.FirstLook
	}
	return firstLook
}

// Result says what a run did.
type Result struct {
	Head     kb.Head
	Read     int  // documents read
	Indexed  int  // documents indexed anew
	Shared   int  // documents read whose index existed already
	Removed  int  // documents that are gone
	Mended   int  // segments whose missing vectors were made anew
	UpToDate bool // nothing had changed, nothing was published
	Written  int64
	// LeftOut says which documents could not be indexed and why, bounded.
	LeftOut []string
	Damaged bool // some of it because the source itself is damaged
}

// String says it in one sentence.
func (r Result) String() string {
	if r.UpToDate {
		return fmt.Sprintf("up to date: %d documents", r.Head.Documents)
	}
	s := fmt.Sprintf("%d documents, %d chunks: %d indexed, %d shared, %d removed", r.Head.Documents, r.Head.Chunks, r.Indexed, r.Shared, r.Removed)
	if r.Mended > 0 {
		s += fmt.Sprintf("; the missing vectors of %d segments were made anew", r.Mended)
	}
	if len(r.LeftOut) > 0 {
		s += "; " + strings.Join(r.LeftOut, "; ")
	}
	return s
}

// Options say how careful a run is.
type Options struct {
	Force bool // read and index everything again
	// Repair makes anew what is damaged: a source that has nothing in it now,
	// as the folder of a disk that is not mounted, is no source for that.
	Repair bool
	// Waited says that somebody waits for what was edited: what only makes searches
	// faster is left to runs that nobody waits for, as far as it can be.
	Waited bool
	// Partial publishes what the snapshot has as a part of a first index.
	Partial bool
	// Skip are documents that are left out, each with the reason that is noted.
	Skip map[string]string
	// Last are documents that are indexed when all others are durable, one at
	// a time: workers have died at them.
	Last []string
	// Spend may refuse that so many tokens are sent to the provider of embeddings; nil
	// lets all be sent.
	Spend func(tokens int64) error
	// At is called with the document that a worker, by number, is at; "" for none.
	At func(worker int, path string)
	// Apart, Most and Beside are of a generation that is no store's, see apart.go.
	Apart  func(ctx context.Context, head kb.Head) error
	Most   int64
	Beside []*kb.Head
}

// RunPart is Run with Options.Partial.
func (x *Indexer) RunPart(ctx context.Context, job string, st kb.Store, snap kb.Snapshot) error {
	_, err := x.Run(ctx, job, st, snap, Options{Partial: true})
	return err
}

// Run makes a generation of store st from snap and publishes it. job names
// the holder of the files in use meanwhile. kb.Busy when another run published
// in between.
func (x *Indexer) Run(ctx context.Context, job string, st kb.Store, snap kb.Snapshot, o Options) (Result, error) {
	if o.At == nil {
		o.At = func(int, string) {}
	}
	r := &run{x: x, job: job, store: st, snap: snap, o: o, force: o.Force, used: map[string]bool{},
		docs: map[string]kb.Located{}, located: map[kb.DocKey]kb.Location{}, garbled: map[string]string{}, before: map[string]kb.Location{}}
	if st.Head != nil {
		r.expect = st.Head.Generation
	}
	res, err := r.do(ctx)
	if r.prev != nil {
		r.prev.Release()
	}
	return res, err
}

type run struct {
	x     *Indexer
	job   string
	store kb.Store
	snap  kb.Snapshot
	o     Options
	force bool
	mend  int          // segments of prev whose vectors were made anew
	prev  kb.Index     // nil without a generation before
	was   kb.IndexInfo // of prev
	res   Result

	mu      sync.Mutex
	used    map[string]bool           // segments kept from being deleted
	docs    map[string]kb.Located     // by path, of the new generation
	located map[kb.DocKey]kb.Location // documents that are indexed
	waiting map[kb.DocKey][]kb.Entry  // documents that another worker is indexing
	failed  []string
	unreads map[string]uint64 // stamps of documents that were ruled out
	garbled map[string]string // why documents are kept as plain text, by path
	// before is where prev has documents by present rules, of those that are read again.
	before map[string]kb.Location

	walked time.Time // when the walk began
	done   atomic.Int64
	noText atomic.Int64 // documents that only decoding ruled out, which the source cannot count
	fresh  atomic.Int64 // bytes of text that were indexed anew
	// embedding is the time all workers have spent embedding, in nanoseconds.
	embedding atomic.Int64
	total     int64
	left      remaining
	began     time.Time

	expect  int64 // generation that is live, as far as this run knows
	looking sync.Mutex
	look    time.Duration // after which a first index is published once more
}

func (r *run) do(ctx context.Context) (Result, error) {
	if err := r.openPrevious(ctx); err != nil {
		return r.res, err
	}
	entries, err := r.walk(ctx)
	if err != nil {
		return r.res, err
	}
	if r.o.Repair && len(entries) == 0 && r.store.Head != nil && r.store.Head.Documents > 0 {
		return r.res, kb.Errorf(kb.Away, "there is nothing in %s now, and were %d documents", r.store.Spec.Source, r.store.Head.Documents).
			WithHint("bring them back there, or, if it is to be empty: knowledge index %s --force", cmp.Or(r.store.Name, string(r.store.ID)))
	}
	todo, err := r.reuse(ctx, entries)
	if err == nil {
		todo, err = r.beside(ctx, todo)
	}
	if err != nil {
		return r.res, err
	}
	if len(todo) > 0 {
		if err := r.findSegments(ctx); err != nil {
			return r.res, err
		}
	}
	if err := r.price(ctx, todo); err != nil {
		return r.res, err
	}
	if r.prev != nil && !r.force {
		if r.mend, err = r.mendVectors(ctx); err != nil {
			return r.res, err
		}
	}
	if len(todo) > 0 {
		if err := r.index(ctx, todo); err != nil {
			return r.res, err
		}
	}
	return r.publish(ctx)
}

// openPrevious opens the live generation. One that is damaged is as good as
// none: everything is indexed again.
func (r *run) openPrevious(ctx context.Context) error {
	h := r.store.Head
	if h == nil {
		return nil
	}
	prev, err := r.x.Indexes.Open(ctx, h.Manifest)
	if err == nil {
		r.prev = prev
		r.was, err = prev.Info(ctx)
	}
	switch {
	case err == nil:
	case kb.CodeOf(err) == kb.Newer, kb.CodeOf(err) == kb.Away:
		return err
	default:
		r.force = true
	}
	if r.was.Chunker > chunk.Version {
		return kb.Errorf(kb.Newer, "store %q was indexed by a newer version of knowledge", r.store.Label()).WithHint("restart this session to use that version")
	}
	return nil
}

func (r *run) walk(ctx context.Context) ([]kb.Entry, error) {
	var entries []kb.Entry
	last := time.Time{}
	r.walked = time.Now()
	err := r.snap.Walk(ctx, func(e kb.Entry) error {
		if why, skip := r.o.Skip[e.Path]; skip {
			r.failed = append(r.failed, kb.Skip{Path: e.Path, Reason: why}.String())
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
	manifest, err := r.prev.Manifest(ctx)
	if err != nil {
		return nil, err
	}
	r.res.Removed = len(manifest)
	if err := r.x.Catalog.UseSegments(ctx, r.job, r.was.Segments...); err != nil {
		return nil, err
	}
	for _, s := range r.was.Segments {
		r.used[s] = true
	}
	// Documents that were read by other rules may hold what these would mask.
	usable := r.was.Chunker == chunk.Version && r.store.Head.Rules == secret.Version && !r.force
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
		if stamp := kb.StampHash(e.Stamp); usable && stamp != 0 && stamp == manifest[i].Stamp {
			r.docs[e.Path] = manifest[i]
			continue
		}
		if usable {
			r.before[e.Path] = manifest[i].Location
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
	names, err := r.x.Indexes.Segments(ctx)
	if err != nil {
		return err
	}
	imported, err := r.x.Indexes.Imported(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !r.used[name] && slices.Contains(imported, name) {
			continue
		}
		s, err := r.x.Indexes.Segment(ctx, name)
		if err != nil || s.Dims == 0 || s.Chunker != chunk.Version {
			continue // gone meanwhile, damaged, without vectors, or of another version: of no use here
		}
		for i, k := range s.Keys {
			if _, ok := r.located[k]; !ok || r.used[name] {
				r.located[k] = kb.Location{Segment: name, Number: i}
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
	if s, err := r.x.Indexes.Segment(ctx, name); err != nil || s.Dims == 0 {
		return false, nil
	}
	r.mu.Lock()
	r.used[name] = true
	r.mu.Unlock()
	return true, nil
}

// tempAge is the age at which no process can be writing an unfinished file.
const tempAge = time.Hour
