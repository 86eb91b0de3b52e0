package code

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// printCode prints declarations and uses: on a terminal grouped, in a pipe the
// uses, one line of fields each, or the declarations where no uses were asked for.
// Total counts what was asked for: with no use of a declaration it is 0.
func printCode(p *printer.Printer, r CodeReply) {
	if !p.Terminal {
		t := p.Table("id", "at", "symbol", "kind", "code", "store")
		for _, u := range r.Uses {
			t.Row(u.ID, printer.Name(u.At), u.Symbol, u.Kind, u.Code, u.Store)
		}
		if len(r.Uses) == 0 && r.Total > 0 {
			for _, p := range r.Symbols {
				t.Row(p.ID, printer.Name(p.At), p.Symbol, p.Kind, p.Signature, p.Store)
			}
		}
		t.Flush()
	} else {
		for _, d := range r.Symbols {
			p.Head("", []string{string(printer.Name(d.At)), d.Symbol, d.Kind, d.Store}, d.ID)
			for _, l := range []string{d.Signature, d.Doc} {
				if l != "" {
					p.Line("    " + l)
				}
			}
		}
		for _, u := range r.Uses {
			line := strings.Repeat("  ", max(1, u.Depth)) + string(printer.Name(u.At))
			if u.Symbol != "" {
				line += "  " + u.Symbol
			}
			if u.Confidence > 0 {
				line += fmt.Sprintf("  (confidence %.2f)", u.Confidence)
			}
			p.Line(line)
			if u.Code != "" {
				p.Line(strings.Repeat("  ", max(1, u.Depth)) + "    " + u.Code)
			}
		}
		if len(r.Symbols) == 0 && len(r.Uses) == 0 {
			p.Line("nothing found")
		}
	}
	for _, n := range r.Notes {
		p.Remark(n)
	}
}

// printOutline prints what a document declares, nested by indentation.
func printOutline(p *printer.Printer, r OutlineReply) {
	if !p.Terminal {
		t := p.Table("id", "lines", "symbol", "kind", "signature")
		var rows func(items []search.OutlineItem, path string)
		rows = func(items []search.OutlineItem, path string) {
			for _, i := range items {
				t.Row(i.ID, i.Lines, path+i.Symbol, i.Kind, i.Signature)
				rows(i.Members, path+i.Symbol+".")
			}
		}
		rows(r.Symbols, "")
		t.Flush()
	} else {
		p.Line(string(printer.Name(r.Path)) + "  " + r.Language + "  " + r.Store)
		var lines func(items []search.OutlineItem, indent string)
		lines = func(items []search.OutlineItem, indent string) {
			for _, i := range items {
				text := i.Signature
				if text == "" {
					text = i.Kind + " " + i.Symbol
				}
				p.Line(fmt.Sprintf("%s%s  %s  %s", indent, i.Lines, text, i.ID))
				lines(i.Members, indent+"  ")
			}
		}
		lines(r.Symbols, "  ")
	}
	p.Remark(r.Note)
}
