// Package command is the registry: every verb of the product once, with its
// parameters, effect and audience. Schemas, flags, help, routes, slash
// commands and reference pages are generated from it.
package command

import (
	"context"
	"encoding/json"

	"github.com/seed-4f2d999b/knowledge/internal/app"
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
	Read                 // no token on loopback unless --require-token
	Answer               // no token, listed origins, rate-limited
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
	Arg      bool // positional on the command line
	CLIOnly  bool // known to the command line only; refused elsewhere
}

// Command is one verb.
type Command struct {
	Name     string
	Summary  string // one line, no full stop
	Help     string
	Aliases  []string
	Examples []string
	Effect   Effect
	Audience Audience
	Network  Network
	Access   Access
	Params   []Param
	Native   bool // an MCP tool of its own

	run func(context.Context, *app.App, json.RawMessage) (any, error)
}
