package command

// addKDD adds the commands about specifications.
func addKDD(adder) {}

func kddResources() []Resource { return nil }
