package install

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

type installIn struct {
	Folder       string   `json:"folder,omitempty" arg:"1" cli:"only" help:"with project: its folder (default: the project around the working directory)" person:"with --project: its folder (default: the project around the working directory)"`
	Client       []string `json:"client,omitempty" help:"claude, codex, cursor, vscode, windsurf, zed, gemini, opencode, copilot, kiro, or all-found"`
	Project      bool     `json:"project,omitempty" help:"in the files of this project, which everybody who works on it shares"`
	DryRun       bool     `json:"dryRun,omitempty" help:"show the lines that would change, and change nothing"`
	Instructions bool     `json:"instructions,omitempty" help:"also say in AGENTS.md, CLAUDE.md or GEMINI.md when to use the tools"`
	Force        bool     `json:"force,omitempty" help:"replace an entry that somebody else wrote, and add one beside the plugin"`
	Yes          bool     `json:"yes,omitempty" cli:"only" help:"do not ask: all that are found"`
}

type uninstallIn struct {
	Global          bool     `json:"global,omitempty" help:"everything on this machine, for every project; only a person may" person:"as --purge"`
	KeepDefinitions bool     `json:"keepDefinitions,omitempty" default:"true" help:"leave .knowledge/stores.json where it is (default true)" person:"with --stores: leave .knowledge/stores.json where it is (default true)"`
	Stores          bool     `json:"stores,omitempty" cli:"only" help:"only the stores of this project; clients stay"`
	Client          []string `json:"client,omitempty" cli:"only" help:"only from these clients (default: from all)"`
	Project         bool     `json:"project,omitempty" cli:"only" help:"only from the files of this project"`
	Purge           bool     `json:"purge,omitempty" cli:"only" help:"also all stores, schedules, caches and the configuration"`
	DryRun          bool     `json:"dryRun,omitempty" cli:"only" help:"list what would go, and change nothing"`
	Force           bool     `json:"force,omitempty" cli:"only" help:"remove an entry that somebody else wrote, too"`
	Yes             bool     `json:"yes,omitempty" cli:"only" help:"do not ask"`
}

type upgradeIn struct {
	Client []string `json:"client,omitempty" help:"only in these clients (default: wherever this program is)"`
	DryRun bool     `json:"dryRun,omitempty" help:"show the lines that would change, and change nothing"`
}

// addSetup adds the verbs that put this program into clients and take it out.
func addSetup(t *command.Table) {
	c := t.Add("setup", command.New("install", "Add knowledge to the programs that agents run in", command.Writes, func(ctx context.Context, a *app.App, in installIn) (Report, error) {
		return runInstall(ctx, a, in, t.Instructions)
	}),
		`{"client":["claude","codex"]}`, `{"client":["all-found"],"dryRun":true}`, `{"client":["cursor"],"project":true}`)
	c.Help = "Without client it shows which are on this machine, and asks. Each one's own file gets one entry and stays the same otherwise, comments too; " +
		"uninstall gives back the bytes that were there. docs/install.md lists the files."
	c = t.Add("setup", command.New("uninstall", "Remove every store of this project", command.Deletes, runUninstall).Agent(),
		`{}`, `{"keepDefinitions":false}`)
	c.Help = "Every store of this project goes, and its index when nobody else uses it; .knowledge/stores.json stays unless keepDefinitions is false. " +
		"What a client says of its servers and what the machine keeps for others is a person's business: knowledge uninstall."
	t.Add("setup", command.New("upgrade", "Bring the entries in clients up to date, and say how the program itself is", command.Writes,
		func(ctx context.Context, a *app.App, in upgradeIn) (Report, error) {
			return Upgrade(ctx, a, Request{Clients: in.Client, DryRun: in.DryRun, Text: t.Instructions()})
		}), `{}`, `{"dryRun":true}`)
	t.Add("setup", command.New("clients", "List the programs that agents run in, and which have knowledge", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (ClientList, error) { return List(ctx, a) }).Prints(printer.Of(printClients)), `{}`)
}

func runInstall(ctx context.Context, a *app.App, in installIn, text func() string) (Report, error) {
	r := Request{Clients: in.Client, Project: in.Project, DryRun: in.DryRun, Force: in.Force}
	if len(r.Clients) == 0 && in.Yes {
		r.Clients = []string{"all-found"}
	}
	if in.Instructions {
		r.Text = text()
	}
	return Install(ctx, a, r)
}

func runUninstall(ctx context.Context, a *app.App, in uninstallIn) (any, error) {
	all := in.Global || in.Purge
	switch {
	case all && !command.IsCLI(ctx):
		return nil, kb.Errorf(kb.Denied, "only a person may remove everything from this machine").
			WithHint("ask the user to run in a terminal: knowledge uninstall --purge")
	case all && (len(in.Client) > 0 || in.Project || in.Stores):
		return nil, kb.Errorf(kb.Invalid, "purge is for everything, and client, project and stores are for a part").WithHint("see what would go: knowledge uninstall --purge --dry-run")
	case all && !in.Yes && !in.DryRun:
		return nil, kb.Errorf(kb.Invalid, "everything would go, and nobody said yes").WithHint("see what that is: knowledge uninstall --purge --dry-run")
	case all:
		return PurgeAll(ctx, a, in.DryRun)
	case in.Stores || !in.KeepDefinitions || !command.IsCLI(ctx):
		return DetachProject(ctx, a, in.KeepDefinitions)
	}
	return Uninstall(ctx, a, Request{Clients: in.Client, Project: in.Project, DryRun: in.DryRun, Force: in.Force})
}
