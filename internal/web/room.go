package web

import "github.com/seed-4f2d999b/knowledge/internal/command"

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "web", App: hooks(), Commands: addWeb,
	}
}
