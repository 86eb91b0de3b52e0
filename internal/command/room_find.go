package command

// FindRoom is the room.
func FindRoom() Room {
	return Room{
		Name: "find", Commands: addFind,
		People: map[string]Wording{
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
		Reaches: map[string]Reach{
			"search":           {Data: OwnIndex},
			"get_full_context": {Data: OwnIndex},
			"read":             {Data: OwnIndex},
			"files":            {Data: OwnIndex},
			"grep":             {Data: OwnIndex},
		},
	}
}
