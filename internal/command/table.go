package command

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// build makes the one table of commands.
func build() []Command {
	var all []Command
	add := adder(func(group string, c Command, examples ...string) *Command {
		c.Group, c.Examples = group, examples
		all = append(all, c)
		return &all[len(all)-1]
	})

	c := add("find", New("search",
		"Use before grep when you know what code does, not its name: ranked, cited code and docs of this project and its stores",
		Reads, runSearch).agent(),
		`{"query":"retry with exponential backoff"}`,
		`{"query":"Server.Shutdown","intent":"find-definition","stores":["go"],"detail":"full","limit":3}`)
	c.Native = true
	c.Help = "The default scope is this project's stores, its own folder and your own stores; stores [\"*\"] is everything. " +
		"A hit's id is good for get_full_context in any later session."

	c = add("find", New("get_full_context",
		"Whole declaration, docs and related code of a hit's id or path:line; also runs what only reads: \"grep PATTERN\", \"read PATH\", \"code:callers NAME\"",
		Reads, runContext).agent(), `{"resultId":"k3vq7m2xabc"}`, `{"resultId":"server.go:120"}`, `{"resultId":"code:callers Server.Shutdown"}`)
	c.Native, c.Aliases = true, []string{"show"}
	c.Help = "An agent may give the name of a command that only reads, and what it asks about or its arguments as an object, in place of an id. A long reply ends with next, itself a value for resultId. Callers and callees are those that are certain enough; code:references has every use."

	add("find", New("read", "Lines of one document of this folder, or of a store", Reads,
		runRead).agent(), `{"path":"internal/server.go","lines":"100-160"}`, `{"store":"go","path":"net/http/server.go","lines":"100-160"}`)
	add("find", New("files", "Paths of the documents of this folder, or of a store", Reads, runFiles).agent(), `{"glob":"**/*_test.go"}`, `{"store":"go","glob":"net/**/*_test.go","limit":50}`)
	add("find", New("grep", "Lines of this folder, or of a store, that match a regular expression", Reads,
		runGrep).agent(), `{"pattern":"TODO|FIXME"}`, `{"store":"go","pattern":"func \\(srv \\*Server\\)","glob":"net/http/*.go"}`)

	addCode(add)

	add("store", New("stores", "List the stores in scope", Reads,
		func(ctx context.Context, a *app.App, in storesIn) (app.StoreList, error) {
			return a.Stores(ctx, kindOf(in.Type), in.All)
		}).agent(), `{}`, `{"type":"repo"}`)
	add("store", New("store:info", "Everything known of one store", Reads,
		func(ctx context.Context, a *app.App, in storeIn) (app.StoreInfo, error) {
			return a.StoreInfo(ctx, in.Store)
		}).agent(), `{"store":"react"}`)
	c = add("store", New("store:create", "Name a folder, repository, site or package and index it", Writes, runCreate).agent(),
		`{"name":"react","type":"repo","source":"https://github.com/facebook/react","tag":"v19.0.0"}`,
		`{"name":"notes","type":"file","source":"./docs"}`,
		`{"name":"guide","type":"web","source":"https://docs.example.org/guide/","include":["/guide/"],"maxPages":500}`,
		`{"source":"npm:zod@3"}`)
	c.Network = AnyHost
	c.Help = "Without name and type both follow from the source: a URL is a repository, npm: and go: are packages, a path is a folder; type web makes a URL a site, which is crawled: its llms.txt and sitemap first, then links, within the host and what include and exclude leave. " +
		"At most one of branch, tag and commit. save, or a file .knowledge/stores.json that exists, keeps the store in the project's definitions, for stores:sync. A job does the indexing; the reply holds its id, and job:status tells how far it is. " +
		"Of an npm package README, guides and type declarations are indexed, of a Go module also its sources."
	c = add("store", New("store:index", "Bring a store up to date", Writes,
		func(ctx context.Context, a *app.App, in indexIn) (app.Started, error) {
			return a.IndexStore(ctx, in.Store, in.Force)
		}).agent(), `{"store":"react"}`)
	c.Network = AnyHost
	c = add("store", New("store:pages", "What became of each address of a crawled site, and why", Reads,
		func(ctx context.Context, a *app.App, in pagesIn) (app.PageList, error) {
			return a.Pages(ctx, in.Store, in.State, in.Text, in.Limit)
		}).agent(), `{"store":"guide","state":"failed"}`)
	c.Help = "Of a page that is kept it says why it was taken, of others why not. Before the first crawl has ended it tells how far that is."
	add("store", New("store:delete", "Remove a store from this project, and its index when nobody else uses it", Deletes,
		func(ctx context.Context, a *app.App, in deleteIn) (app.Deleted, error) {
			return a.DeleteStore(ctx, in.Store, in.Everywhere)
		}).agent(), `{"store":"react"}`)

	addSync(add)
	addKDD(add)
	addEvidence(add)
	addAPIs(add)
	addAnswers(add)
	addWatch(add)
	addResources(add)
	addTransfer(add)
	addSetup(add)

	add("job", New("jobs", "List the jobs of this project, newest first", Reads, runJobs).agent(), `{}`, `{"activeOnly":true}`, `{"all":true}`)
	add("job", New("job:status", "How far a job is, or how it ended", Reads, runJobStatus).agent(),
		`{"jobId":"abcdefgh"}`, `{"jobId":"abcdefgh","wait":true}`)
	add("job", New("job:cancel", "Stop a job; the store keeps what it had before", Writes,
		func(ctx context.Context, a *app.App, in jobIn) (kb.Job, error) { return a.CancelJob(ctx, in.JobID) }).agent(),
		`{"jobId":"abcdefgh"}`)

	c = add("help", New("execute", `Manage stores and jobs, read and grep their files; command "commands" lists all, "help" explains one`,
		Deletes, runExecute).agent(), `{"command":"commands"}`, `{"command":"store:info","args":{"store":"react"}}`)
	c.Native, c.Network = true, AnyHost
	c.Help = "Runs any other command that agents may run. Over HTTP it has the access class of the command it names."
	add("help", New("help", "Parameters of a command, an example, and what is not known yet", Reads, runHelp).agent(),
		`{"command":"store:create"}`)
	add("help", New("commands", "List the commands by group", Reads, runCommands).agent(), `{}`)

	c = add("find", New("eval", "Measure how well search answers judged queries", Reads, runEval),
		`{"tasks":"queries.json","repos":"checkouts"}`)
	c.Help = "Indexes each repository of the tasks in a data directory of its own and asks every query. With --data-dir the indexes are kept for the next time."

	c = add("trust", New("trust", "Vouch for a project file as it is now, or for a folder that agents may index", Writes,
		runTrust), `{"path":".knowledge/stores.json"}`, `{"path":"../shared"}`, `{"path":"../shared","forget":true}`)
	c.Help = "Files of a project that strangers may have written are inert until then, and agents index nothing outside a project and what it depends on. " +
		"The trust in a file ends when the file changes; that in a folder holds for everything below it. " +
		"It shows what it is about and asks, at a terminal alone: a script or a server is told by trust.paths in the configuration, or by KNOWLEDGE_TRUST_PATHS in its environment."
	for i := range all {
		if says, ok := people[all[i].Name]; ok {
			all[i].Person = says
		}
	}
	return all
}

// adder puts a command of a group, with examples of its arguments, into the table.
type adder func(group string, c Command, examples ...string) *Command
