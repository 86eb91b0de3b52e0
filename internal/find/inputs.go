package find

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

type searchIn struct {
	Query        string   `json:"query" arg:"1..." help:"what to find: words, a name, a quoted phrase, a path, an error, or a pasted trace, issue or piece of code"`
	Intent       string   `json:"intent,omitempty" enum:"find-pattern|find-implementation|find-usage|find-definition|find-documentation" help:"what kind of place is wanted"`
	Mode         string   `json:"mode,omitempty" enum:"hybrid|vector|fts" help:"how to look: both ways (hybrid, the default), by meaning, or by words"`
	Detail       string   `json:"detail,omitempty" enum:"minimal|contextual|full" help:"how much to show of each hit (default minimal)"`
	Limit        int      `json:"limit,omitempty" help:"at most this many hits (default 10)"`
	Budget       int      `json:"budget,omitempty" cli:"first" help:"tokens that the text of a reply without detail has at most (default 1200)"`
	Stores       []string `json:"stores,omitempty" help:"names or ids of the stores to search; * is every store"`
	Threshold    *float64 `json:"threshold,omitempty" help:"leave out hits that score less, from 0 to 1"`
	MinRelevance *float64 `json:"minRelevance,omitempty" help:"leave out hits whose cosine similarity is less, from 0 to 1"`
	In           string   `json:"in,omitempty" cli:"first" help:"only documents below this path of their store"`
	At           string   `json:"at,omitempty" cli:"first" help:"search what a commit had, in place of what is here: a branch, tag, hash, HEAD~20, or a day, 2026-11-01"`
	Explain      bool     `json:"explain,omitempty" cli:"first" help:"show what each score is made of"`
	Lines        int      `json:"lines,omitempty" cli:"first" short:"none" help:"show this many lines of each hit, with its kind and language, whatever they cost"`
	Yes          bool     `json:"yes,omitempty" cli:"only" help:"index a home directory, a file-system root or a very large folder"`
	Form         string   `json:"form,omitempty" cli:"never" enum:"text|json" help:"how the reply is written: text, or json for programs (default json where detail is given, else text)"`
	ToEnd        bool     `json:"wait,omitempty" cli:"only" help:"see the first index of a large folder to its end before answering"`
}

type contextIn struct {
	ResultID string `json:"resultId" arg:"1" help:"the id of a search hit, a place such as server.go:120 or server.go:120-140, a name, several of these separated by commas, or the next of a long reply" person:"the id of a hit, a place such as server.go:120, or a name; several separated by commas"`
	Form     string `json:"form,omitempty" cli:"never" enum:"text|json" help:"how the reply is written: text, or json for programs"`
}

type readIn struct {
	Store string `json:"store,omitempty" arg:"1" help:"name or id of a store (default: the folder you are in)"`
	Path  string `json:"path" arg:"2" help:"path of a document, or the URL of a page; the end of a path will do, and a place such as src/app.py:120-140"`
	Lines string `json:"lines,omitempty" help:"12, 12-40, 12- or -40 (default all)"`
}

type filesIn struct {
	Store string `json:"store,omitempty" arg:"1" help:"name or id of a store (default: the folder you are in)"`
	Glob  string `json:"glob,omitempty" arg:"2" help:"pattern of paths with * ? [] and **"`
	Limit int    `json:"limit,omitempty" help:"at most this many paths (default 200)"`
}

type grepIn struct {
	Store      string `json:"store,omitempty" arg:"1" help:"name or id of a store (default: the folder you are in)"`
	Pattern    string `json:"pattern" arg:"2" help:"RE2 regular expression"`
	Glob       string `json:"glob,omitempty" help:"only in paths that match, with * ? [] and **"`
	IgnoreCase bool   `json:"ignoreCase,omitempty" help:"upper and lower case are the same"`
	Limit      int    `json:"limit,omitempty" help:"at most this many lines (default 50)"`
}

// runContext shows the place that an id names. For agents it also runs what
// only reads, so that a client's user who lets it be called without asking has
// let all reading be done, and nothing else: execute, which they are asked
// about, is one tool for what reads and what deletes.
func runContext(ctx context.Context, a *app.App, in contextIn, reading func(string) (command.Command, json.RawMessage, bool, error)) (any, error) {
	if !command.IsCLI(ctx) {
		c, args, ok, err := reading(in.ResultID)
		if err != nil {
			return nil, err
		}
		if ok {
			return c.Run(ctx, a, args)
		}
	}
	found, err := ShowAll(ctx, a, in.ResultID, command.WaitingOf(ctx))
	text := command.IsText(ctx) && !command.IsCLI(ctx) && in.Form != "json"
	switch x := found.(type) {
	case Context:
		x.Plain = text
		return x, err
	case search.Several:
		for i := range x.Places {
			x.Places[i].Plain = text
		}
		x.Plain = text
		return x, err
	}
	return found, err
}

func runSearch(ctx context.Context, a *app.App, in searchIn) (SearchReply, error) {
	scope := app.Scope{Stores: in.Stores, Yes: in.Yes, At: in.At, Waiting: command.WaitingOf(ctx)}
	if in.ToEnd {
		scope.Early = 0
	}
	packed := command.IsText(ctx) && in.Detail == "" && in.Form != "json" && !in.Explain && in.Lines == 0
	return Ask(ctx, a, search.Request{
		Query: in.Query, Intent: in.Intent, Mode: in.Mode, Detail: in.Detail, Limit: in.Limit,
		Packed: packed, Budget: in.Budget,
		Threshold: in.Threshold, MinRelevance: in.MinRelevance, Under: in.In, Explain: in.Explain, Lines: in.Lines,
	}, scope)
}

func runRead(ctx context.Context, a *app.App, in readIn) (FileText, error) {
	if in.Store == "" {
		return ReadHere(ctx, a, in.Path, in.Lines, command.WaitingOf(ctx))
	}
	return Read(ctx, a, in.Store, in.Path, in.Lines, command.WaitingOf(ctx))
}

// runFiles lists the paths of a store or of the folder. One word on the command
// line is a store if there is one of that name, else a pattern.
func runFiles(ctx context.Context, a *app.App, in filesIn) (FileList, error) {
	if in.Store == "" {
		return FilesHere(ctx, a, in.Glob, in.Limit, command.WaitingOf(ctx))
	}
	if command.IsCLI(ctx) && in.Glob == "" && !a.HasStore(ctx, in.Store) {
		list, err := FilesHere(ctx, a, in.Store, in.Limit, command.WaitingOf(ctx))
		if err != nil || list.Total > 0 || strings.ContainsAny(in.Store, "*?[/.") {
			return list, err
		}
		// Neither: what is wrong is more likely the name of the store.
	}
	return Files(ctx, a, in.Store, in.Glob, in.Limit, command.WaitingOf(ctx))
}

// runGrep greps. Two words in the other order, as other programs have them,
// differ in whether the second is a store or a path.
func runGrep(ctx context.Context, a *app.App, in grepIn) (GrepReply, error) {
	if in.Store == "" {
		return GrepHere(ctx, a, in.Pattern, in.Glob, in.IgnoreCase, in.Limit, command.WaitingOf(ctx))
	}
	r, err := Grep(ctx, a, in.Store, in.Pattern, in.Glob, in.IgnoreCase, in.Limit, command.WaitingOf(ctx))
	if kb.CodeOf(err) != kb.NotFound || a.HasStore(ctx, in.Store) {
		return r, err
	}
	e := kb.Errorf(kb.NotFound, "%w", err)
	if a.HasStore(ctx, in.Pattern) {
		return r, e.WithHint("the store comes before the pattern: grep %s", printer.JSON(grepIn{Store: in.Pattern, Pattern: in.Store}))
	}
	if list, fe := FilesHere(ctx, a, in.Pattern, 1, command.WaitingOf(ctx)); fe == nil && list.Total > 0 {
		glob := in.Pattern
		if list.Files[0] != strings.TrimPrefix(glob, "./") {
			glob = strings.TrimSuffix(glob, "/") + "/**"
		}
		return r, e.WithHint("only in those paths looks: grep %s", printer.JSON(grepIn{Pattern: in.Store, Glob: glob}))
	}
	return r, err
}
