package transfer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// Request holds the options of an import.
type Request struct {
	Project string // whose name it gets; "" is the user's
	Name    string // "" is the one in the file
	Force   bool   // replace a generation that is newer than the file's
}

// Imported describes an import.
type Imported struct {
	Store    kb.Store
	Segments int   // files of text
	Shared   int   // of them, that were here already
	Bytes    int64 // written
	Replaced bool  // there was an older generation
	Same     bool  // the same generation was here already: only the name is new
	Embedded bool  // the vectors were made anew, by this program's embedder
}

// Import reads an export and makes it a store. Until the whole file has been
// read and found sound nothing of it is in its place; then one transaction
// makes the store, gives it its name and publishes the generation.
func (p Place) Import(ctx context.Context, from io.Reader, o Request) (done Imported, err error) {
	a, err := open(from, gathered)
	if err != nil {
		return done, err
	}
	defer a.close()
	if err := checkSpec(ctx, a.Store.Spec); err != nil {
		return done, err
	}
	o.Name = cmp.Or(o.Name, a.Store.Name)
	if err := catalog.CheckName(o.Name); err != nil {
		return done, err
	}
	old, err := p.standing(ctx, a, o)
	if err != nil {
		return done, err
	}
	r, err := p.begin()
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, r.end(ctx)) }()
	if err := r.unpack(ctx, a); err != nil {
		return done, err
	}
	if done.Embedded, err = r.verify(ctx, a); err != nil {
		return done, err
	}
	if old != nil && old.Layout == a.Head.Layout && old.Commit == a.Head.Commit && p.whole(ctx, a.Store.ID, old) {
		done.Same = true
		done.Store, err = p.Catalog.Attach(ctx, o.Project, o.Name, a.Store.ID, a.Store.Description, a.Store.Tags)
		return done, err
	}
	return r.publish(ctx, a, o, old, done)
}

// standing returns the store's present head. It refuses to replace a newer one, and
// a name that means another store.
func (p Place) standing(ctx context.Context, a *archive, o Request) (*kb.Head, error) {
	named, err := p.Catalog.Lookup(ctx, o.Project, o.Name)
	if err == nil && named.Name == o.Name && named.ID != a.Store.ID {
		return nil, kb.Errorf(kb.Exists, "the name %q means %s here already", o.Name, named.Spec.Source).
			WithHint("import it under another name with --name: knowledge import FILE --name %s-2", o.Name)
	}
	st, err := p.Catalog.Get(ctx, a.Store.ID)
	if err != nil {
		if code := kb.CodeOf(err); code == kb.NotFound || code == kb.Corrupt {
			err = nil
		}
		return nil, err
	}
	same := st.Head != nil && st.Head.Layout == a.Head.Layout && st.Head.Commit == a.Head.Commit
	if st.Head != nil && !st.Head.Partial && !o.Force && !same && st.Head.Indexed.After(a.Head.Indexed) {
		return nil, kb.Errorf(kb.Exists, "that store is here already and was indexed later (%s) than the file's (%s)",
			day(st.Head.Indexed), day(a.Head.Indexed)).
			WithHint("to go back to the file's state: knowledge import FILE --force")
	}
	return st.Head, nil
}

// whole reports whether the present generation is sound: the import mends one that
// is not.
func (p Place) whole(ctx context.Context, id kb.StoreID, head *kb.Head) bool {
	pool := p.Pool
	for _, name := range head.Segments {
		if pool.CheckSegment(ctx, name) != nil || pool.CheckVectors(ctx, name, nil) != nil {
			return false
		}
	}
	return pool.CheckGeneration(pool.ManifestPath(head.Manifest), id) == nil
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// unpack writes the members into the run's folder and compares their hashes.
func (r *run) unpack(ctx context.Context, a *archive) error {
	total, done := a.Bytes(), int64(0)
	for {
		x, body, err := a.member()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		kb.Report(ctx, kb.Progress{Phase: "import", Done: done, Total: total})
		done += x.Size
		f, err := atomicfile.Create(r.path(x))
		if err != nil {
			return err
		}
		if err := copyTo(ctx, f, body); err != nil {
			f.Abort()
			return err
		}
		if err := f.Commit(); err != nil {
			return err
		}
	}
}

// copyTo copies a member. A failed read is the file's fault, a failed write the
// disk's.
func copyTo(ctx context.Context, f *atomicfile.File, from io.Reader) error {
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := from.Read(buf)
		if _, err := f.Write(buf[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return broken(err)
		}
	}
}

// verify reads everything that was unpacked to its end, and makes vectors of
// our own where those of the file are another embedder's.
func (r *run) verify(ctx context.Context, a *archive) (embedded bool, err error) {
	x := r.Indexer
	pool := &index.Pool{Dir: filepath.Join(r.dir, "segments"), Embedder: a.Embedder}
	ours := a.Embedder == x.Embedder.ID()
	same := x.SameVector(ctx)
	if !ours {
		same = nil
	}
	for i, name := range a.Head.Segments {
		kb.Report(ctx, kb.Progress{Phase: "verify", Done: int64(i), Total: int64(len(a.Head.Segments))})
		err := pool.CheckSegment(ctx, name)
		if err == nil {
			err = pool.CheckVectors(ctx, name, same)
		}
		if err == nil && !ours {
			err = x.RebuildVectors(ctx, pool, name)
		}
		if err != nil {
			return false, unsound(err)
		}
	}
	pool.Embedder = x.Embedder.ID()
	generation := filepath.Join(r.dir, generationName)
	if err := pool.CheckGeneration(generation, a.Store.ID); err != nil {
		return false, unsound(err)
	}
	g, err := pool.OpenGeneration(generation)
	if err != nil {
		return false, unsound(err)
	}
	defer g.Release()
	i, err := g.Info(ctx)
	if err != nil {
		return false, unsound(err)
	}
	totals := i.Totals
	if i.Generation != a.Head.Generation || i.Commit != a.Head.Commit || totals.Documents != a.Head.Documents || totals.Chunks != a.Head.Chunks ||
		totals.TextBytes != a.Head.TextBytes || i.Embedder != a.Embedder || i.Chunker != a.Versions.Chunker ||
		!slices.Equal(slices.Sorted(slices.Values(i.Segments)), a.Head.Segments) {
		return false, refused("its manifest and its generation do not agree")
	}
	if n := len(a.Members); strings.HasPrefix(a.Members[n-1].Name, pagesDir) {
		err = r.verifyPages()
	}
	return !ours, err
}

func (r *run) verifyPages() error {
	set, err := pages.View(filepath.Join(r.dir, "pages"))
	if err != nil {
		return unsound(err)
	}
	defer set.Close()
	if set.Damaged > 0 {
		return refused("its log of pages is damaged")
	}
	for _, page := range set.Pages {
		if _, err := set.Read(page); err != nil {
			return unsound(err)
		}
	}
	return nil
}

// unsound makes a failed check the file's fault.
func unsound(err error) error {
	switch kb.CodeOf(err) {
	case kb.Corrupt, kb.NotFound:
		return refused("%w", err)
	}
	return err
}

// publish puts the files in their places and makes the store.
func (r *run) publish(ctx context.Context, a *archive, o Request, old *kb.Head, done Imported) (Imported, error) {
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
func (r *run) movePages(a *archive) (back func() error, err error) {
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
