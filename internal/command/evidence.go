package command

// addEvidence adds the commands about evidence, gate and state of the repository.
func addEvidence(adder) {}

func evidenceResources() []Resource { return nil }
