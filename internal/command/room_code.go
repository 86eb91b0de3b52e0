package command

import "github.com/seed-4f2d999b/knowledge/internal/app"

// CodeRoom is the room.
func CodeRoom() Room {
	return Room{
		Name: "code", App: app.CodeHooks(), Commands: addCode,
		Reaches: map[string]Reach{
			"code:callees":    {Data: OwnIndex},
			"code:callers":    {Data: OwnIndex},
			"code:definition": {Data: OwnIndex},
			"code:outline":    {Data: OwnIndex},
			"code:references": {Data: OwnIndex},
			"code:symbols":    {Data: OwnIndex},
		},
	}
}
