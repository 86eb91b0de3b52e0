// Package impact says what a change reaches: callers, the tests to run, what is
// public, specifications that name it, open findings, and what it cannot know.
package impact

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "impact", Commands: addImpact,
		Reaches: map[string]command.Reach{
			"impact": {Data: "`history/`: which commit changed which paths; the own index"},
		},
		People: map[string]command.Wording{
			"impact": {Help: "Without arguments it is about what differs from the last commit. --diff takes a file, or two revisions: v1..v2. " +
				"Tests come with a line that runs them; what cannot be known is said at the end. For specifications ask kdd:impact."},
		},
	}
}

type impactIn struct {
	Place string `json:"place,omitempty" arg:"1" help:"a place (server.go:120 or server.go:120-140), a name (Server.Serve) or two revisions (v1..v2); by default the changes since the last commit"`
	Diff  string `json:"diff,omitempty" help:"a unified diff, a file of the project that holds one, or two revisions (v1..v2)"`
	Depth int    `json:"depth,omitempty" help:"how many calls far callers are listed, up to 5 (default 3)"`
	Limit int    `json:"limit,omitempty" help:"at most this many tests (default 10)"`
}

func addImpact(t *command.Table) {
	c := t.Add("code", command.New("impact", "What a change reaches: callers, tests to run, public API, specifications", command.Reads,
		func(ctx context.Context, a *app.App, in impactIn) (Reply, error) {
			return Impact(ctx, a, Request{Place: in.Place, Diff: in.Diff, Depth: in.Depth, Limit: in.Limit, Waiting: command.WaitingOf(ctx)})
		}).Prints(printer.Of(printImpact)).Agent(), `{}`, `{"place":"Server.Serve"}`, `{"diff":"HEAD~1..HEAD"}`)
	c.Help = "Without arguments it is about what differs from the last commit. Tests are ranked by how near they are in the graph of references, " +
		"by names, and by which commits made both. The reply says what it cannot know. What a specification touches is told by kdd:impact."
}
