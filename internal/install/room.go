package install

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "install",
		App: app.Room{Examine: func(_ context.Context, a *app.App, c *app.Core, say func(app.Finding)) {
			if o, err := optionsOf(a, Request{}); c == nil && err == nil { // what is wrong with it is said elsewhere
				for _, f := range twice(o) {
					say(f)
				}
			}
		}},
		Commands: addSetup,
		People: map[string]command.Wording{
			"install": {
				Help: "Without --client it shows which are on this machine, and asks. Each one's own file gets one entry and stays the same otherwise, comments too; " +
					"\"knowledge uninstall\" gives back the bytes that were there. docs/install.md lists the files.",
			},
			"uninstall": {
				Summary: "Take knowledge out of the programs that agents run in",
				Help: "It shows which have it, and asks; each file gets back the bytes that were there. Stores stay. " +
					"With --purge everything goes, after a list: stores, schedules, caches and the configuration. " +
					"With --stores only this project's stores go, and their indexes when nobody else uses them; with --keep-definitions=false its .knowledge/stores.json too.",
			},
		},
		Reaches: map[string]command.Reach{
			"uninstall": {Deletes: "every store of this project; with keepDefinitions false, its `.knowledge/stores.json`"},
		},
	}
}
