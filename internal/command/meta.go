package command

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Message is a result that is one sentence.
type Message struct {
	Message string `json:"message"`
}

// Text returns the sentence.
func (m Message) Text() string { return m.Message }

type executeIn struct {
	Command string          `json:"command" arg:"1" help:"name of a command; commands lists them"`
	Args    json.RawMessage `json:"args,omitempty" help:"its arguments as an object"`
}

func (t *Table) runExecute(ctx context.Context, a *app.App, in executeIn) (any, error) {
	c, err := t.target(in.Command)
	if err != nil {
		return nil, err
	}
	return c.Run(ctx, a, in.Args)
}

// target finds what execute may run.
func (t *Table) target(name string) (Command, error) {
	c, err := t.Find(name)
	if err != nil {
		return Command{}, err
	}
	if c.Name == "execute" {
		return Command{}, kb.Errorf(kb.Invalid, "execute cannot run itself").WithHint("name the command that you want: \"commands\" lists them")
	}
	if c.Name == "trust" { // nothing to run is named: whoever reads this may have a shell
		return Command{}, kb.Errorf(kb.Denied, "only a person can vouch for something").WithHint("ask your user, who decides whether to, and how")
	}
	if c.Audience != Agent {
		return Command{}, kb.Errorf(kb.Denied, "only a person may run %q", c.Name).
			WithHint("ask the user to run in a terminal: %s", CommandLine(c, c.Examples[0]))
	}
	return c, nil
}

// Dispatched returns the command that running c with args would run in the
// end: c itself, or what execute's arguments name. A command that reads a
// resource comes with the access of that resource. Faces take access class
// and effect from it before they run c.
func (t *Table) Dispatched(ctx context.Context, c Command, args json.RawMessage) (Command, error) {
	if c.Name == "resource:read" {
		return t.ofResource(ctx, c, args)
	}
	if c.Name != "execute" {
		return c, nil
	}
	var in executeIn
	if err := t.into(ctx, c, args, &in); err != nil {
		return Command{}, err
	}
	inner, err := t.target(in.Command)
	if err != nil || inner.Name != "resource:read" {
		return inner, err
	}
	return t.ofResource(ctx, inner, in.Args)
}

// ofResource returns c, which reads a resource, with the access of the one
// that args name. Arguments that name none are c's to refuse.
func (t *Table) ofResource(ctx context.Context, c Command, args json.RawMessage) (Command, error) {
	var in resourceIn
	if t.into(ctx, c, args, &in) != nil {
		return c, nil
	}
	if r, _, err := t.FindResource(in.URI); err == nil {
		c.Access = Read
		if r.Closed {
			c.Access = Token
		}
	}
	return c, nil
}

type helpIn struct {
	Command string `json:"command,omitempty" arg:"1" help:"name of a command or of a group, such as store (default: list them all)"`
}

// HelpText is the reply of help.
type HelpText struct {
	Command string          `json:"command"`
	Summary string          `json:"summary"`
	Help    string          `json:"help,omitempty"`
	Schema  json.RawMessage `json:"schema"`
	Example json.RawMessage `json:"example"`
	Params  []ParamHelp     `json:"params,omitempty"`
}

// ParamHelp is one parameter in a HelpText.
type ParamHelp struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Required bool     `json:"required,omitempty"`
	Enum     []string `json:"enum,omitempty"`
	Help     string   `json:"help,omitempty"`
}

// Text returns the help as an agent reads it: one line per parameter, an
// example of the arguments, and the sentences that say more.
func (h HelpText) Text() string {
	var b strings.Builder
	b.WriteString(h.Command + ": " + h.Summary + "\n")
	for _, p := range h.Params {
		b.WriteString("  " + p.Name)
		if !p.Required {
			b.WriteByte('?')
		}
		b.WriteString(" " + typeWords(p.Type, p.Enum))
		if p.Help != "" {
			b.WriteString(": " + p.Help)
		}
		b.WriteByte('\n')
	}
	b.WriteString("example: " + string(h.Example))
	if h.Help != "" {
		b.WriteString("\n" + h.Help)
	}
	return b.String()
}

func typeWords(t string, enum []string) string {
	switch {
	case enum != nil:
		return strings.Join(enum, "|")
	case t == "strings":
		return "[string]"
	default:
		return t
	}
}

func (t *Table) runHelp(ctx context.Context, a *app.App, in helpIn) (any, error) {
	if strings.TrimSpace(in.Command) == "" {
		return t.runCommands(ctx, a, struct{}{})
	}
	c, err := t.Find(in.Command)
	if err != nil {
		if g := t.groupOf(ctx, in.Command); len(g.Commands) > 0 {
			return g, nil
		}
		return nil, err
	}
	h := HelpText{Command: c.Name, Summary: c.Summary, Help: c.Help, Schema: c.Schema(), Example: json.RawMessage(c.Examples[0])}
	for _, p := range c.Params {
		if p.CLIOnly && !IsCLI(ctx) {
			continue
		}
		h.Params = append(h.Params, ParamHelp{p.Name, p.Type, p.Required && p.Unless == "", p.Enum, p.Help})
	}
	return h, nil
}

// GroupHelp is the reply of help for a group, or for what several commands
// begin with: "store", "code".
type GroupHelp struct {
	Group    string           `json:"group"`
	Commands []CommandSummary `json:"commands"`
}

// CommandSummary is one command of a GroupHelp.
type CommandSummary struct {
	Command string `json:"command"`
	Summary string `json:"summary"`
}

// Text returns one line per command.
func (g GroupHelp) Text() string {
	var b strings.Builder
	for _, c := range g.Commands {
		b.WriteString(c.Command + ": " + c.Summary + "\n")
	}
	b.WriteString(`"help" with {"command":NAME} explains one`)
	return b.String()
}

// groupOf returns the commands of a group, by its name or what is before
// the colon of theirs; none for anything else.
func (t *Table) groupOf(ctx context.Context, name string) GroupHelp {
	name = strings.Trim(strings.ToLower(strings.TrimSpace(name)), ":")
	g := GroupHelp{Group: name, Commands: []CommandSummary{}}
	for _, c := range t.All() {
		before, _, _ := strings.Cut(c.Name, ":")
		if (c.Group == name || before == name && c.Name != name) && (c.Audience == Agent || IsCLI(ctx)) {
			g.Commands = append(g.Commands, CommandSummary{c.Name, c.Summary})
		}
	}
	return g
}

// CommandList is the reply of commands.
type CommandList struct {
	Groups []CommandGroup `json:"groups"`
}

// CommandGroup is one group of a CommandList.
type CommandGroup struct {
	Group    string   `json:"group"`
	Commands []string `json:"commands"`
}

// Text returns one line per group. Names that begin alike are written as a shell
// would take them: job:{cancel,status}.
func (l CommandList) Text() string {
	var b strings.Builder
	for _, g := range l.Groups {
		b.WriteString(g.Group + ": " + strings.Join(braced(g.Commands), ", ") + "\n")
	}
	b.WriteString(`"help" with {"command":NAME} explains one`)
	return b.String()
}

// braced joins names that follow each other and have the same word before a colon.
func braced(names []string) (out []string) {
	for i := 0; i < len(names); {
		before, _, colon := strings.Cut(names[i], ":")
		j := i + 1
		for colon && j < len(names) && strings.HasPrefix(names[j], before+":") {
			j++
		}
		if j-i < 2 {
			out = append(out, names[i])
			i++
			continue
		}
		var ends []string
		for _, n := range names[i:j] {
			ends = append(ends, strings.TrimPrefix(n, before+":"))
		}
		out = append(out, before+":{"+strings.Join(ends, ",")+"}")
		i = j
	}
	return out
}

func (t *Table) runCommands(ctx context.Context, _ *app.App, _ struct{}) (CommandList, error) {
	var l CommandList
	for _, c := range t.All() {
		if c.Audience != Agent && !IsCLI(ctx) {
			continue
		}
		if n := len(l.Groups); n == 0 || l.Groups[n-1].Group != c.Group {
			l.Groups = append(l.Groups, CommandGroup{Group: c.Group})
		}
		g := &l.Groups[len(l.Groups)-1]
		g.Commands = append(g.Commands, c.Name)
	}
	return l, nil
}

// addMeta adds the commands about commands.
func (t *Table) addMeta() {
	c := t.Add("help", New("execute", `Manage stores and jobs, read and grep their files; command "commands" lists all, "help" explains one`,
		Deletes, t.runExecute).Agent(), `{"command":"commands"}`, `{"command":"store:info","args":{"store":"react"}}`)
	c.Native, c.Network = true, AnyHost
	c.Help = "Runs any other command that agents may run. Over HTTP it has the access class of the command it names."
	t.Add("help", New("help", "Parameters of a command, an example, and what is not known yet", Reads, t.runHelp).Agent(),
		`{"command":"store:create"}`)
	t.Add("help", New("commands", "List the commands by group", Reads, t.runCommands).Agent(), `{}`)
}

// metaPeople is how the commands about commands explain themselves to a person.
var metaPeople = map[string]Wording{
	"execute":       {Summary: "Run another command as agents do", Help: "At a terminal, type the command itself."},
	"resources":     {Summary: "List what programs can read by address"},
	"resource:read": {Summary: "What stands at one of these addresses"},
	"commands":      {Summary: "List the commands by group, as agents see them"},
}
