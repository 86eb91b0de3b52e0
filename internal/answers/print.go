package answers

import (
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

func printAnswer(p *printer.Printer, r Answer) {
	r.Notes = slices.Clone(r.Notes)
	for i, n := range r.Notes {
		r.Notes[i] = p.Words(n)
	}
	p.Out.WriteString(printer.Clean(r.Text()))
}
