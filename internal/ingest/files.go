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
	// Opening a large index takes as long as a walk through a third of its folder:
	// one is done beside the other.
	type walked struct {
		path  string
		stamp uint64
	}
	found := make([]walked, 0, st.Head.Documents)
	var version string
	walking, cancel := context.WithCancel(ctx)
	defer cancel()
	walk := func() error {
		snap, err := o.Open(walking, st.Spec)
		if err != nil {
			return err
		}
		defer snap.Close()
		version = snap.Version()
		return snap.Walk(walking, func(e kb.Entry) error {
			found = append(found, walked{e.Path, kb.StampHash(e.Stamp)})
			return nil
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- walk() }()
	manifest, bare, err := x.manifest(ctx, st.Head.Manifest)
	if err != nil {
		cancel()
	}
	walkErr := <-ended
	if err != nil {
		return Drift{Index: true}, nil // whatever is wrong, a run finds out and mends it
	}
	if walkErr != nil && ctx.Err() == nil {
		return Drift{}, walkErr
	}
	d := Drift{Found: len(found), Rules: OlderRules(st.Head), Index: bare || version != st.Head.Commit}
	for _, e := range found {
		for len(manifest) > 0 && manifest[0].Path < e.path {
			d.Files++
			manifest = manifest[1:]
		}
		if len(manifest) > 0 && manifest[0].Path == e.path {
			if manifest[0].Stamp != e.stamp {
				d.Files++
			}
			manifest = manifest[1:]
			continue
		}
		// A document that its content ruled out is walked and not indexed.
		if s, ok := st.Head.Unread[e.path]; !ok || s != e.stamp {
			d.Files++
		}
	}
	if walkErr == nil {
		d.Files += len(manifest)
	}
	return d, walkErr
}

// manifest returns the documents of a generation, in the order of a walk, that of
// the bytes of their paths, and whether segments lack their vectors.
func (x *Indexer) manifest(ctx context.Context, name string) (docs []kb.Located, bare bool, err error) {
	g, err := x.Indexes.Open(ctx, name)
	if err != nil {
		return nil, false, err
	}
	defer g.Release()
	was, err := g.Info(ctx)
	if err != nil {
		return nil, false, err
	}
	docs, err = g.Manifest(ctx)
	return docs, len(was.Bare) > 0, err
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
