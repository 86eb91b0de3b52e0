// Package revisions searches what a project, or a store on this machine that is kept in git, was
// at another commit, without another index: a generation is made of the tree of that commit, for
// which the files that are indexed already, in whichever store, are taken from there by their
// content, and the few others are read from git, cut and embedded into a segment of their own. It
// follows that a search finds exactly what an index of a checkout of that commit would.
//
// Each generation is noted in a file of its own, DATA/revisions/STORE.json, where STORE is the id
// that a store of that commit would have; the catalog does not know it. The files of the newest
// mostKept are kept from being deleted; one that nobody has asked for in keptFor goes.
package revisions

import (
	"context"
	"encoding/json"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/job"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Room is the room.
func Room() command.Room {
	return command.Room{Name: "revisions", App: app.Room{
		Jobs: func(c *app.Core) map[string]job.Handler {
			return map[string]job.Handler{jobType: func(ctx context.Context, j kb.Job, raw json.RawMessage) (string, map[string]any, error) {
				return run(ctx, c, j, raw)
			}}
		},
		Uses:      func(c *app.Core, id string) bool { return uses(c, id) },
		Sweep:     sweep,
		Leftovers: recordFiles.Leftovers,
		Revisions: &app.Revisions{At: at, Kept: kept, IDs: ids, Drop: distrust},
	}}
}
