package command

// CodeRoom is the room.
func CodeRoom() Room {
	return Room{
		Name: "code", Commands: addCode,
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
