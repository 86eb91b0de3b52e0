package answers

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

func printAnswer(p *printer.Printer, r Answer) {
	r.Notes = slices.Clone(r.Notes)
	for i, n := range r.Notes {
		r.Notes[i] = p.Words(n)
	}
	text := printer.Clean(r.Text())
	if !p.Terminal {
		p.Out.WriteString(text)
		return
	}
	for l := range strings.Lines(text) {
		p.Line(p.Clickable(strings.TrimSuffix(l, "\n")))
	}
}

// printFeedback prints an entry a line on a terminal; in a pipe the JSON that it is.
func printFeedback(p *printer.Printer, r FeedbackList) {
	if !p.Terminal {
		p.Line(printer.JSON(r))
		return
	}
	t := p.Table("id", "rating", "question", "comment", "state", "given").
		None("no feedback; answers are rated on a page with the widget, or with: knowledge feedback:add --query QUESTION --rating positive")
	for _, e := range r.Entries {
		state := ""
		switch {
		case e.Pending:
			state = "pending"
		case e.Reviewed:
			state = "reviewed"
		}
		t.Row(e.ID, e.Rating, e.Query, e.Comment, state, p.When(e.Created))
	}
	t.Flush()
}
