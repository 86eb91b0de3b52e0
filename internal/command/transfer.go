package command

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
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

// addTransfer adds the commands that look after the data directory as a whole.
func addTransfer(t *Table) {
	c := t.Add("data", New("export", "Write a store into one file, to import it elsewhere", Writes,
		func(ctx context.Context, a *app.App, in exportIn) (app.Exported, error) {
			return a.Export(ctx, in.Store, in.File, in.Force)
		}), `{"store":"react","file":"react.kbx"}`, `{"store":".","file":"/tmp/project.kbx"}`)
	c.Help = "The file holds the text of every document of the store. It is written whole or not at all. docs/data.md has its format."
	c = t.Add("data", New("import", "Make a store of an exported file, without its source", Writes,
		func(ctx context.Context, a *app.App, in importIn) (app.Imported, error) {
			return a.Import(ctx, app.ImportRequest{File: in.File, Name: in.Name, User: in.Scope == "user", Force: in.Force})
		}), `{"file":"react.kbx"}`, `{"file":"react.kbx","name":"react-18","scope":"user"}`)
	c.Help = "A file that is damaged, cut short, changed or of a newer version is refused, and nothing of it stays. Ids, scores and order of hits are those of the machine that exported it."
	c = t.Add("data", New("gc", "Delete what nothing refers to any more, and list it", Deletes,
		func(ctx context.Context, a *app.App, in gcIn) (app.Collected, error) {
			return a.Collect(ctx, in.DryRun)
		}),
		`{"dryRun":true}`, `{}`)
	c.Help = "Files of the index, views, kept pages, copies of repositories and replies that belong to no store, and what killed processes left. It is safe while jobs run and others search."
	// Agents may look; only a person at a terminal has things mended.
	c = t.Add("data", New("verify", "Read every file that stores rely on: is it there and true", Reads,
		func(ctx context.Context, a *app.App, in verifyIn) (app.Verified, error) {
			return a.Verify(ctx, in.Store, in.Repair)
		}).Agent(), `{}`, `{"store":"react"}`)
	c.Help = "Exit status 7 when something is damaged, missing or open to others; 1 when there are only leftovers. " +
		"With --repair vectors are made anew from the text, views from the index, and the rest from the store's source; what cannot be had without the source is named, with the way back from an export."
	c = t.Add("data", New("selftest", "Try everything that needs no network, in a place of its own: does it work here", Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (app.SelfTest, error) { return a.SelfTest(ctx) }).Agent(), `{}`)
	c.Help = "Indexes three files that it brings along, searches, shows, greps, exports, imports and verifies them, and compares the vectors' fast instructions with plain ones. Exit status 1 when something fails."
	c = t.Add("help", New("doctor", "Look for what keeps things from working, and say what to do", Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (app.Diagnosis, error) { return a.Doctor(ctx) }).Prints(printer.Of(printDiagnosis)).Agent(), `{}`)
	c.Help = "Looks at the configuration, git, the data directory, the stores, and how this project's folder is followed. Changes nothing."
}

type gcIn struct {
	DryRun bool `json:"dryRun,omitempty" help:"list it, and delete nothing"`
}

type verifyIn struct {
	Store  string `json:"store,omitempty" arg:"1" help:"name or id of one store (default: everything)"`
	Repair bool   `json:"repair,omitempty" cli:"only" help:"mend what can be mended"`
}
