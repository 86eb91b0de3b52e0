package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Shelves are the stores that a request is answered from.
type Shelves struct {
	Core    *Core
	Asks    *App // on whose behalf; nil for none
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
	s.Asks = a
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
	stores, s.Notes = c.renewed(ctx, stores)
	var heads map[kb.StoreID]*kb.Head
	if len(stores) > 1 {
		ids := make([]kb.StoreID, len(stores))
		for i := range stores {
			ids[i] = stores[i].ID
		}
		var err error
		if heads, err = c.Catalog.Heads(ctx, ids); err != nil {
			return nil, err
		}
	}
	for _, st := range stores {
		idx, head, err := c.Library.from(ctx, st, heads[st.ID])
		switch {
		case err != nil && kb.CodeOf(err) == kb.Corrupt:
			err = s.damaged(ctx, st, err)
		case err != nil && kb.CodeOf(err) == kb.Away && len(stores) > 1:
			s.Notes, err = append(s.Notes, awayNote(st, err)), nil
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

// awayNote says that a shared store is left out.
func awayNote(st kb.Store, why error) string {
	return fmt.Sprintf("store %s is left out: %v", st.Label(), why)
}

// Serve answers from the targets, and again without those that turn out to be
// damaged, or away while others are not; with none left it does not ask.
func (s *Shelves) Serve(ctx context.Context, ask func([]search.Target) error) error {
	for len(s.Targets) > 0 {
		err := ask(s.Targets)
		var of *search.TargetError
		away := kb.CodeOf(err) == kb.Away && len(s.Targets) > 1
		if err == nil || kb.CodeOf(err) != kb.Corrupt && !away || !errors.As(err, &of) {
			return err
		}
		t := s.Targets[of.Target]
		if away {
			s.Targets = slices.Delete(s.Targets, of.Target, of.Target+1)
			t.Index.Release()
			s.Notes = append(s.Notes, awayNote(t.Store, of.Err))
			continue
		}
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

// NoteBarren says which of the stores have no documents. A store that the user
// neither named nor works in would be named for ever.
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

// doneOf says how far a job is.
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

// fresh says that a document of a folder changed since it was indexed. A
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
