package eval

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Bench holds the indexes of a set's repositories, in a data directory of
// its own.
type Bench struct {
	dir      string
	temp     bool
	db       *db.DB
	catalog  *catalog.Catalog
	indexer  *ingest.Indexer
	opener   *source.Opener
	embedder kb.Embedder
	targets  map[string]*target
}

type target struct {
	search.Target
	indexMs float64
	warm    bool
}

// NewBench makes a bench. dir keeps the indexes for the next run; "" is a
// temporary directory that Close deletes. engine names a vector engine, ""
// the default.
func NewBench(ctx context.Context, dir string, emb kb.Embedder, engine string) (*Bench, error) {
	b := &Bench{dir: dir, embedder: emb, targets: map[string]*target{}}
	if dir == "" {
		var err error
		if b.dir, err = os.MkdirTemp("", "knowledge-eval-"); err != nil {
			return nil, kb.Errorf(kb.Denied, "cannot make a temporary directory: %w", err).WithHint("set TMPDIR, or name a directory with --data-dir")
		}
		b.temp = true
	}
	var err error
	if err = os.MkdirAll(b.dir, 0o700); err == nil {
		b.db, err = db.Open(ctx, filepath.Join(b.dir, "knowledge.db"))
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	b.catalog = catalog.New(b.db, nil)
	b.indexer = &ingest.Indexer{
		Catalog: b.catalog, Embedder: emb,
		Indexes: index.NewPool(b.dir, emb.ID(), engine),
	}
	b.opener = &source.Opener{ReposDir: filepath.Join(b.dir, "repos")}
	return b, nil
}

// Over has the bench write and read other indexes than those of its folder's pool, such as
// those on a cluster; open makes them.
func (b *Bench) Over(open func(dir string, pool *index.Pool) kb.Indexes) {
	b.indexer.Indexes = open(b.dir, index.NewPool(b.dir, b.embedder.ID(), ""))
}

// Close gives the indexes up, and deletes them when they were temporary.
func (b *Bench) Close() error {
	for _, t := range b.targets {
		t.Index.Release()
	}
	b.targets = nil
	var err error
	if b.db != nil {
		err = b.db.Close()
	}
	if b.temp {
		err = errors.Join(err, os.RemoveAll(b.dir))
	}
	return err
}

// Open indexes a repository whose folder is dir, unless that is done, and
// returns it as search wants it.
func (b *Bench) Open(ctx context.Context, r *Repo, dir string) (search.Target, error) {
	t, err := b.open(ctx, r, dir)
	if err != nil {
		return search.Target{}, err
	}
	return t.Target, nil
}

// open returns the index of a repository whose folder is dir, brought up to date.
func (b *Bench) open(ctx context.Context, r *Repo, dir string) (*target, error) {
	if t := b.targets[r.Name]; t != nil {
		return t, nil
	}
	abs, err := filepath.Abs(filepath.Join(dir, filepath.FromSlash(r.Root)))
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err == nil {
		_, err = os.ReadDir(abs)
	}
	if err != nil {
		return nil, kb.Errorf(kb.NotFound, "the repository %q is not there: %w", r.Name, err).WithHint("check out each repository of the tasks in the folder of --repos, under its name")
	}
	spec := kb.Spec{Kind: kb.KindFolder, Source: abs}
	snap, err := b.opener.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	if snap, err = filtered(snap, r.Include, r.Exclude); err != nil {
		return nil, err
	}
	return b.index(ctx, r.Name, spec, snap)
}

// index returns the index of a snapshot, brought up to date.
func (b *Bench) index(ctx context.Context, name string, spec kb.Spec, snap kb.Snapshot) (*target, error) {
	st, err := b.catalog.Put(ctx, spec)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	res, err := b.indexer.Run(ctx, "eval", st, snap, ingest.Options{})
	if err != nil {
		return nil, err
	}
	took := float64(time.Since(began).Microseconds()) / 1000
	if st, err = b.catalog.Get(ctx, st.ID); err != nil {
		return nil, err
	}
	if st.Head == nil {
		return nil, kb.Errorf(kb.NotFound, "the repository %q has nothing to index", name).WithHint("check that %s holds its files", spec.Source)
	}
	t := &target{indexMs: b.remember(name, took, res.UpToDate)}
	t.Target = search.Target{Store: st, Label: name}
	if t.Index, err = b.indexer.Indexes.Open(ctx, st.Head.Manifest); err != nil {
		return nil, err
	}
	b.targets[name] = t
	return t, nil
}

// remember keeps how long a repository took to index the first time, for runs
// that find it indexed.
func (b *Bench) remember(name string, took float64, upToDate bool) float64 {
	if b.temp {
		return took
	}
	file := filepath.Join(b.dir, "index-ms.json")
	known := map[string]float64{}
	if raw, err := os.ReadFile(file); err == nil {
		if json.Unmarshal(raw, &known) != nil {
			known = map[string]float64{}
		}
	}
	if upToDate {
		return known[name]
	}
	known[name] = took
	if raw, err := json.Marshal(known); err == nil {
		// Without it the next run has no figure, which is all that is lost.
		_ = os.WriteFile(file, raw, 0o600)
	}
	return took
}
