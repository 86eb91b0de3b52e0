package command

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// runContext shows the place that an id names. For agents it also runs what
// only reads, so that a client's user who lets it be called without asking has
// let all reading be done, and nothing else: execute, which they are asked
// about, is one tool for what reads and what deletes.
func runContext(ctx context.Context, a *app.App, in contextIn) (any, error) {
	if !isCLI(ctx) {
		c, args, ok, err := reading(in.ResultID)
		if err != nil {
			return nil, err
		}
		if ok {
			return c.Run(ctx, a, args)
		}
	}
	return a.Show(ctx, in.ResultID, waiting(ctx))
}

// reading takes a line such as "grep func (s *Server)" or
// `grep {"store":"go","pattern":"x"}` apart: the name of a command that only
// reads and reaches no network, and its arguments as an object, or what its
// subject is, as it stands. A line that begins with no command's name is none.
func reading(line string) (c Command, args json.RawMessage, ok bool, err error) {
	name, rest := strings.TrimSpace(line), ""
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name, rest = name[:i], strings.TrimSpace(name[i:])
	}
	if c, err = Find(name); err != nil || name == "" {
		return Command{}, nil, false, nil // an id, or a place
	}
	switch {
	case c.Audience != Agent:
		_, err := target(c.Name) // says who may
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
		args = json.RawMessage(JSON(map[string][]string{p.Name: strings.Fields(rest)}))
	} else {
		args = json.RawMessage(JSON(map[string]string{p.Name: rest}))
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
