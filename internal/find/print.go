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
		for i, h := range r.Hits {
			if i > 0 {
				p.Line("")
			}
			printHit(p, h)
		}
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
	head := []string{string(printer.Name(h.At))}
	if h.Symbol != "" {
		head = append(head, printer.Field(h.Symbol))
	}
	p.Head("", append(head, fmt.Sprintf("%.2f", h.Score), h.Store), h.ID)
	if h.Note != "" {
		p.Line("    note: " + p.Words(h.Note))
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
	if len(h.Places) > 0 {
		p.Line("    and: " + strings.Join(h.Places, ", "))
	}
	if len(h.Why) > 0 {
		p.Line("    because: " + strings.Join(h.Why, ", "))
	}
	if len(h.Imports) > 0 {
		p.Line("    imports: " + strings.Join(h.Imports, ", "))
	}
	if len(h.CalledBy) > 0 {
		p.Line("    called by: " + strings.Join(h.CalledBy, ", "))
	}
	if len(h.Calls) > 0 {
		p.Line("    calls: " + strings.Join(h.Calls, ", "))
	}
	printRelated(p, h.Related, "    ")
	if len(h.Explain) > 0 {
		names := slices.SortedFunc(maps.Keys(h.Explain), func(a, b string) int {
			return cmp.Or(cmp.Compare(h.Explain[b], h.Explain[a]), strings.Compare(a, b))
		})
		for i, n := range names {
			names[i] = fmt.Sprintf("%s %+.3f", n, h.Explain[n])
		}
		p.Line("    score: " + strings.Join(names, ", "))
	}
}

// printPlace prints what get_full_context returned, with true line numbers.
func printPlace(p *printer.Printer, c Context) {
	store := c.Store
	if c.Commit != "" && !strings.Contains(store, "@") {
		store += "@" + printer.Short(c.Commit)
	}
	head := []string{string(printer.Name(c.At))}
	if c.Symbol != "" {
		head = append(head, printer.Field(c.Symbol))
	}
	if c.Kind != "" {
		head = append(head, c.Kind)
	}
	p.Head("", append(head, store), c.ID)
	printPage(p, c)
	if c.Note != "" {
		p.Line("note: " + p.Words(c.Note))
	}
	p.Line("")
	if c.Code != "" {
		p.Code(c.Code, c.Start, "")
	}
	printUsage(p, c)
	if len(c.Related) > 0 {
		p.Line("")
		printRelated(p, c.Related, "")
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

func printRelated(p *printer.Printer, list []Related, indent string) {
	for _, r := range list {
		parts := []string{"see " + string(printer.Name(r.At))}
		if r.Symbol != "" {
			parts = append(parts, r.Symbol)
		}
		p.Line(indent + strings.Join(append(parts, r.ID, "("+r.Why+")"), "  "))
	}
}

// printText prints a document's lines: numbered on a terminal, as they are in a pipe.
func printText(p *printer.Printer, r FileText) {
	if !p.Terminal {
		p.Content(r.Text)
	} else if r.Text != "" {
		p.Code(strings.TrimSuffix(r.Text, "\n"), max(r.Start, 1), "")
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
		p.Line(title)
		for _, l := range links {
			p.Line(strings.TrimRight(strings.Join([]string{"  " + string(printer.Name(l.At)), l.Symbol, l.ID}, "  "), " "))
		}
	}
	if len(c.Imports) > 0 {
		p.Line("")
		p.Line("imports used: " + strings.Join(c.Imports, "; "))
	}
	if len(c.Inherits) > 0 {
		p.Line("inherits: " + strings.Join(c.Inherits, ", "))
	}
	list("called by", c.Callers, c.MoreCallers)
	list("tests that reach it", c.Tests, 0)
	list("types it uses", c.Types, 0)
	list("calls", c.Callees, c.MoreCallees)
	if len(c.Members) > 0 {
		p.Line("")
		p.Line("members")
		for _, m := range c.Members {
			p.Line(fmt.Sprintf("  L%s  %s  %s", m.Lines, m.Symbol, m.ID))
		}
	}
}

func printFiles(p *printer.Printer, r FileList) {
	for _, f := range r.Files {
		p.Line(string(printer.Name(f)))
	}
	p.Nothing(len(r.Files), r.Note, "no document matches")
	p.Remark(r.Note)
}

func printGrep(p *printer.Printer, r GrepReply) {
	for _, m := range r.Matches {
		if p.Terminal {
			p.Line(fmt.Sprintf("%s:%d: %s", printer.Name(m.Path), m.Line, strings.TrimRight(m.Text, "\r")))
		} else { // the text is the last field and stays as it is
			p.Out.WriteString(printer.Field(printer.Name(m.Path)) + "\t" + fmt.Sprint(m.Line) + "\t" + strings.TrimRight(m.Text, "\r\n") + "\n")
		}
	}
	p.Nothing(len(r.Matches), r.Note, "no line matches")
	p.Remark(r.Note)
}
