package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// publish merges small segments, writes the manifest and makes it live.
func (r *run) publish(ctx context.Context) (Result, error) {
	same, err := r.unchanged(ctx)
	if err != nil {
		return r.res, err
	}
	if same {
		if r.o.Apart == nil { // what cannot be noted has a waiter look once more
			_ = r.x.Catalog.Walked(ctx, r.store.ID, r.store.Head.Generation, r.walked.UTC())
		}
		r.res.UpToDate, r.res.Head = true, *r.store.Head
		return r.res, nil
	}
	kb.Report(ctx, kb.Progress{Phase: "write", Done: r.total, Total: r.total})
	if r.o.Apart == nil { // else it is not searched often enough to be worth it
		if err := r.merge(ctx); err != nil {
			return r.res, err
		}
	}
	err = r.announce(ctx, r.docs, r.o.Partial)
	return r.res, err
}

// firstLook is the time after which a first index is published before it is
// complete, so that what is ready is found meanwhile, and then each time that it
// has taken twice as long.
const firstLook = 2 * time.Second

// preview publishes what is durable of a first index, when it is time to.
func (r *run) preview(ctx context.Context) error {
	if r.o.Apart != nil || r.store.Head != nil && !r.store.Head.Partial {
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
func (r *run) announce(ctx context.Context, docs map[string]kb.Located, partial bool) error {
	now := time.Now
	if r.x.Now != nil {
		now = r.x.Now
	}
	m := kb.Manifest{Store: r.store.ID, Generation: r.expect + 1, Commit: r.snap.Version(), Chunker: chunk.Version,
		Embedder: r.x.Embedder.ID(), Created: now().Unix()}
	if r.prev != nil {
		m.Previous = r.store.Head.Manifest
	}
	segments := map[string]bool{}
	for _, d := range docs {
		m.Documents = append(m.Documents, d)
		segments[d.Segment] = true
	}
	// The job's id keeps two writers of one number from meeting at a file.
	name := kb.ManifestName(r.store.ID, m.Generation, r.job)
	g, err := r.x.Indexes.NewGeneration(ctx, m)
	if err != nil {
		return err
	}
	if err := r.x.Catalog.UseSegments(ctx, r.job, used(name, g)...); err != nil {
		return err
	}
	totals, size, err := g.Write(ctx, name)
	if err != nil {
		return err
	}
	r.mu.Lock()
	head := kb.Head{
		Generation: m.Generation, Manifest: name, Commit: m.Commit, Embedder: m.Embedder,
		Documents: totals.Documents, Chunks: totals.Chunks, TextBytes: totals.TextBytes, IndexBytes: size,
		Languages: totals.Languages, Unparsed: totals.Unparsed, Masked: totals.Masked, Specs: totals.Specs, SpecSum: totals.SpecSum,
		Rules: secret.Version, Skipped: r.skipped(), Notes: append(r.notes(), r.garbledNotes(&totals)...), Unread: maps.Clone(r.unreads),
		Partial: partial, Indexed: now().UTC(), Walked: r.walked.UTC(), Layout: g.Layout(), Base: g.Base(),
	}
	r.mu.Unlock()
	head.Segments = slices.Sorted(maps.Keys(segments))
	if was := r.store.Head; was != nil && was.Shared != nil {
		head.Shared = &kb.Shared{Round: was.Shared.Round, Manifest: was.Shared.Manifest}
	}
	if r.o.Apart != nil {
		err = r.o.Apart(ctx, head)
	} else {
		err = r.x.Catalog.Publish(ctx, r.store.ID, r.expect, head)
	}
	if err != nil {
		return err
	}
	r.expect = m.Generation
	r.res.Head = head
	return nil
}

// used are the files that a generation is about to need.
func used(manifest string, g kb.GenerationWriter) []string {
	files := []string{manifest, g.Layout()}
	if base := g.Base(); base != "" {
		files = append(files, base)
	}
	return files
}

// unchanged reports whether the new generation would say what the live one says.
func (r *run) unchanged(ctx context.Context) (bool, error) {
	r.res.Mended = r.mend
	h := r.store.Head
	if r.prev == nil || r.force || r.mend > 0 || h == nil || h.Partial || h.Commit != r.snap.Version() || len(r.failed) > 0 ||
		h.Rules != secret.Version || r.was.Chunker != chunk.Version || r.was.Embedder != r.x.Embedder.ID() {
		return false, nil
	}
	manifest, err := r.prev.Manifest(ctx)
	if err != nil || len(manifest) != len(r.docs) {
		return false, err
	}
	return !slices.ContainsFunc(manifest, func(d kb.Located) bool { return r.docs[d.Path] != d }), nil
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

// garbledNotes names the documents that are kept as plain text because their
// grammar gave up or a reader stumbled over them: why is known in the run that
// read them.
func (r *run) garbledNotes(t *kb.Totals) (out []string) {
	for _, p := range t.Garbled {
		note := "skipped-grammar: " + p
		if why := r.garbled[p]; why != "" {
			note += ": " + why
		}
		out = append(out, note+"; it is kept as plain text")
	}
	if n := t.Unparsed - len(t.Garbled); n > 0 {
		out = append(out, fmt.Sprintf("skipped-grammar: and %d more", n))
	}
	return out
}

// Sweep deletes the files that no store and no running job needs, and what
// writers that died left unfinished.
func (x *Indexer) Sweep(ctx context.Context) error {
	if err := x.Indexes.Clean(ctx, tempAge); err != nil {
		return err
	}
	return x.EachUnneeded(ctx, func(name string) error {
		_, err := x.Indexes.Delete(ctx, name, false)
		return err
	})
}

// EachUnneeded calls f with the name of each segment, layout or manifest that
// no store and no running job needs; none begins to need it during the call.
func (x *Indexer) EachUnneeded(ctx context.Context, f func(name string) error) error {
	kept, err := x.Indexes.Kept(ctx)
	if err != nil {
		return err
	}
	files := make([]catalog.File, len(kept))
	for i, k := range kept {
		files[i] = catalog.File{Name: k.Name, ModTime: k.Written}
	}
	lost, err := x.lost(ctx)
	if err != nil {
		return err
	}
	_, err = x.Catalog.Garbage(ctx, files, 0, func(name string) error {
		if lost && !kb.IsManifest(name) {
			if missing, err := x.Indexes.Missing(ctx, []string{name}); err != nil || len(missing) == 0 {
				return err // it may be what was lost, under another name
			}
		}
		return f(name)
	})
	return err
}

// lost reports whether a store lacks a segment, or has one that is none.
func (x *Indexer) lost(ctx context.Context) (bool, error) {
	all, err := x.Catalog.All(ctx)
	if kb.CodeOf(err) == kb.Corrupt && err != nil {
		return true, nil // it may be
	}
	for _, e := range all {
		if e.Head == nil {
			continue
		}
		if missing, err := x.Indexes.Missing(ctx, e.Head.Segments); err != nil || len(missing) > 0 {
			return true, err
		}
	}
	return false, err
}
