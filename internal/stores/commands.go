package stores

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// addStores adds the commands about stores, their jobs, and what a person vouches for.
func addStores(t *command.Table) {
	t.Add("store", command.New("stores", "List the stores in scope", command.Reads,
		func(ctx context.Context, a *app.App, in storesIn) (app.StoreList, error) {
			return a.Stores(ctx, kindOf(in.Type), in.All)
		}).Prints(printer.Of(printStores)).Agent(), `{}`, `{"type":"repo"}`)
	t.Add("store", command.New("store:info", "Everything known of one store", command.Reads,
		func(ctx context.Context, a *app.App, in storeIn) (app.StoreInfo, error) {
			return a.StoreInfo(ctx, in.Store)
		}).Prints(printer.Of(printStore)).Agent(), `{"store":"react"}`)
	c := t.Add("store", command.New("store:create", "Name a folder, archive, repository, site or package and index it", command.Writes, runCreate).Prints(printer.Of(printStarted)).Agent(),
		`{"name":"react","type":"repo","source":"https://github.com/facebook/react","tag":"v19.0.0"}`,
		`{"name":"notes","type":"file","source":"./docs"}`,
		`{"name":"guide","type":"web","source":"https://docs.example.org/guide/","include":["/guide/"],"maxPages":500}`,
		`{"source":"npm:zod@3"}`)
	c.Network = command.AnyHost
	c.Help = "Without name and type both follow from the source: a URL is a repository, npm: and go: are packages, a path is a folder, or an archive where it ends in .zip or begins with zip:; type web makes a URL a site, which is crawled: its llms.txt and sitemap first, then links, within the host and what include and exclude leave. " +
		"At most one of branch, tag and commit. save, or a file .knowledge/stores.json that exists, keeps the store in the project's definitions, for stores:sync. A job does the indexing; the reply holds its id, and job:status tells how far it is. " +
		"Of an npm package README, guides and type declarations are indexed, of a Go module also its sources."
	c = t.Add("store", command.New("store:index", "Bring a store up to date", command.Writes,
		func(ctx context.Context, a *app.App, in indexIn) (app.Started, error) {
			return a.IndexStoreAs(ctx, in.Store, app.IndexArgs{Force: in.Force, Paid: in.Paid})
		}).Agent(), `{"store":"react"}`)
	c.Network = command.AnyHost
	t.Add("store", command.New("store:rename", "Give a store another name in this project", command.Writes,
		func(ctx context.Context, a *app.App, in renameIn) (app.Renamed, error) {
			return a.RenameStore(ctx, in.Store, in.Name)
		}).Prints(printer.Of(printRenamed)).Agent(), `{"store":"react","name":"react-19"}`).Help =
		"The store keeps its id, index and schedule, and what other projects call it. Where .knowledge/stores.json defines it, the name changes there too."
	t.Add("store", command.New("store:delete", "Remove a store from this project, and its index when nobody else uses it", command.Deletes,
		func(ctx context.Context, a *app.App, in deleteIn) (app.Deleted, error) {
			if in.Shared {
				return a.DeleteShared(ctx, in.Store)
			}
			return a.DeleteStore(ctx, in.Store, in.Everywhere)
		}).Prints(printer.Of(printDeleted)).Agent(), `{"store":"react"}`)

	t.Add("job", command.New("jobs", "List the jobs of this project, newest first", command.Reads, runJobs).Prints(printer.Of(printJobs)).Agent(), `{}`, `{"activeOnly":true}`, `{"all":true}`)
	t.Add("job", command.New("job:status", "How far a job is, or how it ended", command.Reads, runJobStatus).Prints(printer.Of(printJob)).Agent(),
		`{"jobId":"abcdefgh"}`, `{"jobId":"abcdefgh","wait":true}`)
	t.Add("job", command.New("job:cancel", "Stop a job; the store keeps what it had before", command.Writes,
		func(ctx context.Context, a *app.App, in jobIn) (kb.Job, error) { return a.CancelJob(ctx, in.JobID) }).Agent(),
		`{"jobId":"abcdefgh"}`)

	c = t.Add("trust", command.New("trust", "Vouch for a project file as it is now, or for a folder that agents may index", command.Writes,
		runTrust), `{"path":".knowledge/stores.json"}`, `{"path":"../shared"}`, `{"path":"../shared","forget":true}`)
	c.Help = "Files of a project that strangers may have written are inert until then, and agents index nothing outside a project and what it depends on. " +
		"The trust in a file ends when the file changes; that in a folder holds for everything below it. " +
		"It shows what it is about and asks, at a terminal alone: a script or a server is told by trust.paths in the configuration, or by KNOWLEDGE_TRUST_PATHS in its environment."
}
