package specs

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
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
	if r.Total > len(r.Documents) {
		p.Remark(fmt.Sprintf("the first %d of %d; raise --limit for more", len(r.Documents), r.Total))
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
	p.Content(r.Text)
	p.Remark(r.Message)
	p.Remarks(suggested(len(r.Suggestions), func(i int) string { return r.Suggestions[i].Name }))
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
