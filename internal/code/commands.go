package code

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

type symbolsIn struct {
	Name   string   `json:"name,omitempty" arg:"1" help:"part of a name: serve, Server.Serve (default all)"`
	Path   string   `json:"path,omitempty" help:"only documents at or below this path"`
	Kind   string   `json:"kind,omitempty" help:"only this kind: function, method, class, type, const, var, …"`
	Stores []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	Limit  int      `json:"limit,omitempty" help:"at most this many (default 50)"`
}

type definitionIn struct {
	Symbol string   `json:"symbol" arg:"1" help:"a name (Serve, Server.Serve, http.Server.Serve), a place (server.go:120) or the id of a hit"`
	Stores []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
}

type referencesIn struct {
	Symbol string   `json:"symbol" arg:"1" help:"a name (Serve, Server.Serve, http.Server.Serve), a place (server.go:120) or the id of a hit"`
	Kind   string   `json:"kind,omitempty" enum:"call|type|inherit|use" help:"only uses of this kind"`
	Stores []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	Limit  int      `json:"limit,omitempty" help:"at most this many uses (default 50)"`
}

type callsIn struct {
	Symbol string   `json:"symbol" arg:"1" help:"a name (Serve, Server.Serve, http.Server.Serve), a place (server.go:120) or the id of a hit"`
	Depth  int      `json:"depth,omitempty" help:"how many calls far, up to 5 (default 1)"`
	Stores []string `json:"stores,omitempty" help:"names or ids of stores; * is every store"`
	Limit  int      `json:"limit,omitempty" help:"at most this many calls (default 50)"`
}

type outlineIn struct {
	Path  string `json:"path" arg:"1" help:"path of a document"`
	Store string `json:"store,omitempty" help:"name or id of its store (default: those in scope)"`
}

type aroundIn struct {
	Path  string `json:"path" arg:"1" help:"path of a document"`
	Store string `json:"store,omitempty" help:"name or id of its store (default: those in scope)"`
	Depth int    `json:"depth,omitempty" help:"how many uses far, up to 5 (default 1)"`
	Limit int    `json:"limit,omitempty" help:"at most this many documents around it (default 50)"`
}

// addCode adds the commands about declarations and their uses.
func addCode(t *command.Table) {
	ask := func(ctx context.Context, a *app.App, r search.CodeRequest, stores []string) (CodeReply, error) {
		return Ask(ctx, a, CodeRequest{CodeRequest: r, Stores: stores, Waiting: command.WaitingOf(ctx)})
	}
	t.Add("code", command.New("code:symbols", "Declarations by part of their name", command.Reads,
		func(ctx context.Context, a *app.App, in symbolsIn) (CodeReply, error) {
			r := search.SymbolsRequest{Name: in.Name, Under: in.Path, Kind: in.Kind, Limit: in.Limit}
			return Symbols(ctx, a, SymbolsRequest{SymbolsRequest: r, Stores: in.Stores, Waiting: command.WaitingOf(ctx)})
		}).Prints(printer.Of(printCode)).Agent(), `{"name":"Handler","kind":"type","path":"net/http"}`)
	t.Add("code", command.New("code:definition", "Where a symbol is declared, with signature and doc", command.Reads,
		func(ctx context.Context, a *app.App, in definitionIn) (CodeReply, error) {
			return ask(ctx, a, search.CodeRequest{Symbol: in.Symbol, What: search.Definition}, in.Stores)
		}).Agent(), `{"symbol":"http.Server.Serve"}`)
	c := t.Add("code", command.New("code:references", "Every line that uses a symbol", command.Reads,
		func(ctx context.Context, a *app.App, in referencesIn) (CodeReply, error) {
			return ask(ctx, a, search.CodeRequest{Symbol: in.Symbol, What: search.References, Kind: in.Kind, Limit: in.Limit}, in.Stores)
		}).Agent(), `{"symbol":"Server.Serve","kind":"call"}`)
	c.Help = "Go is resolved by its type checker, other languages through scopes, imports and the types that the code states. " +
		"A use whose target is not certain enough is left out; confidence is shown where it is less than 1. " +
		"In languages other than Go only calls, types and base types count as uses."
	c = t.Add("code", command.New("code:callers", "Who calls a symbol, and who calls them", command.Reads,
		func(ctx context.Context, a *app.App, in callsIn) (CodeReply, error) {
			return ask(ctx, a, search.CodeRequest{Symbol: in.Symbol, What: search.Callers, Depth: in.Depth, Limit: in.Limit}, in.Stores)
		}).Agent(), `{"symbol":"Server.Serve","depth":2}`)
	c.Help = "Calls as the code states them: a call through an interface leads to the method of the interface."
	t.Add("code", command.New("code:callees", "What a symbol calls, and what that calls", command.Reads,
		func(ctx context.Context, a *app.App, in callsIn) (CodeReply, error) {
			return ask(ctx, a, search.CodeRequest{Symbol: in.Symbol, What: search.Callees, Depth: in.Depth, Limit: in.Limit}, in.Stores)
		}).Agent(), `{"symbol":"Server.Serve"}`)
	t.Add("code", command.New("code:outline", "What a document declares, with lines and ids", command.Reads,
		func(ctx context.Context, a *app.App, in outlineIn) (OutlineReply, error) {
			return Outline(ctx, a, in.Path, in.Store, command.WaitingOf(ctx))
		}).Prints(printer.Of(printOutline)).Agent(), `{"path":"net/http/server.go"}`)
	c = t.Add("code", command.New("code:files", "Which files use a file, and which it uses", command.Reads,
		func(ctx context.Context, a *app.App, in aroundIn) (Neighbourhood, error) {
			return Around(ctx, a, in.Path, in.Store, in.Depth, in.Limit, command.WaitingOf(ctx))
		}).Prints(printer.Of(printAround)).Agent(), `{"path":"net/http/server.go"}`, `{"path":"net/http/server.go","depth":2,"limit":200}`)
	c.Help = "Edges go from the file that uses to the one that declares, by their places in nodes, with how many lines call, name a type, inherit or name something else."
}
