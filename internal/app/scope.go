package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

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

// ownEntry returns the store of all of a folder, if it has a name. One
// of a part of it is another store.
func ownEntry(entries []catalog.Entry, root string) (kb.Store, bool) {
	for _, e := range entries {
		if source.Watchable(e.Spec.Kind) && e.Spec.Source == root && len(e.Spec.Selection.Paths) == 0 {
			return e.Store, true
		}
	}
	return kb.Store{}, false
}

// begun reports whether a part of a store can be searched.
func (c *Core) begun(ctx context.Context, id kb.StoreID) bool {
	head, err := c.Catalog.Head(ctx, id)
	return err == nil && head != nil
}

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
	if len(names) == 0 && a.member != nil {
		return e.WithHint(noneForMember)
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

// muchLeft is how many documents must be left to do for a question to be answered
// before a first index is complete: what is small is worth the wait.
const muchLeft = 1000

// answersNow reports whether a question that has waited for a job with that progress
// is answered from what is ready.
func answersNow(early, waited time.Duration, at kb.Progress) bool {
	return early > 0 && waited > early && at.Total-at.Done > muchLeft
}

// waitFor says how to see a job to its end.
func waitFor(j kb.Job) string {
	return fmt.Sprintf("wait for the rest with: job:status {\"jobId\":%q,\"wait\":true}", j.ID)
}

// Scope returns the entries of the default scope, or all there are.
func (a *App) Scope(ctx context.Context, c *Core, all bool) ([]catalog.Entry, error) {
	if all {
		return c.Catalog.All(ctx)
	}
	p, err := a.Where()
	if err != nil {
		return nil, err
	}
	entries, err := c.Catalog.List(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	if own, err := c.Catalog.Own(ctx, p.Root); err == nil {
		if !slices.ContainsFunc(entries, func(e catalog.Entry) bool { return e.ID == own.ID }) {
			entries = append(entries, catalog.Entry{Store: own, Scope: catalog.ScopeOwn, Project: p.ID})
		}
	} else if kb.CodeOf(err) != kb.NotFound {
		return nil, err
	}
	return entries, nil
}

// FolderAt returns the store of the folder root, named or not.
func (c *Core) FolderAt(ctx context.Context, projectID, root string) (kb.Store, bool) {
	if entries, err := c.Catalog.List(ctx, projectID); err == nil {
		if st, ok := ownEntry(entries, root); ok {
			return st, true
		}
	}
	st, err := c.Catalog.Own(ctx, root)
	return st, err == nil
}
