package command

import "github.com/seed-4f2d999b/knowledge/internal/app"

// WebRoom is the room.
func WebRoom() Room {
	return Room{
		Name: "web", App: app.WebHooks(), Commands: addWeb,
	}
}
