package answers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
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

// Reviewed is the reply of feedback:review: an entry that was looked at, or
// what there is to look at.
type Reviewed struct {
	*FeedbackItem
	*Review
}

func printReviewed(p *printer.Printer, r Reviewed) {
	switch {
	case r.FeedbackItem != nil:
		p.Readable(r.FeedbackItem)
	case r.Review.Text != "":
		p.Content(r.Review.Text)
	default:
		printReview(p, r.Review)
	}
}

func printReview(p *printer.Printer, r *Review) {
	for _, part := range []struct {
		title string
		list  []ReviewEntry
	}{
		{"questions without an answer", r.Unanswered}, {"answers rated badly", r.Rated},
		{"asked most", r.Asked}, {"answers that have changed", r.Drifted},
	} {
		if len(part.list) == 0 {
			continue
		}
		p.Line(part.title)
		t := p.Table("times", "rated", "sure", "question", "what to know")
		for _, e := range part.list {
			rated, sure := "", ""
			if e.Negative+e.Positive > 0 {
				rated = fmt.Sprintf("-%d +%d", e.Negative, e.Positive)
			}
			if e.Confidence != nil {
				sure = fmt.Sprintf("%.2f", *e.Confidence)
			}
			times := ""
			if e.Times > 0 {
				times = fmt.Sprint(e.Times)
			}
			t.Row(times, rated, sure, kb.Clip(e.Question, 120), strings.Join(slices.Concat(e.known(), e.Comments), "; "))
		}
		t.Flush()
	}
	p.Nothing(len(r.Unanswered)+len(r.Rated)+len(r.Asked)+len(r.Drifted), "", "nothing was asked or rated yet")
	for _, n := range r.Notes {
		p.Remark(p.Words(n))
	}
}

// known is what is said of an entry in a few words.
func (e *ReviewEntry) known() []string {
	var out []string
	if e.Change != "" {
		out = append(out, e.Change)
	}
	if len(e.Wordings) > 0 {
		out = append(out, "also: "+kb.Clip(strings.Join(e.Wordings, ", "), 120))
	}
	return out
}
