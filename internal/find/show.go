package find

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// ShowAll is Show for one place or several, separated by commas: a Context, or
// search.Several. What of several is not found is said among the others.
func ShowAll(ctx context.Context, a *app.App, places string, w app.Waiting) (any, error) {
	all := strings.FieldsFunc(places, func(r rune) bool { return r == ',' })
	var parts []string
	for _, p := range all {
		if p = strings.TrimSpace(p); p != "" && !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	one, err := Show(ctx, a, places, w)
	if err == nil || len(parts) < 2 {
		return one, err
	}
	if len(parts) > maxPlaces {
		return nil, kb.Errorf(kb.TooLarge, "%d places are asked for at once, more than %d", len(parts), maxPlaces).
			WithHint("ask for some now and for the others in a further call")
	}
	var out search.Several
	for _, p := range parts {
		c, err := Show(ctx, a, p, w)
		switch code := kb.CodeOf(err); {
		case err == nil:
			out.Places = append(out.Places, c)
		case code == kb.NotFound || code == kb.Invalid:
			out.Notes = append(out.Notes, strings.TrimSuffix(err.Error(), ".")+"; "+kb.HintOf(err))
		default:
			return nil, err
		}
	}
	if len(out.Places) == 0 {
		return nil, err
	}
	out.Shorten()
	return out, nil
}

// maxPlaces is how many places one call shows.
const maxPlaces = 12

// Show returns everything about a place: what an id from Search names, what is
// at a line or at some lines of a document, "server.go:120-140", or the one
// declaration of a name; " @ abc1234" behind it means what was there at that revision.
func Show(ctx context.Context, a *app.App, place string, w app.Waiting) (Context, error) {
	if then, rev, ok := search.CutRevision(place); ok {
		return showAt(ctx, a, then, rev, w)
	}
	file, line, to, ok := search.ParseRange(place)
	if !ok {
		found, err := ByID(ctx, a, place)
		if kb.CodeOf(err) == kb.Invalid || kb.CodeOf(err) == kb.NotFound {
			if at, e := declaredAs(ctx, a, place, w); e == nil && at != "" {
				return Show(ctx, a, at, w)
			} else if e != nil {
				return found, e
			}
		}
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
		found, err = search.ShowAt(ctx, targets, a.Asked(file, w.Person), line, to)
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
	file, line, to, ok := search.ParseRange(rest)
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
		found, err = search.ShowAt(ctx, targets, search.Asked{Path: app.PlainPath(file)}, line, to)
		return err
	})
	if err == nil {
		a.Enrich(ctx, s, nil, &found)
	}
	return found, true, err
}

// declaredAs returns the place of the one declaration of a name; "" where none
// is known by it. Of several it names the places.
func declaredAs(ctx context.Context, a *app.App, name string, w app.Waiting) (string, error) {
	if !nameRE.MatchString(name) {
		return "", nil
	}
	s, err := a.ScopeFromHere(ctx, w)
	if err != nil {
		return "", err
	}
	defer s.Release()
	s.OpenViews()
	var at []string
	err = s.Serve(ctx, func(targets []search.Target) (err error) {
		at, err = search.DeclaredAs(ctx, targets, name)
		return err
	})
	if err != nil || len(at) == 0 {
		return "", err
	}
	if len(at) == 1 {
		return at[0], nil
	}
	return "", kb.Errorf(kb.Invalid, "%d declarations are called %q: %s", len(at), name, strings.Join(at[:min(len(at), maxPlaces)], ", ")).
		WithHint("show one, or several of them: get_full_context %s", app.Args{"resultId": strings.Join(at[:min(len(at), 3)], ",")})
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
