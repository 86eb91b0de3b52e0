package install

import (
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
)

// printClients prints the table.
func printClients(p *printer.Printer, l ClientList) {
	t := p.Table("client", "name", "found", "knowledge in")
	for _, c := range l.Clients {
		var in []string
		for _, f := range []string{c.User, c.Project} {
			if f != "" {
				in = append(in, f)
			}
		}
		t.Row(c.Client, c.Title, c.Found, strings.Join(in, ", "))
	}
	t.Flush()
	p.Remarks(l.Notes)
}
