package web

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

type pagesIn struct {
	Store string `json:"store" arg:"1" help:"name or id of a store of type web"`
	State string `json:"state,omitempty" enum:"kept|failed|left-out|redirect|folded|noindex|empty" help:"only addresses of which this became"`
	Text  string `json:"text,omitempty" help:"only addresses that hold this text"`
	Limit int    `json:"limit,omitempty" help:"at most this many addresses (default 50)"`
}

// addWeb adds the commands about crawled sites.
func addWeb(t *command.Table) {
	c := t.Add("store", command.New("store:pages", "What became of each address of a crawled site, and why", command.Reads,
		func(ctx context.Context, a *app.App, in pagesIn) (PageList, error) {
			return Pages(ctx, a, in.Store, in.State, in.Text, in.Limit)
		}).Prints(printer.Of(printPages)).Agent(), `{"store":"guide","state":"failed"}`)
	c.Help = "Of a page that is kept it says why it was taken, of others why not. Before the first crawl has ended it tells how far that is."
}
