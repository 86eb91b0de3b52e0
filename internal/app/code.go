package app

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// CodeRequest asks about a symbol in stores; see search.CodeRequest.
type CodeRequest struct {
	search.CodeRequest
	Stores []string
	Waiting
}

// Waiting says who asks, and how long they wait for what is being made.
type Waiting struct {
	// Wait is how long a first use may wait for a folder's index: an agent gets
	// what is ready after 3 s, a person sees the job to its end.
	Wait time.Duration
	// Early is after how long they are answered from what is ready when much is
	// left to do; 0 waits as long as Wait says.
	Early time.Duration
	// Person lets a folder that is no project be indexed at its first search:
	// somebody who types a command in it means it.
	Person bool
}

// request is a search that waits so.
func (w Waiting) request() *SearchRequest {
	return &SearchRequest{Wait: w.Wait, Early: w.Early, Person: w.Person}
}

// SymbolsRequest asks which declarations stores have; see search.SymbolsRequest.
type SymbolsRequest struct {
	search.SymbolsRequest
	Stores []string
	Waiting
}

// Replies about code.
type (
	CodeReply    = search.CodeReply
	OutlineReply = search.OutlineReply
)

const (
	defaultUses    = 50
	defaultSymbols = 50
)

// Code answers questions about a symbol: where it is defined, used, called,
// and what it calls.
func (a *App) Code(ctx context.Context, r CodeRequest) (CodeReply, error) {
	var err error
	if r.Limit, err = checkLimit(r.Limit, defaultUses); err != nil {
		return CodeReply{}, err
	}
	if r.Depth == 0 {
		r.Depth = 1
	}
	r.Named = r.Stores
	s, err := a.shelvesOf(ctx, r.Stores, r.Waiting)
	if err != nil {
		return CodeReply{}, err
	}
	defer s.release()
	s.wait = max(r.Wait, time.Nanosecond)
	if file, _, ok := search.ParsePlace(r.Symbol); ok {
		r.Spellings = a.asked(file, r.Person).Spellings
	}
	if err := s.link(ctx); err != nil {
		return CodeReply{}, err
	}
	var reply CodeReply
	err = s.serve(ctx, func(targets []search.Target) (err error) {
		reply, err = search.Code(ctx, targets, r.CodeRequest)
		return err
	})
	reply.Notes = append(s.notes, reply.Notes...)
	return reply, err
}

// Symbols lists the declarations of stores.
func (a *App) Symbols(ctx context.Context, r SymbolsRequest) (CodeReply, error) {
	var err error
	if r.Limit, err = checkLimit(r.Limit, defaultSymbols); err != nil {
		return CodeReply{}, err
	}
	s, err := a.shelvesOf(ctx, r.Stores, r.Waiting)
	if err != nil {
		return CodeReply{}, err
	}
	defer s.release()
	var reply CodeReply
	err = s.serve(ctx, func(targets []search.Target) (err error) {
		reply, err = search.Symbols(ctx, targets, r.SymbolsRequest)
		return err
	})
	reply.Notes = append(s.notes, reply.Notes...)
	return reply, err
}

// Outline returns what one document declares. Without a store the document is
// looked for in all that are in scope.
func (a *App) Outline(ctx context.Context, path, store string, w Waiting) (OutlineReply, error) {
	var stores []string
	if store != "" {
		stores = []string{store}
	}
	open := func() (*shelves, error) { return a.scopeFromHere(ctx, w) }
	if store != "" {
		open = func() (*shelves, error) { return a.shelvesOf(ctx, stores, w) }
	}
	s, err := open()
	if err != nil {
		return OutlineReply{}, err
	}
	defer s.release()
	var reply OutlineReply
	err = s.serve(ctx, func(targets []search.Target) (err error) {
		asked := a.asked(path, w.Person)
		if store != "" {
			asked = search.Asked{Path: plainPath(path)}
		}
		at, err := search.Locate(ctx, targets, asked)
		if err != nil {
			return err
		}
		reply, err = search.Outline(ctx, &targets[at[0].Target], at[0].Path)
		return err
	})
	return reply, err
}

// shelvesOf opens the named stores, or those in scope when none is named.
func (a *App) shelvesOf(ctx context.Context, names []string, w Waiting) (*shelves, error) {
	c, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	stores, notes, err := a.asScope(ctx, c, names, w.request())
	if err != nil {
		return nil, err
	}
	s, err := a.opened(ctx, c, stores)
	if err != nil {
		return nil, err
	}
	missing := s.notes
	s.notes = append(notes, s.notes...)
	if len(s.targets) == 0 {
		if len(missing) > 0 {
			return nil, nothingYet(missing)
		}
		if len(s.notes) > 0 {
			return nil, nothingYet(s.notes)
		}
		return nil, kb.Errorf(kb.NotFound, "nothing is indexed in scope").WithHint("list the stores with: stores; the own folder is indexed by its first search")
	}
	a.noteBarren(s, len(names) > 0)
	return s, nil
}

// openViews opens what is resolved of each target.
func (s *shelves) openViews() {
	for i := range s.targets {
		t := &s.targets[i]
		if t.View != nil {
			continue
		}
		if s.lost[t.Store.ID] && whole(s.core.viewOf(t.Store.ID)) != nil {
			continue // not even deleted: nothing can be written here
		}
		view, done, damaged := s.core.views.get(s.core, t.Store.ID)
		s.done = append(s.done, done)
		if damaged && !s.lost[t.Store.ID] {
			s.lose(context.Background(), t)
		}
		if view == nil {
			continue
		}
		idx := t.Index
		t.View = view.At(graph.Now{
			Hash: func(path string) (h kb.DocHash, ok bool) {
				list, err := idx.Identities(context.Background(), []string{path})
				if err != nil || len(list) == 0 {
					return h, false
				}
				return list[0].Hash, true
			},
			Symbols: func(path string) []kb.Symbol {
				list, err := idx.Outlines(context.Background(), []string{path})
				if err != nil || len(list) == 0 {
					return nil
				}
				return list[0].Symbols
			},
		})
	}
}

// link opens the views and, where one is missing or behind its index, has a
// job make it and waits for that a while. Where none can be made, what is there serves.
func (s *shelves) link(ctx context.Context) error {
	s.openViews()
	wait, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	for i := range s.targets {
		t := &s.targets[i]
		if t.Store.Head == nil || t.Store.Head.Partial {
			continue
		}
		if t.View != nil && s.core.views.current(ctx, t) {
			continue
		}
		if err := s.linked(ctx, wait, t); err != nil {
			return err
		}
		t.View = nil
	}
	s.openViews()
	return nil
}

// linked has a job link a target's store, and waits for it until wait is done.
func (s *shelves) linked(ctx, wait context.Context, t *search.Target) error {
	err := s.core.submitLink(ctx, t.Store.ID)
	var j kb.Job
	if err == nil {
		var running bool
		j, running, err = s.core.jobs.Active(ctx, t.Store.ID+linkStore)
		if err == nil && running {
			j, err = s.core.jobs.Wait(wait, j.ID, func(j kb.Job) { kb.Report(ctx, j.Progress) })
		}
	}
	if cannotWrite(err) || err != nil && kb.CodeOf(err) == kb.Busy {
		s.notes = append(s.notes, fmt.Sprintf("the references of %s cannot be resolved: %v", t.Store.Label(), err))
		return nil
	}
	if err != nil && (ctx.Err() != nil || wait.Err() == nil) {
		return err
	}
	if err == nil && j.State == kb.JobFailed {
		s.notes = append(s.notes, fmt.Sprintf("the references of %s cannot be resolved: %s; %s", t.Store.Label(), j.Message, j.Hint))
	}
	return nil
}

// unresolved goes on without the view of a target that turned out damaged,
// or, where references are what is asked for, with one that is made anew.
func (s *shelves) unresolved(ctx context.Context, t *search.Target) error {
	s.lose(ctx, t)
	if s.wait > 0 {
		return s.link(ctx)
	}
	return nil
}

// lose gives up a target's view, and has another made.
func (s *shelves) lose(ctx context.Context, t *search.Target) {
	t.View = nil
	if s.lost == nil {
		s.lost = map[kb.StoreID]bool{}
	}
	s.lost[t.Store.ID] = true
	note := fmt.Sprintf("the resolved references of %s were damaged and are made anew", t.Store.Label())
	if s.wait == 0 { // else link does
		if err := s.core.submitLink(ctx, t.Store.ID); err != nil { // what is whole is still served
			note = fmt.Sprintf("the resolved references of %s are damaged and left out: %v", t.Store.Label(), err)
		}
	}
	s.notes = append(s.notes, note)
}
