package app

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Here opens the folder of the work tree that asks, which is brought up to
// date first. Its error is kb.NotFound outside of any project, unless a person
// asks, who means the folder that they are in.
func (a *App) Here(ctx context.Context, w Waiting) (*Shelves, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	p, err := a.Where()
	if err != nil {
		return nil, err
	}
	if p.None && !w.Person {
		return nil, kb.Errorf(kb.NotFound, "no store is named, and there is no project here").WithHint("name a store; list them with: stores")
	}
	entries, err := c.Catalog.List(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	st, note, err := a.ownFolder(ctx, c, p, Scope{Waiting: w}, entries)
	if err != nil {
		return nil, err
	}
	late, err := a.Freshen(ctx, c, []kb.Store{st}, Asking{Waiting: w})
	if err != nil {
		return nil, err
	}
	s, err := a.Opened(ctx, c, []kb.Store{st})
	if err != nil {
		return nil, err
	}
	if len(s.Targets) == 0 {
		return nil, nothingYet(s.Notes)
	}
	if s.Notes = append(s.Notes, late...); note != "" {
		s.Notes = append(s.Notes, note)
	}
	return s, nil
}

// ScopeFromHere opens the stores in scope, the folder of the work tree that asks first.
func (a *App) ScopeFromHere(ctx context.Context, w Waiting) (*Shelves, error) {
	s, err := a.ShelvesOf(ctx, nil, w)
	if err != nil {
		return nil, err
	}
	own := func(t *search.Target) int {
		if a.isHere(t.Store) {
			return 0
		}
		return 1
	}
	kb.SortStableFunc(s.Targets, func(x, y search.Target) int { return own(&x) - own(&y) })
	return s, nil
}

// Asked returns what a path may mean in a store, as it was written: a person
// writes it as seen from the working directory, an agent as search shows it,
// and each may do the other.
func (a *App) Asked(written string, person bool) search.Asked {
	written = strings.TrimSpace(written)
	as := search.Asked{Path: written}
	if strings.Contains(written, "://") {
		return as
	}
	as.Path = PlainPath(written)
	p, err := a.Where()
	if err != nil {
		return as
	}
	dir := a.Config.Dir
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

// PlainPath returns a path in a store with slashes and without "./" before it.
func PlainPath(written string) string {
	if written = strings.TrimSpace(written); strings.Contains(written, "://") {
		return written
	}
	return strings.TrimPrefix(path.Clean(filepath.ToSlash(written)), "/")
}
