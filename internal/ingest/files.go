package ingest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/secret"
)

// listFiles returns the files of a folder with an extension; none when the
// folder does not exist yet.
func listFiles(dir, ext string) ([]catalog.File, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, kb.Errorf(kb.Denied, "cannot list %q: %w", dir, err).WithHint("check the permissions of the data directory")
	}
	var out []catalog.File
	for _, e := range list {
		if filepath.Ext(e.Name()) != ext || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			out = append(out, catalog.File{Name: e.Name(), ModTime: info.ModTime()})
		}
	}
	return out, nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

var errChanged = errors.New("changed")

// Changed reports whether a source differs from the store's live generation
// as far as a walk tells: paths and stamps, nothing is read.
func (x *Indexer) Changed(ctx context.Context, st kb.Store, o Opener) (bool, error) {
	if st.Head == nil || st.Head.Partial || st.Head.Rules < secret.Version {
		return true, nil
	}
	g, err := x.Pool.OpenGeneration(x.ManifestPath(st.Head.Manifest))
	if err != nil {
		return true, nil // whatever is wrong, a run finds out and mends it
	}
	defer g.Close()
	snap, err := o.Open(ctx, st.Spec)
	if err != nil {
		return false, err
	}
	defer snap.Close()
	if snap.Version() != st.Head.Commit {
		return true, nil
	}
	manifest := g.Manifest()
	left := st.Head.Unread
	i := 0
	err = snap.Walk(ctx, func(e kb.Entry) error {
		if i < len(manifest) && manifest[i].Path == e.Path && manifest[i].Stamp == index.StampHash(e.Stamp) {
			i++
			return nil
		}
		// A document that its content ruled out is walked and not indexed.
		if s, ok := left[e.Path]; ok && s == index.StampHash(e.Stamp) {
			return nil
		}
		return errChanged
	})
	if errors.Is(err, errChanged) {
		return true, nil
	}
	return i < len(manifest), err
}

// Opener opens the source of a store.
type Opener interface {
	Open(ctx context.Context, spec kb.Spec) (kb.Snapshot, error)
}
