package command

import "fmt"

// Instructions is the text that agents read in AGENTS.md and its like: when to
// use which tool, in at most 120 tokens. It names the tools of the registry.
func (t *Table) Instructions() string {
	var search, show, execute string
	for _, c := range t.All() {
		switch {
		case !c.Native:
		case c.Effect != Reads:
			execute = c.Name
		case c.Params[0].Name == "query":
			search = c.Name
		default:
			show = c.Name
		}
	}
	return fmt.Sprintf("## knowledge\n\n"+
		"Before grep or reading whole files to find out how something works, ask the MCP tool `%s`: it finds code and documentation of this project and of its libraries by meaning, with paths and lines. "+
		"`%s` shows the whole declaration behind a hit, with callers and callees. "+
		"`%s` with command \"commands\" lists the rest. Grep is right for an exact string.", search, show, execute)
}
