package transfer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// publish puts the files in their places and makes the store.
func (r *run) publish(ctx context.Context, a *Manifest, o Request, old *kb.Head, done Imported) (Imported, error) {
	x := r.Indexer
	lock, err := lockfile.TryLock(filepath.Join(r.Dir, "jobs", "store-"+string(a.Store.ID)+".lock"))
	if err != nil {
		return done, kb.Errorf(kb.Busy, "that store is being indexed here just now").
			WithHint("wait for the job, then import again: knowledge jobs --active-only")
	}
	defer lock.Remove()
	head := a.Head
	expect := int64(0)
	if old != nil {
		expect = old.Generation
		done.Replaced = true
	}
	head.Generation = max(head.Generation, expect+1)
	head.Embedder = x.Embedder.ID()
	head.Manifest = kb.ManifestName(a.Store.ID, head.Generation, strings.TrimPrefix(r.id, prefix))
	head.IndexBytes = 0
	if err := r.Catalog.UseSegments(ctx, r.id, catalog.Files(head)...); err != nil {
		return done, err
	}
	done.Segments = len(head.Segments)
	for _, name := range head.Segments {
		n, shared, err := r.place(ctx, name)
		if err != nil {
			return done, err
		}
		if shared {
			done.Shared++
		} else {
			done.Bytes += n
		}
		head.IndexBytes += n
	}
	staged := filepath.Join(r.dir, "segments")
	layout := index.LayoutPath(r.Pool.Dir, head.Layout)
	if err := wholeFile(layout, "layout"); err != nil { // else it is the same: its name is that of its content
		if err := atomicfile.Move(index.LayoutPath(staged, head.Layout), layout); err != nil {
			return done, err
		}
	}
	if err := atomicfile.Move(filepath.Join(r.dir, generationName), r.Pool.ManifestPath(head.Manifest)); err != nil {
		return done, err
	}
	for _, f := range []string{layout, r.Pool.ManifestPath(head.Manifest)} {
		if info, err := os.Stat(f); err == nil {
			head.IndexBytes += info.Size()
		}
	}
	// What was put together here must hold here.
	if err := r.Pool.CheckGeneration(r.Pool.ManifestPath(head.Manifest), a.Store.ID); err != nil {
		return done, err
	}
	back, err := r.movePages(a)
	if err != nil {
		return done, err
	}
	done.Store, err = r.Catalog.Adopt(ctx, o.Project, o.Name, a.Store.Spec, a.Store.Description, a.Store.Tags, expect, head)
	if err != nil {
		return done, errors.Join(err, back())
	}
	return done, nil
}

// wholeFile returns why a block file of a kind is not sound.
func wholeFile(path, kind string) error {
	f, err := blockfile.Open(path, kind, index.FormatVersion)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Verify()
}

// place puts a segment and its vectors in their places, unless sound ones are
// there, and returns their size. The mark comes first, so that no other store
// shares a segment that was not made here.
func (r *run) place(ctx context.Context, name string) (size int64, shared bool, err error) {
	pool, staged := r.Pool, filepath.Join(r.dir, "segments")
	to, vec := index.SegmentPath(pool.Dir, name), index.VectorsPath(pool.Dir, name, pool.Embedder)
	vectors := func() error {
		if err := pool.CheckVectors(ctx, name, r.Indexer.SameVector(ctx)); err == nil {
			return nil
		}
		return atomicfile.Move(index.VectorsPath(staged, name, pool.Embedder), vec)
	}
	if pool.CheckSegment(ctx, name) == nil {
		shared, err = true, vectors()
	} else if err = atomicfile.Write(index.ImportedPath(pool.Dir, name), nil); err == nil {
		// The vectors first: a segment that exists has them.
		if err = atomicfile.Move(index.VectorsPath(staged, name, pool.Embedder), vec); err == nil {
			err = atomicfile.Move(index.SegmentPath(staged, name), to)
		}
	}
	if err != nil {
		return 0, shared, err
	}
	for _, f := range []string{to, vec} {
		info, err := os.Stat(f)
		if err != nil {
			return 0, shared, kb.Errorf(kb.Internal, "cannot look at %q: %w", f, err).WithHint("check that disk")
		}
		size += info.Size()
	}
	return size, shared, nil
}

// movePages puts the log of pages in its place. The function that it returns
// restores the former one.
func (r *run) movePages(a *Manifest) (back func() error, err error) {
	back = func() error { return nil }
	staged := filepath.Join(r.dir, "pages")
	if _, err := os.Stat(staged); errors.Is(err, fs.ErrNotExist) {
		return back, nil
	}
	dir, aside := r.Opener.PagesDir(a.Store.Spec), filepath.Join(r.dir, "pages-before")
	if err := atomicfile.MkdirAll(filepath.Dir(dir)); err != nil {
		return back, err
	}
	had := os.Rename(dir, aside) == nil
	if err := atomicfile.Move(staged, dir); err != nil {
		if runtime.GOOS == "windows" {
			err = kb.Errorf(kb.Busy, "the kept pages of that store are being read: %w", err).
				WithHint("end the other sessions, then import again")
		}
		return back, err
	}
	return func() error {
		err := os.Rename(dir, staged)
		if had && err == nil {
			err = os.Rename(aside, dir)
		}
		return err
	}, nil
}
