package specs

import "github.com/seed-4f2d999b/knowledge/internal/command"

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "specs", App: hooks(), Commands: addKDD, Resources: kddResources,
		People: map[string]command.Wording{
			"kdd:list": {
				Help: "PENDING is a file that changed since it was indexed; the lifecycle is shown unless it is approved.",
			},
			"kdd:context": {
				Help: "What restricts comes first, each with at most 300 characters and how it was reached. Ask before you change code.",
			},
		},
		Reaches: map[string]command.Reach{
			"kdd:check":   {Data: command.OwnIndex},
			"kdd:context": {Data: command.OwnIndex},
			"kdd:find":    {Data: command.OwnIndex},
			"kdd:graph":   {Data: command.OwnIndex},
			"kdd:impact":  {Data: command.OwnIndex},
			"kdd:list":    {Data: command.OwnIndex},
			"kdd:matrix":  {Data: command.OwnIndex},
			"kdd:related": {Data: command.OwnIndex},
			"kdd:search":  {Data: command.OwnIndex},
			"kdd:section": {Data: command.OwnIndex},
			"kdd:stats":   {Data: command.OwnIndex},
		},
	}
}
