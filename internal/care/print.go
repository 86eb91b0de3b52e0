package care

import (
	"fmt"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

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

func printBenchmark(p *printer.Printer, r Benchmark) {
	p.Line(fmt.Sprintf("%s: %s, %s of text, %s; asked %s", r.Folder, kb.Count(r.Documents, "document"),
		app.BytesOf(r.TextBytes), kb.Count(r.Chunks, "chunk"), kb.Count(r.Queries, "time")))
	t := p.Table("what", "measured", "yardstick", "its", "ratio")
	for _, m := range r.Rows {
		its, ratio := "", ""
		if m.Ratio > 0 {
			its, ratio = quantity(m.Its, m.Unit), fmt.Sprintf("%.3g ×", m.Ratio)
		}
		t.Row(m.What, quantity(m.Measured, m.Unit), m.Yardstick, its, ratio)
	}
	t.Flush()
	for _, n := range r.Notes {
		p.Remark(n)
	}
}

// quantity writes a measure in its unit.
func quantity(x float64, unit string) string {
	switch {
	case unit == "bytes":
		return app.BytesOf(int64(x))
	case x >= 1000:
		return fmt.Sprintf("%.1f s", x/1000)
	}
	return fmt.Sprintf("%.3g ms", x)
}
