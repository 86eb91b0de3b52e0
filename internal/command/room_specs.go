package command

import "github.com/seed-4f2d999b/knowledge/internal/app"

// SpecsRoom is the room.
func SpecsRoom() Room {
	return Room{
		Name: "specs", App: app.SpecsHooks(), Commands: addKDD, Resources: kddResources,
		People: map[string]Wording{
			"kdd:list": {
				Help: "PENDING is a file that changed since it was indexed; the lifecycle is shown unless it is approved.",
			},
			"kdd:context": {
				Help: "What restricts comes first, each with at most 300 characters and how it was reached. Ask before you change code.",
			},
		},
		Reaches: map[string]Reach{
			"kdd:check":   {Data: OwnIndex},
			"kdd:context": {Data: OwnIndex},
			"kdd:find":    {Data: OwnIndex},
			"kdd:graph":   {Data: OwnIndex},
			"kdd:impact":  {Data: OwnIndex},
			"kdd:list":    {Data: OwnIndex},
			"kdd:related": {Data: OwnIndex},
			"kdd:search":  {Data: OwnIndex},
			"kdd:section": {Data: OwnIndex},
			"kdd:stats":   {Data: OwnIndex},
		},
	}
}
