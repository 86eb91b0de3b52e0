package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// specification is what a team writes beside its code.
const specification = `---
id: BR-RETRY-001
kind: business-rule
domain: network
---

# BR-RETRY-001 — Pause between attempts

## Declaration

The pause between two attempts doubles, up to one minute. See [[Attempt]].
`

// specify puts specifications into the project.
func (c *clients) specify() {
	c.Helper()
	for name, text := range map[string]string{
		"specs/01-domain/rules/BR-RETRY-001.md": specification,
		"specs/01-domain/entities/Attempt.md":   "---\nkind: entity\n---\n\n# Attempt\n\n## Description\n\nOne try to reach a server.\n",
	} {
		p := filepath.Join(c.project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			c.Fatal(err)
		}
	}
}

// TestClaudeCodeSpecifications registers the server as docs/kdd.md says and has
// the client call the three tools by the names that the original gave them.
func TestClaudeCodeSpecifications(t *testing.T) {
	c := newClients(t)
	c.specify()
	c.env = append(c.env, "KNOWLEDGE_DATA_DIR="+filepath.Join(c.home, "data"))
	entry, err := json.Marshal(map[string]any{"command": c.program, "args": []string{"mcp", "--tools", "kdd"}, "alwaysLoad": true})
	if err != nil {
		t.Fatal(err)
	}
	c.must(c.project, "claude", "mcp", "add-json", "kb-engine", string(entry))
	m := newModel(t)
	c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy")
	const prefix = "mcp__kb-engine__"
	var replies []string
	note := func(script func(string) *use) func(string) *use {
		return func(last string) *use {
			replies = append(replies, last)
			return script(last)
		}
	}
	m.play(note(once(
		&use{prefix + "kdd_search", map[string]any{"query": "how long is the pause between attempts", "limit": 3}},
		&use{prefix + "kdd_related", map[string]any{"entity": "BR-RETRY-001"}},
		&use{prefix + "kdd_list", map[string]any{"kind": "business-rule"}},
	)))
	out, err := c.run(c.project, "claude", "-p", "ask the specifications", "--allowedTools", prefix+"kdd_search,"+prefix+"kdd_related,"+prefix+"kdd_list")
	if err != nil || !strings.Contains(out, "DONE") {
		t.Fatalf("%v\n%s", err, out)
	}
	first, _, _ := m.conversation()
	described := 0
	for _, tool := range first.Tools {
		if strings.HasPrefix(tool.Name, prefix+"kdd_") && strings.Contains(tool.Description, "Examples: {") {
			described++
		}
	}
	if described != 3 {
		t.Errorf("%d of the three tools reach the model with examples", described)
	}
	all := strings.Join(replies, "\n")
	for _, want := range []string{"BR-RETRY-001.md#declaration", `"section":"Declaration"`, `"name":"Attempt"`, `"direction":"outgoing"`, `"kind":"business-rule"`, `"total":1`} {
		if !strings.Contains(strings.ReplaceAll(all, `\"`, `"`), want) {
			t.Errorf("the model is not shown %s:\n%s", want, all)
		}
	}
}

// TestInspectorSpecifications lists and calls them with the MCP inspector.
func TestInspectorSpecifications(t *testing.T) {
	c := newClients(t)
	c.specify()
	c.env = append(c.env, "KNOWLEDGE_DATA_DIR="+filepath.Join(c.home, "data"))
	for _, era := range []string{"legacy", "modern"} {
		server := []string{"--cli", c.program, "mcp", "--tools", "kdd", "--protocol-era", era, "--method"}
		out := c.must(c.project, "mcp-inspector", append(server, "tools/list", "--strict")...)
		for _, tool := range []string{"kdd_search", "kdd_related", "kdd_list"} {
			if !strings.Contains(out, `"name": "`+tool+`"`) {
				t.Errorf("%s: no tool %s\n%s", era, tool, out)
			}
		}
		out = c.must(c.project, "mcp-inspector", append(server, "tools/call", "--tool-name", "kdd_search", "--tool-arg", "query=pause between attempts")...)
		if !strings.Contains(out, "BR-RETRY-001.md#declaration") {
			t.Errorf("%s: %s", era, out)
		}
	}
}
