package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

// printPages prints what became of the addresses of a site.
func printPages(p *printer.Printer, r PageList) {
	t := p.Table("state", "address", "why", "leads to")
	for _, p := range r.Pages {
		t.Row(p.State, p.URL, p.Reason, p.Target)
	}
	t.Flush()
	var counts []string
	for _, k := range slices.Sorted(maps.Keys(r.Counts)) {
		counts = append(counts, fmt.Sprintf("%s %d", k, r.Counts[k]))
	}
	p.Remark(strings.Join(counts, ", "))
	p.Remark(r.Note)
}
