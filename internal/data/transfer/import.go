package transfer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
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
	old, err := p.standing(ctx, &a.Manifest, o)
	if err != nil {
		return done, err
	}
	r, err := p.begin("")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, r.end(ctx)) }()
	if err := r.unpack(ctx, a); err != nil {
		return done, err
	}
	if done.Embedded, err = r.verify(ctx, &a.Manifest, nil); err != nil {
		return done, err
	}
	if p.same(ctx, &a.Manifest, old) {
		done.Same = true
		done.Store, err = p.Catalog.Attach(ctx, o.Project, o.Name, a.Store.ID, a.Store.Description, a.Store.Tags)
		return done, err
	}
	return r.publish(ctx, &a.Manifest, o, old, done)
}

// standing returns the store's present head. It refuses to replace a newer one, and
// a name that means another store.
func (p Place) standing(ctx context.Context, a *Manifest, o Request) (*kb.Head, error) {
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
	if st.Head != nil && !st.Head.Partial && !o.Force && !same(st.Head, &a.Head) && st.Head.Indexed.After(a.Head.Indexed) {
		return nil, kb.Errorf(kb.Exists, "that store is here already and was indexed later (%s) than the file's (%s)",
			day(st.Head.Indexed), day(a.Head.Indexed)).
			WithHint("to go back to the file's state: knowledge import FILE --force")
	}
	return st.Head, nil
}

// same reports whether a store, nil for none, has the content of an archive's. The
// layout of one that was edited since it was written whole does not say.
func same(old, of *kb.Head) bool {
	return old != nil && old.Base == "" && old.Layout == of.Layout && old.Commit == of.Commit
}

// same reports whether the present generation says what m says, and is sound.
func (p Place) same(ctx context.Context, m *Manifest, old *kb.Head) bool {
	return same(old, &m.Head) && p.whole(ctx, m.Store.ID, old)
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

// verify reads everything that was unpacked to its end but the segments that are
// known to be sound, and makes vectors of our own where those of the file are
// another embedder's.
func (r *run) verify(ctx context.Context, a *Manifest, sound map[string]bool) (embedded bool, err error) {
	x := r.Indexer
	pool := &index.Pool{Dir: filepath.Join(r.dir, "segments"), Embedder: a.Embedder}
	ours := a.Embedder == x.Embedder.ID()
	same := x.SameVector(ctx)
	if !ours {
		same = nil
		if !x.Free() {
			return false, kb.Errorf(kb.Unsupported, "its vectors are those of %s, and %s would be paid to make others", clip(a.Embedder), x.Embedder.ID()).
				WithHint("set embedder.provider in the configuration to what made it, or index the source here")
		}
	}
	err = each(ctx, "verify", a.Head.Segments, func(ctx context.Context, name string) error {
		if sound[name] {
			return nil
		}
		err := pool.CheckSegment(ctx, name)
		if err == nil {
			err = pool.CheckVectors(ctx, name, same)
		}
		if err == nil && !ours {
			err = x.RebuildVectors(ctx, pool, name)
		}
		return err
	})
	if err != nil {
		return false, unsound(err)
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
