package app

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/catalog"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Room is what a feature adds to the middle, which names none. Every field may
// be nil.
type Room struct {
	// Jobs returns the handlers of its kinds of jobs.
	Jobs func(*Core) map[string]job.Handler

	// Pull makes a store of what was published at CreateStore.From.
	Pull func(context.Context, *App, CreateStore) (Started, error)
	// Needs returns the variables without which a job of a store might not see
	// what this process does.
	Needs func(*Core, kb.Spec) []string
	// Gather brings what a store is indexed from up to date, and returns what a
	// reader should know of it. died says that the worker before died of it.
	Gather func(ctx context.Context, c *Core, j kb.Job, st kb.Store, args IndexArgs, died bool, details map[string]any) ([]string, error)
	// Indexed is called with a store that was just indexed, and how many of its
	// documents changed. It may add to the details of the job.
	Indexed func(ctx context.Context, c *Core, j kb.Job, st kb.Store, changed int, details map[string]any)
	// Shared is called with a store that is on the cluster as it is now, Adopted with one
	// that another machine has put there and that was just made known here.
	Shared  func(context.Context, *Core, kb.Store) error
	Adopted func(context.Context, *Core, kb.Store) error
	// Leaving is called before a store is deleted or replaced, Removed when it is
	// deleted, Forget when what is kept in memory of one is out of date.
	Leaving func(context.Context, *Core, kb.StoreID) error
	Removed func(context.Context, *Core, kb.StoreID) error
	Forget  func(*Core, kb.StoreID)
	// Sweep deletes files that belong to no store any more. Leftovers lists such
	// files and folders, and returns what they are.
	Sweep     func(context.Context, *Core) error
	Leftovers func(context.Context, *Core) (what string, paths []string, err error)
	// Uses reports whether work of the room that is under way uses what the catalog
	// notes under that id.
	Uses func(c *Core, id string) bool
	// Followed returns what the process that follows the folder of a store says of it.
	Followed func(*Core, kb.StoreID) Following
	// Caches returns folders outside a project in which what it depends on lies.
	Caches func(env func(string) string) []string
	// Examine looks for what keeps the room from working. It is called twice: before
	// the data directory is opened, without a Core, and then with it.
	Examine func(ctx context.Context, a *App, c *Core, say func(Finding))

	// PageOf returns the function from documents of a store to pages of the web,
	// nil when they are none; PagePath the path of the page that a URL names, and
	// the fragment, or what it is given.
	PageOf   func(*Core, kb.Store) func(path string) (search.Page, bool)
	PagePath func(c *Core, st kb.Store, path string) (string, string)
	// Views opens what is resolved of each target; Unresolved goes on without what
	// turned out damaged of one, and reports whether that was it.
	Views      func(*Shelves)
	Unresolved func(context.Context, *Shelves, *search.Target) (bool, error)

	// Lately says what changed lately of files of the own folder, by their paths.
	Lately func(ctx context.Context, a *App, paths []string, w Waiting) (map[string]Lately, error)

	// Marks says what speaks against places that answer a query; see search.Request.
	Marks func(ctx context.Context, c *Core, query string) (marks func(kb.StoreID, string) float64, note string, err error)
	// Hits lets targets add to their hits, Place adds to a place. No store is
	// in scope where the place was looked for in one named store.
	Hits  func(*App, []search.Target)
	Place func(ctx context.Context, a *App, s *Shelves, inScope func(kb.StoreID) bool, found *search.Context)

	// Elsewhere says what is not indexed and may answer a question better than
	// anything in scope does, and how it is added: lines to be shown below the reply.
	Elsewhere func(context.Context, *App, *Core, Unanswered) ([]string, error)

	Definitions *Definitions
	Sharing     *Sharing
	Revisions   *Revisions
	// Apart is called with a generation that the catalog does not know and that was
	// just made; see Revisions.
	Apart func(ctx context.Context, c *Core, st kb.Store, idx kb.Index) error
}

// Lately is what changed lately of one file.
type Lately struct {
	Uncommitted, Recent [][2]int // lines, from and to: of no commit yet, and of the last weeks
	Commits             []string // that changed it, newest first: "abc1234567 of 2026-11-01: subject"
}

// Lately asks the rooms for what changed lately; see Room.Lately.
func (a *App) Lately(ctx context.Context, paths []string, w Waiting) (map[string]Lately, error) {
	for _, r := range a.Config.Rooms {
		if r.Lately != nil {
			return r.Lately(ctx, a, paths, w)
		}
	}
	return nil, nil
}

// Unanswered is a question that nothing in scope may answer.
type Unanswered struct {
	Query   string
	Absent  bool            // nothing in scope is likely to
	Sure    float64         // the probability that the first hit does
	Words   []string        // that tell what is looked for
	Targets []search.Target // that were searched
	Near    []search.Hit    // what is nearest, the nearest first
}

// Elsewhere asks the rooms what may answer; see Room.Elsewhere.
func (a *App) Elsewhere(ctx context.Context, c *Core, q Unanswered) (out []string, err error) {
	for _, r := range a.Config.Rooms {
		if r.Elsewhere == nil {
			continue
		}
		lines, err := r.Elsewhere(ctx, a, c, q)
		if err != nil {
			return out, err
		}
		out = append(out, lines...)
	}
	return out, nil
}

// Finding is one thing that was examined.
type Finding struct {
	What   string `json:"what"`
	Status string `json:"status"` // ok, note (works, and worth knowing), wrong
	Text   string `json:"text"`   // one sentence
	Hint   string `json:"hint,omitempty"`
}

// Wrong is the finding of a failure.
func Wrong(what string, err error) Finding {
	return Finding{What: what, Status: "wrong", Text: err.Error(), Hint: kb.HintOf(err)}
}

// Definitions keeps the stores of a project in a file of it.
type Definitions struct {
	// File is where they are, below the root of the project.
	File string
	// Check refuses what cannot be added to.
	Check func(project.Project) error
	// Remember keeps how a store came to be. Of a definition that is new it
	// returns the text and the file.
	Remember func(ctx context.Context, a *App, c *Core, p project.Project, r CreateStore, st kb.Store) (added json.RawMessage, file string, err error)
	// Forget takes back what Remember added, unless it has changed since.
	Forget func(ctx context.Context, c *Core, file string, added json.RawMessage) error
	// Rename gives the store that the project's file calls old another name there,
	// and reports whether the file names it.
	Rename func(ctx context.Context, a *App, c *Core, p project.Project, old, name string) (bool, error)
	// Still warns that a deleted store is made again.
	Still func(a *App, name string) string
}

// Definitions returns who keeps them; it does nothing where no room does.
func (a *App) Definitions() Definitions { return definitionsIn(a.Config.Rooms) }

func (c *Core) definitions() Definitions { return definitionsIn(c.rooms) }

func definitionsIn(rooms []Room) Definitions {
	for _, r := range rooms {
		if r.Definitions != nil {
			return *r.Definitions
		}
	}
	return Definitions{
		Check: func(project.Project) error { return nil },
		Remember: func(context.Context, *App, *Core, project.Project, CreateStore, kb.Store) (json.RawMessage, string, error) {
			return nil, "", nil
		},
		Forget: func(context.Context, *Core, string, json.RawMessage) error { return nil },
		Rename: func(context.Context, *App, *Core, project.Project, string, string) (bool, error) { return false, nil },
		Still:  func(*App, string) string { return "" },
	}
}

// TempAge is how long a file may lie that a process has not completed yet.
const TempAge = time.Hour

// Rooms returns the hooks of the rooms.
func (c *Core) Rooms() []Room { return c.rooms }

// Marks asks the rooms for what speaks against places; see Room.Marks.
func (c *Core) Marks(ctx context.Context, query string) (func(kb.StoreID, string) float64, string, error) {
	for _, r := range c.rooms {
		if r.Marks != nil {
			return r.Marks(ctx, c, query)
		}
	}
	return nil, "", nil
}

// Enrich lets the rooms add to a place; scope are the stores that they may name.
func (a *App) Enrich(ctx context.Context, s *Shelves, scope []catalog.Entry, found *search.Context) {
	inScope := func(id kb.StoreID) bool {
		return slices.ContainsFunc(scope, func(e catalog.Entry) bool { return e.ID == id })
	}
	for _, r := range a.Config.Rooms {
		if r.Place != nil {
			r.Place(ctx, a, s, inScope, found)
		}
	}
}

// OpenViews opens what is resolved of each target.
func (s *Shelves) OpenViews() {
	for _, r := range s.Core.rooms {
		if r.Views != nil {
			r.Views(s)
		}
	}
}

// unresolved reports whether a room goes on without what was damaged of a target.
func (s *Shelves) unresolved(ctx context.Context, t *search.Target) (bool, error) {
	for _, r := range s.Core.rooms {
		if r.Unresolved != nil {
			if ok, err := r.Unresolved(ctx, s, t); ok || err != nil {
				return ok, err
			}
		}
	}
	return false, nil
}

// pageOf returns the function to the pages of a store; nil when its documents are none.
func (c *Core) pageOf(st kb.Store) func(path string) (search.Page, bool) {
	for _, r := range c.rooms {
		if r.PageOf != nil {
			if f := r.PageOf(c, st); f != nil {
				return f
			}
		}
	}
	return nil
}

// PagePath returns the path of a page that is named by its URL, and the
// fragment; what is no URL of a page of the store comes back as it is.
func (c *Core) PagePath(st kb.Store, path string) (string, string) {
	for _, r := range c.rooms {
		if r.PagePath != nil {
			return r.PagePath(c, st, path)
		}
	}
	return path, ""
}

// Following is what the process that follows a folder says of its index.
type Following int

// Whether all that happened in the folder until now is in the index.
const (
	Unfollowed Following = iota // none follows it, or that one is busy or stopped
	Current                     // it is
	Edited                      // it is not, and is about to be
)
