package graph

import (
	"context"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// loadBytes is how much text is asked for at a time.
const loadBytes = 4 << 20

// Link resolves the references of the documents of src and makes the view
// file at path, replacing one that is there. What did not change since prev,
// which may be nil, is taken over from it; prev may be the view at path. progress,
// which may be nil, is called from one goroutine at a time with documents done
// and their number. Errors: kb.Canceled, those of src, and those of writing.
// A package that the checker fails on costs its own edges only.
func Link(ctx context.Context, src Source, prev *View, path string, progress func(done, total int)) (Stats, error) {
	entries := src.Entries()
	b := newBuilder(entries, filepath.Dir(path))
	defer b.close()
	report := counter(len(entries), progress)

	source := int64(0)
	for i := range entries {
		if isGo(&entries[i]) {
			source += entries[i].Size
		}
	}
	defer limitMemory(source)()
	g := &goLinker{b: b, src: src, fset: token.NewFileSet(), progress: report}
	return g.view(ctx, prev, path, len(entries))
}

// view resolves what the documents use, of which there are so many, and writes
// the view file at path.
func (g *goLinker) view(ctx context.Context, prev *View, path string, documents int) (Stats, error) {
	stats := Stats{Documents: documents}
	if err := g.all(ctx, prev, &stats); err != nil {
		return Stats{}, err
	}
	if err := linkOthers(ctx, g.b, g.src, g.join, g.progress); err != nil {
		return Stats{}, err
	}
	var err error
	g.internState()
	stats.Edges, stats.Declarations, err = g.b.write(ctx, path, g.writeState)
	if err != nil {
		return Stats{}, err
	}
	if fi, err := os.Stat(path); err == nil {
		stats.Bytes = fi.Size()
	}
	return stats, nil
}

// counter returns a function that adds to the number of documents done.
func counter(total int, progress func(done, total int)) func(int) {
	var mu sync.Mutex
	done := 0
	return func(n int) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		if progress != nil {
			progress(min(done, total), total)
		}
	}
}

// isGo reports whether a document is a file of the Go language.
func isGo(e *Entry) bool { return strings.HasSuffix(e.Path, ".go") }

// linkOthers resolves the documents of every language but Go; j is nil for those
// of one store.
func linkOthers(ctx context.Context, b *builder, src Source, j *join, report func(int)) error {
	r := newResolver(b.strs, b.spiltDecls.dir)
	if j != nil {
		r.npm = j.npm
	}
	defer r.spilt.close()
	var paths []string
	size := int64(0)
	load := func() error {
		if len(paths) == 0 {
			return nil
		}
		got, err := src.Load(ctx, paths)
		if err != nil {
			return err
		}
		for i := range got {
			d := &got[i]
			doc, ok := b.at[d.Path]
			if !ok {
				continue
			}
			if j != nil && j.npm != nil && !j.mine(d.Path) {
				stated(d)
			}
			decls := b.symbols(doc, d.Symbols)
			if len(d.Symbols) > 0 || len(d.Facts.References) > 0 || len(d.Facts.Imports) > 0 {
				r.keep(d, doc, decls)
			}
		}
		report(len(paths))
		paths, size = paths[:0], 0
		return nil
	}
	for i := range b.docs {
		e := &b.docs[i].entry
		if isGo(e) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return canceled(err)
		}
		paths = append(paths, e.Path)
		if size += e.Size; size > loadBytes || len(paths) == 512 {
			if err := load(); err != nil {
				return err
			}
		}
	}
	if err := load(); err != nil {
		return err
	}
	emit := func(u used) {
		to := &r.docs[u.to.file]
		if j != nil && (u.sure <= sureUnique || !j.crosses(b, r.docs[u.from].doc, to.doc)) {
			return // what is declared once in one store may well be declared in others
		}
		b.add(r.docs[u.from].doc, u.line, ref{to.doc, to.symbols[u.to.sym].decl}, u.kind, u.sure)
	}
	var types *typeReader
	if j != nil && j.grammars != "" && r.npm != nil {
		types = newTypeReader(ctx, r, src, j.grammars)
		defer types.set.Close()
	}
	return r.resolve(ctx, emit, func(i int) {
		doc := r.docs[i].doc
		if types != nil && j.mine(r.docs[i].path) {
			types.uses(int32(i), emit)
		}
		b.pack(doc, fold(b.docs[doc].edges))
	})
}

// all links the Go files.
func (g *goLinker) all(ctx context.Context, prev *View, stats *Stats) error {
	old := prev.goState()
	known := old
	if g.join != nil {
		known = g.join.known(old)
	}
	files, mods, err := g.scan(ctx, known)
	if err != nil {
		return err
	}
	if g.join != nil {
		return g.joined(ctx, files, mods, prev, old, stats)
	}
	g.layout = newLayout(files, mods)
	stats.Packages = len(g.layout.units)

	want := make([]bool, len(g.layout.units))
	var r *reuse
	if old != nil {
		r = &reuse{v: prev, b: g.b, moved: map[int32][]int32{}}
	}
	for i, u := range g.layout.units {
		want[i] = true
		if old == nil {
			continue
		}
		if key, ok := old.keys[unitName{u.dir, u.name, u.path}]; ok && key == u.key {
			want[i] = false
			for _, f := range u.files {
				if err := prev.guard(func() error { return r.declare(f.doc) }); err != nil {
					return err
				}
			}
			stats.Copied++
			g.progress(len(u.files))
		}
	}
	if err := g.link(ctx, want, nil, workers()); err != nil {
		return err
	}
	g.resolveOthers()
	for i, u := range g.layout.units {
		if want[i] {
			continue
		}
		for _, f := range u.files {
			if err := prev.guard(func() error { return r.edges(f.doc) }); err != nil {
				return err
			}
		}
	}
	g.forgetFailed()
	stats.Checked, stats.Failed = int(g.checked.Load()), int(g.failed.Load())
	return nil
}

// scan looks at every Go file and go.mod. What is known of a file from the
// previous link is not read again.
func (g *goLinker) scan(ctx context.Context, old *goState) ([]*goFile, map[string]string, error) {
	mods := map[string]string{}
	var files, unread []*goFile
	for i := range g.b.docs {
		e := &g.b.docs[i].entry
		switch {
		case isGoMod(e.Path):
			docs, err := g.src.Load(ctx, []string{e.Path})
			if err != nil {
				return nil, nil, err
			}
			if len(docs) == 1 {
				if body, err := docs[0].Body(); err == nil {
					mods[dirOfFile(e.Path)] = modulePath(body)
				}
			}
		case isGo(e):
			f := &goFile{doc: int32(i), path: e.Path, size: e.Size}
			copy(f.hash[:], e.Hash[:])
			if old != nil {
				if was := old.files[e.Path]; was != nil && was.hash == f.hash {
					was.doc = f.doc
					files = append(files, was)
					continue
				}
			}
			files, unread = append(files, f), append(unread, f)
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	slots := make(chan struct{}, workers())
	for len(unread) > 0 {
		n, size := 0, int64(0)
		for n < len(unread) && n < 512 && (n == 0 || size+unread[n].size <= loadBytes) {
			size += unread[n].size
			n++
		}
		batch := unread[:n]
		unread = unread[n:]
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			bodies, err := g.load(ctx, batch)
			if err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
				return
			}
			for _, f := range batch {
				body := bodies[f]
				f.size = int64(len(body))
				f.scanGo(body)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, canceled(err)
	}
	files = slices.DeleteFunc(files, func(f *goFile) bool { return f.pkg == "" })
	return files, mods, failed
}

// forgetFailed makes the next link check again what the checker gave up on,
// and whatever needs that.
func (g *goLinker) forgetFailed() {
	for again := true; again; {
		again = false
		for i, u := range g.layout.units {
			bad := g.run[i].failed || slices.ContainsFunc(u.deps, func(k int) bool { return g.layout.units[k].key == sum8{} })
			if bad && u.key != (sum8{}) {
				u.key, again = sum8{}, true
			}
		}
	}
}
