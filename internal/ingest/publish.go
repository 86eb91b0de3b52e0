package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
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
	err := r.announce(ctx, r.docs, r.o.Partial)
	return r.res, err
}

// A first index is published before it is complete, so that who asks meanwhile
// gets what is ready: after firstLook, and then each time that it has taken
// twice as long.
const firstLook = 2 * time.Second

// preview publishes what is durable of a first index, when it is time to.
func (r *run) preview(ctx context.Context) error {
	if r.store.Head != nil && !r.store.Head.Partial {
		return nil
	}
	r.looking.Lock()
	defer r.looking.Unlock()
	if time.Since(r.began) < r.look {
		return nil
	}
	r.look = max(r.look, time.Since(r.began)) * 2
	r.mu.Lock()
	docs := maps.Clone(r.docs)
	r.mu.Unlock()
	return r.announce(ctx, docs, true)
}

// announce writes the manifest of docs and makes it live. When part of a run
// is announced, others may be adding to it.
func (r *run) announce(ctx context.Context, docs map[string]index.Document, partial bool) error {
	now := time.Now
	if r.x.Now != nil {
		now = r.x.Now
	}
	m := index.Manifest{Store: r.store.ID, Generation: r.expect + 1, Commit: r.snap.Version(), Chunker: chunk.Version, Embedder: r.x.Embedder.ID(), Created: now().Unix()}
	segments := map[string]bool{}
	for _, d := range docs {
		m.Documents = append(m.Documents, d)
		segments[d.Segment] = true
	}
	// The job's id keeps two writers of one number from meeting at a file.
	name := fmt.Sprintf("%s-%d-%s%s", r.store.ID, m.Generation, r.job, index.GenerationExt)
	if err := r.x.Catalog.UseSegments(ctx, r.job, name); err != nil {
		return err
	}
	use := func(layout string) error { return r.x.Catalog.UseSegments(ctx, r.job, layout) }
	totals, err := r.x.Pool.WriteGeneration(r.x.ManifestPath(name), m, r.prev, use)
	if err != nil {
		return err
	}
	r.mu.Lock()
	head := kb.Head{
		Generation: m.Generation, Manifest: name, Commit: m.Commit, Embedder: m.Embedder,
		Documents: totals.Documents, Chunks: totals.Chunks, TextBytes: totals.TextBytes, IndexBytes: totals.IndexBytes,
		Languages: totals.Languages, Unparsed: totals.Unparsed, Masked: totals.Masked, Rules: secret.Version, Skipped: r.skipped(), Notes: r.notes(), Unread: maps.Clone(r.unreads), Partial: partial, Indexed: now().UTC(), Layout: totals.Layout,
	}
	r.mu.Unlock()
	head.Segments = slices.Sorted(maps.Keys(segments))
	if err := r.x.Catalog.Publish(ctx, r.store.ID, r.expect, head); err != nil {
		return err
	}
	r.expect = m.Generation
	r.res.Head = head
	return nil
}

// unchanged reports whether the new generation would say what the live one says.
func (r *run) unchanged() bool {
	r.res.Mended = r.mend
	if r.prev == nil || r.force || r.mend > 0 || r.store.Head == nil || r.store.Head.Partial || r.store.Head.Commit != r.snap.Version() {
		return false
	}
	if r.store.Head.Rules != secret.Version || r.prev.Chunker() != chunk.Version || r.prev.Embedder() != r.x.Embedder.ID() {
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
	for _, dir := range []string{x.Pool.Dir, x.Generations} {
		if _, err := atomicfile.CleanTemp(dir, tempAge); err != nil {
			return err
		}
	}
	return x.EachUnneeded(ctx, func(paths []string) error {
		var errs []error
		for _, p := range paths {
			errs = append(errs, remove(p))
		}
		return errors.Join(errs...)
	})
}

// EachUnneeded calls f with the files of each segment, layout or manifest that
// no store and no running job needs, in the order in which they are to be
// deleted; nobody begins to need them during the call.
func (x *Indexer) EachUnneeded(ctx context.Context, f func(paths []string) error) error {
	files, err := listFiles(x.Generations, index.GenerationExt)
	if err != nil {
		return err
	}
	// Vectors without their segment are what a sweep that was killed left, a
	// mark without one what an import left.
	known := map[string]bool{}
	for _, ext := range []string{index.Ext, index.VecExt, index.LayoutExt, index.ImportedExt} {
		list, err := listFiles(x.Pool.Dir, ext)
		if err != nil {
			return err
		}
		for _, file := range list {
			if len(ours(filepath.Join(x.Pool.Dir, file.Name))) == 0 {
				continue
			}
			file.Name, _, _ = strings.Cut(file.Name, ".")
			if !known[file.Name] {
				known[file.Name] = true
				files = append(files, file)
			}
		}
	}
	lost, err := x.lost(ctx)
	if err != nil {
		return err
	}
	_, err = x.Catalog.Garbage(ctx, files, 0, func(name string) error {
		if strings.HasSuffix(name, index.GenerationExt) {
			return f(ours(x.ManifestPath(name)))
		}
		if lost && x.Pool.Stands(name) {
			return nil // it may be what was lost, under another name
		}
		siblings, err := filepath.Glob(filepath.Join(x.Pool.Dir, name+".*"+index.VecExt))
		if err != nil {
			return err
		}
		// The segment goes first: who has opened one whose vectors are missing
		// can tell by that whether it is being deleted. The mark goes last: no
		// segment stands without it.
		paths := append([]string{index.SegmentPath(x.Pool.Dir, name), index.LayoutPath(x.Pool.Dir, name)}, siblings...)
		return f(ours(append(paths, index.ImportedPath(x.Pool.Dir, name))...))
	})
	return err
}

// ours leaves out paths that somebody else's files have. The folders of
// segments and of generations lie in the data directory.
func ours(paths ...string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return !project.Ours(filepath.Dir(filepath.Dir(p)), p) })
}

// lost reports whether a store lacks a segment, or has one that is none.
func (x *Indexer) lost(ctx context.Context) (bool, error) {
	all, err := x.Catalog.All(ctx)
	if kb.CodeOf(err) == kb.Corrupt && err != nil {
		return true, nil // who knows
	}
	for _, e := range all {
		if e.Head == nil {
			continue
		}
		if slices.ContainsFunc(e.Head.Segments, func(name string) bool { return !x.Pool.Stands(name) }) {
			return true, nil
		}
	}
	return false, err
}
