package answers

import "github.com/seed-4f2d999b/knowledge/internal/command"

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "answers", App: hooks(), Commands: addAnswers, Resources: answersResources,
		Reaches: map[string]command.Reach{
			"answer:ask":    {Data: command.OwnIndex},
			"answer:forget": {Deletes: "a conversation, which is in memory"},
			"feedback:add":  {Data: "a rating"},
		},
	}
}
