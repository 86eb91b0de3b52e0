package verify

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// mend mends the findings about a store, checks it again, and returns each finding
// with its outcome.
func (r *run) mend(ctx context.Context, st kb.Store, found []Finding) ([]Finding, error) {
	has := func(parts ...part) bool {
		return slices.ContainsFunc(found, func(f Finding) bool { return slices.Contains(parts, f.part) })
	}
	var why error // that the source gave nothing
	if has(partManifest, partLayout, partSegment) {
		if why = r.Reindex(ctx, st); why != nil && ctx.Err() != nil {
			return found, why
		}
		if why != nil && !has(partLayout, partSegment) {
			why = r.remanifest(ctx, st)
		}
	} else if has(partHead) {
		why = r.Catalog.Rehead(ctx, st.ID, *st.Head)
	}
	for _, f := range found {
		if f.part == partVectors && !has(partSegment) {
			if err := r.Indexer.RebuildVectors(ctx, r.Pool, f.name); err != nil {
				if why = err; ctx.Err() != nil {
					return found, err
				}
			}
		}
	}
	r.Forget(st.ID)
	if view := r.View(st.ID); has(partView) && view != "" {
		_ = os.Remove(view) // where that cannot be, linking finds it damaged
		if err := r.Relink(ctx, st.ID); err != nil {
			if why = err; ctx.Err() != nil {
				return found, err
			}
		}
	}
	now, err := r.Catalog.Get(ctx, st.ID)
	if err != nil {
		return found, err
	}
	now.Name = st.Name
	for _, f := range found {
		if f.name != "" {
			delete(r.segments, f.name)
		}
	}
	left, err := r.store(ctx, now)
	if err != nil {
		return found, err
	}
	for i := range found {
		f := &found[i]
		f.Mended = !slices.ContainsFunc(left, func(l Finding) bool { return l.File == f.File || l.part == f.part && l.part != partOther })
		if f.Mended {
			f.Hint = ""
			continue
		}
		if why != nil && f.part != partOther && !f.foreign {
			f.Text += fmt.Sprintf(" (it cannot be made anew: %v)", why)
			f.Hint = "bring it back from the file that it was exported to: knowledge import FILE --force"
		}
	}
	return found, nil
}

// remanifest makes the manifest of a store whose source is not here from its
// layout: what documents there are and their ids. What it remembered of deleted places,
// and which version of a file each document is, is lost.
func (r *run) remanifest(ctx context.Context, st kb.Store) error {
	if st.Head.Base != "" { // the layout is that of an earlier generation
		return kb.Errorf(kb.NotFound, "what changed last is known to the manifest alone")
	}
	docs, chunker, err := r.Pool.ReadLayout(st.Head.Layout)
	if err != nil {
		return err
	}
	head := *st.Head
	user := "verify-" + string(st.ID)
	head.Manifest = kb.ManifestName(st.ID, head.Generation+1, fmt.Sprintf("mended%d", time.Now().UnixNano()))
	if err := r.Catalog.UseSegments(ctx, user, head.Manifest); err != nil {
		return err
	}
	defer r.Catalog.ReleaseUses(context.WithoutCancel(ctx), user)
	m := kb.Manifest{Store: st.ID, Generation: head.Generation + 1, Commit: head.Commit, Chunker: chunker,
		Embedder: head.Embedder, Documents: docs, Created: head.Indexed.Unix()}
	g, err := r.Pool.NewGeneration(ctx, m)
	if err != nil {
		return err
	}
	if _, _, err := g.Write(ctx, head.Manifest); err != nil {
		return err
	}
	head.Layout = g.Layout()
	return r.Catalog.Rehead(ctx, st.ID, head)
}
