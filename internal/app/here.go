package app

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// here opens the folder of the work tree that asks, which is brought up to
// date first. Its error is kb.NotFound outside of any project, unless a person
// asks, who means the folder that they are in.
func (a *App) here(ctx context.Context, w Waiting) (*shelves, error) {
	c, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	p, err := a.where()
	if err != nil {
		return nil, err
	}
	if p.None && !w.Person {
		return nil, kb.Errorf(kb.NotFound, "no store is named, and there is no project here").WithHint("name a store; list them with: stores")
	}
	entries, err := c.catalog.List(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	st, note, err := a.ownFolder(ctx, c, p, w.request(), entries)
	if err != nil {
		return nil, err
	}
	late, err := a.freshen(ctx, c, []kb.Store{st}, asking{Waiting: w})
	if err != nil {
		return nil, err
	}
	s, err := a.opened(ctx, c, []kb.Store{st})
	if err != nil {
		return nil, err
	}
	if len(s.targets) == 0 {
		return nil, nothingYet(s.notes)
	}
	if s.notes = append(s.notes, late...); note != "" {
		s.notes = append(s.notes, note)
	}
	return s, nil
}

// scopeFromHere opens the stores in scope, the folder of the work tree that asks first.
func (a *App) scopeFromHere(ctx context.Context, w Waiting) (*shelves, error) {
	s, err := a.shelvesOf(ctx, nil, w)
	if err != nil {
		return nil, err
	}
	own := func(t *search.Target) int {
		if a.isHere(t.Store) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(s.targets, func(x, y search.Target) int { return own(&x) - own(&y) })
	return s, nil
}

// asked tells what a path that somebody wrote may mean in a store: a person
// writes it as seen from the working directory, an agent as search shows it,
// and each may do the other.
func (a *App) asked(written string, person bool) search.Asked {
	written = strings.TrimSpace(written)
	as := search.Asked{Path: written}
	if strings.Contains(written, "://") {
		return as
	}
	as.Path = plainPath(written)
	p, err := a.where()
	if err != nil {
		return as
	}
	dir := a.cfg.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	seen := filepath.Join(dir, written)
	if filepath.IsAbs(written) {
		seen = filepath.Clean(written)
		if real, err := filepath.EvalSymlinks(seen); err == nil {
			seen = real
		}
	}
	as.Spellings = []string{as.Path}
	rel, err := filepath.Rel(p.Root, seen)
	if err != nil || !filepath.IsLocal(rel) || filepath.ToSlash(rel) == as.Path {
		return as
	}
	if rel = filepath.ToSlash(rel); person || filepath.IsAbs(written) {
		as.Spellings = []string{rel, as.Path}
	} else {
		as.Spellings = append(as.Spellings, rel)
	}
	return as
}

// plainPath is a path in a store as somebody wrote it: slashes, no "./" before it.
func plainPath(written string) string {
	if written = strings.TrimSpace(written); strings.Contains(written, "://") {
		return written
	}
	return strings.TrimPrefix(path.Clean(filepath.ToSlash(written)), "/")
}

// Show returns everything about a place: what an id from Search names, or
// what stands at a line of a document, "server.go:120".
func (a *App) Show(ctx context.Context, place string, w Waiting) (Context, error) {
	file, line, ok := search.ParsePlace(place)
	if !ok {
		found, err := a.Context(ctx, place)
		if kb.CodeOf(err) == kb.Invalid {
			err = a.noPlace(ctx, place, w, err)
		}
		return found, err
	}
	s, err := a.scopeFromHere(ctx, w)
	if err != nil {
		return Context{}, err
	}
	defer s.release()
	s.openViews()
	var found Context
	err = s.serve(ctx, func(targets []search.Target) (err error) {
		found, err = search.ShowAt(ctx, targets, a.asked(file, w.Person), line)
		return err
	})
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		if found, ok, e := a.showIn(ctx, place, w); ok {
			return found, e
		}
	}
	if err != nil {
		return Context{}, err
	}
	entries, err := a.scope(ctx, s.core, false)
	if err != nil {
		return Context{}, err
	}
	a.enrich(ctx, s, entries, &found)
	if len(s.notes) > 0 {
		found.Note = strings.TrimPrefix(found.Note+"; "+strings.Join(s.notes, "; "), "; ")
	}
	return found, nil
}

// showIn is Show for a place that begins with the name of a store and a colon,
// "react:src/main.js:10"; ok is false when it does not.
func (a *App) showIn(ctx context.Context, place string, w Waiting) (found Context, ok bool, err error) {
	store, rest, _ := strings.Cut(place, ":")
	file, line, ok := search.ParsePlace(rest)
	if !ok {
		return found, false, nil
	}
	if _, _, err := a.lookup(ctx, store); err != nil {
		return found, false, nil
	}
	s, err := a.shelvesOf(ctx, []string{store}, w)
	if err != nil {
		return found, true, err
	}
	defer s.release()
	s.openViews()
	err = s.serve(ctx, func(targets []search.Target) (err error) {
		found, err = search.ShowAt(ctx, targets, search.Asked{Path: plainPath(file)}, line)
		return err
	})
	if err == nil {
		a.enrich(ctx, s, nil, &found)
	}
	return found, true, err
}

// noPlace says what shows a path or a name, neither of which is a place.
func (a *App) noPlace(ctx context.Context, asked string, w Waiting, err error) error {
	s, e := a.scopeFromHere(ctx, w)
	if e != nil {
		return err
	}
	defer s.release()
	if at, e := search.Locate(ctx, s.targets, a.asked(asked, w.Person)); e == nil {
		return kb.Errorf(kb.Invalid, "%q is a document, and no line of it is named", asked).WithHint("read it with: read %s", command{"path": at[0].Path})
	}
	if file, line, ok := strings.Cut(asked, ":"); ok && line != "" {
		if at, e := search.Locate(ctx, s.targets, a.asked(file, w.Person)); e == nil {
			return kb.Errorf(kb.Invalid, "%q is no line of %q: a line is a number", line, file).WithHint("read the document with: read %s", command{"path": at[0].Path})
		}
	}
	if nameRE.MatchString(asked) {
		return kb.Errorf(kb.Invalid, "%w", err).WithHint("of a name, this tells where it is declared: code:definition %s", command{"symbol": asked})
	}
	return err
}

// nameRE is how names are written that code:definition takes.
var nameRE = lazyregexp.New(`^[\pL_][\pL\pN_.:#]*$`)
