package plugin

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// reach renders docs/security-execute.md.
func reach() []byte {
	var b bytes.Buffer
	b.WriteString(`# What agents can do

<!-- Generated from the registry: go test ./internal/face/plugin -update -->

An agent has three tools: ` + "`search`, `get_full_context`" + ` and ` + "`execute`" + `, which runs every command below and no other. Programs
reach the same commands over HTTP with the token. Files on this machine are read only where a store is of them, and a
store is made only of [what agents may index](stores.md#what-agents-may-index); the network is reached only as far as
[the guard](web.md#what-is-not-reached) lets them. No command takes a path to write to, or a program to run.

| command | class | writes in the project | writes in the data directory | deletes | network | programs |
|---|---|---|---|---|---|---|
`)
	for _, c := range product.Commands().All() {
		if c.Audience != command.Agent || c.Name == "execute" {
			continue
		}
		r := c.Reach
		network := map[command.Network]string{command.Declared: "hosts that the user's configuration names", command.AnyHost: "public hosts, and those of `web.allow`"}[c.Network]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", c.Name, c.Class(), cmp.Or(r.Project, "–"), cmp.Or(r.Data, "–"), cmp.Or(r.Deletes, "–"), cmp.Or(network, "–"), cmp.Or(r.Programs, "–"))
	}
	b.WriteString("\nOnly a person at a shell runs: ")
	first := true
	for _, c := range product.Commands().All() {
		if c.Audience == command.Agent {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		fmt.Fprintf(&b, "`%s`", c.Name)
	}
	b.WriteString(".\n")
	return b.Bytes()
}
