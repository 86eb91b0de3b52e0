package care

import "github.com/seed-4f2d999b/knowledge/internal/command/printer"

func printDiagnosis(p *printer.Printer, r Diagnosis) {
	t := p.Table("status", "what", "found")
	for _, f := range r.Findings {
		t.Row(f.Status, f.What, f.Text)
	}
	t.Flush()
	for _, f := range r.Findings {
		if f.Hint != "" {
			p.Remark(f.What + ": " + f.Hint)
		}
	}
}
