package command

import "github.com/seed-4f2d999b/knowledge/internal/app"

// AnswersRoom is the room.
func AnswersRoom() Room {
	return Room{
		Name: "answers", App: app.AnswersHooks(), Commands: addAnswers, Resources: answersResources,
		Reaches: map[string]Reach{
			"answer:ask":      {Data: OwnIndex},
			"answer:forget":   {Deletes: "a conversation, which is in memory"},
			"feedback:add":    {Data: "a rating"},
			"feedback:review": {Data: "what became of a rating"},
		},
	}
}
