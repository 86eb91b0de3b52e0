package plugin

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
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

// TestClaudeCodeAlwaysInContext measures, by the tokenizer, what the model of
// the real client is sent of the plugin before anybody has asked anything.
func TestClaudeCodeAlwaysInContext(t *testing.T) {
	c := newClients(t)
	plugin := c.hooked()
	m := newModel(t)
	c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy")
	c.must(c.project, c.program, "search", "pause between attempts")
	m.play(once())
	c.must(c.project, "claude", "-p", "look", "--plugin-dir", plugin)
	first, _, _ := m.conversation()
	c.seesTools(first)
	text := c.seen(m)
	parts := always(t)
	hook := ""
	for line := range strings.Lines(text) {
		if _, said, ok := strings.Cut(line, "SessionStart hook additional context: "); ok {
			hook = strings.TrimSpace(said)
		}
		// Of skills and slash commands the model sees the skill alone.
		if s := strings.TrimSpace(line); strings.HasPrefix(s, "- "+name+":") && s != parts[2].text {
			t.Errorf("always in context: %s", s)
		}
	}
	for _, p := range append(parts[1:], part{name: "hook", text: hook}) {
		if p.text == "" || !strings.Contains(text, p.text) {
			t.Errorf("%s did not reach the model as %q", p.name, p.text)
		}
	}
	var texts []string
	for _, p := range append(parts, part{text: hook}) {
		texts = append(texts, p.text)
	}
	raw, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	out := c.must(c.modules, "node", "-e", `const {countTokens} = require("@anthropic-ai/tokenizer");
		console.log(JSON.stringify(JSON.parse(process.argv[1]).map(countTokens)))`, string(raw))
	if err := json.Unmarshal([]byte(out), &counts); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	total, lines := 0, ""
	for i, n := range counts {
		total += n
		if i == len(parts) {
			t.Logf("hook: %d tokens", n)
			if n > mostHook {
				t.Errorf("the line of the hook is %d tokens", n)
			}
			break
		}
		p := parts[i]
		t.Logf("%s: %d tokens", p.name, n)
		lines += fmt.Sprintf("%s %d %d\n", p.name, len(p.text), n)
		if !*update && (n != p.tokens || len(p.text) != p.bytes) {
			t.Errorf("%s is %d bytes and %d tokens, testdata/always.txt says %d and %d: .ci/clients -update", p.name, len(p.text), n, p.bytes, p.tokens)
		}
	}
	t.Logf("always in context: %d tokens", total)
	if total > mostAlways || counts[0] > mostTools {
		t.Errorf("too much is always in context: %d tokens, of which tools %d", total, counts[0])
	}
	if *update {
		if err := os.WriteFile("testdata/always.txt", []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClaudeCodeAllowRules: two rules let an agent do all that reads without
// its user being asked, and nothing else.
func TestClaudeCodeAllowRules(t *testing.T) {
	c := newClients(t)
	plugin := c.hooked()
	m := newModel(t)
	c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy")
	c.must(c.project, c.program, "search", "pause between attempts")
	reads := []*use{
		{toolPrefix + "search", map[string]any{"query": "pause between attempts"}},
		{toolPrefix + "get_full_context", map[string]any{"resultId": "code:definition Backoff"}},
		{toolPrefix + "get_full_context", map[string]any{"resultId": "grep pause"}},
	}
	write := execute("store:create", map[string]any{"type": "file", "source": "lib", "name": "demo"})
	play := func(uses ...*use) string {
		t.Helper()
		m.play(once(uses...))
		c.must(c.project, "claude", "-p", "look", "--plugin-dir", plugin)
		return c.seen(m)
	}
	const asked = "requested permissions"
	if text := play(reads...); strings.Count(text, asked) != len(reads) {
		t.Errorf("without a rule, readOnlyHint alone: asked %d times of %d", strings.Count(text, asked), len(reads))
	}
	settings := filepath.Join(c.home, ".claude", "settings.json") // a project's own are not trusted before it is
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		t.Fatal(err)
	}
	rules := fmt.Sprintf(`{"permissions":{"allow":[%q,%q]}}`, toolPrefix+"search", toolPrefix+"get_full_context")
	if err := os.WriteFile(settings, []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	text := play(append(reads, write)...)
	if strings.Count(text, asked) != 1 || !strings.Contains(text, toolPrefix+"execute, but you haven't granted it") {
		t.Errorf("with two rules: asked %d times\n%s", strings.Count(text, asked), text)
	}
	if out := c.must(c.project, c.program, "stores"); strings.Contains(out, "demo") {
		t.Errorf("and yet it was made: %s", out)
	}
	// A rule cannot name what execute runs: it is ignored, and said to be.
	if err := os.WriteFile(settings, []byte(fmt.Sprintf(`{"permissions":{"allow":[%q]}}`, toolPrefix+"execute(command:stores)")), 0o644); err != nil {
		t.Fatal(err)
	}
	if text := play(execute("stores", map[string]any{})); !strings.Contains(text, asked) {
		t.Errorf("a rule tells arguments of MCP tools apart now: use it\n%s", text)
	}
}

// TestClaudeCodeSubagents: a sub-agent is told the names of the tools, and has them.
func TestClaudeCodeSubagents(t *testing.T) {
	c := newClients(t)
	plugin := c.hooked()
	m := newModel(t)
	c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy")
	c.must(c.project, c.program, "search", "pause between attempts")
	m.play(once(&use{"Agent", map[string]any{"description": "look", "prompt": "find the pause", "subagent_type": "Explore", "run_in_background": false}}))
	c.must(c.project, "claude", "-p", "look", "--plugin-dir", plugin)
	m.mu.Lock()
	defer m.mu.Unlock()
	told := false
	for _, r := range m.seen {
		text := string(r.System)
		for _, msg := range r.Messages {
			text += string(msg.Content)
		}
		if !strings.Contains(text, "SubagentStart hook additional context") {
			continue
		}
		told = true
		tools := map[string]bool{}
		for _, tool := range r.Tools {
			tools[tool.Name] = true
		}
		for _, tool := range []string{"search", "get_full_context"} {
			if !strings.Contains(text, toolPrefix+tool+" {") || !tools[toolPrefix+tool] {
				t.Errorf("a sub-agent lacks %s, or is not told of it", tool)
			}
		}
	}
	if !told {
		t.Errorf("no sub-agent of %d requests was told", len(m.seen))
	}
}

// TestClaudeCodeHooksOff: the plugin's setting switches them off.
func TestClaudeCodeHooksOff(t *testing.T) {
	c := newClients(t)
	plugin := c.hooked()
	m := newModel(t)
	c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy")
	c.must(c.project, c.program, "search", "pause between attempts")
	id := name + "@" + owner
	c.must(c.project, "claude", "plugin", "marketplace", "add", plugin)
	c.must(c.project, "claude", "plugin", "install", id)
	for _, on := range []bool{true, false} {
		configure := exec.Command(filepath.Join(c.modules, ".bin/claude"), "plugin", "configure", id, "--values-stdin")
		configure.Dir, configure.Env = c.project, c.env
		configure.Stdin = strings.NewReader(fmt.Sprintf(`{"hints":"%v"}`, on))
		if out, err := configure.CombinedOutput(); err != nil {
			t.Fatalf("configure: %v %s", err, out)
		}
		m.play(once())
		c.must(c.project, "claude", "-p", "look")
		if said := strings.Contains(c.seen(m), "knowledge has indexed"); said != on {
			t.Errorf("hints %v: said %v", on, said)
		}
	}
}
