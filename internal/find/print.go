package find

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// printHits prints what a search found: as the text that it was made for, else
// each hit with its lines on a terminal or where more of each was asked for, and
// else one line of fields each.
func printHits(p *printer.Printer, r SearchReply) {
	switch {
	case r.Packed:
		p.Content(r.Shown)
		if r.Count > 0 {
			p.Line("confidence " + r.Confidence)
		}
	case !p.Terminal && !slices.ContainsFunc(r.Hits, func(h Hit) bool { return h.Kind != "" }):
		t := p.Table("id", "at", "score", "symbol", "store", "note")
		for _, h := range r.Hits {
			t.Row(h.ID, printer.Name(h.At), fmt.Sprintf("%.3f", h.Score), h.Symbol, h.Store, h.Note)
		}
		t.Flush()
	default:
		p.Mark = printer.Words(r.Words)
		for i, h := range r.Hits {
			if i > 0 {
				p.Line("")
			}
			printHit(p, h)
		}
		p.Mark = nil
		if len(r.Hits) == 0 {
			p.Line("nothing found")
		} else {
			p.Line("")
			sure := cmp.Or(r.Confidence, "unknown")
			if r.Probability > 0 {
				sure += fmt.Sprintf(" (%.2f)", r.Probability)
			}
			p.Line(fmt.Sprintf("%s, confidence %s, %.0f ms; the whole place: knowledge show ID",
				kb.Count(len(r.Hits), "hit"), sure, r.Ms))
		}
	}
	for _, n := range r.Notes {
		p.Remark(n)
	}
}

func printHit(p *printer.Printer, h Hit) {
	p.Head("", h.ID, p.At(h.Store, h.At), printer.Symbol.Text(printer.Field(h.Symbol)),
		printer.Score.Text(fmt.Sprintf("%.2f", h.Score)), printer.Plain.Text(h.Store))
	if h.Note != "" {
		p.Labelled("    ", "note:", p.Words(h.Note))
	}
	for _, x := range h.Extras {
		for _, l := range x.Lines {
			p.Line("    " + l)
		}
	}
	if h.Signature != "" {
		p.Line("    " + h.Signature)
	}
	if h.Doc != "" {
		p.Line("    " + h.Doc)
	}
	if h.Code != "" {
		p.Code(h.Code, max(h.Line, 1), "    ")
	}
	for _, l := range []struct {
		label string
		list  []string
	}{{"and:", h.Places}, {"because:", h.Why}, {"imports:", h.Imports}, {"called by:", h.CalledBy}, {"calls:", h.Calls}} {
		p.Labelled("    ", l.label, strings.Join(l.list, ", "))
	}
	printRelated(p, h.Store, h.Related, "    ")
	if len(h.Explain) > 0 {
		names := slices.SortedFunc(maps.Keys(h.Explain), func(a, b string) int {
			return cmp.Or(cmp.Compare(h.Explain[b], h.Explain[a]), strings.Compare(a, b))
		})
		for i, n := range names {
			names[i] = fmt.Sprintf("%s %+.3f", n, h.Explain[n])
		}
		p.Labelled("    ", "score:", strings.Join(names, ", "))
	}
}

// printPlace prints what get_full_context returned, with true line numbers.
func printPlace(p *printer.Printer, c Context) {
	store := c.Store
	if c.Commit != "" && !strings.Contains(store, "@") {
		store += "@" + printer.Short(c.Commit)
	}
	p.Head("", c.ID, p.At(c.Store, c.At), printer.Symbol.Text(printer.Field(c.Symbol)), printer.Plain.Text(c.Kind), printer.Plain.Text(store))
	printPage(p, c)
	if c.Note != "" {
		p.Labelled("", "note:", p.Words(c.Note))
	}
	p.Line("")
	if c.Code != "" {
		p.Whole(c.Code, c.Start, "")
	}
	printUsage(p, c)
	if len(c.Related) > 0 {
		p.Line("")
		printRelated(p, c.Store, c.Related, "")
	}
	for _, x := range c.Extras {
		p.Line("")
		for _, l := range x.Lines {
			p.Line(l)
		}
	}
	if c.Next != "" {
		p.Line("")
		p.Line("goes on: knowledge show " + c.Next)
	}
	for _, o := range c.Others {
		p.Line("")
		printPlace(p, o)
	}
}

// printPlaces prints several places, one below the other.
func printPlaces(p *printer.Printer, s search.Several) {
	for i, c := range s.Places {
		if i > 0 {
			p.Line("")
		}
		printPlace(p, c)
	}
	p.Remarks(s.Notes)
}

func printRelated(p *printer.Printer, store string, list []Related, indent string) {
	for _, r := range list {
		at := p.At(store, r.At)
		at.Text = "see " + at.Text
		p.Parts(indent, "  ", at, printer.Symbol.Text(r.Symbol), printer.ID.Text(r.ID), printer.Label.Text("("+r.Why+")"))
	}
}

// printText prints a document's lines: numbered on a terminal, as they are in a pipe.
func printText(p *printer.Printer, r FileText) {
	if !p.Terminal {
		p.Content(r.Text)
	} else if r.Text != "" {
		p.Whole(strings.TrimSuffix(r.Text, "\n"), max(r.Start, 1), "")
	}
	p.Remark(r.Note)
}

// printPage prints where on a site a page of the web is, on one line.
func printPage(p *printer.Printer, c Context) {
	if c.Page == nil {
		return
	}
	parts := []string{"page: " + strings.Join(append(slices.Clone(c.Breadcrumbs), cmp.Or(c.Title, c.URL)), " › ")}
	if c.Version != "" {
		parts = append(parts, "version "+c.Version)
	}
	if !c.Modified.IsZero() {
		parts = append(parts, "modified "+c.Modified.Format("2006-01-02"))
	}
	p.Line(strings.Join(parts, ", "))
}

// printUsage prints what a place is called by, what it calls, imports and holds.
func printUsage(p *printer.Printer, c Context) {
	if c.Of != "" {
		p.Line("")
		p.Line("several stand here; what follows is of " + c.Of)
	}
	list := func(title string, links []search.Link, more int) {
		if len(links) == 0 {
			return
		}
		if more > 0 {
			title += fmt.Sprintf(" (%d more: knowledge code:%s %s)", more, map[string]string{"called by": "callers", "calls": "callees"}[title], c.ID)
		}
		p.Line("")
		p.Parts("", "", printer.Label.Text(title))
		for _, l := range links {
			p.Head("  ", l.ID, p.At(c.Store, l.At), printer.Symbol.Text(l.Symbol))
		}
	}
	if len(c.Imports) > 0 {
		p.Line("")
		p.Labelled("", "imports used:", strings.Join(c.Imports, "; "))
	}
	if len(c.Inherits) > 0 {
		p.Labelled("", "inherits:", strings.Join(c.Inherits, ", "))
	}
	list("called by", c.Callers, c.MoreCallers)
	list("tests that reach it", c.Tests, 0)
	list("types it uses", c.Types, 0)
	list("calls", c.Callees, c.MoreCallees)
	if len(c.Members) > 0 {
		p.Line("")
		p.Parts("", "", printer.Label.Text("members"))
		for _, m := range c.Members {
			p.Head("  ", m.ID, printer.Number.Text("L"+m.Lines), printer.Symbol.Text(m.Symbol))
		}
	}
}

func printFiles(p *printer.Printer, r FileList) {
	for _, f := range r.Files {
		p.Parts("", "", p.At(r.Store, f))
	}
	p.Nothing(len(r.Files), r.Note, "no document matches; list all with: knowledge files")
	p.Remark(r.Note)
}

func printGrep(p *printer.Printer, r GrepReply) {
	p.Mark = r.Marks
	for _, m := range r.Matches {
		if p.Terminal {
			p.Match(p.At(r.Store, fmt.Sprintf("%s:L%d", m.Path, m.Line)), m.Text)
		} else { // the text is the last field and stays as it is
			p.Out.WriteString(printer.Field(printer.Name(m.Path)) + "\t" + fmt.Sprint(m.Line) + "\t" + strings.TrimRight(m.Text, "\r\n") + "\n")
		}
	}
	p.Mark = nil
	p.Nothing(len(r.Matches), r.Note, "no line matches; what has the same meaning is found with: knowledge search WORDS")
	p.Remark(r.Note)
}
