package plugin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/command"
)

// clients is what .ci/clients prepares: pinned real clients from npm, and the
// program as it is released.
type clients struct {
	*testing.T
	modules string // node_modules
	program string
	home    string // empty at first
	project string // a git repository
	env     []string
}

func newClients(t *testing.T) *clients {
	t.Helper()
	c := &clients{T: t, modules: os.Getenv("KNOWLEDGE_CLIENTS"), program: os.Getenv("KNOWLEDGE_PROGRAM")}
	if c.modules == "" || c.program == "" {
		t.Skip("real clients are tried by .ci/clients")
	}
	dir := t.TempDir()
	c.home, c.project = filepath.Join(dir, "home"), filepath.Join(dir, "project")
	for _, d := range []string{c.home, c.project} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// No Go on the PATH.
	c.env = []string{
		"PATH=" + filepath.Join(c.modules, "node/bin") + ":" + filepath.Join(c.modules, ".bin") + ":/usr/bin:/bin",
		"HOME=" + c.home, "TERM=dumb", "LANG=C.UTF-8", "TMPDIR=" + dir,
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.org", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@example.org",
	}
	c.must(c.project, "git", "init", "-q")
	return c
}

// run runs a program of the clients in dir.
func (c *clients) run(dir, name string, args ...string) (string, error) {
	c.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	for _, p := range []string{filepath.Join(c.modules, ".bin", name), filepath.Join(c.modules, "node/bin", name)} {
		if _, err := os.Stat(p); err == nil {
			name = p
		}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, c.env, time.Second
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (c *clients) must(dir, name string, args ...string) string {
	c.Helper()
	out, err := c.run(dir, name, args...)
	if err != nil {
		c.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return out
}

// clone makes a git clone of the plugin as a user gets it, in which the
// checksums are those of promised, if there are any, and returns its folder.
func (c *clients) clone(promised []byte) string {
	c.Helper()
	dir := filepath.Join(c.TempDir(), "clone")
	abs, err := filepath.Abs(root)
	if err != nil {
		c.Fatal(err)
	}
	list, err := exec.Command("git", "-C", abs, "ls-files", "-z", "-c", "-o", "--exclude-standard").Output()
	if err != nil {
		c.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		b, err := os.ReadFile(filepath.Join(abs, name))
		if err != nil {
			continue // deleted, or a link
		}
		info, err := os.Stat(filepath.Join(abs, name))
		if err != nil {
			c.Fatal(err)
		}
		to := filepath.Join(dir, "from", name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(to, b, info.Mode()); err != nil {
			c.Fatal(err)
		}
	}
	checksums := filepath.Join(dir, "from/.claude-plugin/checksums.txt")
	_ = os.Remove(checksums)
	if promised != nil {
		sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(promised), archiveName())
		if err := os.WriteFile(checksums, []byte(sum), 0o644); err != nil {
			c.Fatal(err)
		}
	}
	from := filepath.Join(dir, "from")
	c.must(from, "git", "init", "-q")
	c.must(from, "git", "add", "-f", ".")
	c.must(from, "git", "commit", "-q", "-m", "plugin")
	c.must(dir, "git", "clone", "-q", from, "knowledge")
	return filepath.Join(dir, "knowledge")
}

// release packs the program as its release does.
func (c *clients) release() []byte {
	c.Helper()
	b, err := os.ReadFile(c.program)
	if err != nil {
		c.Fatal(err)
	}
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "knowledge", Mode: 0o755, Size: int64(len(b))}); err != nil {
		c.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		c.Fatal(err)
	}
	if err := w.Close(); err != nil {
		c.Fatal(err)
	}
	if err := z.Close(); err != nil {
		c.Fatal(err)
	}
	return out.Bytes()
}

// standIn serves the archive as the release host would.
func (c *clients) standIn(archive []byte) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v"+command.Version+"/"+archiveName() {
			_, _ = w.Write(archive)
			return
		}
		http.NotFound(w, r)
	}))
	c.Cleanup(s.Close)
	return s.URL
}

// say gives the client one prompt, lets the model play its script, and
// returns the transcript from the model's side.
func (c *clients) say(m *model, prompt string, script func(last string) *use, flags ...string) (request, string) {
	c.Helper()
	m.play(script)
	out, err := c.run(c.project, "claude", append([]string{"-p", prompt}, flags...)...)
	if err != nil || !strings.Contains(out, "DONE") {
		c.Fatalf("%s: %v\n%s", prompt, err, out)
	}
	first, last, ok := m.conversation()
	if !ok {
		c.Fatalf("%s: the model was not asked", prompt)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", prompt)
	for _, msg := range last.Messages {
		for _, p := range blocks(msg.Content) {
			switch p.Type {
			case "tool_use":
				fmt.Fprintf(&b, "\n> %s %s\n", p.Name, p.Input)
			case "tool_result":
				mark := "<"
				if p.IsError {
					mark = "< error:"
				}
				fmt.Fprintf(&b, "%s %s\n", mark, p.text())
			case "text":
				if msg.Role == "user" && !strings.Contains(p.Text, "<system-reminder>") {
					fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(p.Text))
				}
			}
		}
	}
	return first, b.String()
}

// once plays the calls in turn.
func once(uses ...*use) func(string) *use {
	return func(string) *use {
		if len(uses) == 0 {
			return nil
		}
		u := uses[0]
		uses = uses[1:]
		return u
	}
}

func execute(name string, args map[string]any) *use {
	return &use{toolPrefix + "execute", map[string]any{"command": name, "args": args}}
}

const sample = `package retry

// Backoff doubles the pause between attempts, up to a minute.
func Backoff(attempt int) int {
	pause := 1 << attempt
	if pause > 60 {
		return 60
	}
	return pause
}
`

// TestClaudeCode is the way of a user: from a git clone into an empty home
// directory, without Go and without a network but the stand-in for the host of
// releases. What the model sees is kept in testdata.
func TestClaudeCode(t *testing.T) {
	c := newClients(t)
	archive := c.release()
	plugin := c.clone(archive)
	id := name + "@" + owner
	lib := filepath.Join(c.project, "lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(lib, "retry.go"), []byte(sample), 0o644); err != nil {
		t.Fatal(err)
	}

	out := c.must(c.project, "claude", "plugin", "validate", plugin, "--strict")
	if !strings.Contains(out, "Validation passed") {
		t.Errorf("validate: %s", out)
	}
	c.must(c.project, "claude", "plugin", "marketplace", "add", plugin)
	c.must(c.project, "claude", "plugin", "install", id)
	configure := exec.Command(filepath.Join(c.modules, ".bin/claude"), "plugin", "configure", id, "--values-stdin")
	configure.Dir, configure.Env = c.project, c.env
	configure.Stdin = strings.NewReader(`{"release_url":"` + c.standIn(archive) + `"}`)
	if out, err := configure.CombinedOutput(); err != nil {
		t.Fatalf("configure: %v %s", err, out)
	}

	m := newModel(t)
	c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy")
	var golden strings.Builder

	// The first prompt of all, with nothing fetched yet.
	began := time.Now()
	first, text := c.say(m, "/knowledge:add-folder lib demo", once(execute("store:create", map[string]any{"type": "file", "source": "lib", "name": "demo"})))
	t.Logf("the first prompt took %v, the program fetched meanwhile", time.Since(began).Round(10*time.Millisecond))
	golden.WriteString(text)
	c.seesTools(first)
	job := regexp.MustCompile(`"jobId":"([^"]+)"`).FindStringSubmatch(text)
	if job == nil {
		t.Fatalf("no job: %s", text)
	}
	_, text = c.say(m, "/knowledge:check-status "+job[1], func(last string) *use {
		if strings.Contains(last, `"completed"`) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
		return execute("job:status", map[string]any{"jobId": job[1]})
	})
	if i := strings.LastIndex(text, "\n> "); strings.Count(text, "\n> ") > 1 { // how often it asks is chance
		head := text[:strings.Index(text, "\n> ")]
		text = head + text[i:]
	}
	golden.WriteString("\n" + text)
	hit := regexp.MustCompile(`(?m)^(\S+:\d+-\d+)  Backoff`)
	_, text = c.say(m, "/knowledge:search how long to pause between attempts", func() func(string) *use {
		step := 0
		return func(last string) *use {
			step++
			switch step {
			case 1:
				return &use{toolPrefix + "search", map[string]any{"query": "how long to pause between attempts", "stores": []string{"demo"}}}
			case 2:
				if found := hit.FindStringSubmatch(last); found != nil {
					return &use{toolPrefix + "get_full_context", map[string]any{"resultId": found[1]}}
				}
			}
			return nil
		}
	}())
	golden.WriteString("\n" + text)
	if !strings.Contains(text, "return pause") {
		t.Errorf("get_full_context shows no code: %s", text)
	}

	// The other way round: a store made in a plain shell.
	program := filepath.Join(c.home, ".cache/knowledge/bin", command.Version, "knowledge")
	if out := c.must(c.project, program, "stores"); !strings.Contains(out, "demo") {
		t.Errorf("a plain shell does not list the store made through the client:\n%s", out)
	}
	c.must(c.project, program, "store:create", "shell", lib, "--type", "file", "--paths", "retry.go")
	_, text = c.say(m, "/knowledge:stores", once(execute("stores", map[string]any{})))
	if !strings.Contains(text, `"name":"shell"`) {
		t.Errorf("the client does not list the store made in a plain shell:\n%s", text)
	}
	if s := golden.String(); strings.Contains(s, "< error") || strings.Contains(s, "permission") {
		t.Errorf("not all that the slash commands allow was allowed:\n%s", s)
	}
	c.golden("claude-code.txt", strings.ReplaceAll(golden.String(), job[1], "JOB"))

	// Without a slash command nothing is allowed: that it was is their doing.
	_, text = c.say(m, "list the stores", once(execute("stores", map[string]any{})))
	if !strings.Contains(text, "< error") || !strings.Contains(text, "permission") {
		t.Errorf("allowed without being asked:\n%s", text)
	}

	if out := c.must(c.project, "claude", "mcp", "list"); !strings.Contains(out, "plugin:knowledge:knowledge") || !strings.Contains(out, "✔ Connected") {
		t.Errorf("mcp list: %s", out)
	}
}

// TestClaudeCodeWithoutProgram: what cannot be had is said in one line, to the agent.
func TestClaudeCodeWithoutProgram(t *testing.T) {
	for _, tt := range []struct{ name, url, want string }{
		{"wrong checksum", "", "nothing was installed"},
		{"no host", "http://127.0.0.1:1", "cannot fetch http://127.0.0.1:1/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClients(t)
			plugin := c.clone([]byte("another"))
			url := tt.url
			if url == "" {
				url = c.standIn([]byte("the archive"))
			}
			m := newModel(t)
			c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy", "KNOWLEDGE_RELEASE_URL="+url)
			c.must(c.project, "claude", "plugin", "marketplace", "add", plugin)
			c.must(c.project, "claude", "plugin", "install", name+"@"+owner)
			first, text := c.say(m, "/knowledge:stores", once(execute("stores", map[string]any{})))
			c.seesTools(first)
			if !strings.Contains(text, "< error: knowledge: ") || !strings.Contains(text, tt.want) {
				t.Errorf("%s", text)
			}
			t.Log(text[strings.LastIndex(text, "< error"):])
		})
	}
}

// seesTools: the first request has the three tools as they were meant, and
// the instructions.
func (c *clients) seesTools(r request) {
	c.Helper()
	raw, err := os.ReadFile("../mcpserver/testdata/tools.json")
	if err != nil {
		c.Fatal(err)
	}
	var want []struct {
		Name, Description string
		InputSchema       any
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		c.Fatal(err)
	}
	for _, w := range want {
		found := false
		for _, got := range r.Tools {
			if got.Name != toolPrefix+w.Name {
				continue
			}
			found = true
			var schema any
			if err := json.Unmarshal(got.Schema, &schema); err != nil {
				c.Fatal(err)
			}
			if diff := cmp.Diff(w.InputSchema, schema); got.Description != w.Description || diff != "" {
				c.Errorf("%s reached the model as %q\n%s", w.Name, got.Description, diff)
			}
		}
		if !found {
			c.Errorf("the first prompt lacks %s", w.Name)
		}
	}
	text := string(r.System)
	for _, m := range r.Messages {
		text += string(m.Content)
	}
	if !strings.Contains(text, "plugin:knowledge:knowledge") || !strings.Contains(text, "Ranked, cited search over code and docs") {
		c.Error("the first prompt lacks the instructions")
	}
}

// volatile is what differs from run to run; the place in parentheses is masked.
var volatile = regexp.MustCompile(`("(?:id|jobId|resultId|createdAt|updatedAt|startedAt|endedAt|store|storeId|job)":")([^"]+)(")|("(?:time_?[mM]s|tookMs|took|ms|seconds|done|total|progress|rate|eta|pid|score|tokens|bytesWritten)":)([\d.]+)`)

// named is the id of a chunk after the name of its store, in text.
var named = regexp.MustCompile(`(?m)(  demo  )[a-z0-9]{11}$`)

func (c *clients) golden(file, got string) {
	c.Helper()
	got = strings.ReplaceAll(got, filepath.Dir(c.project), "DIR")
	got = volatile.ReplaceAllStringFunc(got, func(s string) string {
		m := volatile.FindStringSubmatch(s)
		if m[1] != "" {
			if m[2] == "demo" {
				return s
			}
			return m[1] + "…" + m[3]
		}
		return m[4] + "0"
	})
	got = named.ReplaceAllString(got, "${1}…")
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			c.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		c.Fatal(err)
	}
	if d := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); d != "" {
		c.Errorf("%s differs (-want +got); -update rewrites it\n%s", path, d)
	}
}

// TestInspector lists and calls the tools with the MCP inspector, in both eras.
func TestInspector(t *testing.T) {
	c := newClients(t)
	evidence, err := os.ReadFile(filepath.Join(root, "internal/governance/evidence/testdata/golden.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(c.project, ".ai_evidence.json"), evidence, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, era := range []string{"legacy", "modern"} {
		out := c.must(c.project, "mcp-inspector", "--cli", c.program, "mcp", "--protocol-era", era, "--method", "tools/list", "--strict")
		for _, tool := range []string{"search", "get_full_context", "execute"} {
			if !strings.Contains(out, `"name": "`+tool+`"`) {
				t.Errorf("%s: no tool %s\n%s", era, tool, out)
			}
		}
		out = c.must(c.project, "mcp-inspector", "--cli", c.program, "mcp", "--protocol-era", era, "--method", "tools/call", "--tool-name", "execute", "--tool-arg", "command=stores")
		if !strings.Contains(out, "stores") {
			t.Errorf("%s: %s", era, out)
		}
		c.resources(era)
		out, err := c.run(c.project, "mcp-inspector", "--cli", c.program, "mcp", "--protocol-era", era, "--method", "tools/call", "--tool-name", "execute", "--tool-arg", "command=stors")
		if err == nil || !strings.Contains(out, "stores") {
			t.Errorf("%s: a failed call: %v %s", era, err, out)
		}
	}
}

// resources reads every resource with the inspector and with its twin for
// clients that know none.
func (c *clients) resources(era string) {
	c.Helper()
	inspect := func(args ...string) string {
		out, _ := c.run(c.project, "mcp-inspector", append([]string{"--cli", c.program, "mcp", "--protocol-era", era, "--method"}, args...)...)
		return out // a resource that cannot be read here fails, and says why
	}
	var listed struct {
		Resources []struct{ URI string }
	}
	out := inspect("resources/list")
	if err := json.Unmarshal([]byte(out), &listed); err != nil || len(listed.Resources) == 0 {
		c.Fatalf("%s: resources: %v %s", era, err, out)
	}
	for _, r := range listed.Resources {
		var got struct {
			Contents []struct{ URI, Text string }
		}
		out := inspect("resources/read", "--uri", r.URI)
		want, err := c.run(c.project, c.program, "resource:read", r.URI, "--json")
		if err != nil { // no evidence, say
			var why struct{ Message string }
			if json.Unmarshal([]byte(want), &why) != nil || !strings.Contains(out, strings.ReplaceAll(why.Message, `"`, `\"`)) && !strings.Contains(out, why.Message) {
				c.Errorf("%s %s: %s, want the error %s", era, r.URI, out, want)
			}
			continue
		}
		if json.Unmarshal([]byte(out), &got) != nil || len(got.Contents) != 1 || got.Contents[0].URI != r.URI || got.Contents[0].Text != strings.TrimSpace(want) {
			c.Errorf("%s %s: %s, want %s", era, r.URI, out, want)
		}
	}
	c.Logf("%s: %d resources read", era, len(listed.Resources))
}

// scenarios are those of the conformance suite that need no fixtures of an SDK.
var scenarios = [][]string{
	{"server-initialize"}, {"ping"}, {"tools-list"}, {"tools-list", "--spec-version", "2026-07-28"},
	{"dns-rebinding-protection"}, {"http-header-validation"}, {"sep-2164-resource-not-found"},
}

// TestConformance runs them against the server over HTTP.
func TestConformance(t *testing.T) {
	c := newClients(t)
	server := exec.Command(c.program, "mcp", "--http", "127.0.0.1:7788", "--no-auth")
	server.Dir, server.Env = c.project, c.env
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for range 50 {
		if res, err := http.Get("http://127.0.0.1:7788/"); err == nil {
			res.Body.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, s := range scenarios {
		out, err := c.run(c.TempDir(), "conformance", append([]string{"server", "--url", "http://127.0.0.1:7788/mcp", "-o", "results", "--scenario"}, s...)...)
		t.Logf("%s: %s", s, regexp.MustCompile(`Passed: .*`).FindString(out))
		if err != nil {
			t.Errorf("%s: %v\n%s", s, err, out)
		}
	}
}
