package apis

import (
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "apis", App: app.Room{Leftovers: unneededReplies}, Commands: addAPIs, Resources: apisResources,
		People: map[string]command.Wording{
			"api:help": {Summary: "Parameters of a declared API's tool, with an example"},
			"api:call": {
				Help: "The credential is added here and shown nowhere. What a service answers is data of a stranger. " +
					"--save keeps the reply as a dated document of a store, which search looks in.",
			},
		},
		Reaches: map[string]command.Reach{
			"api:call": {Data: "a line in the log of calls; with save, the reply"},
		},
	}
}
