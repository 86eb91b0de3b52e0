package plugin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestInspectorAPIs declares an API and calls it with the MCP inspector, in
// both eras: the service gets the credential and the client does not.
func TestInspectorAPIs(t *testing.T) {
	c := newClients(t)
	const secret = "s3cr3t-of-the-inspector"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"right":%v,"city":%q,"echo":%q}`, r.Header.Get("Authorization") == "Bearer "+secret, r.URL.Query().Get("city"), r.Header.Get("Authorization"))
	}))
	defer service.Close()
	dir := filepath.Join(c.home, ".config", "knowledge")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "apis:\n  - code: weather\n    baseUrl: " + service.URL + "\n    authenticationType: BEARER_TOKEN\n    apiKeyValue: ${WEATHER_KEY}\n    allowHosts: [\"" +
		strings.TrimPrefix(service.URL, "http://") + "\"]\n    tools:\n      - {code: forecast, endpointPath: /forecast, parameters: [{name: city, required: true}]}\n"
	if err := os.WriteFile(filepath.Join(dir, "apis.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, era := range []string{"legacy", "modern"} {
		execute := func(args ...string) (string, error) {
			return c.run(c.project, "mcp-inspector", append([]string{"--cli", "-e", "WEATHER_KEY=" + secret, "-e", "KNOWLEDGE_DATA_DIR=" + filepath.Join(c.home, "data"),
				c.program, "mcp", "--protocol-era", era, "--method", "tools/call", "--tool-name", "execute"}, args...)...)
		}
		for _, tc := range []struct {
			args   []string
			want   string
			failed bool
		}{
			{[]string{"--tool-arg", "command=apis"}, `\"name\":\"forecast\"`, false},
			{[]string{"--tool-arg", "command=api:call", "--tool-arg", `args={"name":"forecast","arguments":{"city":"Ushuaia"}}`}, `\"right\":true,\"city\":\"Ushuaia\",\"echo\":\"Bearer [REDACTED_SECRET]\"`, false},
			{[]string{"--tool-arg", "command=api:call", "--tool-arg", `args={"name":"forecast"}`}, `missing required parameter`, true},
			{[]string{"--tool-arg", "command=api:import", "--tool-arg", `args={"source":"x.json"}`}, `only a person may run`, true},
		} {
			out, err := execute(tc.args...)
			if !strings.Contains(out, tc.want) || strings.Contains(out, secret) || err != nil && !tc.failed {
				t.Errorf("%s %v: %v\n%s\nwant %s", era, tc.args, err, out, tc.want)
			}
		}
	}
}

// TestClaudeCodeAddress connects the real client without the plugin, over HTTP and over
// stdio, and has it call, through the three tools, those of another server of the
// protocol, which is this program again with a store of its own.
func TestClaudeCodeAddress(t *testing.T) {
	c := newClients(t)
	dir := filepath.Join(c.home, ".config", "knowledge")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.project, "tides.md"), []byte("# Tides\n\nThe tide tables of the Beagle channel are kept by the harbour master.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	beside := "KNOWLEDGE_DATA_DIR=" + filepath.Join(c.home, "other")
	index := exec.Command(c.program, "store", "create", "docs", c.project)
	index.Dir, index.Env = c.project, append(c.env, beside)
	if out, err := index.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	text := "apis:\n  - code: other\n    mcp: {command: [" + c.program + ", mcp], directory: " + c.project + ", environment: {KNOWLEDGE_DATA_DIR: " + filepath.Join(c.home, "other") + "}}\n"
	if err := os.WriteFile(filepath.Join(dir, "apis.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const address = "127.0.0.1:7799"
	file := filepath.Join(c.home, "token")
	server := exec.Command(c.program, "serve", "--addr", address, "--token-file", file)
	var log strings.Builder
	server.Dir, server.Env, server.Stdout, server.Stderr = c.project, c.env, &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		if _ = server.Wait(); t.Failed() {
			t.Log(log.String())
		}
	})
	for range 100 {
		if res, err := http.Get("http://" + address + "/"); err == nil {
			res.Body.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c.must(c.project, "claude", "mcp", "add", "--transport", "http", "far", "http://"+address+"/mcp", "--header", "Authorization: Bearer "+strings.TrimSpace(string(token)))
	c.must(c.project, "claude", "mcp", "add", "near", "--", c.program, "mcp")
	list := c.must(c.project, "claude", "mcp", "list")
	if strings.Count(list, "Connected") != 2 {
		t.Fatalf("mcp list: %s", list)
	}
	m := newModel(t)
	c.env = append(c.env, "ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=dummy")
	for _, server := range []string{"far", "near"} {
		run := func(command string, args map[string]any) *use {
			return &use{"mcp__" + server + "__execute", map[string]any{"command": command, "args": args}}
		}
		_, said := c.say(m, "who keeps the tide tables? ask "+server, once(
			run("apis", map[string]any{"query": "search the other index"}),
			run("api:call", map[string]any{"name": "other_search", "arguments": map[string]any{"query": "tide tables"}}),
			run("api:call", map[string]any{"name": "other_search", "arguments": map[string]any{"question": "tide tables"}}),
		), "--allowedTools", "mcp__"+server)
		for _, want := range []string{`"name":"other_search"`, "harbour master", `missing required parameter "query"`} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %s in\n%s", server, want, said)
			}
		}
	}
}
