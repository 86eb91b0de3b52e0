package command

// CareRoom is the room.
func CareRoom() Room {
	return Room{
		Name: "care", Commands: addTransfer,
		Reaches: map[string]Reach{
			"doctor":   {Programs: AskGit},
			"selftest": {Data: "files of its own, in a temporary folder that it removes"},
		},
	}
}
