// Package upgrade says what another version of a dependency means for a project:
// what it declares no more or otherwise, which lines of the project compile no
// more or use what is deprecated, and what the changelog says of that.
package upgrade

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "upgrade", Commands: addUpgrade,
		App: app.Room{Sweep: sweep, Leftovers: leftovers},
		Reaches: map[string]command.Reach{
			"deps:upgrade": {Data: "with add, `packages/`: the archives of the versions that are compared"},
		},
	}
}

type upgradeIn struct {
	Package string `json:"package" arg:"1" help:"a dependency of this project: github.com/gin-gonic/gin, react, npm:@types/node"`
	To      string `json:"to" arg:"2" help:"the version to compare with: v2.0.0, 19.1, latest; where the name changes, NAME@VERSION"`
	From    string `json:"from,omitempty" help:"the version in use (default: what the lockfile says)"`
	Add     bool   `json:"add,omitempty" help:"get what is not on this machine from the registry that your settings name"`
}

func addUpgrade(t *command.Table) {
	c := t.Add("code", command.New("deps:upgrade", "What another version of a dependency breaks here", command.Writes,
		func(ctx context.Context, a *app.App, in upgradeIn) (Reply, error) {
			return Upgrade(ctx, a, Request(in))
		}).Agent(), `{"package":"github.com/gin-gonic/gin","to":"v1.10.0"}`, `{"package":"react","to":"19.0.0","add":true}`)
	c.Network = command.Declared
	c.Help = "Lists the lines of this project that compile no more or use what is newly deprecated, by the declaration that changed, with what it is called now; " +
		"then what else was removed or changed, and the sections of the changelog that name it. Go is type-checked in both versions, without the go command; " +
		"TypeScript and JavaScript go by the package's type declarations. Nothing in the project is changed. Over HTTP it needs the token, as it can get packages."
}
