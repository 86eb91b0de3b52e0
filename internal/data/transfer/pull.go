package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Source is where the members of a publication are, by their content.
type Source interface {
	// Fetch writes what has that SHA-256 and size. What it has written is worth
	// nothing when it fails.
	Fetch(ctx context.Context, sum string, size int64, w io.Writer) error
}

// PullRequest holds the options of Pull.
type PullRequest struct {
	Request
	// Onto is the store whose index it becomes: one here of the same text, more or
	// less. nil is the store that was published.
	Onto *kb.Spec
	Most int64 // bytes that may be fetched, unpacked
}

// Pulled describes a pull.
type Pulled struct {
	Imported
	Files   int   // that were fetched
	Fetched int64 // bytes, unpacked
	Kept    bool  // what is here is newer: nothing was taken
}

// Pull makes a store of what was published, or brings one up to it: export is
// the manifest, which the caller believes. Segments that are here already are
// not fetched. Nothing of it is in its place before all is verified; what was
// fetched when a pull breaks off serves the next.
func (p Place) Pull(ctx context.Context, export json.RawMessage, from Source, o PullRequest) (done Pulled, err error) {
	m, err := parse(export, gathered)
	if err != nil {
		return done, err
	}
	if err := checkSpec(ctx, m.Store.Spec); err != nil {
		return done, err
	}
	if o.Name == "" {
		o.Name = m.Store.Name
	}
	if err := catalog.CheckName(o.Name); err != nil {
		return done, err
	}
	mine := m
	if o.Onto != nil {
		mine.Store.Spec, mine.Store.ID = *o.Onto, o.Onto.ID()
	}
	old, err := p.standing(ctx, &mine, o.Request)
	if old != nil && kb.CodeOf(err) == kb.Exists {
		done.Kept = true
		done.Store, err = p.Catalog.Attach(ctx, o.Project, o.Name, mine.Store.ID, m.Store.Description, m.Store.Tags)
	}
	if err != nil || done.Kept {
		return done, err
	}
	if o.Onto == nil && p.same(ctx, &m, old) {
		done.Same = true
		done.Store, err = p.Catalog.Attach(ctx, o.Project, o.Name, m.Store.ID, m.Store.Description, m.Store.Tags)
		return done, err
	}
	sum := sha256.Sum256(append([]byte(mine.Store.ID), export...))
	r, err := p.begin(strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:12]))
	if err != nil {
		return done, err
	}
	defer func() {
		r.keep = err != nil && kb.CodeOf(err) != kb.Corrupt
		err = errors.Join(err, r.end(ctx))
	}()
	sound, err := r.fetch(ctx, &m, from, o.Most, &done)
	if err != nil {
		return done, err
	}
	if done.Embedded, err = r.verify(ctx, &m, sound); err != nil {
		return done, err
	}
	if o.Onto != nil {
		if err := r.rebase(ctx, &mine); err != nil {
			return done, err
		}
	}
	done.Imported, err = r.publish(ctx, &mine, o.Request, old, done.Imported)
	return done, err
}

// fetch has every member of m in the run's folder, and returns the segments that
// were here and are sound.
func (r *run) fetch(ctx context.Context, m *Manifest, from Source, most int64, done *Pulled) (map[string]bool, error) {
	var mu sync.Mutex
	sound := map[string]bool{}
	if err := r.Catalog.UseSegments(ctx, r.id, m.Head.Segments...); err != nil {
		return nil, err
	}
	err := each(ctx, "compare", m.Head.Segments, func(ctx context.Context, name string) error {
		if !r.here(ctx, name) {
			return ctx.Err()
		}
		mu.Lock()
		defer mu.Unlock()
		sound[name] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	lacks := map[string]Member{}
	var names []string
	var total int64
	for _, x := range m.Members {
		segment, _, _ := strings.Cut(x.base(), ".")
		if sound[segment] && strings.HasPrefix(x.Name, segmentsDir) || r.has(x) {
			continue
		}
		lacks[x.Name] = x
		names = append(names, x.Name)
		total += x.Size
	}
	if total > most {
		return nil, kb.Errorf(kb.TooLarge, "%d MB would be fetched, more than %d", total>>20, most>>20).WithHint("if it is to be that large, add: --yes")
	}
	// The large ones first: who waits for one at the end waits alone.
	slices.SortStableFunc(names, func(a, b string) int { return int(lacks[b].Size - lacks[a].Size) })
	err = each(ctx, "fetch", names, func(ctx context.Context, name string) error {
		x := lacks[name]
		f, err := atomicfile.Create(r.path(x))
		if err != nil {
			return err
		}
		defer f.Abort()
		if err := from.Fetch(ctx, x.SHA256, x.Size, f); err != nil {
			return err
		}
		mu.Lock()
		done.Files++
		done.Fetched += x.Size
		mu.Unlock()
		return f.Commit()
	})
	return sound, err
}

// here reports whether a segment is sound here with its vectors, and puts it among the
// files of the run.
func (r *run) here(ctx context.Context, name string) bool {
	pool, staged := r.Pool, filepath.Join(r.dir, "segments")
	if pool.CheckSegment(ctx, name) != nil || pool.CheckVectors(ctx, name, r.Indexer.SameVector(ctx)) != nil {
		return false
	}
	return index.Link(index.SegmentPath(pool.Dir, name), index.SegmentPath(staged, name)) == nil &&
		index.Link(index.VectorsPath(pool.Dir, name, pool.Embedder), index.VectorsPath(staged, name, pool.Embedder)) == nil
}

// has reports whether a member was fetched by a run before.
func (r *run) has(x Member) bool {
	if info, err := os.Lstat(r.path(x)); err != nil || !info.Mode().IsRegular() || info.Size() != x.Size {
		return false
	}
	is := x
	return measure(r.path(x), &is) == nil && is.SHA256 == strings.ToLower(x.SHA256)
}

// rebase writes a generation of what was verified for the store that m names now. What
// the documents looked like where they come from, a reader here does not know: each
// is read once and compared by its content.
func (r *run) rebase(ctx context.Context, m *Manifest) error {
	staged := &index.Pool{Dir: filepath.Join(r.dir, "segments"), Generations: r.dir, Embedder: r.Indexer.Embedder.ID(), Engine: r.Pool.Engine}
	g, err := staged.OpenGeneration(filepath.Join(r.dir, generationName))
	if err != nil {
		return unsound(err)
	}
	docs, err := g.Manifest(ctx)
	g.Release()
	if err != nil {
		return unsound(err)
	}
	for i := range docs {
		docs[i].Stamp = 0
	}
	w, err := staged.NewGeneration(ctx, kb.Manifest{
		Store: m.Store.ID, Generation: m.Head.Generation, Commit: m.Head.Commit, Chunker: m.Versions.Chunker,
		Embedder: staged.Embedder, Created: m.Head.Indexed.Unix(), Documents: docs,
	})
	if err != nil {
		return err
	}
	if _, _, err := w.Write(ctx, generationName); err != nil {
		return err
	}
	m.Head.Layout, m.Head.Unread, m.Head.Notes = w.Layout(), nil, nil
	return nil
}

// Sink keeps files by their content.
type Sink interface {
	// Send keeps what from holds, which has that SHA-256, unless it is kept
	// already, and returns how many bytes went out. packed is room to work in.
	Send(ctx context.Context, sum string, from io.Reader, packed *os.File) (int64, error)
}

// Sent describes what Publish sent.
type Sent struct {
	Files int
	Bytes int64
	Same  bool // what is published is the same
}

// Publish sends the files of an export of a store's live generation to where they are
// fetched from, and then has announce make the manifest known. published is the
// manifest that is known there; nil for none.
func (p Place) Publish(ctx context.Context, st kb.Store, name string, published json.RawMessage, to Sink,
	announce func(ctx context.Context, export json.RawMessage) error) (m Manifest, sent Sent, err error) {
	r, err := p.begin("")
	if err != nil {
		return m, sent, err
	}
	defer func() { err = errors.Join(err, r.end(ctx)) }()
	known, reader := map[string]bool{}, map[string]bool{}
	var before Manifest
	if published != nil {
		if before, err = parse(published, gathered); err != nil {
			return m, sent, err
		}
		if before.Store.ID != st.ID && (before.Store.Name != name || !Alike(before.Store.Spec, st.Spec)) {
			return m, sent, kb.Errorf(kb.Exists, "another store is published there: %s, made from %s", before.Store.Name, clip(before.Store.Spec.Source)).
				WithHint("give every store an address of its own")
		}
		for _, x := range before.Members {
			known[x.SHA256] = true
		}
		// What was published in them is known there, whatever became of it here.
		for _, name := range before.Head.Segments {
			reader[name] = true
		}
	}
	if m, err = r.prepare(ctx, st, name, reader); err != nil {
		return m, sent, err
	}
	if published != nil {
		if before.Head.Indexed.After(m.Head.Indexed) && before.Head.Layout != m.Head.Layout {
			return m, sent, kb.Errorf(kb.Exists, "what is published there was indexed later (%s) than this store (%s)", day(before.Head.Indexed), day(m.Head.Indexed)).
				WithHint("bring it up to date first: knowledge index %s", ref(st))
		}
		sent.Same = before.Head.Layout == m.Head.Layout && before.Head.Commit == m.Head.Commit && before.Embedder == m.Embedder && before.Versions == m.Versions
	}
	if sent.Same {
		return m, sent, nil
	}
	var mu sync.Mutex
	todo := map[string]Member{}
	var sums []string
	for _, x := range m.Members {
		if _, twice := todo[x.SHA256]; !twice && !known[x.SHA256] {
			todo[x.SHA256] = x
			sums = append(sums, x.SHA256)
		}
	}
	err = each(ctx, "send", sums, func(ctx context.Context, sum string) error {
		n, err := r.send(ctx, todo[sum], to)
		mu.Lock()
		defer mu.Unlock()
		if n > 0 {
			sent.Files++
			sent.Bytes += n
		}
		return err
	})
	if err != nil {
		return m, sent, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return m, sent, kb.Errorf(kb.Internal, "encode the manifest of an export: %w", err)
	}
	return m, sent, announce(ctx, text)
}

func (r *run) send(ctx context.Context, x Member, to Sink) (int64, error) {
	in, err := r.open(x)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	packed, err := os.CreateTemp(r.dir, "packed-")
	if err != nil {
		return 0, kb.Errorf(kb.Full, "cannot write to the data directory: %w", err).WithHint("free some space, then try again")
	}
	defer os.Remove(packed.Name())
	defer packed.Close()
	return to.Send(ctx, x.SHA256, in, packed)
}

// Alike reports whether two stores may be one text in two places: folders with the same
// selection, as checkouts of a project on two machines are.
func Alike(a, b kb.Spec) bool {
	if !localPath(a.Source) || !localPath(b.Source) || source.TraitsOf(a.Kind).Refs {
		return false
	}
	a.Source = b.Source
	return a.ID() == b.ID()
}

// Spec returns what a published store is made from, and what it is called.
func Spec(export json.RawMessage) (kb.Spec, string, error) {
	m, err := parse(export, gathered)
	return m.Store.Spec, m.Store.Name, err
}
