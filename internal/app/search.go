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

// Search answers a query over the stores in scope.
func (a *App) Search(ctx context.Context, r SearchRequest) (SearchReply, error) {
	c, err := a.open(ctx)
	if err != nil {
		return SearchReply{}, err
	}
	req := search.Request{Query: r.Query, Mode: r.Mode, Intent: r.Intent, Detail: r.Detail, Limit: r.Limit,
		Threshold: r.Threshold, MinRelevance: r.MinRelevance, Under: r.In, Explain: r.Explain}
	// A query that cannot be answered starts no indexing.
	if err := req.Check(); err != nil {
		return SearchReply{}, err
	}
	stores, notes, err := a.asScope(ctx, c, r.Stores, &r)
	if err != nil {
		return SearchReply{}, err
	}
	if len(r.Stores) == 0 || slices.Contains(r.Stores, "*") {
		lost, err := c.catalog.Damaged(ctx)
		if err != nil {
			return SearchReply{}, err
		}
		for _, name := range lost {
			notes = append(notes, fmt.Sprintf("store %s is left out: what the catalog says of it is damaged; create it again from the same source, or delete it", name))
		}
	}
	s, err := a.opened(ctx, c, stores)
	if err != nil {
		return SearchReply{}, err
	}
	defer s.release()
	if len(s.targets)+len(s.notes)+len(notes) == 0 {
		return SearchReply{}, a.nothingInScope(ctx, c)
	}
	a.noteBarren(s, len(r.Stores) > 0)
	if r.In != "" && len(s.targets) > 0 {
		err := s.serve(ctx, func(targets []search.Target) (err error) {
			req.Under, err = search.Below(ctx, targets, a.asked(r.In, r.Person))
			return err
		})
		if err != nil {
			return SearchReply{}, err
		}
	}
	if req.Detail == "contextual" || req.Detail == "full" || req.Intent != "" {
		s.openViews()
	}
	var marksNote string
	if req.Marks, marksNote, err = c.marks(ctx, r.Query); err != nil {
		return SearchReply{}, err
	} else if marksNote != "" {
		s.notes = append(s.notes, marksNote)
	}
	a.countFindings(s.targets)
	reply := SearchReply{Hits: []Hit{}, Confidence: "none"}
	err = s.serve(ctx, func(targets []search.Target) (err error) {
		reply, err = search.Run(ctx, targets, c.embedder, req)
		return err
	})
	if len(s.targets) == 0 {
		reply = SearchReply{Hits: []Hit{}, Confidence: "none"}
	}
	if gone := a.lossNote(); gone != "" {
		notes = append([]string{gone}, notes...)
	}
	reply.Notes = slices.Concat(notes, s.notes, reply.Notes)
	return reply, err
}

// nothingInScope says so, and names what exists elsewhere.
func (a *App) nothingInScope(ctx context.Context, c *core) error {
	all, err := c.catalog.All(ctx)
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

// asScope returns the stores that are named, or those in scope when none is,
// their folders as they are now as far as r waits for that; the notes say what
// is not.
func (a *App) asScope(ctx context.Context, c *core, names []string, r *SearchRequest) ([]kb.Store, []string, error) {
	by := asking{Waiting: Waiting{Wait: r.Wait, Early: r.Early, Person: r.Person}}
	var stores []kb.Store
	var notes []string
	var err error
	switch {
	case len(names) == 0:
		stores, notes, err = a.defaultScope(ctx, c, r)
	case slices.Contains(names, "*"):
		if stores, err = a.named(ctx, c, names); err == nil {
			by.mine, err = a.inScope(ctx, c)
		}
	default:
		by.named = true
		stores, err = a.named(ctx, c, names)
	}
	if err != nil {
		return nil, nil, err
	}
	late, err := a.freshen(ctx, c, stores, by)
	return stores, append(notes, late...), err
}

// inScope are the stores that are searched here when none is named.
func (a *App) inScope(ctx context.Context, c *core) (map[kb.StoreID]bool, error) {
	entries, err := a.scope(ctx, c, false)
	ids := map[kb.StoreID]bool{}
	for _, e := range entries {
		ids[e.ID] = true
	}
	return ids, err
}

// named returns the stores that a request names.
func (a *App) named(ctx context.Context, c *core, names []string) ([]kb.Store, error) {
	var out []kb.Store
	for _, n := range names {
		if n == "*" {
			all, err := c.catalog.All(ctx)
			if err != nil {
				return nil, err
			}
			for _, e := range all {
				out = append(out, e.Store)
			}
			continue
		}
		_, st, err := a.lookup(ctx, n)
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return unique(out), nil
}

// unique keeps the first of each store.
func unique(stores []kb.Store) []kb.Store {
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
func (a *App) defaultScope(ctx context.Context, c *core, r *SearchRequest) ([]kb.Store, []string, error) {
	p, err := a.where()
	if err != nil {
		return nil, nil, err
	}
	entries, err := c.catalog.List(ctx, p.ID)
	if err != nil {
		return nil, nil, err
	}
	var stores []kb.Store
	for _, e := range entries {
		stores = append(stores, e.Store)
	}
	if p.None && !r.Person {
		return unique(stores), nil, nil
	}
	own, note, err := a.ownFolder(ctx, c, p, r, entries)
	if err != nil {
		// Somebody may well search their stores from a home directory, and to
		// find nothing where there is nothing is no failure.
		// Nor do their stores become unsearchable where nothing can be written.
		if code := kb.CodeOf(err); len(stores) > 0 && (code == kb.TooLarge || cannotWrite(err)) || code == kb.NotFound {
			return stores, []string{fmt.Sprintf("this folder is not searched: %v; %s", err, kb.HintOf(err))}, nil
		}
		return nil, nil, err
	}
	if own.ID != "" {
		stores = append(stores, own)
	}
	if note != "" {
		return unique(stores), []string{note}, nil
	}
	return unique(stores), nil, nil
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
func (a *App) ownFolder(ctx context.Context, c *core, p project.Project, r *SearchRequest, entries []catalog.Entry) (kb.Store, string, error) {
	spec := kb.Spec{Kind: kb.KindFolder, Source: p.Root}
	var first bool
	var err error
	st, named := ownEntry(entries, p.Root)
	if !named {
		st, err = c.catalog.Own(ctx, p.Root)
		if first = kb.CodeOf(err) == kb.NotFound; err != nil && !first {
			return kb.Store{}, "", err
		}
	}
	if st.Head != nil && !st.Head.Partial {
		return st, "", nil // which is compared with its folder like any other
	}
	if first {
		if !r.Yes {
			if err := refuseBarren(ctx, spec, nameFrom(p.Root)); err != nil {
				return kb.Store{}, "", err
			}
		}
		if p.ID != "" {
			if err := c.catalog.NoteProject(ctx, p.ID, p.Root); err != nil {
				return kb.Store{}, "", err
			}
		}
		if st, err = c.catalog.SetOwn(ctx, p.ID, p.Root, spec); err != nil {
			return kb.Store{}, "", err
		}
	}
	j, running, err := c.jobs.Active(ctx, st.ID)
	if err != nil {
		return st, "", err
	}
	if !running {
		if named && st.Head == nil && st.LastError != "" {
			return st, "", nil // which is said of it
		}
		if j, err = c.submit(ctx, st, indexArgs{}); err != nil {
			if st.Head != nil && cannotWrite(err) {
				return st, fmt.Sprintf("%s has changed and cannot be brought up to date: %v; %s", st.Label(), err, kb.HintOf(err)), nil
			}
			return st, "", err
		}
	}
	wctx, cancel := context.WithTimeout(ctx, r.Wait)
	defer cancel()
	began := time.Now()
	j, err = c.jobs.Wait(wctx, j.ID, func(j kb.Job) {
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
func (c *core) begun(ctx context.Context, id kb.StoreID) bool {
	head, err := c.catalog.Head(ctx, id)
	return err == nil && head != nil
}

// waitFor says how to see a job to its end.
func waitFor(j kb.Job) string {
	return fmt.Sprintf("wait for the rest with: job:status {\"jobId\":%q,\"wait\":true}", j.ID)
}

// shelves are the stores that a request is answered from.
type shelves struct {
	core    *core
	targets []search.Target
	notes   []string            // what is left out, and why
	done    []func()            // give the views back
	lost    map[kb.StoreID]bool // whose view was damaged
	wait    time.Duration       // for references that have to be resolved first; 0 does without them
}

// opened is core.targets for who works in a project: its own folder is marked
// as such.
func (a *App) opened(ctx context.Context, c *core, stores []kb.Store) (*shelves, error) {
	s, err := c.targets(ctx, stores)
	if err != nil {
		return nil, err
	}
	if p, err := a.where(); err == nil && !p.None {
		for i := range s.targets {
			spec := &s.targets[i].Store.Spec
			s.targets[i].Own = spec.Kind == kb.KindFolder && spec.Source == p.Root
		}
	}
	return s, nil
}

// targets opens the live generations of stores. A store that is empty or
// damaged is left out, and said; the rest is served.
func (c *core) targets(ctx context.Context, stores []kb.Store) (*shelves, error) {
	s := &shelves{core: c}
	for _, st := range stores {
		idx, head, err := c.library.get(ctx, st)
		switch {
		case err != nil && kb.CodeOf(err) == kb.Corrupt:
			err = s.damaged(ctx, st, err)
		case err != nil && kb.CodeOf(err) == kb.NotFound && len(stores) > 1:
			// Somebody deleted it since it was listed; that is no reason to answer nothing.
			s.notes, err = append(s.notes, "store "+st.Label()+" was deleted meanwhile"), nil
		case err == nil && idx == nil:
			var note string
			note, err = c.emptyNote(ctx, st)
			s.notes = append(s.notes, note)
		case err == nil:
			st.Head = head
			s.targets = append(s.targets, search.Target{Store: st, Label: label(st), Index: idx, Fresh: fresh(st), Page: c.pageOf(st)})
			if err = c.reread(ctx, st); err != nil {
				break
			}
			if note := c.withoutVectors(ctx, idx, st); note != "" {
				s.notes = append(s.notes, note)
			}
			if head.Partial {
				var note string
				note, err = c.emptyNote(ctx, st)
				s.notes = append(s.notes, note)
			}
		}
		if err != nil {
			s.release()
			return nil, err
		}
	}
	return s, nil
}

// withoutVectors says that a part of a store is searched by words alone, and has
// its vectors made anew.
func (c *core) withoutVectors(ctx context.Context, idx kb.Index, st kb.Store) string {
	info, err := idx.Info(ctx)
	n := len(info.Bare)
	if err != nil || n == 0 || info.Embedder != c.embedder.ID() { // else all of it is indexed again
		return ""
	}
	note := fmt.Sprintf("the vectors of %d of %d segments of store %s are missing: what is in them is found by its words, not by its meaning", n, len(info.Segments), st.Label())
	j, active, err := c.jobs.Active(ctx, st.ID)
	if err == nil && !active {
		j, err = c.submit(ctx, st, indexArgs{Vectors: true})
	}
	if err != nil {
		return fmt.Sprintf("%s; they cannot be made anew: %v", note, err)
	}
	return fmt.Sprintf("%s; they are being made anew, by job %s", note, j.ID)
}

func (s *shelves) release() {
	for _, t := range s.targets {
		t.Index.Release()
	}
	s.targets = nil
	for _, f := range s.done {
		f()
	}
	s.done = nil
}

// damaged notes that a store is left out, and has it rebuilt.
func (s *shelves) damaged(ctx context.Context, st kb.Store, why error) error {
	c := s.core
	note := fmt.Sprintf("store %s is damaged and left out: %v", st.Label(), why)
	// A rebuild that is on its way would only begin again.
	_, active, err := c.jobs.Active(ctx, st.ID)
	if err == nil && !active {
		_, err = c.submit(ctx, st, indexArgs{Force: true, Repair: true})
	}
	if cannotWrite(err) { // what is whole is still served
		s.notes = append(s.notes, note+"; run store:index with force to rebuild it")
		return nil
	}
	s.notes = append(s.notes, note+"; it is being rebuilt")
	return err
}

// serve answers from the targets, and again without those that turn out to be
// damaged; with none left it does not ask.
func (s *shelves) serve(ctx context.Context, ask func([]search.Target) error) error {
	for len(s.targets) > 0 {
		err := ask(s.targets)
		var of *search.TargetError
		if err == nil || kb.CodeOf(err) != kb.Corrupt || !errors.As(err, &of) {
			return err
		}
		t := s.targets[of.Target]
		if t.View != nil && s.core.views.lose(s.core, t.Store.ID) {
			if err := s.unresolved(ctx, &s.targets[of.Target]); err != nil {
				return err
			}
			continue
		}
		s.targets = slices.Delete(s.targets, of.Target, of.Target+1)
		t.Index.Release()
		s.core.library.forget(t.Store.ID)
		if err := s.damaged(ctx, t.Store, of.Err); err != nil {
			return err
		}
	}
	return nil
}

// emptyNote says why a store has nothing, or not everything, to search yet.
func (c *core) emptyNote(ctx context.Context, st kb.Store) (string, error) {
	so := "is empty"
	if st.Head != nil {
		so = fmt.Sprintf("is indexed in part, %d documents", st.Head.Documents)
	}
	j, ok, err := c.jobs.Active(ctx, st.ID)
	switch {
	case err != nil:
		return "", err
	case ok && j.State == kb.JobRunning:
		return fmt.Sprintf("store %s %s so far: job %s is at it (%s), so hits may be missing; %s", st.Label(), so, j.ID, doneOf(j), waitFor(j)), nil
	case ok:
		return fmt.Sprintf("store %s %s so far: job %s is %s; %s", st.Label(), so, j.ID, j.State, waitFor(j)), nil
	case st.LastError != "":
		return fmt.Sprintf("store %s %s, its last job failed: %s; try again with: store:index %s", st.Label(), so, st.LastError, command{"store": st.Label()}), nil
	}
	return fmt.Sprintf("store %s %s; index it with: store:index %s", st.Label(), so, command{"store": st.Label()}), nil
}

// isHere reports whether a store is of the folder of the work tree that asks.
func (a *App) isHere(st kb.Store) bool {
	p, err := a.where()
	return err == nil && st.Spec.Source == p.Root && filepath.IsAbs(p.Root)
}

// noteBarren says which of the stores have no documents. Of a store that nobody
// has named, or is in, it would be told for ever.
func (a *App) noteBarren(s *shelves, named bool) {
	for _, t := range s.targets {
		if why := barren(t.Store); why != "" && (named || a.isHere(t.Store) && (len(t.Store.Head.Skipped) > 0 || len(s.targets) == 1)) {
			s.notes = append(s.notes, why)
		}
	}
}

// barren says why a store that is indexed has no documents; "" of one that has some.
func barren(st kb.Store) string {
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

// Context returns everything about the place that an id from Search names,
// whichever store it is in: an id says that by itself.
func (a *App) Context(ctx context.Context, id string) (Context, error) {
	c, err := a.open(ctx)
	if err != nil {
		return Context{}, err
	}
	entries, err := a.scope(ctx, c, false)
	if err != nil {
		return Context{}, err
	}
	all, err := c.catalog.All(ctx)
	if err != nil {
		return Context{}, err
	}
	var stores []kb.Store
	for _, e := range append(entries, all...) { // those in scope first
		if e.Head != nil {
			stores = append(stores, e.Store)
		}
	}
	s, err := a.opened(ctx, c, unique(stores))
	if err != nil {
		return Context{}, err
	}
	defer s.release()
	s.openViews()
	var found Context
	asked := false
	err = s.serve(ctx, func(targets []search.Target) (err error) {
		asked = true
		found, err = search.Show(ctx, targets, id)
		return err
	})
	if len(s.targets) == 0 || kb.CodeOf(err) == kb.NotFound && err != nil {
		for _, n := range s.notes {
			if strings.HasPrefix(n, "store ") && strings.Contains(n, "damaged") { // the place may be there
				return Context{}, kb.Errorf(kb.Corrupt, "%s", n).WithHint("try again when it is rebuilt; see: jobs")
			}
		}
		if !asked {
			_, err = search.Show(ctx, nil, id)
		}
	}
	if err == nil {
		s.linkSpecs(ctx, entries, &found)
		a.showFindings(s.targets, &found)
	}
	return found, err
}
