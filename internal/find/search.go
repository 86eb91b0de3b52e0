package find

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// traced is how many frames make a query a trace.
const traced = 3

// Search answers a query over the stores in scope.
func Search(ctx context.Context, a *app.App, req search.Request, scope app.Scope) (SearchReply, error) {
	return searched(ctx, a, req, scope, false)
}

// Ask is Search, and says of a query that nothing answers what was searched and
// what else may hold the answer.
func Ask(ctx context.Context, a *app.App, req search.Request, scope app.Scope) (SearchReply, error) {
	return searched(ctx, a, req, scope, true)
}

func searched(ctx context.Context, a *app.App, req search.Request, scope app.Scope, told bool) (SearchReply, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return SearchReply{}, err
	}
	// A query that cannot be answered starts no indexing.
	if err := req.Complete(); err != nil {
		return SearchReply{}, err
	}
	if scope.At != "" {
		return searchedAt(ctx, a, c, req, scope)
	}
	stores, notes, err := a.AsScope(ctx, c, scope)
	if err != nil {
		return SearchReply{}, err
	}
	if len(scope.Stores) == 0 || slices.Contains(scope.Stores, "*") {
		lost, err := c.Catalog.Damaged(ctx)
		if err != nil {
			return SearchReply{}, err
		}
		for _, name := range lost {
			notes = append(notes, fmt.Sprintf("store %s is left out: what the catalog says of it is damaged; create it again from the same source, or delete it", name))
		}
	}
	s, err := a.Opened(ctx, c, stores)
	if err != nil {
		return SearchReply{}, err
	}
	defer s.Release()
	if len(s.Targets)+len(s.Notes)+len(notes) == 0 {
		return SearchReply{}, a.NothingInScope(ctx, c)
	}
	a.NoteBarren(s, len(scope.Stores) > 0)
	if req.Under != "" && len(s.Targets) > 0 {
		err := s.Serve(ctx, func(targets []search.Target) (err error) {
			req.Under, err = search.Below(ctx, targets, a.Asked(req.Under, scope.Person))
			return err
		})
		if err != nil {
			return SearchReply{}, err
		}
	}
	if req.Refers() {
		s.OpenViews()
	}
	var marksNote string
	if req.Marks, marksNote, err = c.Marks(ctx, req.Query); err != nil {
		return SearchReply{}, err
	} else if marksNote != "" {
		s.Notes = append(s.Notes, marksNote)
	}
	if frames, _ := rank.Frames(req.Query); len(frames) >= traced {
		notes = append(notes, "this is a trace: trace:explain ranks what most likely caused it")
	}
	none := SearchReply{Hits: []Hit{}, Confidence: "none", Packed: req.Packed}
	reply := none
	err = s.Serve(ctx, func(targets []search.Target) (err error) {
		req.Notes = slices.Concat(notes, s.Notes)
		reply, err = search.Run(ctx, targets, c.Embedder, req)
		return err
	})
	if len(s.Targets) == 0 {
		reply = none
	}
	if told && err == nil && (reply.Absent || reply.Count > 0) {
		proof, err := proofOf(ctx, a, c, s, &req, &reply, len(notes)+len(s.Notes) > 0)
		if err != nil {
			return SearchReply{}, err
		}
		reply.Notes = append(reply.Notes, proof...)
		reply.Tokens += tokens.Estimate(strings.Join(proof, "\n"))
	}
	if gone := a.LossNote(); gone != "" {
		notes = append([]string{gone}, notes...)
	}
	reply.Notes = slices.Concat(notes, s.Notes, reply.Notes)
	return reply, err
}

// ByID returns everything about the place that an id from Search names,
// whichever store it is in: an id says that by itself.
func ByID(ctx context.Context, a *app.App, id string) (Context, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return Context{}, err
	}
	entries, err := a.Scope(ctx, c, false)
	if err != nil {
		return Context{}, err
	}
	all, err := c.Catalog.All(ctx)
	if err != nil {
		return Context{}, err
	}
	var stores []kb.Store
	for _, e := range append(entries, all...) { // those in scope first
		if e.Head != nil {
			stores = append(stores, e.Store)
		}
	}
	s, err := a.Opened(ctx, c, app.Unique(stores))
	if err != nil {
		return Context{}, err
	}
	defer s.Release()
	s.OpenViews()
	var found Context
	asked := false
	err = s.Serve(ctx, func(targets []search.Target) (err error) {
		asked = true
		found, err = search.Show(ctx, targets, id)
		return err
	})
	if len(s.Targets) == 0 || kb.CodeOf(err) == kb.NotFound && err != nil {
		if s.Damaged != "" { // the place may be there
			return Context{}, kb.Errorf(kb.Corrupt, "%s", s.Damaged).WithHint("try again when it is rebuilt; see: jobs")
		}
		if !asked {
			_, err = search.Show(ctx, nil, id)
		}
		if past, ok, e := byIDAt(ctx, a, c, id); ok || e != nil {
			return past, e
		}
	}
	if err == nil {
		a.Enrich(ctx, s, entries, &found)
	}
	return found, err
}
