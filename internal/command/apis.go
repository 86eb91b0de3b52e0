package command

// addAPIs adds the commands about declared APIs.
func addAPIs(adder) {}

func apisResources() []Resource { return nil }
