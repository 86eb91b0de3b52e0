package find

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

// addFind adds the commands that find and show what is indexed.
func addFind(t *command.Table) {
	c := t.Add("find", command.New("search",
		"Use before grep when you know what code does, not its name: cited lines of this project and its stores, as text of 1,200 tokens at most",
		command.Reads, runSearch).Prints(printer.Of(printHits)).Agent(),
		`{"query":"retry with exponential backoff"}`,
		`{"query":"Server.Shutdown","intent":"find-definition","stores":["go"],"detail":"full","limit":3}`)
	c.Native = true
	c.Help = "Without detail an agent gets text of at most budget tokens: of a sure first hit its lines and what uses it, of a question how something works the functions in the order of their calls, else more places with fewer lines; what is left out is named. With detail, or form json, it gets JSON. The default scope is this project's stores, its own folder and your own stores; stores [\"*\"] is everything. " +
		"A hit's id is good for get_full_context in any later session."

	c = t.Add("find", command.New("get_full_context",
		"Whole declarations, callers, tests, types of path:line, names or ids, with commas; also runs what only reads: \"grep PATTERN\", \"read PATH\", \"code:callers NAME\"",
		command.Reads, func(ctx context.Context, a *app.App, in contextIn) (any, error) {
			return runContext(ctx, a, in, t.Reading)
		}).Prints(printer.Of(printPlace), printer.Of(printPlaces)).Agent(), `{"resultId":"k3vq7m2xabc"}`, `{"resultId":"server.go:120"}`, `{"resultId":"Server.Shutdown,server.go:120-140"}`, `{"resultId":"code:callers Server.Shutdown"}`)
	c.Native, c.Aliases = true, []string{"show"}
	c.Help = "An agent may give the name of a command that only reads, and what it asks about or its arguments as an object, in place of an id. A long reply ends with next, itself a value for resultId. Callers and callees are those that are certain enough; code:references has every use."

	t.Add("find", command.New("read", "Lines of one document of this folder, or of a store", command.Reads,
		runRead).Prints(printer.Of(printText)).Agent(), `{"path":"internal/server.go","lines":"100-160"}`, `{"store":"go","path":"net/http/server.go","lines":"100-160"}`)
	t.Add("find", command.New("files", "Paths of the documents of this folder, or of a store", command.Reads, runFiles).Prints(printer.Of(printFiles)).Agent(), `{"glob":"**/*_test.go"}`, `{"store":"go","glob":"net/**/*_test.go","limit":50}`)
	t.Add("find", command.New("grep", "Lines of this folder, or of a store, that match a regular expression", command.Reads,
		runGrep).Prints(printer.Of(printGrep)).Agent(), `{"pattern":"TODO|FIXME"}`, `{"store":"go","pattern":"func \\(srv \\*Server\\)","glob":"net/http/*.go"}`)
	c = t.Add("find", command.New("eval", "Measure how well search answers judged queries", command.Reads, runEval),
		`{"tasks":"queries.json","repos":"checkouts"}`)
	c.Help = "Indexes each repository of the tasks in a data directory of its own and asks every query. With --data-dir the indexes are kept for the next time."
}
