package cluster

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/weaviate"
)

// A batch is sent when it has so many objects or bytes; so many are under way at once.
const (
	batchObjects = 40
	batchBytes   = 1 << 20
	batchesAway  = 2
)

// upload puts a segment of the pool on the cluster, unless it is there to stay.
func (x *Indexes) upload(ctx context.Context, h *hold, name string, anew bool) error {
	if err := h.keep(ctx); err != nil {
		return err
	}
	if !anew {
		if ok, err := h.has(ctx, name+index.Ext); err != nil || ok {
			return err
		}
	}
	s, err := x.pool.Segment(ctx, name)
	if err != nil {
		return err
	}
	c := classesOf(x.pool.Embedder, s.Chunker)
	if err := x.defineClasses(ctx, c); err != nil {
		return err
	}
	b := newBatch(ctx, x.Client)
	b.epoch = h.epoch
	err = x.pool.Distant(ctx, name, func(n int, d index.FarDocument) error { return b.document(c, name, n, &d) })
	if e := b.end(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	raw, err := x.pool.Thin(name)
	if err != nil {
		return err
	}
	return x.put(ctx, h.epoch, name+index.Ext, raw, nil)
}

// batch sends objects, some batches at a time.
type batch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	client *weaviate.Client
	next   chan []weaviate.Object
	wg     sync.WaitGroup
	list   []weaviate.Object
	bytes  int
	epoch  int64
}

func newBatch(ctx context.Context, c *weaviate.Client) *batch {
	b := &batch{client: c, next: make(chan []weaviate.Object)}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	for range batchesAway {
		b.wg.Go(func() {
			for list := range b.next {
				if b.ctx.Err() != nil {
					continue
				}
				if err := c.Put(b.ctx, list); err != nil {
					b.cancel(err)
				}
			}
		})
	}
	return b
}

// document adds a document and its chunks.
func (b *batch) document(c classes, segment string, n int, d *index.FarDocument) error {
	doc := segment + "/" + strconv.Itoa(n)
	o, err := objectOf(c.documents, documentID(c, doc), map[string]any{"seg": segment, "doc": doc, "epoch": b.epoch,
		"card": pack(d.Card), "facts": pack(d.Facts), "rows": pack(d.Vectors)})
	if err != nil {
		return err
	}
	if err := b.add(o, len(d.Card)+len(d.Facts)+len(d.Vectors)); err != nil {
		return err
	}
	for i := range d.Chunks {
		w := &d.Chunks[i]
		err := b.add(weaviate.Object{Class: c.chunks, ID: weaviate.ID(c.chunks + " " + doc + " " + strconv.Itoa(i)), Vector: direction(w.Vector),
			Properties: map[string]any{"seg": segment, "doc": doc, "n": i, "epoch": b.epoch, "body": w.Fields[0], "symbols": w.Fields[1], "headings": w.Fields[2]}},
			len(w.Fields[0])+4*len(w.Vector))
		if err != nil {
			return err
		}
	}
	return nil
}

// direction returns a vector that has one: the cluster takes none of length 0, and
// a chunk without any is near to nothing.
func direction(v []float32) []float32 {
	if slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
		return v
	}
	return nil
}

func documentID(c classes, doc string) string { return weaviate.ID(c.documents + " " + doc) }

func (b *batch) add(o weaviate.Object, bytes int) error {
	b.list = append(b.list, o)
	if b.bytes += bytes; len(b.list) < batchObjects && b.bytes < batchBytes {
		return nil
	}
	return b.send()
}

func (b *batch) send() error {
	list := b.list
	b.list, b.bytes = nil, 0
	select {
	case b.next <- list:
		return nil
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}

// end sends the rest and waits until all of it is acknowledged.
func (b *batch) end() error {
	if len(b.list) > 0 {
		_ = b.send() // the cause is looked at below
	}
	close(b.next)
	b.wg.Wait()
	err := context.Cause(b.ctx)
	b.cancel(nil)
	return err
}

// segmentWriter writes into the pool, then to the cluster.
type segmentWriter struct {
	kb.SegmentWriter
	x *Indexes
}

// NewSegment implements kb.Indexes.
func (x *Indexes) NewSegment(chunker uint32, dims int) kb.SegmentWriter {
	return segmentWriter{x.pool.NewSegment(chunker, dims), x}
}

func (w segmentWriter) Take(ctx context.Context, segment string, numbers []int) ([]int, error) {
	ctx = weaviate.Patient(ctx)
	if err := w.x.stage(ctx, segment); err != nil {
		return nil, err
	}
	return w.SegmentWriter.Take(ctx, segment, numbers)
}

func (w segmentWriter) Write(ctx context.Context) (int64, error) {
	ctx = weaviate.Patient(ctx)
	name, err := w.Name(ctx)
	if err != nil {
		return 0, err
	}
	size, err := w.SegmentWriter.Write(ctx)
	if err != nil {
		return 0, err
	}
	return size, w.x.holding(ctx, []string{name + index.Ext}, func(h *hold) error { return w.x.upload(ctx, h, name, false) })
}

// vectorWriter does the same with vectors.
type vectorWriter struct {
	kb.VectorWriter
	x       *Indexes
	segment string
}

// NewVectors implements kb.Indexes.
func (x *Indexes) NewVectors(segment string, dims int) kb.VectorWriter {
	return vectorWriter{x.pool.NewVectors(segment, dims), x, segment}
}

func (w vectorWriter) Write(ctx context.Context) error {
	ctx = weaviate.Patient(ctx)
	if err := w.x.stage(ctx, w.segment); err != nil {
		return err
	}
	if err := w.VectorWriter.Write(ctx); err != nil {
		return err
	}
	w.x.Forget([]string{w.segment})
	return w.x.holding(ctx, []string{w.segment + index.Ext}, func(h *hold) error { return w.x.upload(ctx, h, w.segment, true) })
}

// stage sees to it that the pool has a segment whole: one that another machine
// indexed is made again of its documents.
func (x *Indexes) stage(ctx context.Context, name string) error {
	if missing, err := x.pool.Missing(ctx, []string{name}); err != nil || len(missing) == 0 {
		return err
	}
	s, err := x.Segment(ctx, name)
	if err != nil {
		return err
	}
	w := x.pool.NewSegment(s.Chunker, s.Dims)
	for from := 0; from < len(s.Keys); from += loadAtOnce {
		var at []kb.Location
		for n := from; n < min(from+loadAtOnce, len(s.Keys)); n++ {
			at = append(at, kb.Location{Segment: name, Number: n})
		}
		got, err := x.Load(ctx, at, true)
		if err != nil {
			return err
		}
		for i := range got {
			d, vectors, err := got[i].Document()
			if err != nil {
				return err
			}
			d.Vectors = vectors
			if _, err := w.Add(ctx, d); err != nil {
				return err
			}
		}
	}
	if made, err := w.Name(ctx); err != nil || made != name {
		return kb.Errorf(kb.Corrupt, "segment %s of the shared stores is damaged: its documents are others", name).
			WithHint("run store:index with force to rebuild the store")
	}
	_, err = w.Write(ctx)
	return err
}

// Stage sees to it that the pool has a generation of the cluster whole, so that
// a next one can be written after it.
func (x *Indexes) Stage(ctx context.Context, manifest string) error {
	ctx = weaviate.Patient(ctx)
	if g, err := x.pool.OpenGeneration(x.pool.ManifestPath(manifest)); err == nil {
		g.Release()
		return nil
	}
	_, needs, err := x.get(ctx, manifest)
	if err != nil {
		return err
	}
	// To fetch it may take longer than what was replaced stays.
	return x.holding(ctx, append(slices.Clone(needs), manifest), func(h *hold) error {
		for i, name := range needs {
			kb.Report(ctx, kb.Progress{Phase: "fetch", Done: int64(i), Total: int64(len(needs))})
			if err := h.keep(ctx); err != nil {
				return err
			}
			if segment, ok := segmentOf(name); ok {
				err = x.stage(ctx, segment)
			} else {
				_, err = x.bring(ctx, x.pool, name)
			}
			if err != nil {
				return err
			}
		}
		_, err := x.bring(ctx, x.pool, manifest)
		return err
	})
}
