package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// NothingInScope says so, and names what exists elsewhere.
func (a *App) NothingInScope(ctx context.Context, c *Core) error {
	all, err := c.Catalog.All(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range all {
		if e.Head != nil {
			names = append(names, e.Label())
		}
	}
	e := kb.Errorf(kb.NotFound, "there is nothing to search here: no store is in scope")
	if gone := a.lostDatabase(); gone != "" {
		return kb.Errorf(kb.NotFound, "there is nothing to search here: %s", gone).WithHint("make them again with store:create, or import them")
	}
	if len(names) == 0 {
		return e.WithHint("make a store with store:create, or search inside a project: its folder is indexed at the first search")
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	return e.WithHint("name stores or pass [\"*\"]; there are: %s", strings.Join(names, ", "))
}

// AsScope returns the stores that are named, or those in scope when none is,
// their folders as they are now as far as r waits for that; the notes say what
// is not.
func (a *App) AsScope(ctx context.Context, c *Core, r Scope) ([]kb.Store, []string, error) {
	by, names := Asking{Waiting: r.Waiting}, r.Stores
	var stores []kb.Store
	var notes []string
	var err error
	switch {
	case len(names) == 0:
		stores, notes, err = a.defaultScope(ctx, c, r)
	case slices.Contains(names, "*"):
		if stores, err = a.Named(ctx, c, names); err == nil {
			by.mine, err = a.inScope(ctx, c)
		}
	default:
		by.named = true
		stores, err = a.Named(ctx, c, names)
	}
	if err != nil {
		return nil, nil, err
	}
	late, err := a.Freshen(ctx, c, stores, by)
	return stores, append(notes, late...), err
}

// inScope are the stores that are searched here when none is named.
func (a *App) inScope(ctx context.Context, c *Core) (map[kb.StoreID]bool, error) {
	entries, err := a.Scope(ctx, c, false)
	ids := map[kb.StoreID]bool{}
	for _, e := range entries {
		ids[e.ID] = true
	}
	return ids, err
}

// Named returns the stores that a request names.
func (a *App) Named(ctx context.Context, c *Core, names []string) ([]kb.Store, error) {
	var out []kb.Store
	for _, n := range names {
		if n == "*" {
			all, err := c.Catalog.All(ctx)
			if err != nil {
				return nil, err
			}
			for _, e := range all {
				out = append(out, e.Store)
			}
			continue
		}
		_, st, err := a.Lookup(ctx, n)
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return Unique(out), nil
}

// Unique keeps the first of each store.
func Unique(stores []kb.Store) []kb.Store {
	seen := map[kb.StoreID]bool{}
	return slices.DeleteFunc(stores, func(s kb.Store) bool {
		if seen[s.ID] {
			return true
		}
		seen[s.ID] = true
		return false
	})
}

// defaultScope returns the stores of the project and the user, and the own
// folder, which is brought up to date first: for a person to its end, for an
// agent as far as r.Wait allows.
func (a *App) defaultScope(ctx context.Context, c *Core, r Scope) ([]kb.Store, []string, error) {
	p, err := a.Where()
	if err != nil {
		return nil, nil, err
	}
	entries, err := c.Catalog.List(ctx, p.ID)
	if err != nil {
		return nil, nil, err
	}
	var stores []kb.Store
	for _, e := range entries {
		stores = append(stores, e.Store)
	}
	if p.None && !r.Person {
		return Unique(stores), nil, nil
	}
	own, note, err := a.ownFolder(ctx, c, p, r, entries)
	if err != nil {
		// Somebody may well search their stores from a home directory, and to
		// find nothing where there is nothing is no failure.
		// Nor do their stores become unsearchable where nothing can be written.
		if code := kb.CodeOf(err); len(stores) > 0 && (code == kb.TooLarge || CannotWrite(err)) || code == kb.NotFound {
			return stores, []string{fmt.Sprintf("this folder is not searched: %v; %s", err, kb.HintOf(err))}, nil
		}
		return nil, nil, err
	}
	if own.ID != "" {
		stores = append(stores, own)
	}
	if note != "" {
		return Unique(stores), []string{note}, nil
	}
	return Unique(stores), nil, nil
}

// ownEntry returns the store of all of a folder, if somebody has named it. One
// of a part of it is another store.
func ownEntry(entries []catalog.Entry, root string) (kb.Store, bool) {
	for _, e := range entries {
		if source.Watchable(e.Spec.Kind) && e.Spec.Source == root && len(e.Spec.Selection.Paths) == 0 {
			return e.Store, true
		}
	}
	return kb.Store{}, false
}

// ownFolder returns the store of the work tree that asks, making it, unlisted,
// at the first use.
func (a *App) ownFolder(ctx context.Context, c *Core, p project.Project, r Scope, entries []catalog.Entry) (kb.Store, string, error) {
	spec := kb.Spec{Kind: kb.KindFolder, Source: p.Root}
	var first bool
	var err error
	st, named := ownEntry(entries, p.Root)
	if !named {
		st, err = c.Catalog.Own(ctx, p.Root)
		if first = kb.CodeOf(err) == kb.NotFound; err != nil && !first {
			return kb.Store{}, "", err
		}
	}
	if st.Head != nil && !st.Head.Partial {
		return st, "", nil // which is compared with its folder like any other
	}
	if first {
		if !r.Yes {
			if err := refuseBarren(ctx, spec, NameFrom(p.Root)); err != nil {
				return kb.Store{}, "", err
			}
		}
		if p.ID != "" {
			if err := c.Catalog.NoteProject(ctx, p.ID, p.Root); err != nil {
				return kb.Store{}, "", err
			}
		}
		if st, err = c.Catalog.SetOwn(ctx, p.ID, p.Root, spec); err != nil {
			return kb.Store{}, "", err
		}
	}
	j, running, err := c.Jobs.Active(ctx, st.ID)
	if err != nil {
		return st, "", err
	}
	if !running {
		if named && st.Head == nil && st.LastError != "" {
			return st, "", nil // which is said of it
		}
		if j, err = c.Submit(ctx, st, IndexArgs{}); err != nil {
			if st.Head != nil && CannotWrite(err) {
				return st, fmt.Sprintf("%s has changed and cannot be brought up to date: %v; %s", st.Label(), err, kb.HintOf(err)), nil
			}
			return st, "", err
		}
	}
	wctx, cancel := context.WithTimeout(ctx, r.Wait)
	defer cancel()
	began := time.Now()
	j, err = c.Jobs.Wait(wctx, j.ID, func(j kb.Job) {
		kb.Report(ctx, j.Progress)
		if answersNow(r.Early, time.Since(began), j.Progress) && c.begun(ctx, st.ID) {
			cancel()
		}
	})
	switch {
	case ctx.Err() != nil:
		return st, "", ctx.Err()
	case wctx.Err() != nil:
		return st, "", nil // what is missing is said of any store that is not complete
	case err != nil:
		return st, "", err
	case j.State == kb.JobFailed:
		// Even if a part of it can be searched: the first use has failed.
		return st, "", kb.Errorf(cmp.Or(j.Code, kb.Internal), "%s could not be indexed: %s", p.Root, j.Message).WithHint("%s", j.Hint)
	case j.State != kb.JobCompleted:
		return st, fmt.Sprintf("%s could not be brought up to date: %s", st.Label(), j.Message), nil
	}
	return st, "", nil
}

// muchLeft is how many documents must be left to do for somebody to be answered
// before a first index is complete: what is small is worth the wait.
const muchLeft = 1000

// answersNow reports whether somebody who has waited for a job that stands so
// is answered from what is ready.
func answersNow(early, waited time.Duration, at kb.Progress) bool {
	return early > 0 && waited > early && at.Total-at.Done > muchLeft
}

// begun reports whether a part of a store can be searched.
func (c *Core) begun(ctx context.Context, id kb.StoreID) bool {
	head, err := c.Catalog.Head(ctx, id)
	return err == nil && head != nil
}

// waitFor says how to see a job to its end.
func waitFor(j kb.Job) string {
	return fmt.Sprintf("wait for the rest with: job:status {\"jobId\":%q,\"wait\":true}", j.ID)
}

// Shelves are the stores that a request is answered from.
type Shelves struct {
	Core    *Core
	Targets []search.Target
	Notes   []string            // what is left out, and why
	Damaged string              // the first note on a store that is left out for it
	Done    []func()            // give the views back
	Lost    map[kb.StoreID]bool // whose view was damaged
	Wait    time.Duration       // for references that have to be resolved first; 0 does without them
}

// Opened is Core.Targets for a project: its own folder is marked as such, and
// the rooms add what they know of its documents.
func (a *App) Opened(ctx context.Context, c *Core, stores []kb.Store) (*Shelves, error) {
	s, err := c.Targets(ctx, stores)
	if err != nil {
		return nil, err
	}
	if p, err := a.Where(); err == nil && !p.None {
		for i := range s.Targets {
			spec := &s.Targets[i].Store.Spec
			s.Targets[i].Own = spec.Kind == kb.KindFolder && spec.Source == p.Root
		}
	}
	for _, r := range a.Config.Rooms {
		if r.Hits != nil {
			r.Hits(a, s.Targets)
		}
	}
	return s, nil
}

// Targets opens the live generations of stores. A store that is empty or
// damaged is left out, and said; the rest is served.
func (c *Core) Targets(ctx context.Context, stores []kb.Store) (*Shelves, error) {
	s := &Shelves{Core: c}
	for _, st := range stores {
		idx, head, err := c.Library.Get(ctx, st)
		switch {
		case err != nil && kb.CodeOf(err) == kb.Corrupt:
			err = s.damaged(ctx, st, err)
		case err != nil && kb.CodeOf(err) == kb.NotFound && len(stores) > 1:
			// Somebody deleted it since it was listed; that is no reason to answer nothing.
			s.Notes, err = append(s.Notes, "store "+st.Label()+" was deleted meanwhile"), nil
		case err == nil && idx == nil:
			var note string
			note, err = c.emptyNote(ctx, st)
			s.Notes = append(s.Notes, note)
		case err == nil:
			st.Head = head
			s.Targets = append(s.Targets, search.Target{Store: st, Label: label(st), Index: idx, Fresh: fresh(st), Page: c.pageOf(st)})
			if err = c.reread(ctx, st); err != nil {
				break
			}
			if note := c.withoutVectors(ctx, idx, st); note != "" {
				s.Notes = append(s.Notes, note)
			}
			if head.Partial {
				var note string
				note, err = c.emptyNote(ctx, st)
				s.Notes = append(s.Notes, note)
			}
		}
		if err != nil {
			s.Release()
			return nil, err
		}
	}
	return s, nil
}

// withoutVectors says that a part of a store is searched by words alone, and has
// its vectors made anew.
func (c *Core) withoutVectors(ctx context.Context, idx kb.Index, st kb.Store) string {
	info, err := idx.Info(ctx)
	n := len(info.Bare)
	if err != nil || n == 0 || info.Embedder != c.Embedder.ID() { // else all of it is indexed again
		return ""
	}
	note := fmt.Sprintf("the vectors of %d of %d segments of store %s are missing: what is in them is found by its words, not by its meaning", n, len(info.Segments), st.Label())
	j, active, err := c.Jobs.Active(ctx, st.ID)
	if err == nil && !active {
		j, err = c.Submit(ctx, st, IndexArgs{Vectors: true})
	}
	if err != nil {
		return fmt.Sprintf("%s; they cannot be made anew: %v", note, err)
	}
	return fmt.Sprintf("%s; they are being made anew, by job %s", note, j.ID)
}

func (s *Shelves) Release() {
	for _, t := range s.Targets {
		t.Index.Release()
	}
	s.Targets = nil
	for _, f := range s.Done {
		f()
	}
	s.Done = nil
}

// damaged notes that a store is left out, and has it rebuilt.
func (s *Shelves) damaged(ctx context.Context, st kb.Store, why error) error {
	c := s.Core
	note := fmt.Sprintf("store %s is damaged and left out: %v", st.Label(), why)
	defer func() {
		if s.Damaged == "" && len(s.Notes) > 0 {
			s.Damaged = s.Notes[len(s.Notes)-1]
		}
	}()
	// A rebuild that is on its way would only begin again.
	_, active, err := c.Jobs.Active(ctx, st.ID)
	if err == nil && !active {
		_, err = c.Submit(ctx, st, IndexArgs{Force: true, Repair: true})
	}
	if CannotWrite(err) { // what is whole is still served
		s.Notes = append(s.Notes, note+"; run store:index with force to rebuild it")
		return nil
	}
	s.Notes = append(s.Notes, note+"; it is being rebuilt")
	return err
}

// Serve answers from the targets, and again without those that turn out to be
// damaged; with none left it does not ask.
func (s *Shelves) Serve(ctx context.Context, ask func([]search.Target) error) error {
	for len(s.Targets) > 0 {
		err := ask(s.Targets)
		var of *search.TargetError
		if err == nil || kb.CodeOf(err) != kb.Corrupt || !errors.As(err, &of) {
			return err
		}
		t := s.Targets[of.Target]
		if ok, err := s.unresolved(ctx, &s.Targets[of.Target]); ok || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		s.Targets = slices.Delete(s.Targets, of.Target, of.Target+1)
		t.Index.Release()
		s.Core.Library.Forget(t.Store.ID)
		if err := s.damaged(ctx, t.Store, of.Err); err != nil {
			return err
		}
	}
	return nil
}

// emptyNote says why a store has nothing, or not everything, to search yet.
func (c *Core) emptyNote(ctx context.Context, st kb.Store) (string, error) {
	so := "is empty"
	if st.Head != nil {
		so = fmt.Sprintf("is indexed in part, %d documents", st.Head.Documents)
	}
	j, ok, err := c.Jobs.Active(ctx, st.ID)
	switch {
	case err != nil:
		return "", err
	case ok && j.State == kb.JobRunning:
		return fmt.Sprintf("store %s %s so far: job %s is at it (%s), so hits may be missing; %s", st.Label(), so, j.ID, doneOf(j), waitFor(j)), nil
	case ok:
		return fmt.Sprintf("store %s %s so far: job %s is %s; %s", st.Label(), so, j.ID, j.State, waitFor(j)), nil
	case st.LastError != "":
		return fmt.Sprintf("store %s %s, its last job failed: %s; try again with: store:index %s", st.Label(), so, st.LastError, Args{"store": st.Label()}), nil
	}
	return fmt.Sprintf("store %s %s; index it with: store:index %s", st.Label(), so, Args{"store": st.Label()}), nil
}

// isHere reports whether a store is of the folder of the work tree that asks.
func (a *App) isHere(st kb.Store) bool {
	p, err := a.Where()
	return err == nil && st.Spec.Source == p.Root && filepath.IsAbs(p.Root)
}

// NoteBarren says which of the stores have no documents. Of a store that nobody
// has named, or is in, it would be told for ever.
func (a *App) NoteBarren(s *Shelves, named bool) {
	for _, t := range s.Targets {
		if why := Barren(t.Store); why != "" && (named || a.isHere(t.Store) && (len(t.Store.Head.Skipped) > 0 || len(s.Targets) == 1)) {
			s.Notes = append(s.Notes, why)
		}
	}
}

// Barren says why a store that is indexed has no documents; "" of one that has some.
func Barren(st kb.Store) string {
	if st.Head == nil || st.Head.Documents > 0 || st.Head.Partial {
		return ""
	}
	why := source.Reasons(st.Head.Skipped, st.Head.Notes)
	if why == "" {
		return fmt.Sprintf("store %s has no documents: there is nothing in %s", st.Label(), st.Spec.Source)
	}
	return fmt.Sprintf("store %s has no documents, what lies in %s is left out: %s", st.Label(), st.Spec.Source, why)
}

// doneOf tells how far a job is.
func doneOf(j kb.Job) string {
	if j.Progress.Total > 0 {
		return fmt.Sprintf("%d of %d documents", j.Progress.Done, j.Progress.Total)
	}
	return "begun"
}

// label is how hits cite a store.
func label(st kb.Store) string {
	if st.Head != nil && st.Head.Commit != "" {
		return st.Label() + "@" + kb.ShortCommit(st.Head.Commit)
	}
	return st.Label()
}

// fresh tells whether a document of a folder changed since it was indexed. A
// commit never changes.
func fresh(st kb.Store) func(path string, stamp uint64) string {
	if st.Spec.Kind != kb.KindFolder {
		return nil
	}
	// A store that was imported may be of a folder that is on another machine.
	if _, err := os.Stat(st.Spec.Source); err != nil {
		return nil
	}
	return func(path string, stamp uint64) string {
		now, err := source.FileStamp(st.Spec.Source, path)
		switch {
		case err != nil || stamp == 0:
			return ""
		case now == "":
			return "the file was deleted since indexing"
		case kb.StampHash(now) != stamp:
			return "the file changed since indexing"
		}
		return ""
	}
}
