package plugin

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// reference renders docs/commands.md.
func reference() []byte {
	var b bytes.Buffer
	b.WriteString(`# Commands

<!-- Generated from the registry: go test ./internal/face/plugin -update -->

Every verb of the product, once. Agents call the native tools by their names and every other command through
` + "`execute`" + `, as {"command": NAME, "args": {…}}; people type ` + "`knowledge NAME`" + `; programs send the arguments to
` + "`POST /api/commands/NAME`" + `. Arguments are strict about names and lenient about spelling: a number may come as a string,
a list of one as its element. A name's colon may be written as a space or an underscore.

On the command line arguments are flags in kebab-case, or words: the second column says which. The names of the first
column are understood as flags too. ` + "`-j`, `-q` and `-C` are `--json`, `--quiet` and `--project`" + ` everywhere.

`)
	group := ""
	for _, c := range product.Commands().All() {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(&b, "## %s\n\n", strings.ToUpper(group[:1])+group[1:])
		}
		describe(&b, c)
	}
	b.WriteString("## Exit statuses\n\n| status | meaning | error codes |\n|---|---|---|\n")
	for _, e := range command.Exits() {
		var codes []string
		for _, c := range e.Codes {
			codes = append(codes, string(c))
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", e.Status, e.Means, strings.Join(codes, ", "))
	}
	return b.Bytes()
}

func describe(b *bytes.Buffer, c command.Command) {
	fmt.Fprintf(b, "### %s\n\n%s.\n\n", c.Name, cell(c.Summary))
	if c.Help != "" {
		fmt.Fprintf(b, "%s\n\n", c.Help)
	}
	facts := []string{effect(c.Effect), audience(c.Audience), access(c.Access)}
	if c.Native {
		facts = append([]string{"native tool"}, facts...)
	}
	if c.Network != command.NoNetwork {
		facts = append(facts, "may use the network")
	}
	if len(c.Aliases) > 0 {
		facts = append(facts, "also called "+strings.Join(c.Aliases, ", "))
	}
	fmt.Fprintf(b, "*%s*\n\n", strings.Join(facts, "; "))
	if len(c.Params) > 0 {
		b.WriteString("| argument | command line | type | | meaning |\n|---|---|---|---|---|\n")
		for _, p := range c.Params {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", p.Name, typed(p), typeOf(p), notes(p), cell(p.Help))
		}
		b.WriteByte('\n')
	}
	for _, e := range c.Examples {
		fmt.Fprintf(b, "    %s\n", command.CommandLine(c, e))
		if c.Audience == command.Agent {
			fmt.Fprintf(b, "    %s\n", e)
		}
	}
	b.WriteByte('\n')
}

// typed is how an argument is given on the command line.
func typed(p command.Param) string {
	switch {
	case p.Arg:
		return "`" + p.Word() + "`"
	case p.Short != "":
		return fmt.Sprintf("`--%s`, `-%s`", p.Flag(), p.Short)
	}
	return "`--" + p.Flag() + "`"
}

func typeOf(p command.Param) string {
	switch {
	case p.Enum != nil:
		return cell(strings.Join(p.Enum, " | "))
	case p.Type == "strings":
		return "list of strings"
	default:
		return p.Type
	}
}

func notes(p command.Param) string {
	var n []string
	if p.Required {
		n = append(n, "required")
	}
	if p.CLIOnly {
		n = append(n, "command line only")
	}
	return strings.Join(n, ", ")
}

// cell makes text fit for a cell of a Markdown table.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "*", `\*`, "[", `\[`).Replace(s) }

func effect(e command.Effect) string {
	switch e {
	case command.Writes:
		return "writes"
	case command.Deletes:
		return "may delete"
	default:
		return "reads"
	}
}

func audience(a command.Audience) string {
	if a == command.Agent {
		return "for everyone"
	}
	return "for persons only"
}

func access(a command.Access) string {
	switch a {
	case command.Open:
		return "open over HTTP"
	case command.Answer:
		return "HTTP class answer"
	case command.Read:
		return "over HTTP with the token or --open-read"
	default:
		return "over HTTP with the token"
	}
}
