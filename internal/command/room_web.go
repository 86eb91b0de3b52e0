package command

// WebRoom is the room.
func WebRoom() Room {
	return Room{
		Name: "web", Commands: addWeb,
	}
}
