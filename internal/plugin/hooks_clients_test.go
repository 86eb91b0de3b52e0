package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hooked is a project with an index, and the plugin with a launcher that is
// the program itself.
func (c *clients) hooked() (plugin string) {
	c.Helper()
	if err := os.MkdirAll(filepath.Join(c.project, "lib"), 0o755); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.project, "lib/retry.go"), []byte(sample), 0o644); err != nil {
		c.Fatal(err)
	}
	plugin = c.clone(nil)
	if err := os.Remove(filepath.Join(plugin, "bin/knowledge")); err != nil {
		c.Fatal(err)
	}
	if err := os.Symlink(c.program, filepath.Join(plugin, "bin/knowledge")); err != nil {
		c.Fatal(err)
	}
	return plugin
}

// seen is all that the model was sent in a conversation.
func (c *clients) seen(m *model) string {
	c.Helper()
	_, last, ok := m.conversation()
	if !ok {
		c.Fatal("the model was not asked")
	}
	var b strings.Builder
	b.Write(last.System)
	for _, msg := range last.Messages {
		for _, p := range blocks(msg.Content) {
			b.WriteString(p.Text + p.text() + "\n")
		}
	}
	return b.String()
}

// TestClaudeCodeHooks: what the model sees of the hooks, in a project with and
// without an index, and switched off.
func TestClaudeCodeHooks(t *testing.T) {
	c := newClients(t)
	plugin := c.hooked()
	m := newModel(t)
	c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy")
	talk := func(script func(string) *use) string {
		t.Helper()
		m.play(script)
		out, err := c.run(c.project, "claude", "-p", "look", "--plugin-dir", plugin, "--allowedTools", "Bash,Read,Grep,Task,Agent")
		if err != nil || !strings.Contains(out, "DONE") {
			t.Fatalf("%v: %s", err, out)
		}
		return c.seen(m)
	}
	grep := func(words string) *use {
		return &use{"Bash", map[string]any{"command": "grep -rniE '" + words + "' lib", "description": "look"}}
	}
	greps := func() func(string) *use {
		return once(grep("pause|attempt"), grep("pause|retry"), grep("minute|attempt"), grep("minute|pause"))
	}
	const start, hint = "knowledge has indexed", "ranks the places that several greps"

	if text := talk(greps()); strings.Contains(text, start) || strings.Contains(text, hint) || strings.Contains(text, "hook error") {
		t.Errorf("without an index something was said:\n%s", text)
	}
	c.must(c.project, c.program, "search", "pause between attempts")
	text := talk(greps())
	if n := strings.Count(text, start+" this folder (1 file): ask "+toolPrefix+"search in words before grep"); n != 1 {
		t.Errorf("said %d times at the start of a session:\n%s", n, text)
	}
	if n := strings.Count(text, hint); n != 1 {
		t.Errorf("hinted %d times:\n%s", n, text)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, start) || strings.Contains(line, hint) {
			t.Log(strings.TrimSpace(line))
		}
	}
	c.env = append(c.env, "KNOWLEDGE_HOOKS=off")
	if text := talk(greps()); strings.Contains(text, start) || strings.Contains(text, hint) {
		t.Errorf("switched off, and yet:\n%s", text)
	}
}
