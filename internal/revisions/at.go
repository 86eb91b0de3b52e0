package revisions

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

const (
	// leastWait is how long an agent waits for a commit that was not asked for before:
	// nothing of it can be answered sooner.
	leastWait = 25 * time.Second
	// mostLacks is how many of the files that could not be read are named.
	mostLacks = 3
)

// at implements app.Revisions.
func at(ctx context.Context, a *app.App, c *app.Core, scope app.Scope) (*app.Shelves, error) {
	if a.IsMember() { // history may hold what its owner has taken back
		return nil, kb.Errorf(kb.Denied, "only who runs this server searches other revisions").
			WithHint("leave out at to search what is indexed")
	}
	rev, err := checked(scope.At)
	if err != nil {
		return nil, err
	}
	stores, err := asked(ctx, a, c, scope.Stores)
	if err != nil {
		return nil, err
	}
	shut(c)
	s := &app.Shelves{Core: c, Asks: a, Wait: scope.Wait}
	for _, st := range stores {
		if err := add(ctx, a, s, st, rev, scope.Waiting); err != nil {
			s.Release()
			return nil, err
		}
	}
	return s, nil
}

// asked returns the stores that are named, or that of the own folder, as far as
// git keeps what they were.
func asked(ctx context.Context, a *app.App, c *app.Core, names []string) ([]kb.Store, error) {
	if len(names) == 0 {
		p, err := a.Where()
		if err != nil {
			return nil, err
		}
		if p.None {
			return nil, kb.Errorf(kb.NotFound, "there is no project here, and no store is named whose revisions could be searched").
				WithHint("start in a work tree, or name a store of a repository on this machine; list them with: stores")
		}
		if st, ok := c.FolderAt(ctx, p.ID, p.Root); ok {
			return []kb.Store{st}, nil
		}
		return []kb.Store{{Spec: kb.Spec{Kind: kb.KindFolder, Source: p.Root}}}, nil
	}
	if slices.Contains(names, "*") {
		return nil, kb.Errorf(kb.Invalid, "a revision is of one repository, and not of every store").
			WithHint("leave out stores to search the project, or name one").About("stores")
	}
	return a.Named(ctx, c, names)
}

// specAt is the repository on this machine that a store is of, or lies in.
func specAt(ctx context.Context, a *app.App, st kb.Store, rev string) (kb.Spec, error) {
	if !filepath.IsAbs(st.Spec.Source) && source.TraitsOf(st.Spec.Kind).Refs {
		as := "tag"
		if commitRE.MatchString(rev) {
			as = "commit"
		}
		return kb.Spec{}, kb.Errorf(kb.NotFound, "of %s only one commit is on this machine", visible.Name(st.Label())).
			WithHint("make a store of the other: store:create %s", app.Args{"name": app.NameFrom(st.Label() + "-" + rev), "source": st.Spec.Source, as: rev})
	}
	if !filepath.IsAbs(st.Spec.Source) || !source.TraitsOf(st.Spec.Kind).Refs && !source.Watchable(st.Spec.Kind) {
		return kb.Spec{}, kb.Errorf(kb.Invalid, "%s is of type %s, which has no revisions", visible.Name(st.Label()), app.TypeOf(st.Spec.Kind)).
			WithHint("leave out at, or name a store of a repository").About("stores")
	}
	spec, err := app.SpecOf(ctx, app.CreateStore{Kind: kb.KindRepo, Source: st.Spec.Source}, a.Config.Dir)
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		return spec, kb.Errorf(kb.NotFound, "%q is not kept in git, so nobody knows what it was", st.Spec.Source).
			WithHint("leave out at to search it as it is").About("at")
	}
	return spec, err
}

// add opens what one store was at a revision, and makes it where it is not there.
func add(ctx context.Context, a *app.App, s *app.Shelves, st kb.Store, rev string, w app.Waiting) error {
	spec, err := specAt(ctx, a, st, rev)
	if err != nil {
		return err
	}
	if !w.Person {
		if err := a.AdmitSpec(ctx, s.Core, spec); err != nil {
			return err
		}
	}
	r, err := meant(s.Core, spec.Source, st.Spec, rev)
	if err != nil {
		return err
	}
	r.Store.Name = st.Name
	short := kb.ShortCommit(r.Store.Spec.Ref.Name)
	idx, ok, err := open(ctx, s.Core, &r)
	if err == nil && !ok {
		if err = wait(ctx, s.Core, &r, w); err == nil {
			idx, ok, err = open(ctx, s.Core, &r)
		}
	}
	if err != nil {
		return err
	}
	if !ok {
		return kb.Errorf(kb.Busy, "what was made of %s went before it could be read", short).WithHint("ask again: it is made anew")
	}
	p, err := a.Where()
	s.Targets = append(s.Targets, search.Target{Store: r.Store, Label: r.Store.Label() + "@" + short, Rev: short, Index: idx,
		Own: err == nil && !p.None && r.Store.Spec.Source == p.Root})
	s.Notes = append(s.Notes, fmt.Sprintf("searched as of %s of %s: what came later is not in it", short, time.Unix(r.When, 0).UTC().Format(time.DateOnly)))
	if n := len(r.Lacks); n > 0 {
		note := strings.Join(r.Lacks[:min(n, mostLacks)], "; ")
		if n > mostLacks {
			note += fmt.Sprintf("; and %d more", n-mostLacks)
		}
		s.Notes = append(s.Notes, note)
	}
	return nil
}

// meant returns the record, without a head, of what a spec is at a revision of the
// repository at root.
func meant(c *app.Core, root string, spec kb.Spec, rev string) (r record, err error) {
	repo, err := source.OpenRepository(root)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	common := repo.Common()
	known := app.State(c, func() *resolved { return &resolved{} })
	x, err := known.of(repo, common, rev, time.Now())
	if err != nil {
		return r, err
	}
	spec.Ref = kb.Ref{Type: kb.RefCommit, Name: x.commit.String()}
	return record{Store: kb.Store{ID: spec.ID(), Spec: spec}, Common: common, When: x.when.Unix()}, nil
}

// open opens what is kept of a record; ok is false where there is nothing, or
// nothing of use. The record has a head then.
func open(ctx context.Context, c *app.Core, r *record) (idx kb.Index, ok bool, err error) {
	was, ok := load(recordPath(c, r.Store.ID))
	if !ok {
		return nil, false, nil
	}
	idx, err = c.Library.Apart(ctx, was.Store)
	switch code := kb.CodeOf(err); {
	case err == nil:
	case code == kb.NotFound, code == kb.Corrupt:
		return nil, false, drop(ctx, c, r.Store.ID)
	default:
		return nil, false, err
	}
	info, err := idx.Info(ctx)
	if err != nil || !c.Indexer.Fits(was.Store.Head, info.Chunker) || len(info.Bare) > 0 {
		idx.Release()
		return nil, false, errors.Join(err, drop(ctx, c, r.Store.ID))
	}
	was.touch(c)
	o := app.State(c, func() *opened { return &opened{ids: map[kb.StoreID]bool{}} })
	o.mu.Lock()
	o.ids[r.Store.ID] = true
	o.mu.Unlock()
	r.Store.Head, r.Lacks = was.Store.Head, was.Lacks
	return idx, true, nil
}

// opened are the generations that this process may have open.
type opened struct {
	mu  sync.Mutex
	ids map[kb.StoreID]bool
}

// shut closes the generations that are kept no more.
func shut(c *app.Core) {
	o := app.State(c, func() *opened { return &opened{ids: map[kb.StoreID]bool{}} })
	o.mu.Lock()
	defer o.mu.Unlock()
	list := ids(c)
	for id := range o.ids {
		if !slices.Contains(list, id) {
			delete(o.ids, id)
			c.Library.Forget(id)
		}
	}
}

// wait has a job make what a record stands for, and sees it to its end as far as
// w waits.
func wait(ctx context.Context, c *app.Core, r *record, w app.Waiting) error {
	request := job.Request{Type: jobType, Store: r.Store.ID, Class: job.Local, Args: r}
	if key := c.Settings.Embedder.KeyEnv; key != "" {
		request.Needs = []string{key}
	}
	j, err := c.Jobs.Submit(ctx, request)
	if err != nil {
		return err
	}
	wctx, cancel := context.WithTimeout(ctx, max(w.Wait, leastWait))
	defer cancel()
	j, err = c.Jobs.Wait(wctx, j.ID, func(j kb.Job) { kb.Report(ctx, j.Progress) })
	short := kb.ShortCommit(r.Store.Spec.Ref.Name)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case wctx.Err() != nil:
		return kb.Errorf(kb.Busy, "the files of %s are still being read, %d of %d by now", short, j.Progress.Done, j.Progress.Total).
			WithHint("ask again in a while, or wait for it with: job:status {\"jobId\":%q,\"wait\":true}", j.ID)
	case err != nil:
		return err
	case j.State == kb.JobFailed:
		return kb.Errorf(j.Code, "%s", j.Message).WithHint("%s", j.Hint)
	case j.State != kb.JobCompleted:
		return kb.Errorf(kb.Canceled, "the job %s that read the files of %s was cancelled", j.ID, short).WithHint("ask again to begin anew")
	}
	return nil
}

// kept implements app.Revisions.
func kept(ctx context.Context, a *app.App, c *app.Core) (*app.Shelves, error) {
	s := &app.Shelves{Core: c, Asks: a}
	p, err := a.Where()
	for _, was := range records(c) {
		r := was
		idx, ok, e := open(ctx, c, &r)
		if e != nil || !ok {
			continue // it would have to be made anew
		}
		short := kb.ShortCommit(r.Store.Spec.Ref.Name)
		s.Targets = append(s.Targets, search.Target{Store: r.Store, Label: r.Store.Label() + "@" + short, Rev: short, Index: idx,
			Own: err == nil && !p.None && r.Store.Spec.Source == p.Root})
	}
	return s, nil
}
