package product_test

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// TestReading: lines that stand where an id is expected.
func TestReading(t *testing.T) {
	for _, tt := range []struct {
		line, command, args string
	}{
		{"grep func (s *Server) Close", "grep", `{"pattern":"func (s *Server) Close"}`},
		{`grep {"store":"go","pattern":"x y"}`, "grep", `{"store":"go","pattern":"x y"}`},
		{"code:callers Server.Shutdown", "code:callers", `{"symbol":"Server.Shutdown"}`},
		{" files  internal/**/*.go ", "files", `{"glob":"internal/**/*.go"}`},
		{"read lib/retry.go", "read", `{"path":"lib/retry.go"}`},
		{"kdd:search how does a loan end", "kdd:search", `{"query":"how does a loan end"}`},
		{"kdd_list", "kdd:list", ""},
		{"stores", "stores", ""},
		{"job:status abcdefgh", "job:status", `{"jobId":"abcdefgh"}`},
		{"k3vq7m2xabc", "", ""},                // an id
		{"internal/app/search.go:120", "", ""}, // a place
		{"grep.go:12", "", ""},
		{"notes on grep.md:3", "", ""},
		{"", "", ""},
	} {
		c, args, ok, err := product.Commands().Reading(tt.line)
		if err != nil || ok != (tt.command != "") || c.Name != tt.command || string(args) != tt.args {
			t.Errorf("%q: %s %s %v, want %s %s", tt.line, c.Name, args, err, tt.command, tt.args)
		}
	}
}

// TestReadingOnly: nothing that writes, deletes, reaches the network or is for
// persons runs without the client's user being asked.
func TestReadingOnly(t *testing.T) {
	some := 0
	for _, c := range product.Commands().All() {
		_, _, ok, err := product.Commands().Reading(c.Name)
		free := c.Audience == command.Agent && c.Effect == command.Reads && c.Network == command.NoNetwork && !c.Native
		if ok != free || free != (err == nil) {
			t.Errorf("%s: %v, %v", c.Name, ok, err)
		}
		if err != nil && (kb.HintOf(err) == "" || !strings.Contains(err.Error(), c.Name) && c.Name != "trust") { // of which an agent is told nothing
			t.Errorf("%s: %v (%s)", c.Name, err, kb.HintOf(err))
		}
		if ok {
			some++
		}
	}
	for _, name := range []string{"store:create", "store:delete", "stores:sync", "job:cancel", "trust", "feedback:add", "execute"} {
		if _, _, ok, err := product.Commands().Reading(name + ` {"store":"x"}`); ok || err == nil {
			t.Errorf("%s runs", name)
		}
	}
	if some < 10 {
		t.Errorf("only %d commands run", some)
	}
}
