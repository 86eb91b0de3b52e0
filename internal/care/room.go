package care

import (
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/data/transfer"
)

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "care",
		App: app.Room{
			Uses: func(c *app.Core, id string) bool { return transfer.Alive(c.Dir, id) },
		},
		Commands: addCare,
		Reaches: map[string]command.Reach{
			"doctor":   {Programs: command.AskGit},
			"selftest": {Data: "files of its own, in a temporary folder that it removes"},
		},
	}
}
