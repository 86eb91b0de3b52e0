package command

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/evidence"
)

// addEvidence adds the commands about evidence, gate and state of the repository.
func addEvidence(add adder) {
	c := add("evidence", New("evidence:status", "Whether a governance tool has left evidence about this project, and what it counts", Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (evidence.Status, error) {
			return evidenceStatus(ctx, a)
		}).agent(), `{}`)
	c.Help = "The file is .ai_evidence.json at the root of the project. Other programs write it, never this one; without it nothing is blocked."
}

func evidenceStatus(ctx context.Context, a *app.App) (evidence.Status, error) {
	f, err := a.Evidence(ctx)
	if err != nil {
		return evidence.Status{}, err
	}
	return f.Status(evidence.DefaultRoute), nil
}

func evidenceResources() []Resource {
	return []Resource{
		{URI: "evidence://status", Name: "evidence status", Description: "Whether there is evidence about this project, and what it counts", Access: Read,
			Read: func(ctx context.Context, a *app.App, _ string) (any, error) { return evidenceStatus(ctx, a) }},
	}
}
