package find

import (
	"context"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Show returns everything about a place: what an id from Search names, or
// what is at a line of a document, "server.go:120".
func Show(ctx context.Context, a *app.App, place string, w app.Waiting) (Context, error) {
	file, line, ok := search.ParsePlace(place)
	if !ok {
		found, err := ByID(ctx, a, place)
		if kb.CodeOf(err) == kb.Invalid {
			err = noPlace(ctx, a, place, w, err)
		}
		return found, err
	}
	s, err := a.ScopeFromHere(ctx, w)
	if err != nil {
		return Context{}, err
	}
	defer s.Release()
	s.OpenViews()
	var found Context
	err = s.Serve(ctx, func(targets []search.Target) (err error) {
		found, err = search.ShowAt(ctx, targets, a.Asked(file, w.Person), line)
		return err
	})
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		if found, ok, e := showIn(ctx, a, place, w); ok {
			return found, e
		}
	}
	if err != nil {
		return Context{}, err
	}
	entries, err := a.Scope(ctx, s.Core, false)
	if err != nil {
		return Context{}, err
	}
	a.Enrich(ctx, s, entries, &found)
	if len(s.Notes) > 0 {
		found.Note = strings.TrimPrefix(found.Note+"; "+strings.Join(s.Notes, "; "), "; ")
	}
	return found, nil
}

// showIn is Show for a place that begins with the name of a store and a colon,
// "react:src/main.js:10"; ok is false when it does not.
func showIn(ctx context.Context, a *app.App, place string, w app.Waiting) (found Context, ok bool, err error) {
	store, rest, _ := strings.Cut(place, ":")
	file, line, ok := search.ParsePlace(rest)
	if !ok {
		return found, false, nil
	}
	if _, _, err := a.Lookup(ctx, store); err != nil {
		return found, false, nil
	}
	s, err := a.ShelvesOf(ctx, []string{store}, w)
	if err != nil {
		return found, true, err
	}
	defer s.Release()
	s.OpenViews()
	err = s.Serve(ctx, func(targets []search.Target) (err error) {
		found, err = search.ShowAt(ctx, targets, search.Asked{Path: app.PlainPath(file)}, line)
		return err
	})
	if err == nil {
		a.Enrich(ctx, s, nil, &found)
	}
	return found, true, err
}

// noPlace says what shows a path or a name, neither of which is a place.
func noPlace(ctx context.Context, a *app.App, asked string, w app.Waiting, err error) error {
	s, e := a.ScopeFromHere(ctx, w)
	if e != nil {
		return err
	}
	defer s.Release()
	if at, e := search.Locate(ctx, s.Targets, a.Asked(asked, w.Person)); e == nil {
		return kb.Errorf(kb.Invalid, "%q is a document, and no line of it is named", asked).WithHint("read it with: read %s", app.Args{"path": at[0].Path})
	}
	if file, line, ok := strings.Cut(asked, ":"); ok && line != "" {
		if at, e := search.Locate(ctx, s.Targets, a.Asked(file, w.Person)); e == nil {
			return kb.Errorf(kb.Invalid, "%q is no line of %q: a line is a number", line, file).WithHint("read the document with: read %s", app.Args{"path": at[0].Path})
		}
	}
	if nameRE.MatchString(asked) {
		return kb.Errorf(kb.Invalid, "%w", err).WithHint("of a name, this tells where it is declared: code:definition %s", app.Args{"symbol": asked})
	}
	return err
}

// nameRE is how names are written that code:definition takes.
var nameRE = lazyregexp.New(`^[\pL_][\pL\pN_.:#]*$`)
