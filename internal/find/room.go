package find

import "github.com/seed-4f2d999b/knowledge/internal/command"

// commits is what a search at a revision keeps, for the next one.
const commits = "; `revisions/`: commits that were asked about"

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "find", Commands: addFind,
		People: map[string]command.Wording{
			"search": {
				Summary: "Find code and docs of this project and its stores by what they do, with file and line",
				Help: "This folder, the project's stores and your own stores are searched; --stores '*' is everything. " +
					"\"knowledge show ID\" has the whole place of a hit, in this session or later. Upper and lower case are the same.",
			},
			"get_full_context": {
				Summary: "The whole place of a hit: declaration, docs, who calls it, what it calls",
				Help: "A long one goes on with the command at its end. Callers and callees are those that are certain enough; " +
					"\"knowledge code:references\" has every use.",
			},
		},
		Reaches: map[string]command.Reach{
			"search":           {Data: command.OwnIndex + commits},
			"get_full_context": {Data: command.OwnIndex + commits},
			"read":             {Data: command.OwnIndex},
			"files":            {Data: command.OwnIndex},
			"grep":             {Data: command.OwnIndex},
		},
	}
}
