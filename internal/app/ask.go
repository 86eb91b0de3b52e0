package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const maxList = 10_000

// Waiting says whether a person waits for what is being made, and how long.
type Waiting struct {
	// Wait is how long a first use may wait for a folder's index: an agent gets
	// what is ready after 3 s, a person sees the job to its end.
	Wait time.Duration
	// Early is after how long they are answered from what is ready when much is
	// left to do; 0 waits as long as Wait says.
	Early time.Duration
	// Person lets a folder that is no project be indexed at its first search:
	// a person who types a command in it means it.
	Person bool
}

// Scope says which stores a question is about, and how long it may take.
type Scope struct {
	Stores []string // names or ids; ["*"] is every store; empty is the default scope
	Yes    bool     // index a home directory, a file-system root or a very large folder
	At     string   // a revision of their repositories that is asked about instead; see Revisions
	Waiting
}

// One opens the live generation of one store. Its notes say what is missing.
func (a *App) One(ctx context.Context, store string, w Waiting) (*Shelves, error) {
	c, st, err := a.Lookup(ctx, store)
	if err != nil {
		return nil, err
	}
	late, err := a.Freshen(ctx, c, []kb.Store{st}, Asking{Waiting: w, named: true})
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
	s.Notes = append(s.Notes, late...)
	return s, nil
}

// ShelvesOf opens the named stores, or those in scope when none is named.
func (a *App) ShelvesOf(ctx context.Context, names []string, w Waiting) (*Shelves, error) {
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	stores, notes, err := a.AsScope(ctx, c, Scope{Stores: names, Waiting: w})
	if err != nil {
		return nil, err
	}
	s, err := a.Opened(ctx, c, stores)
	if err != nil {
		return nil, err
	}
	missing := s.Notes
	s.Notes = append(notes, s.Notes...)
	if len(s.Targets) == 0 {
		if len(missing) > 0 {
			return nil, nothingYet(missing)
		}
		if len(s.Notes) > 0 {
			return nil, nothingYet(s.Notes)
		}
		return nil, kb.Errorf(kb.NotFound, "nothing is indexed in scope").WithHint("list the stores with: stores; the own folder is indexed by its first search")
	}
	a.NoteBarren(s, len(names) > 0)
	return s, nil
}

// nothingYet is the failure to read stores of which nothing is indexed, as
// their notes say it: what is wrong; what to do.
func nothingYet(notes []string) error {
	why, next, _ := strings.Cut(notes[0], "; ")
	return kb.Errorf(kb.NotFound, "%s", why).WithHint("%s", cmp.Or(next, "see how far its job is with: jobs"))
}

func CheckLimit(limit, def int) (int, error) {
	if limit == 0 {
		return def, nil
	}
	if limit < 0 || limit > maxList {
		return 0, kb.Errorf(kb.Invalid, "limit must lie between 1 and %d, not %d", maxList, limit).WithHint("leave it out for %d", def)
	}
	return limit, nil
}
