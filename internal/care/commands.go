package care

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

type exportIn struct {
	Store string `json:"store" arg:"1" help:"name or id of the store; . is this folder"`
	File  string `json:"file" arg:"2" help:"the file to write"`
	Force bool   `json:"force,omitempty" help:"replace a file that exists"`
}

type importIn struct {
	File  string `json:"file" arg:"1" help:"a file that export made"`
	Name  string `json:"name,omitempty" help:"what to call the store (default: the name in the file)"`
	Scope string `json:"scope,omitempty" enum:"project|user" help:"who sees the name: this project (the default in one) or all projects of yours"`
	Force bool   `json:"force,omitempty" help:"replace what is indexed here, also if it is newer"`
}

// addCare adds the commands that look after the data directory as a whole.
func addCare(t *command.Table) {
	c := t.Add("data", command.New("export", "Write a store into one file, to import it elsewhere", command.Writes,
		func(ctx context.Context, a *app.App, in exportIn) (Exported, error) {
			return Export(ctx, a, in.Store, in.File, in.Force)
		}), `{"store":"react","file":"react.kbx"}`, `{"store":".","file":"/tmp/project.kbx"}`)
	c.Help = "The file holds the text of every document of the store. It is written whole or not at all. docs/data.md has its format."
	c = t.Add("data", command.New("import", "Make a store of an exported file, without its source", command.Writes,
		func(ctx context.Context, a *app.App, in importIn) (Imported, error) {
			return Import(ctx, a, ImportRequest{File: in.File, Name: in.Name, User: in.Scope == "user", Force: in.Force})
		}), `{"file":"react.kbx"}`, `{"file":"react.kbx","name":"react-18","scope":"user"}`)
	c.Help = "A file that is damaged, cut short, changed or of a newer version is refused, and nothing of it stays. Ids, scores and order of hits are those of the machine that exported it."
	c = t.Add("data", command.New("backup", "Copy the data directory as it is now, while it is in use", command.Writes,
		func(ctx context.Context, a *app.App, in backupIn) (BackedUp, error) { return BackUp(ctx, a, in.Folder) }), `{"folder":"/backup/knowledge"}`)
	c.Help = "The next backup into the same folder copies what is new. What is made again by itself is left out: copies of repositories, resolved references. The folder holds the text of every store, and the hashed tokens of serve --team."
	c = t.Add("data", command.New("restore", "Make a data directory of a backup", command.Writes,
		func(ctx context.Context, a *app.App, in restoreIn) (BackedUp, error) {
			return Restore(ctx, a, in.Folder)
		}), `{"folder":"/backup/knowledge"}`)
	c.Help = "The data directory must be empty: nothing is overwritten."
	c = t.Add("data", command.New("gc", "Delete what nothing refers to any more, and list it", command.Deletes,
		func(ctx context.Context, a *app.App, in gcIn) (Collected, error) {
			return Collect(ctx, a, in.DryRun)
		}),
		`{"dryRun":true}`, `{}`)
	c.Help = "Files of the index, views, kept pages, copies of repositories and replies that belong to no store, and what killed processes left. On a machine that puts stores on a cluster also what no machine's stores there have needed for an hour. It is safe while jobs run and others search."
	c.Network = command.AnyHost
	t.Add("data", command.New("usage", "What is kept on this machine, how large it is, and what is free", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (Usage, error) { return UsageOf(ctx, a) }).Prints(printer.Of(printUsage)), `{}`)
	// Agents may look; only a person at a terminal has things mended.
	c = t.Add("data", command.New("verify", "Read every file that stores rely on: is it there and true", command.Reads,
		func(ctx context.Context, a *app.App, in verifyIn) (Verified, error) {
			return Verify(ctx, a, in.Store, in.Repair)
		}).Agent(), `{}`, `{"store":"react"}`)
	c.Help = "Exit status 7 when something is damaged, missing or open to others; 1 when there are only leftovers. " +
		"With --repair vectors are made anew from the text, views from the index, and the rest from the store's source; what cannot be had without the source is named, with the way back from an export."
	c = t.Add("data", command.New("selftest", "Try everything that needs no network, in a place of its own: does it work here", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (SelfTest, error) { return RunSelfTest(ctx, a) }).Agent(), `{}`)
	c.Help = "Indexes three files that it brings along, searches, shows, greps, exports, imports and verifies them, and compares the vectors' fast instructions with plain ones. Exit status 1 when something fails."
	c = t.Add("data", command.New("bench", "Measure indexing and search on a folder of yours, beside ripgrep where it is installed", command.Reads,
		func(ctx context.Context, a *app.App, in benchIn) (Benchmark, error) {
			return RunBench(ctx, a, in.Folder)
		}).Prints(printer.Of(printBenchmark)),
		`{}`, `{"folder":"/home/me/src/project"}`)
	c.Help = "Indexes the folder in a data directory of its own, below the folder for temporary files, which is gone afterwards, and asks about names that the folder declares. Your own stores are left alone. A ratio below 1 is faster or smaller than the yardstick."
	c = t.Add("help", command.New("doctor", "Look for what keeps things from working, and say what to do", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (Diagnosis, error) { return Doctor(ctx, a) }).Prints(printer.Of(printDiagnosis)).Agent(), `{}`)
	c.Help = "Looks at the configuration, git, the data directory, the stores, and how this project's folder is followed. Changes nothing."
}

type benchIn struct {
	Folder string `json:"folder,omitempty" arg:"1" help:"the folder to measure with (default: this one)"`
}

type gcIn struct {
	DryRun bool `json:"dryRun,omitempty" help:"list it, and delete nothing"`
}

type verifyIn struct {
	Store  string `json:"store,omitempty" arg:"1" help:"name or id of one store (default: everything)"`
	Repair bool   `json:"repair,omitempty" cli:"only" help:"mend what can be mended"`
}
