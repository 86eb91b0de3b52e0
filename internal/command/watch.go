package command

// addWatch adds the commands about watching and schedules.
func addWatch(adder) {}

func watchResources() []Resource { return nil }
