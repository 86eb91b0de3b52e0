// Package command is the registry: every verb of the product once, with its
// parameters, effect and audience. Schemas, flags, help, routes, slash
// commands and reference pages are generated from it.
package command

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"reflect"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Effect says what a command does to the user's data.
type Effect int

// The effects.
const (
	Reads Effect = iota
	Writes
	Deletes
)

// Audience says who may call a command. The zero value is the narrow one.
type Audience int

// The audiences.
const (
	Person Audience = iota // the CLI and our own page only
	Agent                  // everyone
)

// Network says which hosts a command may reach.
type Network int

// The reaches.
const (
	NoNetwork Network = iota
	Declared          // hosts that the user's configuration names
	AnyHost
)

// Access is the class of a command over HTTP. The zero value needs the token.
type Access int

// The classes; see the design of httpapi.
const (
	Token  Access = iota // write and call: the token always
	Read                 // the token, but on loopback with --open-read
	Answer               // no token on loopback and from listed origins
	Open                 // health, assets
)

// Param is one parameter of a command.
type Param struct {
	Name     string
	Type     string // "string", "integer", "number", "boolean", "strings", "object"
	Help     string
	Enum     []string
	Default  string
	Required bool
	Unless   string   // the parameter in whose presence this one is not required
	Arg      bool     // positional on the command line; such parameters come first in Params, in order
	Rest     bool     // positional, and takes all the words that are left, joined with spaces
	CLIOnly  bool     // known to the command line only; refused elsewhere
	Unlisted bool     // no flag, and in no schema; help names it
	Unseen   bool     // a flag, and in no schema: pages and programs may set it, agents pay nothing for it
	Also     []string // other names that are accepted in its place
	Short    string   // one letter that is the flag too; may be empty
	Person   string   // Help as a person reads it, where that differs

	field int // of the struct that New was given
}

// Wording is what a command says of itself.
type Wording struct{ Summary, Help string }

// ForPerson returns summary and help as a person reads them: what agents are
// told of tools and JSON arguments helps nobody at a terminal.
func (c Command) ForPerson() Wording {
	return Wording{cmp.Or(c.Person.Summary, c.Summary), cmp.Or(c.Person.Help, c.Help)}
}

// Command is one verb. Everything that faces show of it comes from here.
type Command struct {
	Name     string  // "search", "store:create"
	Group    string  // what it is about: "find", "store", "job", "help", "trust"
	Summary  string  // one line, no full stop; of a native command also the tool's description
	Help     string  // what the summary does not say, in whole sentences; may be empty
	Person   Wording // the same two as a person at a terminal reads them, where they differ
	Aliases  []string
	Examples []string // arguments as JSON objects, at least one
	Effect   Effect
	Audience Audience
	Network  Network
	Access   Access
	Params   []Param
	Native   bool // an MCP tool of its own

	Reach Reach // what agents do with it beyond reading
	// Layouts are how its results are printed for people, by their types; others go by their text or their JSON.
	Layouts []printer.Layout

	table *Table // that it is a row of; nil of none
	check func(context.Context, Command, json.RawMessage) error
	run   func(context.Context, Command, *app.App, json.RawMessage) (any, error)
}

// New makes a command from a function. In is a flat struct whose fields are
// the parameters, by their tags:
//
//	json:"name,omitempty"  the name; omitempty makes the parameter optional
//	help:"…"               one clause, no full stop
//	enum:"a|b|c"           the only values of a string; "kinds" are those of stores
//	default:"10"           what an absent optional parameter is set to
//	also:"a|b"             other names that are accepted in its place
//	person:"…"             help as a person reads it, where that differs
//	arg:"1"                positional on the command line, in this order; "1..." takes all words left
//	cli:"only"             refused unless the context comes from FromCLI
//	cli:"never"            no flag, and in no schema: what programs ask for that speak as agents do
//	cli:"first"            a flag, and in no schema; other faces take it too
//	short:"none"           a flag without the letter that its name has elsewhere
//	unless:"name"          not required where that parameter is given
//	required:"true"        required in spite of omitempty or a pointer
//
// A field without omitempty that is no pointer is required. Types are string
// (and named strings), int, float64, *float64, bool, []string, and one raw
// object as json.RawMessage. New panics when In is anything else: the table
// is built by the first test.
//
// The audience of a new command is Person and its access Token; see Agent.
func New[In, Out any](name, summary string, effect Effect, run func(context.Context, *app.App, In) (Out, error)) Command {
	return newCommand(name, summary, effect, reflect.TypeFor[In](), func(ctx context.Context, a *app.App, in any) (any, error) {
		out, err := run(ctx, a, *in.(*In))
		if err != nil {
			return nil, err
		}
		return out, nil
	})
}

// newCommand is what New does for all types alike: run is given a pointer to a
// struct of type in.
func newCommand(name, summary string, effect Effect, in reflect.Type, run func(context.Context, *app.App, any) (any, error)) Command {
	params := paramsOf(in)
	decode := func(ctx context.Context, t *Table, raw json.RawMessage) (any, error) {
		x := reflect.New(in)
		return x.Interface(), t.decode(ctx, name, params, raw, x.Elem())
	}
	return Command{
		Name: name, Summary: summary, Effect: effect, Params: params,
		check: func(ctx context.Context, c Command, raw json.RawMessage) error {
			_, err := decode(ctx, c.table, raw)
			return err
		},
		run: func(ctx context.Context, c Command, a *app.App, raw json.RawMessage) (any, error) {
			x, err := decode(ctx, c.table, raw)
			if err != nil {
				return nil, err
			}
			return run(ctx, a, x)
		},
	}
}

// Prints returns the command with layouts of its results.
func (c Command) Prints(l ...printer.Layout) Command {
	c.Layouts = l
	return c
}

// Agent lets agents run a command: over HTTP what only reads can be opened to
// this machine.
func (c Command) Agent() Command {
	c.Audience = Agent
	if c.Effect == Reads {
		c.Access = Read
	}
	return c
}

// Run decodes the arguments and does the command's work. Arguments are a JSON
// object; nothing, null and {} are the same. Decoding is strict about names
// and lenient about spelling of values: a number or boolean may come as a
// string ("10"), a list of one as its element, a list or object as a string
// of JSON, and null is as good as absent. Errors carry a kb.Code, a sentence
// and a hint. Run does not look at the audience: faces do, by c.Audience.
//
// What hints say to do next is worded for the reader: see ForShell and ForAgent.
func (c Command) Run(ctx context.Context, a *app.App, args json.RawMessage) (any, error) {
	run := func() (any, error) { return c.run(ctx, c, a, args) }
	if c.table != nil && c.table.around != nil {
		out, err := c.table.around(ctx, c, a, args, run)
		return out, c.table.worded(ctx, err)
	}
	out, err := run()
	return out, c.table.worded(ctx, err)
}

// Check decodes the arguments as Run would and does nothing else.
func (c Command) Check(ctx context.Context, args json.RawMessage) error {
	return c.table.worded(ctx, c.check(ctx, c, args))
}

type cliKey struct{}

// FromCLI marks a context as the command line's: parameters that only a
// person at a terminal may set are accepted, and a first search waits for the
// index that it needs.
func FromCLI(ctx context.Context) context.Context { return context.WithValue(ctx, cliKey{}, true) }

// IsCLI reports whether a context is the command line's.
func IsCLI(ctx context.Context) bool { return ctx.Value(cliKey{}) != nil }

type inputKey struct{}

// WithInput gives a context what was piped to the command line.
func WithInput(ctx context.Context, r io.Reader) context.Context {
	return context.WithValue(ctx, inputKey{}, r)
}

// InputOf returns what was piped to the command line, nil where nothing was.
func InputOf(ctx context.Context) io.Reader {
	r, _ := ctx.Value(inputKey{}).(io.Reader)
	return r
}

type textKey struct{}

// AsText marks a context whose reader takes text as it is, a language model or
// what is piped to one: replies that come in a form made for that take it.
func AsText(ctx context.Context) context.Context { return context.WithValue(ctx, textKey{}, true) }

// IsText reports whether the reader of a context takes text as it is.
func IsText(ctx context.Context) bool { return ctx.Value(textKey{}) != nil }

// Find returns the command that a name means: its own, an alias, or the
// name with its colon written as a space or an underscore. The hint of the
// error names the nearest command.
func (t *Table) Find(name string) (Command, error) {
	plain := strings.ToLower(strings.Join(strings.Fields(name), ":"))
	var names []string
	for _, c := range t.All() {
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if plain == n || plain == strings.ReplaceAll(n, ":", "_") {
				return c, nil
			}
			names = append(names, n)
		}
	}
	if c, ok := t.Meant(plain); ok {
		return Command{}, kb.Errorf(kb.NotFound, "no command named %q", clip(name)).WithHint("that is: %s", c.Name)
	}
	like := ""
	if near := t.Near(plain, names); near != "" {
		like = "did you mean " + near + "? "
	}
	return Command{}, kb.Errorf(kb.NotFound, "no command named %q", clip(name)).WithHint("%slist them all with: commands", like)
}
