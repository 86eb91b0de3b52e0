package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// Export writes the live generation of a store to w; name is what the file
// calls it. Damaged files are refused, so that what is exported can be imported.
func (p Place) Export(ctx context.Context, st kb.Store, name string, w io.Writer) (m Manifest, err error) {
	r, err := p.begin("")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, r.end(ctx)) }()
	if m, err = r.prepare(ctx, st, name, nil); err != nil {
		return m, err
	}
	var done int64
	return m, write(w, &m, func(x Member) (io.ReadCloser, error) {
		kb.Report(ctx, kb.Progress{Phase: "export", Done: done, Total: m.Bytes()})
		done += x.Size
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return r.open(x)
	})
}

func (r *run) open(x Member) (*os.File, error) {
	f, err := os.Open(r.path(x))
	if err != nil {
		return nil, kb.Errorf(kb.Internal, "cannot read %q: %w", r.path(x), err).WithHint("try again")
	}
	return f, nil
}

// prepare puts the files of an export of the live generation of a store into the run's
// folder. reader are segments that who reads it has: they may hold what the store no longer has.
func (r *run) prepare(ctx context.Context, st kb.Store, name string, reader map[string]bool) (m Manifest, err error) {
	p := r.Place
	head, err := r.hold(ctx, st)
	if err != nil {
		return m, err
	}
	g, err := p.Pool.OpenGeneration(p.Pool.ManifestPath(head.Manifest))
	if err != nil {
		return m, err
	}
	defer g.Release()
	info, err := g.Info(ctx)
	if err != nil {
		return m, err
	}
	if info.Embedder != p.Indexer.Embedder.ID() {
		return m, kb.Errorf(kb.Unsupported, "store %q was indexed with another embedder than this program has", st.Label()).
			WithHint("bring it up to date first: knowledge index %s", ref(st))
	}
	if head.Rules < secret.Version {
		return m, kb.Errorf(kb.Unsupported, "store %q was indexed before the present rules on secrets", st.Label()).
			WithHint("bring it up to date first: knowledge index %s", ref(st))
	}
	if err := r.sound(ctx, info.Segments, head, st); err != nil {
		return m, err
	}
	m = Manifest{
		Format: Format, Version: Version, Program: p.Program, Embedder: info.Embedder,
		Versions: Versions{Index: index.FormatVersion, Chunker: info.Chunker},
		Store:    Store{ID: st.ID, Name: name, Description: st.Description, Tags: st.Tags, Spec: st.Spec},
	}
	extract := kb.Manifest{Store: st.ID, Generation: head.Generation, Commit: head.Commit, Chunker: info.Chunker,
		Embedder: info.Embedder, Created: head.Indexed.Unix()}
	segmentsTo, generationTo := filepath.Join(r.dir, "segments"), filepath.Join(r.dir, generationName)
	layout, segments, err := p.Pool.Extract(ctx, g, extract, p.Indexer.Embedder.Dims(), reader, segmentsTo, generationTo)
	if err != nil {
		return m, err
	}
	slices.Sort(segments)
	m.Head = *head
	m.Head.Manifest, m.Head.Base, m.Head.IndexBytes, m.Head.Segments, m.Head.Layout = "", "", 0, slices.Compact(segments), layout
	for _, n := range names(m.Head, m.Embedder) {
		m.Members = append(m.Members, Member{Name: n})
	}
	if gathered(st.Spec.Kind) {
		if err := r.pages(&m); err != nil {
			return m, err
		}
	}
	for i := range m.Members {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		if err := measure(r.path(m.Members[i]), &m.Members[i]); err != nil {
			return m, err
		}
	}
	if err := m.check(gathered(st.Spec.Kind)); err != nil {
		return m, kb.Errorf(kb.Unsupported, "store %q cannot be exported: %w", st.Label(), err).
			WithHint("index it again: knowledge index %s --force", ref(st))
	}
	return m, nil
}

// ref is what a store is called on a command line that works anywhere.
func ref(st kb.Store) string { return cmp.Or(st.Name, string(st.ID)) }

// hold keeps the files of the live generation from being deleted.
func (r *run) hold(ctx context.Context, st kb.Store) (*kb.Head, error) {
	for {
		head, err := r.Catalog.Head(ctx, st.ID)
		if err != nil {
			return nil, err
		}
		if head == nil || head.Partial {
			return nil, kb.Errorf(kb.Busy, "store %q is not indexed yet", st.Label()).
				WithHint("wait until it is: knowledge index %s", ref(st))
		}
		if err := r.Catalog.UseSegments(ctx, r.id, catalog.Files(*head)...); err != nil {
			return nil, err
		}
		now, err := r.Catalog.Head(ctx, st.ID)
		if err != nil {
			return nil, err
		}
		if now != nil && now.Manifest == head.Manifest {
			return head, nil
		}
	}
}

// sound refuses a generation that is damaged.
func (r *run) sound(ctx context.Context, segments []string, head *kb.Head, st kb.Store) error {
	pool := r.Pool
	err := pool.CheckGeneration(pool.ManifestPath(head.Manifest), st.ID)
	for _, name := range segments {
		if err == nil {
			err = pool.CheckSegment(ctx, name)
		}
		if err == nil {
			err = pool.CheckVectors(ctx, name, nil)
		}
	}
	if c := kb.CodeOf(err); err != nil && (c == kb.Corrupt || c == kb.NotFound) {
		return kb.Errorf(kb.Corrupt, "store %q is damaged and was not exported: %w", st.Label(), err).
			WithHint("mend it first: knowledge verify %s --repair", ref(st))
	}
	return err
}

// pages copies the log of a store's pages as it is now; who crawls goes on appending.
func (r *run) pages(m *Manifest) error {
	dir := r.Opener.PagesDir(m.Store.Spec)
	entries, _ := os.ReadDir(dir) // none: without
	newest := ""
	for _, e := range entries {
		if pagesLog().MatchString(e.Name()) {
			newest = max(newest, e.Name())
		}
	}
	if newest == "" {
		return nil
	}
	in, err := os.Open(filepath.Join(dir, newest))
	if err != nil {
		return kb.Errorf(kb.Busy, "the kept pages changed while they were read: %w", err).WithHint("try again")
	}
	defer in.Close()
	x := Member{Name: pagesDir + newest}
	if err := os.MkdirAll(filepath.Dir(r.path(x)), 0o700); err != nil {
		return kb.Errorf(kb.Denied, "cannot write to the data directory: %w", err).WithHint("check its permissions")
	}
	out, err := os.OpenFile(r.path(x), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.Copy(out, in)
		err = cmp.Or(err, out.Close())
	}
	if err != nil {
		return kb.Errorf(kb.Full, "cannot copy the kept pages: %w", err).WithHint("free some space, then try again")
	}
	// A record that is cut short is not the reader's affair; damage is.
	set, err := pages.View(filepath.Dir(r.path(x)))
	if err != nil {
		return err
	}
	defer set.Close()
	for _, p := range set.Pages {
		// Kept before secrets were masked: the other side fetches them anew.
		if body, err := set.Read(p); err == nil && len(secret.Find("page.md", string(body))) > 0 {
			return nil
		}
	}
	m.Versions.Pages = pages.Version
	m.Members = append(m.Members, x)
	return nil
}

func measure(path string, x *Member) error {
	f, err := os.Open(path)
	if err != nil {
		return kb.Errorf(kb.Corrupt, "a file of the index is missing: %w", err).WithHint("look with: knowledge verify")
	}
	defer f.Close()
	h := sha256.New()
	if x.Size, err = io.Copy(h, f); err != nil {
		return kb.Errorf(kb.Corrupt, "cannot read %q: %w", path, err).WithHint("check that disk")
	}
	x.SHA256 = strings.ToLower(hex.EncodeToString(h.Sum(nil)))
	return nil
}
