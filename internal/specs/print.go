package specs

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/specs/lint"
)

func printResults(p *printer.Printer, r SearchReply) {
	t := p.Table("score", "type", "title", "section", "domain", "url").None("nothing found")
	for _, x := range r.Results {
		t.Row(fmt.Sprintf("%.2f", x.Score), x.Type, x.Title, x.Section, x.Domain, x.URL)
	}
	t.Flush()
	p.Remarks(r.Warnings)
}

func printRelatedSpecs(p *printer.Printer, r RelatedReply) {
	t := p.Table("name", "type", "relation", "direction", "url")
	for _, x := range r.Related {
		t.Row(x.Name, x.Type, x.Relation, x.Direction, x.SourceURL)
	}
	t.Flush()
	p.Remark(r.Message)
	p.Remarks(suggested(len(r.Suggestions), func(i int) string { return r.Suggestions[i].Name }))
	p.Remarks(r.Warnings)
}

func printList(p *printer.Printer, r ListReply) {
	t := p.Table("path", "title", "kind", "domain", "status", "lifecycle", "chunks", "entities", "store").None("no specifications")
	for _, d := range r.Documents {
		t.Row(printer.Name(d.Path), d.Title, d.Kind, d.Domain, d.Status, d.KDDStatus, d.Chunks, d.Entities, d.Store)
	}
	t.Flush()
	if r.Next > 0 {
		p.Remark(fmt.Sprintf("%d of %d; the next with --offset %d", len(r.Documents), r.Total, r.Next))
	}
	p.Remarks(r.Warnings)
}

func printMatches(p *printer.Printer, r FindReply) {
	t := p.Table("name", "type", "kind", "title", "lifecycle", "id", "url").None("nothing found")
	for _, m := range r.Matches {
		t.Row(m.Name, m.Type, m.Kind, m.Title, m.Status, m.ID, m.URL)
	}
	t.Flush()
	p.Remark(r.Message)
	p.Remarks(suggested(len(r.Suggestions), func(i int) string { return r.Suggestions[i].Name }))
	p.Remarks(r.Warnings)
}

func printSection(p *printer.Printer, r SectionReply) {
	p.Content(r.Content)
	p.Remark(r.Note)
}

func printPicture(p *printer.Printer, r PictureReply) {
	if r.Graph != nil {
		p.Content(printer.JSON(r.Graph))
	} else {
		p.Content(r.Text)
	}
	p.Remark(r.Message)
	p.Remarks(suggested(len(r.Suggestions), func(i int) string { return r.Suggestions[i].Name }))
	p.Remarks(r.Warnings)
}

// printCheck prints what the linter found, or the form that was asked for alone.
func printCheck(p *printer.Printer, r CheckReply) {
	if r.Report != "" {
		p.Content(r.Report)
		return
	}
	t := p.Table("severity", "rule", "place", "finding", "mend").None("nothing is wrong")
	for _, f := range r.Findings {
		t.Row(f.Severity, f.Rule, fmt.Sprintf("%s:%d", printer.Name(f.File), f.Line), f.Message, f.Mend)
	}
	t.Flush()
	p.Remark(r.Message)
	total := 0
	var parts []string
	for _, sev := range lint.Severities() {
		if n := r.Totals[sev]; n > 0 {
			total += n
			parts = append(parts, kb.Count(n, sev))
		}
	}
	if total > 0 {
		p.Remark(fmt.Sprintf("%s; documents have %.0f %% of what their kinds ask for", strings.Join(parts, ", "), r.Coverage))
	}
	if r.Known > 0 {
		p.Remark(kb.Count(r.Known, "finding") + " of the baseline left out")
	}
	if r.Next > 0 {
		p.Remark(fmt.Sprintf("%d of %d findings; the next with --offset %d", len(r.Findings), total, r.Next))
	}
	p.Remarks(r.Warnings)
}

// printMatrix prints the rows, or the form that was asked for alone.
func printMatrix(p *printer.Printer, r MatrixReply) {
	if r.Text != "" {
		p.Content(r.Text)
		return
	}
	head := matrixHead(r.Rows)
	t := p.Table(head...).None("no requirements and no rules")
	for i := range r.Rows {
		var row []any
		for _, cell := range r.Rows[i].cells(head, " ") {
			row = append(row, cell)
		}
		t.Row(row...)
	}
	t.Flush()
	if r.Next > 0 {
		p.Remark(fmt.Sprintf("%d of %d rows; the next with --offset %d", len(r.Rows), r.Total, r.Next))
	}
	p.Remarks(r.Warnings)
}

// suggested says which names there are instead.
func suggested(n int, name func(int) string) []string {
	var names []string
	for i := range min(n, 5) {
		names = append(names, name(i))
	}
	if names == nil {
		return nil
	}
	return []string{"did you mean " + strings.Join(names, ", ") + "?"}
}

// printDeep prints what is nested deeper than a table shows.
func printDeep[T any](p *printer.Printer, r T) {
	if p.Terminal {
		p.Readable(r)
		return
	}
	_ = p.JSON(r, true) // a failure stays in the buffer until it is flushed
}
