package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// reachable is the table of docs/security.md: what agents can have done by the
// tool execute, by what it may change and whether it may use the network.
func reachable() string {
	var order []string
	classes := map[string][]string{}
	for _, e := range []command.Effect{command.Reads, command.Writes, command.Deletes} {
		for n, reach := range []string{"", ", reaches hosts that your configuration names", ", reaches public addresses"} {
			class := effect(e) + reach
			order = append(order, class)
			for _, c := range product.Commands().All() {
				if c.Audience == command.Agent && c.Effect == e && c.Network == command.Network(n) {
					classes[class] = append(classes[class], "`"+c.Name+"`")
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("| class | commands |\n|---|---|\n")
	for _, class := range order {
		if len(classes[class]) > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", class, strings.Join(classes[class], ", "))
		}
	}
	return b.String()
}

// The page on security lists everything that an agent can do, as the registry
// has it: a new command is not forgotten there.
func TestSecurityListsWhatAgentsCan(t *testing.T) {
	const begin, end = "<!-- Generated from the registry: go test ./internal/face/plugin -update -->\n\n", "\n<!-- End of what is generated -->"
	file := filepath.Join(root, "docs", "security.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(b), "\r\n", "\n")
	head, rest, ok := strings.Cut(page, begin)
	was, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the page has no place for the table")
	}
	if *update {
		if err := os.WriteFile(file, []byte(head+begin+reachable()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if was != reachable() {
		t.Error("docs/security.md is stale; rewrite with: go test ./internal/face/plugin -update")
	}
}
