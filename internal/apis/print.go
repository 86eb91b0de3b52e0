package apis

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// printAPIHelp prints the tool of a declared API with its parameters, and a call of
// it; in a pipe the JSON that it is.
func printAPIHelp(p *printer.Printer, r HelpReply) {
	if !p.Terminal {
		p.Line(printer.JSON(r))
		return
	}
	p.Facts("name", r.Name, "api", r.API, "about", r.Description, "request", r.Request, "not ready", r.NotReady)
	var schema struct {
		Properties map[string]struct{ Type, Description string }
		Required   []string
	}
	// Of a schema of another form the columns stay empty.
	_ = json.Unmarshal(r.Schema, &schema)
	t := p.Table("argument", "type", "", "meaning")
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p, needed := schema.Properties[name], ""
		if slices.Contains(schema.Required, name) {
			needed = "required"
		}
		t.Row(name, p.Type, needed, p.Description)
	}
	if len(t.Rows) > 0 {
		p.Line("")
	}
	t.Flush()
	p.Line("")
	p.Line("for example: knowledge api:call " + kb.ShellWord(r.Name) + " " + kb.ShellWord(string(r.Example)))
}
