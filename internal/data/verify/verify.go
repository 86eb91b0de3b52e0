// Package verify reads a data directory to its end: whether every file that a
// generation names is there, holds what its name and its checksums say, and
// fits the others; and it mends what can be mended.
//
// What is looked at, and what mends it:
//
//	the database             its pages and rows; nothing mends it
//	the data directory       that others may neither read nor write; modes are set
//	a generation             manifest and layout: checksums, names, ids, paths, tombstones;
//	                         made anew from the source, else the manifest from its layout
//	a segment                checksums, that its name is that of its documents, that each text has
//	                         the hash that names it, postings; made anew from the source
//	vectors                  checksums, number, a few of them against the text; made anew from the text
//	a view                   checksums, that its name is that of its content; made anew
//	kept pages               every record; a crawl mends them
//	leftovers                what nothing refers to; deleted
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
	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/web/pages"
)

// Status says how bad a finding is.
type Status string

// The statuses.
const (
	Damaged Status = "damaged" // a file does not hold what it should
	Missing Status = "missing" // a file that is named is not there
	Open    Status = "open"    // others may read or write what is the owner's
	Left    Status = "left"    // nothing refers to it
)

// Finding is one thing that is not as it should be.
type Finding struct {
	Status Status `json:"status"`
	Store  string `json:"store,omitempty"`
	File   string `json:"file,omitempty"` // relative to the data directory
	Text   string `json:"text"`           // one sentence
	Hint   string `json:"hint,omitempty"`
	Mended bool   `json:"mended,omitempty"`

	part    part
	name    string // of the segment
	foreign bool   // what is there is no file, and nobody's to delete
}

type part int

const (
	partOther part = iota
	partManifest
	partLayout
	partSegment
	partVectors
	partView
	partHead
)

// Leftover is a file or folder that nothing refers to.
type Leftover struct {
	Path  string `json:"path"` // relative to the data directory
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
}

// Checker looks at one data directory. The functions are what only their
// caller can do.
type Checker struct {
	Dir     string
	DB      *db.DB
	Catalog *catalog.Catalog
	Indexer *ingest.Indexer
	Pool    *index.Pool // whose files are looked at: the indexes of this machine
	Opener  *source.Opener
	// View returns the path of a store's newest view, "" without one.
	View func(kb.StoreID) string
	// Relink makes a store's view anew.
	Relink func(context.Context, kb.StoreID) error
	// Reindex reads a store's source again and publishes what it makes of it.
	Reindex func(context.Context, kb.Store) error
	// Forget makes this process open a store's files anew.
	Forget func(kb.StoreID)
	// Leftovers lists what nothing refers to, and deletes it unless dry.
	Leftovers func(ctx context.Context, dry bool) ([]Leftover, error)
}

// Report is what was found.
type Report struct {
	Stores   int       `json:"stores"` // looked at
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`
	Findings []Finding `json:"findings"`
	Mended   int       `json:"mended"`
}

type run struct {
	Checker
	rep      Report
	segments map[string][]Finding // by name, as each is looked at once
}

// Run looks at stores, or at everything when none is given, and mends what it
// finds if repair is set.
func (c Checker) Run(ctx context.Context, stores []kb.Store, repair bool) (Report, error) {
	r := &run{Checker: c, segments: map[string][]Finding{}}
	r.rep.Findings = []Finding{}
	all := len(stores) == 0
	if all {
		if err := c.DB.Check(ctx); err != nil {
			r.add(Finding{Status: Damaged, File: "knowledge.db", Text: err.Error(), Hint: kb.HintOf(err)})
		}
		lost, err := c.Catalog.Damaged(ctx)
		if err != nil {
			return r.rep, err
		}
		for _, name := range lost {
			r.add(Finding{Status: Damaged, Store: name, File: "knowledge.db", Text: "what the catalog says of store " + name + " is damaged",
				Hint: "create it again from the same source, or import it: knowledge stores --all"})
		}
		entries, err := c.Catalog.All(ctx)
		if err != nil && kb.CodeOf(err) != kb.Corrupt {
			return r.rep, err
		}
		for _, e := range entries {
			stores = append(stores, e.Store)
		}
	}
	r.modes(repair)
	for i, st := range stores {
		kb.Report(ctx, kb.Progress{Phase: "verify", Done: int64(i), Total: int64(len(stores))})
		if st.Head == nil {
			continue
		}
		r.rep.Stores++
		st, found, err := r.settled(ctx, st)
		if err != nil {
			return r.rep, err
		}
		if len(found) > 0 && repair {
			if found, err = r.mend(ctx, st, found); err != nil {
				return r.rep, err
			}
		}
		r.rep.Findings = append(r.rep.Findings, found...)
	}
	if all {
		// What is left over may be all that there is of what could not be mended.
		lost := slices.ContainsFunc(r.rep.Findings, func(f Finding) bool { return !f.Mended && f.Status != Open })
		if err := r.leftovers(ctx, repair && !lost); err != nil {
			return r.rep, err
		}
	}
	for _, f := range r.rep.Findings {
		if f.Mended {
			r.rep.Mended++
		}
	}
	return r.rep, nil
}

func (r *run) add(f Finding) { r.rep.Findings = append(r.rep.Findings, f) }

func (r *run) leftovers(ctx context.Context, repair bool) error {
	left, err := r.Leftovers(ctx, !repair)
	for _, l := range left {
		r.add(Finding{Status: Left, File: l.Path, Text: l.What, Hint: "delete what nothing refers to: knowledge gc", Mended: repair && err == nil})
	}
	return err
}

// ref is what a store is called on a command line that works anywhere.
func ref(st kb.Store) string {
	if st.Name != "" {
		return st.Name
	}
	return string(st.ID)
}

// rel is a path as findings show it.
func (r *run) rel(path string) string {
	if p, err := filepath.Rel(r.Dir, path); err == nil {
		return filepath.ToSlash(p)
	}
	return path
}

// of makes a finding of an error about a file; ok is false for errors that
// are about something else.
func (r *run) of(st kb.Store, path string, p part, err error) (Finding, bool) {
	f := Finding{Store: st.Label(), File: r.rel(path), Text: err.Error(), part: p}
	switch _, statErr := os.Stat(path); {
	case errors.Is(statErr, fs.ErrNotExist):
		f.Status, f.Text = Missing, "there is no file "+f.File
	case kb.CodeOf(err) == kb.Corrupt, kb.CodeOf(err) == kb.NotFound, kb.CodeOf(err) == kb.Denied:
		f.Status = Damaged
	default:
		return f, false
	}
	f.Hint = "mend it: knowledge verify " + ref(st) + " --repair"
	if err := atomicfile.Plain(path); err != nil {
		f.Text, f.Hint, f.foreign = err.Error(), kb.HintOf(err), true
	}
	return f, true
}

// look counts a file.
func (r *run) look(path string) {
	if info, err := os.Stat(path); err == nil {
		r.rep.Files++
		r.rep.Bytes += info.Size()
	}
}

// settled looks at a store until its generation stood still meanwhile: what a
// run that publishes has replaced, and swept, is no damage. It returns the
// store as it stands; one that is deleted by then has no findings.
func (r *run) settled(ctx context.Context, st kb.Store) (kb.Store, []Finding, error) {
	const tries = 8 // a store that is published faster than it can be read is looked at as it is
	for try := 1; ; try++ {
		found, err := r.store(ctx, st)
		if err == nil && len(found) == 0 || try == tries {
			return st, found, err
		}
		now, getErr := r.Catalog.Get(ctx, st.ID)
		switch {
		case kb.CodeOf(getErr) == kb.NotFound && getErr != nil, getErr == nil && now.Head == nil:
			return st, nil, nil
		case getErr != nil || now.Head.Manifest == st.Head.Manifest:
			return st, found, err
		}
		for _, name := range st.Head.Segments {
			delete(r.segments, name)
		}
		now.Name = st.Name // Get knows no names
		st = now
	}
}

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
	layout := index.LayoutPath(pool.Dir, head.Layout)
	r.look(layout)
	if _, err := os.Stat(layout); err != nil && head.Layout != "" {
		if err := note(layout, partLayout, "", kb.Errorf(kb.NotFound, "the layout is missing")); err != nil {
			return nil, err
		}
	}
	// What is wrong with a segment is said already, and in the way of the rest.
	if len(found) == 0 || !slices.ContainsFunc(found, func(f Finding) bool { return f.part == partSegment || f.part == partLayout }) {
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
			Text: fmt.Sprintf("%d files of store %s are not listed as needed", len(lost), st.Label()), Hint: "mend it: knowledge verify " + ref(st) + " --repair"})
	}
	if view := r.View(st.ID); view != "" {
		r.look(view)
		if err := note(view, partView, "", checkView(view)); err != nil {
			return nil, err
		}
	}
	return r.pages(st, found)
}

// agrees compares what the catalog says of a generation with what that says itself.
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
	var found []Finding
	text := pool.CheckSegment(ctx, name)
	if text != nil {
		f, ok := r.of(st, path, partSegment, text)
		if !ok {
			return nil, text
		}
		f.name = name
		found = append(found, f)
	}
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
	if vectors != nil {
		f, ok := r.of(st, vec, partVectors, vectors)
		if !ok {
			return nil, vectors
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

// pages looks at the kept pages of a store that has such.
func (r *run) pages(st kb.Store, found []Finding) ([]Finding, error) {
	if !source.TraitsOf(st.Spec.Kind).Gathered {
		return found, nil
	}
	dir := r.Opener.PagesDir(st.Spec)
	bad := func(s Status, text string) {
		found = append(found, Finding{Status: s, Store: st.Label(), File: r.rel(dir), Text: text, Hint: "gather them again: knowledge index " + ref(st)})
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

// modes looks whether others may read the data directory, or write to what is
// ours in it. One that holds somebody else's files keeps its own mode.
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
		r.add(Finding{Status: Open, File: ".", Text: fmt.Sprintf("others may look into the data directory %s (mode %o)", r.Dir, m),
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
		r.add(Finding{Status: Open, File: example, Text: fmt.Sprintf("others may write to %d files and folders in the data directory, %s among them", n, example),
			Hint: "close them: knowledge verify --repair", Mended: repair && failed == 0})
	}
}
