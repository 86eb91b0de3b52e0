package ingest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/chunk"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

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
		Languages: totals.Languages, Skipped: r.skipped(), Notes: r.notes(), Unread: r.unreads, Indexed: now().UTC(),
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

// skipped counts what was left out, by reason: by the source, and by decoding.
func (r *run) skipped() map[string]int {
	m := r.snap.Skipped()
	if n := int(r.noText.Load()); n > 0 {
		if m == nil {
			m = map[string]int{}
		}
		m["binary"] += n
	}
	return m
}

// notes are what a reader should know of the run, bounded.
func (r *run) notes() []string {
	slices.Sort(r.failed)
	const most = 5
	r.res.LeftOut = slices.Clone(r.failed[:min(most, len(r.failed))])
	if n := len(r.failed) - most; n > 0 {
		r.res.LeftOut = append(r.res.LeftOut, fmt.Sprintf("and %d more were left out", n))
	}
	return append(r.snap.Notes(), r.res.LeftOut...)
}

// Sweep deletes the files that no store and no running job needs, and what
// writers that died left unfinished.
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
	for _, dir := range []string{x.Pool.Dir, x.Generations} {
		if _, err := atomicfile.CleanTemp(dir, tempAge); err != nil {
			return err
		}
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
