package code

import (
	"fmt"
	"strconv"
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
			p.Head("", d.ID, p.At(d.Store, d.At), printer.Symbol.Text(d.Symbol), printer.Plain.Text(d.Kind), printer.Plain.Text(d.Store))
			for _, l := range []string{d.Signature, d.Doc} {
				if l != "" {
					p.Line("    " + l)
				}
			}
		}
		for _, u := range r.Uses {
			indent, sure := strings.Repeat("  ", max(1, u.Depth)), ""
			if u.Confidence > 0 {
				sure = fmt.Sprintf("(confidence %.2f)", u.Confidence)
			}
			p.Parts(indent, "  ", p.At(u.Store, u.At), printer.Symbol.Text(u.Symbol), printer.Score.Text(sure))
			if u.Code != "" {
				p.Snippet(indent+"    ", u.Code)
			}
		}
		if len(r.Symbols) == 0 && len(r.Uses) == 0 {
			p.Line("nothing found; what has the same meaning is found with: knowledge search WORDS")
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
		p.Parts("", "  ", p.At(r.Store, r.Path), printer.Plain.Text(r.Language), printer.Plain.Text(r.Store))
		var lines func(items []search.OutlineItem, indent string)
		lines = func(items []search.OutlineItem, indent string) {
			for _, i := range items {
				text := i.Signature
				if text == "" {
					text = i.Kind + " " + i.Symbol
				}
				p.Head(indent, i.ID, printer.Number.Text(i.Lines), printer.Plain.Text(text))
				lines(i.Members, indent+"  ")
			}
		}
		lines(r.Symbols, "  ")
	}
	p.Remark(r.Note)
}

// printAround prints the files around one: who uses it, then what it uses, with
// the lines that do.
func printAround(p *printer.Printer, r Neighbourhood) {
	t := p.Table("lines", "uses", "declares").None("no file that is known uses this one, and it uses none")
	for _, e := range r.Edges {
		t.Row(strconv.Itoa(e.Calls+e.Types+e.Inherits+e.Others), printer.Name(r.Nodes[e.From].Path), printer.Name(r.Nodes[e.To].Path))
	}
	t.Flush()
	if r.More > 0 {
		p.Remark(fmt.Sprintf("%d more files are around it; raise limit for them", r.More))
	}
	p.Remarks(r.Notes)
}
