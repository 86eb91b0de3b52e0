package command

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Reading takes a line such as "grep func (s *Server)" or
// `grep {"store":"go","pattern":"x"}` apart: the name of a command that only
// reads and reaches no network, and its arguments as an object, or what its
// subject is. A line that begins with no command's name is none.
func (t *Table) Reading(line string) (c Command, args json.RawMessage, ok bool, err error) {
	name, rest := strings.TrimSpace(line), ""
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name, rest = name[:i], strings.TrimSpace(name[i:])
	}
	if c, err = t.Find(name); err != nil || name == "" {
		return Command{}, nil, false, nil // an id, or a place
	}
	switch {
	case c.Audience != Agent:
		_, err := t.target(c.Name) // says who may
		return c, nil, false, err
	case c.Native:
		return c, nil, false, kb.Errorf(kb.Invalid, "%s is a tool of its own", c.Name).WithHint("call %s", c.Name)
	case c.Effect != Reads || c.Network != NoNetwork:
		return c, nil, false, kb.Errorf(kb.Denied, "get_full_context runs only what reads, and %s does more", c.Name).
			WithHint("call execute {\"command\":%q}", c.Name)
	case strings.HasPrefix(rest, "{"):
		return c, json.RawMessage(rest), true, nil
	case rest == "":
		return c, nil, true, nil
	}
	p, ok := subject(c)
	if !ok {
		return c, nil, false, kb.Errorf(kb.Invalid, "%s has no argument that can stand alone", c.Name).
			WithHint("give its arguments as an object: %s %s", c.Name, c.Examples[0])
	}
	if p.Type == "strings" {
		args = json.RawMessage(printer.JSON(map[string][]string{p.Name: strings.Fields(rest)}))
	} else {
		args = json.RawMessage(printer.JSON(map[string]string{p.Name: rest}))
	}
	return c, args, true, nil
}

// subject returns what a command is asked about: its one required argument,
// or else its last positional one.
func subject(c Command) (p Param, ok bool) {
	required := 0
	for _, x := range c.Params {
		switch {
		case x.CLIOnly || x.Type == "object":
		case x.Required:
			p, ok = x, true
			required++
		case x.Arg && required == 0:
			p, ok = x, true
		}
	}
	return p, ok && required < 2
}
