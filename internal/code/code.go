package code

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// CodeRequest asks about a symbol in stores; see search.CodeRequest.
type CodeRequest struct {
	search.CodeRequest
	Stores []string
	app.Waiting
}

// SymbolsRequest asks which declarations stores have; see search.SymbolsRequest.
type SymbolsRequest struct {
	search.SymbolsRequest
	Stores []string
	app.Waiting
}

// Replies about code.
type (
	CodeReply    = search.CodeReply
	OutlineReply = search.OutlineReply
	// Neighbourhood is the reply of code:files.
	Neighbourhood = search.Neighbourhood
	// Arrow is one edge of it.
	Arrow = search.Arrow
)

const (
	defaultUses    = 50
	defaultSymbols = 50
	defaultAround  = 50
)

// Ask answers questions about a symbol: where it is defined, used, called,
// and what it calls.
func Ask(ctx context.Context, a *app.App, r CodeRequest) (CodeReply, error) {
	var err error
	if r.Limit, err = app.CheckLimit(r.Limit, defaultUses); err != nil {
		return CodeReply{}, err
	}
	if r.Depth == 0 {
		r.Depth = 1
	}
	r.Named = r.Stores
	s, err := a.ShelvesOf(ctx, r.Stores, r.Waiting)
	if err != nil {
		return CodeReply{}, err
	}
	defer s.Release()
	s.Wait = max(r.Wait, time.Nanosecond)
	if file, _, ok := search.ParsePlace(r.Symbol); ok {
		r.Spellings = a.Asked(file, r.Person).Spellings
	}
	if err := link(ctx, s); err != nil {
		return CodeReply{}, err
	}
	var reply CodeReply
	err = s.Serve(ctx, func(targets []search.Target) (err error) {
		reply, err = search.Code(ctx, targets, r.CodeRequest)
		return err
	})
	reply.Notes = append(append(s.Notes, reply.Notes...), acrossNotes(s)...)
	return reply, err
}

// Symbols lists the declarations of stores.
func Symbols(ctx context.Context, a *app.App, r SymbolsRequest) (CodeReply, error) {
	var err error
	if r.Limit, err = app.CheckLimit(r.Limit, defaultSymbols); err != nil {
		return CodeReply{}, err
	}
	s, err := a.ShelvesOf(ctx, r.Stores, r.Waiting)
	if err != nil {
		return CodeReply{}, err
	}
	defer s.Release()
	var reply CodeReply
	err = s.Serve(ctx, func(targets []search.Target) (err error) {
		reply, err = search.Symbols(ctx, targets, r.SymbolsRequest)
		return err
	})
	reply.Notes = append(s.Notes, reply.Notes...)
	return reply, err
}

// Outline returns what one document declares. Without a store the document is
// looked for in all that are in scope.
func Outline(ctx context.Context, a *app.App, path, store string, w app.Waiting) (OutlineReply, error) {
	var reply OutlineReply
	_, err := onDocument(ctx, a, path, store, w, false, func(t *search.Target, path string) (err error) {
		reply, err = search.Outline(ctx, t, path)
		return err
	})
	return reply, err
}

// Around returns the documents that use one, and those that it uses.
func Around(ctx context.Context, a *app.App, path, store string, depth, limit int, w app.Waiting) (Neighbourhood, error) {
	var reply Neighbourhood
	notes, err := onDocument(ctx, a, path, store, w, true, func(t *search.Target, path string) (err error) {
		reply, err = search.Around(ctx, t, path, depth, cmp.Or(limit, defaultAround))
		return err
	})
	reply.Notes = append(notes, reply.Notes...)
	return reply, err
}

// onDocument calls f with the target and the path of a document, which is
// looked for in a store, or in all that are in scope; resolved first has
// references resolved. It returns what there is to note.
func onDocument(ctx context.Context, a *app.App, path, store string, w app.Waiting, resolved bool, f func(*search.Target, string) error) ([]string, error) {
	open := func() (*app.Shelves, error) { return a.ScopeFromHere(ctx, w) }
	if store != "" {
		open = func() (*app.Shelves, error) { return a.ShelvesOf(ctx, []string{store}, w) }
	}
	s, err := open()
	if err != nil {
		return nil, err
	}
	defer s.Release()
	if resolved {
		s.Wait = max(w.Wait, time.Nanosecond)
		if err := link(ctx, s); err != nil {
			return nil, err
		}
	}
	err = s.Serve(ctx, func(targets []search.Target) error {
		asked := a.Asked(path, w.Person)
		if store != "" {
			asked = search.Asked{Path: app.PlainPath(path)}
		}
		at, err := search.Locate(ctx, targets, asked)
		if err != nil {
			return err
		}
		return f(&targets[at[0].Target], at[0].Path)
	})
	return s.Notes, err
}

// Resolved opens the stores in scope, the own folder first, with their references
// resolved as far as w waits for that. Whoever asks releases them.
func Resolved(ctx context.Context, a *app.App, w app.Waiting) (*app.Shelves, error) {
	s, err := a.ScopeFromHere(ctx, w)
	if err != nil {
		return nil, err
	}
	s.Wait = max(w.Wait, time.Nanosecond)
	if err := link(ctx, s); err != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// Resolve opens the resolved references of each target and, where some are
// missing or behind, has a job resolve them and waits for that, s.Wait at most.
func Resolve(ctx context.Context, s *app.Shelves) error { return link(ctx, s) }

// openLinked opens what is resolved of each target.
func openLinked(s *app.Shelves) {
	for i := range s.Targets {
		t := &s.Targets[i]
		if t.View != nil {
			continue
		}
		if s.Lost[t.Store.ID] && whole(ViewOf(s.Core, t.Store.ID)) != nil {
			continue // not even deleted: nothing can be written here
		}
		borrowFor(s, t)
		view, done, damaged := viewsOf(s.Core).get(s.Core, t.Store.ID)
		s.Done = append(s.Done, done)
		if damaged && !s.Lost[t.Store.ID] {
			lose(context.Background(), s, t)
		}
		if view == nil {
			continue
		}
		idx := t.Index
		t.View = view.At(nowOf(idx))
	}
	openAcross(s)
}

// nowOf tells of the documents of an index as they are.
func nowOf(idx kb.Index) graph.Now {
	return graph.Now{
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
	}
}

// link opens the views and, where one is missing or behind its index, has a
// job make it and waits for that a while. Where none can be made, what is there serves.
func link(ctx context.Context, s *app.Shelves) error {
	openLinked(s)
	wait, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	for i := range s.Targets {
		t := &s.Targets[i]
		if t.Store.Head == nil || t.Store.Head.Partial {
			continue
		}
		if t.View != nil && viewsOf(s.Core).current(ctx, t) {
			continue
		}
		if err := linked(ctx, wait, s, t); err != nil {
			return err
		}
		t.View = nil
	}
	openLinked(s)
	return nil
}

// linked has a job link a target's store, and waits for it until wait is done.
func linked(ctx, wait context.Context, s *app.Shelves, t *search.Target) error {
	j, err := SubmitLink(ctx, s.Core, t.Store.ID)
	if err == nil { // it may have ended already
		j, err = s.Core.Jobs.Wait(wait, j.ID, func(j kb.Job) { kb.Report(ctx, j.Progress) })
	}
	if app.CannotWrite(err) || err != nil && kb.CodeOf(err) == kb.Busy {
		s.Notes = append(s.Notes, fmt.Sprintf("the references of %s cannot be resolved: %v", t.Store.Label(), err))
		return nil
	}
	if err != nil && (ctx.Err() != nil || wait.Err() == nil) {
		return err
	}
	if err == nil && j.State == kb.JobFailed {
		s.Notes = append(s.Notes, fmt.Sprintf("the references of %s cannot be resolved: %s; %s", t.Store.Label(), j.Message, j.Hint))
	}
	return nil
}

// without goes on without the view of a target that turned out damaged,
// or, where references are asked for, with one that is made anew.
func without(ctx context.Context, s *app.Shelves, t *search.Target) error {
	lose(ctx, s, t)
	if s.Wait > 0 {
		return link(ctx, s)
	}
	return nil
}

// lose gives up a target's view, and has another made.
func lose(ctx context.Context, s *app.Shelves, t *search.Target) {
	t.View = nil
	if s.Lost == nil {
		s.Lost = map[kb.StoreID]bool{}
	}
	s.Lost[t.Store.ID] = true
	note := fmt.Sprintf("the resolved references of %s were damaged and are made anew", t.Store.Label())
	if s.Wait == 0 { // else link does
		if _, err := SubmitLink(ctx, s.Core, t.Store.ID); err != nil { // what is whole is still served
			note = fmt.Sprintf("the resolved references of %s are damaged and left out: %v", t.Store.Label(), err)
		}
	}
	s.Notes = append(s.Notes, note)
}

func viewsOf(c *app.Core) *views { return app.State(c, func() *views { return &views{} }) }

func hooks() app.Room {
	return app.Room{
		Jobs: func(c *app.Core) map[string]job.Handler {
			return map[string]job.Handler{"link": func(ctx context.Context, j kb.Job, raw json.RawMessage) (string, map[string]any, error) {
				return runLink(ctx, c, j, raw)
			}, "join": func(ctx context.Context, j kb.Job, raw json.RawMessage) (string, map[string]any, error) {
				return runJoin(ctx, c, j, raw)
			}}
		},
		Indexed: func(ctx context.Context, c *app.Core, j kb.Job, st kb.Store, changed int, details map[string]any) {
			if linked, err := links(ctx, c, j, st, changed); err != nil && ctx.Err() == nil {
				details["links"] = err.Error()
			} else if linked.Edges > 0 {
				details["links"] = linked.Edges
			}
		},
		Apart: func(ctx context.Context, c *app.Core, st kb.Store, idx kb.Index) error {
			if !LinksAtOnce(c, st) {
				return nil // it would hold the question up
			}
			_, err := linkIndex(ctx, c, st.ID, idx)
			return err
		},
		Shared: lend, Adopted: adopted,
		Leaving: func(ctx context.Context, c *app.Core, id kb.StoreID) error { return unlink(ctx, c, id) },
		Sweep:   sweepViews,
		Leftovers: func(ctx context.Context, c *app.Core) (string, []string, error) {
			paths, err := unneededViews(ctx, c)
			return "the view of no store", paths, err
		},
		Views: func(s *app.Shelves) { openLinked(s) },
		Unresolved: func(ctx context.Context, s *app.Shelves, t *search.Target) (bool, error) {
			if t.View == nil || !viewsOf(s.Core).lose(s.Core, t.Store.ID) {
				return false, nil
			}
			return true, without(ctx, s, t)
		},
	}
}
