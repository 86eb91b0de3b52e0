package command

// AnswersRoom is the room.
func AnswersRoom() Room {
	return Room{
		Name: "answers", Commands: addAnswers, Resources: answersResources,
		Reaches: map[string]Reach{
			"answer:ask":      {Data: OwnIndex},
			"answer:forget":   {Deletes: "a conversation, which is in memory"},
			"feedback:add":    {Data: "a rating"},
			"feedback:review": {Data: "what became of a rating"},
		},
	}
}
