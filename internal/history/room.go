// Package history is what the commits of a project say about its code: why lines
// are as they are, and what changed since a time or between two revisions.
package history

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

// Room is the room.
func Room() command.Room {
	return command.Room{
		Name: "history", Commands: addHistory,
		App: app.Room{Sweep: sweep, Leftovers: logFiles.Leftovers, Lately: latelyChanged},
		Reaches: map[string]command.Reach{
			"why":     {Data: keeps},
			"changed": {Data: keeps},
		},
	}
}

const keeps = "`history/`: which commit changed which paths; the own index"

type whyIn struct {
	Place string `json:"place" arg:"1" help:"a place (server.go:120 or server.go:120-140), a name (Server.Serve) or the id of a hit"`
	Limit int    `json:"limit,omitempty" help:"at most this many commits (default 6)"`
}

type changedIn struct {
	Since string `json:"since,omitempty" arg:"1" help:"a time (2d, 3w, 2026-11-01), a revision (v1.2, main~20) or two (v1.2..v1.3) (default 7d)"`
	Query string `json:"query,omitempty" arg:"2..." help:"only what changed and answers this, best first"`
	In    string `json:"in,omitempty" cli:"first" help:"only paths at or below this one"`
	Limit int    `json:"limit,omitempty" help:"at most this many files or hits (default 20)"`
}

func addHistory(t *command.Table) {
	c := t.Add("code", command.New("why", "Which commits made lines what they are, and what they said", command.Reads,
		func(ctx context.Context, a *app.App, in whyIn) (WhyReply, error) {
			return Why(ctx, a, in.Place, in.Limit, command.WaitingOf(ctx))
		}).Prints(printer.Of(printWhy)).Agent(), `{"place":"src/server.go:120-140"}`, `{"place":"Server.Serve"}`)
	c.Help = "Lines are followed through renames, moves, white space and formatters, and two steps further to what they replaced; " +
		"commits that .git-blame-ignore-revs names are passed through. Each commit has its message, the issues that it names, " +
		"and the merge that brought it. The first call in a large repository reads the commits, the newest first; the next goes on."
	c = t.Add("code", command.New("changed", "What changed since a time or between two revisions, and search over it", command.Reads,
		func(ctx context.Context, a *app.App, in changedIn) (ChangedReply, error) {
			return Changed(ctx, a, ChangedRequest{Since: in.Since, Query: in.Query, In: in.In, Limit: in.Limit, Waiting: command.WaitingOf(ctx)})
		}).Prints(printer.Of(printChanged)).Agent(), `{"since":"2w"}`, `{"since":"v1.2","query":"retry after a timeout"}`)
	c.Help = "Lists files with the declarations whose lines differ, the work tree included unless two revisions are given, and the commits. " +
		"With a query it searches as search does and keeps what lies in changed lines."
}
