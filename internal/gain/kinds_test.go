package gain

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/gain/sessionlog"
)

// TestTools: which kind a call is of, and the name that it has in reports.
func TestTools(t *testing.T) {
	for _, tc := range []struct {
		name, input string
		kind        kind
		tool        string
	}{
		{"Grep", `{"pattern":"x"}`, grep, "Grep"},
		{"Glob", `{}`, list, "Glob"},
		{"Read", `not JSON`, read, "Read"},
		{"mcp__plugin_knowledge_knowledge__get_full_context", `{}`, ours, "get_full_context"},
		{"mcp__knowledge__search", `{}`, ours, "search"},
		{"mcp__acknowledge__search", `{}`, other, "other tools"},
		{"mcp__github__search", `{}`, other, "other tools"},
		{"Edit", `{}`, other, "other tools"},
		{"Bash", `{"command":"cd a && rg -n x | head -20"}`, grep, "Bash rg"},
		{"Bash", `{"command":"git grep x; cat y"}`, grep, "Bash git grep"},
		{"Bash", `{"command":"cat y; find . -name x"}`, read, "Bash cat"},
		{"Bash", `{"command":"find . | xargs grep -l x"}`, grep, "Bash grep"},
		{"Bash", `{"command":"/opt/bin/knowledge search 'how it ends' | head; grep x y"}`, ours, "Bash knowledge"},
		{"Bash", `{"command":"go test ./... | grep FAIL"}`, other, "Bash, other programs"},
		{"Bash", `{"command":"go build ./... && grep -n x y"}`, other, "Bash, a look among others"},
		{"Bash", `{"command":"cat > y <<'E'\ngrep x\nE"}`, other, "Bash, other programs"},
		{"Bash", `{"command":"sed -i s/a/b/ y"}`, other, "Bash, other programs"},
		{"Bash", `{"command":"sed -i s/a/b/ y && cat y"}`, other, "Bash, a look among others"},
		{"Bash", `{}`, other, "Bash, other programs"},
	} {
		got := toolOf(sessionlog.Call{Name: tc.name, Input: json.RawMessage(tc.input)})
		if got.kind != tc.kind || got.name != tc.tool {
			t.Errorf("%s %s: %s %q, want %s %q", tc.name, tc.input, kindNames[got.kind], got.name, kindNames[tc.kind], tc.tool)
		}
	}
}

// TestAgain: a read of lines that a reply has named is told from others, in
// every form of reply and of read.
func TestAgain(t *testing.T) {
	shown := named("1. net/http/server.go:12-40 func Serve\n{\"at\":\"a/b.go:L7-9\"}, see (c.go:3) and https://x:443/y, at 12:30:", 10)
	want := []span{{"net/http/server.go", 12, 40}, {"a/b.go", 7, 9}, {"c.go", 3, 3}}
	if d := cmp.Diff(want, shown[:min(len(shown), 3)], cmp.AllowUnexported(span{})); d != "" {
		t.Errorf("named (-want +got):\n%s", d)
	}
	for _, tc := range []struct {
		name, input string
		again       bool
	}{
		{"Read", `{"file_path":"/src/net/http/server.go"}`, true},
		{"Read", `{"file_path":"/src/net/http/server.go","offset":40}`, true},
		{"Read", `{"file_path":"/src/net/http/server.go","offset":41,"limit":9}`, false},
		{"Read", `{"file_path":"C:\\src\\a\\b.go","offset":1,"limit":7}`, true},
		{"Read", `{"file_path":"/src/a/b.go","offset":1,"limit":6}`, false},
		{"Read", `{"file_path":"/src/xa/b.go"}`, false},
		{"Bash", `{"command":"sed -n '1,12p' net/http/server.go"}`, true},
		{"Bash", `{"command":"sed -n '50,$p' net/http/server.go"}`, false},
		{"Bash", `{"command":"cat c.go"}`, true},
		{"Bash", `{"command":"cat"}`, false},
	} {
		if got := within(toolOf(sessionlog.Call{Name: tc.name, Input: json.RawMessage(tc.input)}).span, shown); got != tc.again {
			t.Errorf("%s: again is %v", tc.input, got)
		}
	}
}
