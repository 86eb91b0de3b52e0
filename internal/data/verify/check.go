package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// store looks at one store.
func (r *run) store(ctx context.Context, st kb.Store) ([]Finding, error) {
	var found []Finding
	head := *st.Head
	note := func(path string, p part, name string, err error) error {
		if err == nil {
			return nil
		}
		f, ok := r.of(st, path, p, err)
		if !ok {
			return err
		}
		f.name = name
		found = append(found, f)
		return nil
	}
	for _, name := range head.Segments {
		list, seen := r.segments[name]
		if !seen {
			var err error
			if list, err = r.segment(ctx, st, name); err != nil {
				return nil, err
			}
			r.segments[name] = list
		}
		found = append(found, list...)
	}
	pool := r.Pool
	manifest := pool.ManifestPath(head.Manifest)
	r.look(manifest)
	if head.Base != "" {
		r.look(pool.ManifestPath(head.Base))
	}
	layout := index.LayoutPath(pool.Dir, head.Layout)
	r.look(layout)
	if _, err := os.Stat(layout); err != nil && head.Layout != "" {
		if err := note(layout, partLayout, "", kb.Errorf(kb.NotFound, "the layout is missing")); err != nil {
			return nil, err
		}
	}
	// A damaged segment or layout, which is reported already, is in the way of the rest.
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.part == partSegment || f.part == partLayout }) {
		err := pool.CheckGeneration(manifest, st.ID)
		path, p := manifest, partManifest
		if _, _, lerr := pool.ReadLayout(head.Layout); lerr != nil || err != nil && strings.Contains(err.Error(), "layout") {
			path, p = layout, partLayout
			err = errors.Join(err, lerr)
		}
		if err := note(path, p, "", err); err != nil {
			return nil, err
		}
		if err == nil {
			if err := note(manifest, partHead, "", r.agrees(ctx, st, manifest)); err != nil {
				return nil, err
			}
		}
	}
	lost, err := r.Catalog.Unreferenced(ctx, st.ID, head)
	if err != nil {
		return nil, err
	}
	if len(lost) > 0 {
		found = append(found, Finding{Status: Damaged, Store: st.Label(), File: "knowledge.db", part: partHead,
			Text: fmt.Sprintf("%d files of store %s are not listed as needed", len(lost), st.Label()), Hint: mendHint(st)})
	}
	if view := r.View(st.ID); view != "" {
		r.look(view)
		if err := note(view, partView, "", checkView(view)); err != nil {
			return nil, err
		}
	}
	return r.pages(st, found)
}

// agrees compares the head in the catalog with the generation itself.
func (r *run) agrees(ctx context.Context, st kb.Store, manifest string) error {
	g, err := r.Pool.OpenGeneration(manifest)
	if err != nil {
		return err
	}
	defer g.Release()
	i, err := g.Info(ctx)
	if err != nil {
		return err
	}
	h := st.Head
	if i.Commit != h.Commit || i.Totals.Documents != h.Documents || i.Totals.Chunks != h.Chunks ||
		!slices.Equal(slices.Sorted(slices.Values(i.Segments)), slices.Sorted(slices.Values(h.Segments))) {
		return kb.Errorf(kb.Corrupt, "what the catalog says of store %s is not what its generation says", st.Label())
	}
	return nil
}

func (r *run) segment(ctx context.Context, st kb.Store, name string) ([]Finding, error) {
	pool := r.Pool
	path, vec := index.SegmentPath(pool.Dir, name), index.VectorsPath(pool.Dir, name, pool.Embedder)
	r.look(path)
	r.look(vec)
	text := pool.CheckSegment(ctx, name)
	var vectors error
	switch _, err := os.Stat(vec); {
	case errors.Is(err, fs.ErrNotExist):
		if st.Head.Embedder != pool.Embedder {
			break // those of another embedder; the next index run makes ours
		}
		vectors = kb.Errorf(kb.NotFound, "the vectors are missing")
	case text == nil:
		vectors = pool.CheckVectors(ctx, name, r.Indexer.SameVector(ctx))
	default:
		vectors = index.VerifyVectors(vec)
	}
	var found []Finding
	for _, c := range []struct {
		path string
		part part
		err  error
	}{{path, partSegment, text}, {vec, partVectors, vectors}} {
		if c.err == nil {
			continue
		}
		f, ok := r.of(st, c.path, c.part, c.err)
		if !ok {
			return nil, c.err
		}
		f.name = name
		found = append(found, f)
	}
	return found, nil
}

func checkView(path string) error {
	v, err := graph.Open(path)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := v.Verify(); err != nil {
		return err
	}
	stamp, err := v.Stamp()
	if err == nil && stamp != strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) {
		err = kb.Errorf(kb.Corrupt, "the view %q is of other documents than its name says", filepath.Base(path))
	}
	return err
}

// pages checks the kept pages of a store that has some.
func (r *run) pages(st kb.Store, found []Finding) ([]Finding, error) {
	if !source.TraitsOf(st.Spec.Kind).Gathered {
		return found, nil
	}
	dir := r.Opener.PagesDir(st.Spec)
	bad := func(s Status, text string) {
		found = append(found, Finding{Status: s, Store: st.Label(), File: r.rel(dir), Text: text,
			Hint: "gather them again: knowledge index " + ref(st)})
	}
	set, err := pages.View(dir)
	switch {
	case kb.CodeOf(err) == kb.NotFound && err != nil:
		bad(Missing, "the kept pages of store "+st.Label()+" are missing")
		return found, nil
	case kb.CodeOf(err) == kb.Corrupt && err != nil:
		bad(Damaged, err.Error())
		return found, nil
	case err != nil:
		return found, err
	}
	defer set.Close()
	lost := set.Damaged
	for _, p := range set.Pages {
		if _, err := set.Read(p); err != nil {
			lost++
		}
	}
	if lost > 0 {
		bad(Damaged, fmt.Sprintf("%d of the kept pages of store %s are damaged", lost, st.Label()))
	}
	return found, nil
}

// modes checks that others can neither read the data directory nor write to our
// files in it. One that holds foreign files keeps its mode.
func (r *run) modes(repair bool) {
	if runtime.GOOS == "windows" {
		return // access there is inherited from the user's folder
	}
	root, err := os.Stat(r.Dir)
	if err != nil {
		return
	}
	files, folders, foreign := project.OursBelow(r.Dir, r.Dir)
	if m := root.Mode().Perm(); m&0o077 != 0 {
		r.add(Finding{Status: Open, File: ".",
			Text: fmt.Sprintf("others may look into the data directory %s (mode %o)", r.Dir, m),
			Hint: "run: chmod 700 " + r.Dir, Mended: repair && !foreign && os.Chmod(r.Dir, 0o700) == nil})
	}
	n, failed, example := 0, 0, ""
	for _, p := range slices.Concat(folders, files) {
		info, err := os.Lstat(p)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o022 == 0 {
			continue
		}
		if n++; example == "" {
			example = r.rel(p)
		}
		if repair && os.Chmod(p, info.Mode().Perm()&^0o077) != nil {
			failed++
		}
	}
	if n > 0 {
		r.add(Finding{Status: Open, File: example,
			Text: fmt.Sprintf("others may write to %d files and folders in the data directory, %s among them", n, example),
			Hint: "close them: knowledge verify --repair", Mended: repair && failed == 0})
	}
}
