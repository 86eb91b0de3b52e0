// Package verify reads a whole data directory: it checks that every file which a
// generation names is there, agrees with its name and its checksums, and fits the
// others; and it mends what can be mended.
//
// The checks, and what mends a fault:
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
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/index"
	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Status is the kind of a finding.
type Status string

// The statuses.
const (
	Damaged Status = "damaged" // a file does not hold what it should
	Missing Status = "missing" // a file that is named is not there
	Open    Status = "open"    // others may read or write the owner's files
	Left    Status = "left"    // nothing refers to it
)

// Finding is one fault.
type Finding struct {
	Status Status `json:"status"`
	Store  string `json:"store,omitempty"`
	File   string `json:"file,omitempty"` // relative to the data directory
	Text   string `json:"text"`           // one sentence
	Hint   string `json:"hint,omitempty"`
	Mended bool   `json:"mended,omitempty"`

	part    part
	name    string // of the segment
	foreign bool   // something else than a file, which is not deleted
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

// Checker checks one data directory. The functions are the caller's.
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

// Run checks stores, or everything when none is given, and mends the faults if
// repair is set.
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
			r.add(Finding{Status: Damaged, Store: name, File: "knowledge.db",
				Text: "what the catalog says of store " + name + " is damaged",
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
		if st.Head == nil || st.Head.Afar() {
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
		// Leftovers may be all that remains of what could not be mended.
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
		r.add(Finding{Status: Left, File: l.Path, Text: l.What,
			Hint: "delete what nothing refers to: knowledge gc", Mended: repair && err == nil})
	}
	return err
}

// ref is the name of a store on a command line that works anywhere.
func ref(st kb.Store) string { return cmp.Or(st.Name, string(st.ID)) }

// mendHint is the hint of a finding about a store.
func mendHint(st kb.Store) string { return "mend it: knowledge verify " + ref(st) + " --repair" }

// rel is a path as findings show it.
func (r *run) rel(path string) string {
	if p, err := filepath.Rel(r.Dir, path); err == nil {
		return filepath.ToSlash(p)
	}
	return path
}

// of makes a finding of an error about a file; ok is false for other errors.
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
	f.Hint = mendHint(st)
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

// settled checks a store until its generation did not change meanwhile: files that
// a publishing run has replaced and swept are no damage. It returns the store as
// it was checked; a deleted one has no findings.
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
