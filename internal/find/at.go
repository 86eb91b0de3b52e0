package find

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// searchedAt answers a query from what stores were at a revision.
func searchedAt(ctx context.Context, a *app.App, c *app.Core, req search.Request, scope app.Scope) (SearchReply, error) {
	s, err := a.At(ctx, c, scope)
	if err != nil {
		return SearchReply{}, err
	}
	defer s.Release()
	if req.Refers() {
		s.OpenViews()
	}
	var reply SearchReply
	err = s.ServeAt(ctx, func(targets []search.Target) (err error) {
		if req.Under != "" {
			if req.Under, err = search.Below(ctx, targets, a.Asked(req.Under, scope.Person)); err != nil {
				return err
			}
		}
		req.Notes = s.Notes
		reply, err = search.Run(ctx, targets, c.Embedder, req)
		return err
	})
	reply.Notes = slices.Concat(s.Notes, reply.Notes)
	return reply, err
}

// showAt is Show of what was at a place at a revision, or of what an id or a name
// meant there.
func showAt(ctx context.Context, a *app.App, place, rev string, w app.Waiting) (Context, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return Context{}, err
	}
	found, err := shownAt(ctx, a, c, place, app.Scope{At: rev, Waiting: w})
	if store, rest, ok := strings.Cut(place, ":"); ok && err != nil && kb.CodeOf(err) == kb.NotFound {
		if _, _, isPlace := search.ParsePlace(rest); isPlace && a.HasStore(ctx, store) {
			return shownAt(ctx, a, c, rest, app.Scope{At: rev, Stores: []string{store}, Waiting: w})
		}
	}
	return found, err
}

func shownAt(ctx context.Context, a *app.App, c *app.Core, place string, scope app.Scope) (found Context, err error) {
	s, err := a.At(ctx, c, scope)
	if err != nil {
		return found, err
	}
	defer s.Release()
	s.OpenViews()
	err = s.ServeAt(ctx, func(targets []search.Target) error {
		file, line, to, ok := search.ParseRange(place)
		if !ok {
			declared, err := search.DeclaredAs(ctx, targets, place)
			if err != nil {
				return err
			}
			if len(declared) != 1 {
				found, err = search.Show(ctx, targets, place)
				return err
			}
			file, line, to, _ = search.ParseRange(declared[0])
			file = strings.TrimPrefix(file, targets[0].Store.Label()+":")
		}
		found, err = search.ShowAt(ctx, targets, a.Asked(file, scope.Person), line, to)
		return err
	})
	return found, err
}

// byIDAt is ByID of a place at a revision that was searched before.
func byIDAt(ctx context.Context, a *app.App, c *app.Core, id string) (found Context, ok bool, err error) {
	s, err := a.Kept(ctx, c)
	if err != nil || s == nil || len(s.Targets) == 0 {
		return found, false, err
	}
	defer s.Release()
	s.OpenViews()
	err = s.ServeAt(ctx, func(targets []search.Target) (err error) {
		found, err = search.Show(ctx, targets, id)
		return err
	})
	if code := kb.CodeOf(err); err != nil && (code == kb.NotFound || code == kb.Invalid) {
		return found, false, nil // what is said of it otherwise is better
	}
	return found, err == nil, err
}

// readAt is Read of what a document was at a revision.
func readAt(ctx context.Context, a *app.App, path, lines string, scope app.Scope) (r FileText, err error) {
	c, err := a.Open(ctx)
	if err != nil {
		return r, err
	}
	s, err := a.At(ctx, c, scope)
	if err != nil {
		return r, err
	}
	defer s.Release()
	s.Notes = nil // the commit is told beside the path
	err = s.ServeAt(ctx, func([]search.Target) (err error) {
		r, err = read(ctx, s, path, lines, func(path string) search.Asked { return a.Asked(path, scope.Person) })
		return err
	})
	return r, err
}
