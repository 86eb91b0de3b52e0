package product_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// TestReaches: what agents can do by execute is listed, and the list agrees
// with what the table of commands says of effects and of the network.
func TestReaches(t *testing.T) {
	agents := map[string]bool{}
	for _, c := range product.Commands().All() {
		if c.Audience != command.Agent || c.Name == "execute" {
			continue
		}
		agents[c.Name] = true
		r := c.Reach
		if c.Effect == command.Writes && r.Project == "" && r.Data == "" {
			t.Errorf("%s writes, and the list does not say what", c.Name)
		}
		if (c.Effect == command.Deletes) && r.Deletes == "" {
			t.Errorf("%s deletes, and the list does not say what", c.Name)
		}
		if c.Effect == command.Reads && (r.Project != "" || r.Deletes != "") {
			t.Errorf("%s is said to read, and the list has it write %q and delete %q", c.Name, r.Project, r.Deletes)
		}
		takesSource := slices.ContainsFunc(c.Params, func(p command.Param) bool { return p.Name == "source" || p.Name == "folder" || p.Name == "url" })
		if takesSource && c.Network == command.NoNetwork {
			t.Errorf("%s takes a source and is not said to reach for it", c.Name)
		}
		if !strings.HasPrefix(c.Class(), "reads") {
			t.Errorf("%s: class %q", c.Name, c.Class())
		}
	}
	for _, r := range product.Rooms() {
		for name := range r.Reaches {
			if !agents[name] {
				t.Errorf("the list of %s names %s, which agents cannot run", r.Name, name)
			}
		}
	}
}
