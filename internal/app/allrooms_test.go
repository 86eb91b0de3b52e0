package app

func allRooms() []Room {
	return []Room{CodeHooks(), WebHooks(), SpecsHooks(), AnswersHooks(), GovernanceHooks(), FollowHooks()}
}
