package ingest

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Drift is how a source differs from the live generation of its store, by paths
// and stamps: nothing is read.
type Drift struct {
	Files int  // documents that are new, changed or gone
	Found int  // documents that were walked
	Rules bool // it was indexed before there were the rules of today, of what is a secret above all
	Index bool // the index itself is not what it should be, or of another commit
}

// Any reports whether the index has to be brought up to date.
func (d Drift) Any() bool { return d.Files > 0 || d.Rules || d.Index }

// Drift compares a source with its index. When ctx ends first, it returns the
// error of that with what was counted so far.
func (x *Indexer) Drift(ctx context.Context, st kb.Store, o Opener) (Drift, error) {
	if st.Head == nil || st.Head.Partial {
		return Drift{Index: true}, nil
	}
	g, err := x.Indexes.Open(ctx, st.Head.Manifest)
	if err != nil {
		return Drift{Index: true}, nil // whatever is wrong, a run finds out and mends it
	}
	defer g.Release()
	was, err := g.Info(ctx)
	if err != nil {
		return Drift{}, err
	}
	manifest, err := g.Manifest(ctx) // in the order of the walk: that of the bytes of the paths
	if err != nil {
		return Drift{}, err
	}
	snap, err := o.Open(ctx, st.Spec)
	if err != nil {
		return Drift{}, err
	}
	defer snap.Close()
	d := Drift{Rules: OlderRules(st.Head), Index: len(was.Bare) > 0 || snap.Version() != st.Head.Commit}
	err = snap.Walk(ctx, func(e kb.Entry) error {
		d.Found++
		for len(manifest) > 0 && manifest[0].Path < e.Path {
			d.Files++
			manifest = manifest[1:]
		}
		stamp := kb.StampHash(e.Stamp)
		if len(manifest) > 0 && manifest[0].Path == e.Path {
			if manifest[0].Stamp != stamp {
				d.Files++
			}
			manifest = manifest[1:]
			return nil
		}
		// A document that its content ruled out is walked and not indexed.
		if s, ok := st.Head.Unread[e.Path]; !ok || s != stamp {
			d.Files++
		}
		return nil
	})
	if err == nil {
		d.Files += len(manifest)
	}
	return d, err
}

// Changed reports whether a source differs from the store's live generation.
func (x *Indexer) Changed(ctx context.Context, st kb.Store, o Opener) (bool, error) {
	d, err := x.Drift(ctx, st, o)
	return d.Any(), err
}

// Opener opens the source of a store.
type Opener interface {
	Open(ctx context.Context, spec kb.Spec) (kb.Snapshot, error)
}
