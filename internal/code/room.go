package code

import "github.com/seed-4f2d999b/knowledge/internal/command"

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "code", App: hooks(), Commands: addCode,
		Reaches: map[string]command.Reach{
			"code:callees":    {Data: command.OwnIndex},
			"code:callers":    {Data: command.OwnIndex},
			"code:definition": {Data: command.OwnIndex},
			"code:files":      {Data: command.OwnIndex},
			"code:outline":    {Data: command.OwnIndex},
			"code:references": {Data: command.OwnIndex},
			"code:symbols":    {Data: command.OwnIndex},
		},
	}
}
