package follow

import "github.com/seed-4f2d999b/knowledge/internal/command"

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "follow", App: hooks(), Commands: addFollow,
		People: map[string]command.Wording{
			"stores:sync": {
				Help: "The definitions are the file .knowledge/stores.json, which store:create --save writes. An entry takes what store:create takes, " +
					"and follows, a dependency such as \"npm:react\" whose locked version is the tag. " +
					"Also read: .bluera/bluera-knowledge/stores.config.json, version 1. " +
					"One that is defined no more is an orphan, and kept until --prune. An entry that names a path outside the project and what it depends on, or a schedule, waits until you run: knowledge trust FILE; the others are synced",
			},
			"store:update": {
				Help: "A store that \"knowledge suggest\" made, or whose definition says follows, moves to the tag of the version in use when the lockfile has changed. " +
					"All others are fetched and indexed at the ref that they were made with.",
			},
			"suggest": {
				Help: "Reads manifests, lockfiles and imports of Go, npm, Python, Cargo, Maven and Gradle, Ruby, PHP, Elixir, .NET and Swift; no model, and no network unless --add or --registry is given. " +
					"Most imported first, with the version in use, the repository and its tag. With --add, repositories are asked how they spell the tag. What registries answer is kept.",
			},
		},
		Reaches: map[string]command.Reach{
			"store:update":    {Data: "new generations of stores", Programs: command.Fetchers},
			"stores:sync":     {Data: "stores and their indexes", Deletes: "with prune, stores that are defined no more", Programs: command.Fetchers},
			"stores:defaults": {Data: "with add, stores and their indexes", Programs: command.GitPrograms},
			"suggest":         {Project: "with save, `.knowledge/stores.json`", Data: "with add, stores and their indexes; what registries answered", Programs: command.GitPrograms},
			"store:schedule":  {Data: "when a store is brought up to date"},
		},
	}
}
