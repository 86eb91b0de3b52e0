package ingest

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// index reads the documents of todo and indexes what is new.
func (r *run) index(ctx context.Context, todo []kb.Entry) error {
	workers := r.x.Workers
	if workers <= 0 {
		workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	r.total, r.began = int64(len(todo)), time.Now()
	r.left.begin(todo)
	r.look = r.x.firstLook()
	r.waiting = map[kb.DocKey][]kb.Entry{}
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
	// A text that is in the source twice was indexed once.
	for k, entries := range r.waiting {
		for _, e := range entries {
			if at, ok := r.located[k]; ok {
				r.docs[e.Path] = kb.Located{Path: e.Path, Stamp: kb.StampHash(e.Stamp), Location: at}
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
			return 8 << 10 // a repository says so only when it is read
		}
		return e.Size + 256
	}
	for _, e := range entries {
		total += size(e)
	}
	most := min(max(total/int64(workers)+1, leastSegment), segmentBytes)
	// The first segments are small, so that there is soon something to show.
	limit := min(most, leastSegment)
	var out [][]kb.Entry
	var sum int64
	start := 0
	for i, e := range entries {
		if i > start && sum+size(e) > limit {
			out = append(out, entries[start:i])
			start, sum = i, 0
			if len(out)%workers == 0 {
				limit = min(2*limit, most)
			}
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
	f := &filling{run: r, writer: r.newSegment()}
	defer r.o.At(worker, "")
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		r.o.At(worker, e.Path)
		started := time.Now()
		t, hash, err := r.read(ctx, e)
		if err != nil {
			if err := r.unread(ctx, e, err); err != nil {
				return err
			}
			continue
		}
		key := kb.DocKey{Hash: hash, Language: t.Language}
		shared, err := r.claim(ctx, e, key)
		if err != nil {
			return err
		}
		if !shared {
			if err := r.within(len(t.Body)); err != nil {
				return err
			}
			cut, err := r.x.Cutter.Split(ctx, t)
			if err != nil {
				return err
			}
			if cut.Failed != "" {
				t.Flags |= kb.FlagUnparsed
				r.mu.Lock()
				r.garbled[e.Path] = cut.Failed
				r.mu.Unlock()
			}
			d := kb.SegmentDocument{Hash: key.Hash, Text: t, Chunks: cut.Chunks, Facts: cut.Facts}
			if err := f.add(ctx, e, key, d); err != nil {
				return err
			}
		}
		r.progress(ctx, e, started)
		if f.full() {
			r.o.At(worker, "")
			if err := f.write(ctx); err != nil {
				return err
			}
		}
	}
	if err := f.embed(ctx); err != nil {
		return err
	}
	r.o.At(worker, "")
	return f.write(ctx)
}

// read returns the text of a document as it is indexed, and the hash that names it.
func (r *run) read(ctx context.Context, e kb.Entry) (t kb.Text, hash kb.DocHash, err error) {
	raw, err := r.snap.Read(ctx, e)
	if err != nil {
		return t, hash, err
	}
	if t, err = chunk.Decode(cmp.Or(e.As, e.Path), raw); err != nil {
		if kb.CodeOf(err) == kb.Unsupported {
			r.noText.Add(1)
		}
		return t, hash, err
	}
	hash = kb.HashDocument(raw)
	if at, ok := r.before[e.Path]; ok {
		r.mu.Lock()
		same := r.located[kb.DocKey{Hash: hash, Language: t.Language}] == at
		r.mu.Unlock()
		if same { // nothing was found to mask in it: what has something is known by another hash
			return t, hash, nil
		}
	}
	if masked, n := secret.Mask(cmp.Or(e.As, e.Path), t.Body); n > 0 {
		// It is known by what is kept of it, so that what was indexed
		// before the rules found something is not taken for it.
		t.Body, t.Flags, hash = masked, t.Flags|kb.FlagMasked, kb.HashDocument([]byte(masked))
	}
	return t, hash, nil
}

func (r *run) newSegment() kb.SegmentWriter {
	return r.x.Indexes.NewSegment(chunk.Version, r.x.Embedder.Dims())
}

// writeSegment makes a segment durable, and known to be in use.
func (r *run) writeSegment(ctx context.Context, b kb.SegmentWriter) (name string, size int64, err error) {
	if name, err = b.Name(ctx); err != nil {
		return "", 0, err
	}
	if err := r.x.Catalog.UseSegments(ctx, r.job, name); err != nil {
		return "", 0, err
	}
	size, err = b.Write(ctx)
	return name, size, err
}

// known notes where the documents of a durable segment are.
func (r *run) known(name string, size int64, mine []added) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.res.Written += size
	r.used[name] = true
	for _, a := range mine {
		at := kb.Location{Segment: name, Number: a.number}
		r.located[a.key] = at
		r.docs[a.entry.Path] = kb.Located{Path: a.entry.Path, Stamp: kb.StampHash(a.entry.Stamp), Location: at}
	}
	r.res.Indexed += len(mine)
}

// claim reports whether a document is indexed already, or is being indexed by
// another worker; otherwise it is the caller's to index.
func (r *run) claim(ctx context.Context, e kb.Entry, key kb.DocKey) (bool, error) {
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
	there, err := r.use(ctx, at.Segment)
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
	r.docs[e.Path] = kb.Located{Path: e.Path, Stamp: kb.StampHash(e.Stamp), Location: at}
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
		r.res.Damaged = r.res.Damaged || c == kb.Corrupt
	}
	r.done.Add(1)
	r.left.add(e, 0)
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
	r.unreads[e.Path] = kb.StampHash(e.Stamp)
}

// progress reports one document more, which took as long as since.
func (r *run) progress(ctx context.Context, e kb.Entry, since time.Time) {
	n := r.done.Add(1)
	kb.Report(ctx, kb.Progress{Phase: "index", Done: n, Total: r.total, ETA: r.left.add(e, time.Since(since))})
}
