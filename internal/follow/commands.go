package follow

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

type syncIn struct {
	DryRun  bool `json:"dryRun,omitempty" help:"tell what would be done, and do nothing"`
	Prune   bool `json:"prune,omitempty" help:"remove stores that are defined no more"`
	Reindex bool `json:"reindex,omitempty" help:"read every document of every defined store again"`
}

type updateIn struct {
	Store  string `json:"store,omitempty" arg:"1" help:"name or id of a store (default: every store of the project)"`
	DryRun bool   `json:"dryRun,omitempty" help:"tell what would be done, and do nothing"`
}

type suggestIn struct {
	Limit    int      `json:"limit,omitempty" help:"at most this many (default 10)"`
	Add      bool     `json:"add,omitempty" help:"create the stores, pinned to the version in use"`
	Only     []string `json:"only,omitempty" help:"only these dependencies or repositories"`
	Save     bool     `json:"save,omitempty" help:"write what is added into the project's definitions"`
	Registry bool     `json:"registry,omitempty" help:"ask package registries for repositories that nothing here tells"`
}

type defaultsIn struct {
	Add   bool     `json:"add,omitempty" help:"create the stores"`
	Only  []string `json:"only,omitempty" help:"only these of them"`
	Scope string   `json:"scope,omitempty" enum:"project|user" help:"who sees the names: all projects of yours (user, the default) or this one"`
}

// addSync adds the commands that make a project's stores follow the project.
func addSync(t *command.Table) {
	c := t.Add("store", command.New("stores:sync", "Make the project's stores what its definitions say", command.Writes,
		func(ctx context.Context, a *app.App, in syncIn) (Synced, error) {
			return Sync(ctx, a, SyncRequest{DryRun: in.DryRun, Prune: in.Prune, Reindex: in.Reindex, Agent: !command.IsCLI(ctx)})
		}).Prints(printer.Of(printSynced)).Agent(), `{}`, `{"dryRun":true}`, `{"prune":true}`)
	c.Network, c.Aliases = command.AnyHost, []string{"sync"}
	c.Help = "The definitions are the file .knowledge/stores.json: {\"version\":1,\"stores\":[{\"name\":\"react\",\"type\":\"repo\",\"source\":\"https://github.com/facebook/react\",\"tag\":\"v19.0.0\"}]}. " +
		"An entry takes what store:create takes, and follows, a dependency such as \"npm:react\" whose locked version is the tag. " +
		"Also read: .bluera/bluera-knowledge/stores.config.json, version 1. New and changed stores are indexed by jobs. " +
		"One that is defined no more is an orphan, and kept until prune. An entry that names a path outside the project and what it depends on, or a schedule, waits for a person who vouches for the file; the others are synced."
	c = t.Add("store", command.New("store:update", "Follow the branch, or the version that the lockfile holds now", command.Writes,
		func(ctx context.Context, a *app.App, in updateIn) (Synced, error) {
			return Update(ctx, a, in.Store, in.DryRun)
		}).Agent(),
		`{}`, `{"store":"react"}`)
	c.Network = command.AnyHost
	c.Help = "A store that suggest made, or whose definition says follows, moves to the tag of the version in use when the lockfile has changed. " +
		"All others are fetched and indexed at the ref that they were made with."
	c = t.Add("store", command.New("suggest", "Name the dependencies of this project that are worth a store", command.Writes,
		func(ctx context.Context, a *app.App, in suggestIn) (Suggested, error) {
			if in.Limit < 0 {
				return Suggested{}, kb.Errorf(kb.Invalid, "argument %q must be at least 1, not %d", "limit", in.Limit).WithHint("leave it out for 10")
			}
			return Suggest(ctx, a, SuggestRequest(in))
		}).Prints(printer.Of(printSuggested)).Agent(), `{}`, `{"limit":5}`, `{"registry":true}`)
	c.Network = command.AnyHost
	c.Help = "Reads manifests, lockfiles and imports of Go, npm, Python, Cargo, Maven and Gradle, Ruby, PHP, Elixir, .NET and Swift; no model, and no network unless add or registry is set. " +
		"Most imported first, with the version in use, the repository and its tag. With add, repositories are asked how they spell the tag. " +
		"What registries answer is kept. Over HTTP it needs the token, as it can add stores."
	c = t.Add("store", command.New("stores:defaults", "List repositories that many projects want, or add them in one go", command.Writes,
		func(ctx context.Context, a *app.App, in defaultsIn) (Defaults, error) {
			return ListDefaults(ctx, a, in.Add, in.Only, in.Scope != "project")
		}).Prints(printer.Of(printDefaults)).Agent(), `{}`, `{"only":["mcp-spec"]}`)
	c.Network = command.AnyHost
}
