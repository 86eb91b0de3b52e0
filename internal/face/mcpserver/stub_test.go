package mcpserver

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// launcher is where the launcher finds its files.
const launcher = "../../../.claude-plugin"

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1.329"},"io.modelcontextprotocol/clientCapabilities":{}}`

// released is the face as its release serves it.
func released(t *testing.T) *face {
	t.Helper()
	tools, err := native(product.Commands(), "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a, err := product.New(app.Config{Version: command.Version, DataDir: dir, Project: dir, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return newFace(a, product.Commands(), tools, io.Discard)
}

// TestReplies holds the replies of the launcher's stub to what this package
// answers. Each line is an era, a name and a result, in which words between @
// stand for what the stub fills in.
func TestReplies(t *testing.T) {
	c := dial(t, released(t))
	var b strings.Builder
	text := regexp.MustCompile(`"text":"(?:[^"\\]|\\.)*"`)
	line := func(era, name, reply, after string) {
		t.Helper()
		_, body, ok := strings.Cut(strings.TrimSuffix(reply, "}"), after)
		if !ok || strings.Contains(reply, `"error":`) {
			t.Fatalf("%s %s: %s", era, name, reply)
		}
		body = strings.ReplaceAll(body, `"@ID@"`, "@ID@")
		if name == "initialize" {
			body = strings.Replace(body, `"2025-11-25"`, "@VERSION@", 1)
		}
		body = text.ReplaceAllString(body, `"text":"@TEXT@"`)
		fmt.Fprintf(&b, "%s %s %s\n", era, name, body)
	}
	for _, m := range []struct{ era, name, method, params string }{
		{"legacy", "initialize", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`},
		{"legacy", "ping", "ping", `{}`},
		{"legacy", "tools/list", "tools/list", `{}`},
		{"legacy", "resources/list", "resources/list", `{}`},
		{"legacy", "resources/templates/list", "resources/templates/list", `{}`},
		{"legacy", "tools/call", "tools/call", `{"name":"execute","arguments":{"command":"commands"}}`},
		{"legacy", "tools/call-failed", "tools/call", `{"name":"execute","arguments":{"command":"none"}}`},
		{"modern", "server/discover", "server/discover", `{` + modernMeta + `}`},
		{"modern", "subscriptions/listen", "subscriptions/listen", `{"notifications":{"toolsListChanged":true},` + modernMeta + `}`},
		{"modern", "tools/list", "tools/list", `{` + modernMeta + `}`},
		{"modern", "resources/list", "resources/list", `{` + modernMeta + `}`},
		{"modern", "resources/templates/list", "resources/templates/list", `{` + modernMeta + `}`},
		{"modern", "tools/call", "tools/call", `{"name":"execute","arguments":{"command":"commands"},` + modernMeta + `}`},
		{"modern", "tools/call-failed", "tools/call", `{"name":"execute","arguments":{"command":"none"},` + modernMeta + `}`},
	} {
		c.send(`{"jsonrpc":"2.0","id":"@ID@","method":"` + m.method + `","params":` + m.params + `}`)
		reply := c.line()
		if strings.Contains(reply, `"method":"notifications/`) {
			line(m.era, "notifications/subscriptions/acknowledged", reply, `"params":`)
			reply = c.line()
		}
		line(m.era, m.name, reply, `"result":`)
	}
	c.end()
	path := filepath.Join(launcher, "replies")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), b.String()); d != "" {
		t.Errorf("%s differs (-want +got); -update rewrites it\n%s", path, d)
	}
}

// TestStub speaks with the launcher where there is nothing to launch, and with
// the program: until a tool is called, they answer alike.
func TestStub(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	shells := []string{"sh"}
	for _, sh := range []string{"dash", "bash", "busybox"} {
		if _, err := exec.LookPath(sh); err == nil {
			shells = append(shells, sh)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"bin/knowledge", ".claude-plugin/stub", ".claude-plugin/replies", ".claude-plugin/plugin.json"} {
		b, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ask := []string{
		`{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"id":7},"clientInfo":{"name":"} \" {\\","version":"1"}},"jsonrpc":"2.0","id":0}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"two words","method":"tools/list"}`,
		`{"id":3, "params":{"method":"ping","id":4}, "method" : "ping", "jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"clientInfo":{"name":"x","version":"1"},"capabilities":{},"protocolVersion":"2024-11-05"}}`,
		`{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":"1999-01-01","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":"8","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":10,"result":{}}`,
	}
	c := dial(t, released(t))
	var want strings.Builder
	go func() {
		for _, l := range ask {
			_, _ = io.WriteString(c.in, l+"\n")
		}
	}()
	for range 9 { // as many as are answered, and the acknowledgement
		want.WriteString(c.line() + "\n")
	}
	c.end()
	for _, sh := range shells {
		args := []string{filepath.Join(dir, "bin/knowledge"), "mcp"}
		if sh == "busybox" {
			args = append([]string{"sh"}, args...)
		}
		cmd := exec.Command(sh, args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, sh+" home")}
		cmd.Stdin = strings.NewReader(strings.Join(ask, "\n") + "\n")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v %s", sh, err, out)
		}
		// There is no program here and none can be had, which the stub says first.
		missing := regexp.MustCompile(`This server cannot work yet\. knowledge: no release .*?\\n`)
		if n := len(missing.FindAll(out, -1)); n != 4 {
			t.Errorf("%s says %d times what is missing, want it in each first reply", sh, n)
		}
		if d := cmp.Diff(want.String(), string(missing.ReplaceAll(out, nil))); d != "" {
			t.Errorf("%s answers otherwise than the program (-program +stub)\n%s", sh, d)
		}
	}
}
