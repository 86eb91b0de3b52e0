package app

import (
	"context"
	"errors"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Revisions searches what stores were at another commit of their repositories. The
// generations of these are not in the catalog: they come with a question, share
// what is indexed already, and go when nobody has asked for them for a while.
type Revisions struct {
	// At opens the stores that a scope names, or the own folder, at Scope.At.
	At func(ctx context.Context, a *App, c *Core, scope Scope) (*Shelves, error)
	// Kept opens what was asked for before and is there.
	Kept func(ctx context.Context, a *App, c *Core) (*Shelves, error)
	// IDs returns the ids of what is kept, as of stores.
	IDs func(c *Core) []kb.StoreID
	// Drop forgets one that turned out damaged: the next question has it made anew.
	Drop func(ctx context.Context, c *Core, id kb.StoreID) error
}

// At opens the stores of a scope as they were at a revision.
func (a *App) At(ctx context.Context, c *Core, scope Scope) (*Shelves, error) {
	r := revisionsIn(a.Config.Rooms)
	if r == nil {
		return nil, kb.Errorf(kb.Unsupported, "this program searches no other revisions").WithHint("leave out at")
	}
	return r.At(ctx, a, c, scope)
}

// Kept opens what was asked for at other revisions before; nil where there is nothing.
func (a *App) Kept(ctx context.Context, c *Core) (*Shelves, error) {
	r := revisionsIn(a.Config.Rooms)
	if r == nil || a.member != nil {
		return nil, nil
	}
	return r.Kept(ctx, a, c)
}

// KeptIDs returns the ids of what is kept of other revisions.
func (c *Core) KeptIDs() []kb.StoreID {
	if r := revisionsIn(c.rooms); r != nil {
		return r.IDs(c)
	}
	return nil
}

func revisionsIn(rooms []Room) *Revisions {
	for i := range rooms {
		if rooms[i].Revisions != nil {
			return rooms[i].Revisions
		}
	}
	return nil
}

// ServeAt answers from the targets that At opened. One that is damaged is made anew
// at the next question, and the error says so.
func (s *Shelves) ServeAt(ctx context.Context, ask func([]search.Target) error) error {
	err := ask(s.Targets)
	r := revisionsIn(s.Core.rooms)
	if err == nil || kb.CodeOf(err) != kb.Corrupt || r == nil {
		return err
	}
	var of *search.TargetError
	one := errors.As(err, &of)
	for i := range s.Targets {
		if one && i != of.Target {
			continue
		}
		if e := r.Drop(ctx, s.Core, s.Targets[i].Store.ID); e != nil {
			return e
		}
	}
	return kb.Errorf(kb.Corrupt, "what was kept of this revision is damaged and was forgotten: %w", err).WithHint("ask again: it is made anew")
}
