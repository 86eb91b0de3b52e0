package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newApp(t *testing.T) *app.App {
	t.Helper()
	dir := t.TempDir()
	a, err := product.New(app.Config{Version: "test", DataDir: dir, Project: dir, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// real is a face with the tools that are served.
func real(t *testing.T) *face {
	t.Helper()
	tools, err := native(product.Commands(), "")
	if err != nil {
		t.Fatal(err)
	}
	return newFace(newApp(t), product.Commands(), tools, io.Discard)
}

type in struct {
	Text string `json:"text,omitempty"`
	N    int    `json:"n,omitempty"`
}

// tool makes a command for a test.
func tool(name string, run func(context.Context, in) (string, error)) command.Command {
	c := command.New(name, "a tool of the test", command.Reads,
		func(ctx context.Context, _ *app.App, i in) (command.Message, error) {
			s, err := run(ctx, i)
			return command.Message{Message: s}, err
		})
	c.Audience, c.Native = command.Agent, true
	return c
}

var echo = tool("echo", func(_ context.Context, i in) (string, error) { return i.Text, nil })

func fake(t *testing.T, tools ...command.Command) *face {
	t.Helper()
	return newFace(newApp(t), product.Commands(), tools, io.Discard)
}

// client is the other end of a stdio connection.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func dial(t *testing.T, f *face) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t, inW, bufio.NewReader(outR), make(chan error, 1)}
	go func() {
		c.done <- f.serve(t.Context(), inR, outW)
		outW.Close()
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return c
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) line() string {
	c.t.Helper()
	s, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("reading a reply: %v (got %q)", err, s)
	}
	return strings.TrimSuffix(s, "\n")
}

// reply is any message of the server.
type reply struct {
	ID     any
	Method string
	Params struct {
		ProgressToken   any
		Progress, Total float64
		Message         string
	}
	Result struct {
		ProtocolVersion   string
		SupportedVersions []string
		ResultType        string
		Tools             json.RawMessage
		Content           []struct{ Type, Text string }
		IsError           bool
		StructuredContent any
	}
	Error *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

func (r reply) text() string {
	if len(r.Result.Content) != 1 {
		return fmt.Sprintf("%d contents", len(r.Result.Content))
	}
	return r.Result.Content[0].Text
}

func (c *client) read() (r reply) {
	c.t.Helper()
	s := c.line()
	if err := json.Unmarshal([]byte(s), &r); err != nil {
		c.t.Fatalf("%q: %v", s, err)
	}
	return r
}

func (c *client) ask(line string) reply {
	c.t.Helper()
	c.send(line)
	return c.read()
}

// end closes the input and waits for the server.
func (c *client) end() {
	c.t.Helper()
	c.in.Close()
	if err := <-c.done; err != nil {
		c.t.Errorf("serve: %v", err)
	}
}

func toolCall(id any, name, args string) string {
	b, _ := json.Marshal(id)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, b, name, args)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); d != "" {
		t.Errorf("%s differs (-want +got); -update rewrites it\n%s", path, d)
	}
}

// TestToolsList pins the bytes of the whole reply. What reaches a model of it
// are names, descriptions and input schemas, which every agent carries in its
// context: at most 300 tokens. As measured by npm @anthropic-ai/tokenizer
// 0.0.4 a token of them is 4.18 bytes; .ci/clients measures again.
func TestToolsList(t *testing.T) {
	c := dial(t, real(t))
	tools := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Result.Tools
	golden(t, "tools.json", string(tools)+"\n")
	var seen []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if err := json.Unmarshal(tools, &seen); err != nil {
		t.Fatal(err)
	}
	b, err := encode(seen)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b) - 1; n > 1254 {
		t.Errorf("names, descriptions and schemas are %d bytes, some %d tokens: measure them, at most 300 are allowed", n, n*100/418)
	}
	var list []struct {
		Name         string
		Description  string
		Annotations  map[string]bool
		Meta         map[string]any `json:"_meta"`
		InputSchema  map[string]any
		OutputSchema any
	}
	if err := json.Unmarshal(tools, &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]bool{}
	for _, tool := range list {
		got[tool.Name] = tool.Annotations
		if tool.OutputSchema != nil {
			t.Errorf("%s has an output schema", tool.Name)
		}
		if tool.Meta["anthropic/alwaysLoad"] != true {
			t.Errorf("%s is found only by those who look for it", tool.Name)
		}
	}
	local := map[string]bool{"readOnlyHint": true, "openWorldHint": false}
	want := map[string]map[string]bool{"search": local, "get_full_context": local, "execute": {}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("tools and hints (-want +got)\n%s", d)
	}
	c.end()
}

// TestInstructions: short, and every command in them exists.
func TestInstructions(t *testing.T) {
	if len(instructions) > 1500 {
		t.Errorf("%d bytes of instructions, at most 1500", len(instructions))
	}
	for _, name := range []string{"search", "get_full_context", "execute", "commands", "help", "read", "files", "grep", "ask", "code:callers", "kdd:search"} {
		if !strings.Contains(instructions, name) {
			t.Errorf("%q is not mentioned", name)
		}
		if _, err := product.Commands().Find(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range regexp.MustCompile(`\w+:\w+`).FindAllString(instructions, -1) {
		if strings.HasPrefix(strings.ToLower(name), "path:") { // a place
			continue
		}
		if _, err := product.Commands().Find(name); err != nil {
			t.Error(err)
		}
	}
}

func TestToolSets(t *testing.T) {
	for set, want := range map[string]kb.Code{"KDD": kb.Invalid, "all": kb.Invalid} {
		err := ServeStdio(t.Context(), newApp(t), Options{Tools: set}, strings.NewReader(""), io.Discard)
		if kb.CodeOf(err) != want || kb.HintOf(err) == "" {
			t.Errorf("%q: %v (%s)", set, err, kb.CodeOf(err))
		}
		err = ServeHTTP(t.Context(), newApp(t), Options{Tools: set, Addr: "127.0.0.1:0"})
		if kb.CodeOf(err) != want {
			t.Errorf("%q over HTTP: %v", set, err)
		}
	}
}

// TestTranscripts plays the sessions of testdata/*.in, one message a line,
// and compares what comes back, line by line. Lines of # are comments.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.in")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			refuse := tool("refuse", func(context.Context, in) (string, error) {
				return "", kb.Errorf(kb.NotFound, "no store named %q", "x").WithHint("list them with: stores")
			})
			c := dial(t, fake(t, echo, refuse))
			var got strings.Builder
			for l := range strings.Lines(strings.ReplaceAll(string(script), "\r\n", "\n")) {
				l = strings.TrimSuffix(l, "\n")
				fmt.Fprintf(&got, "> %s\n", l)
				if strings.HasPrefix(l, "#") {
					continue
				}
				c.send(l)
				if !strings.Contains(l, `"id":`) && strings.Contains(l, `"method":`) {
					continue // a notification
				}
				replies := 1
				if strings.Contains(l, "subscriptions/listen") {
					replies = 2
				}
				for range replies {
					fmt.Fprintf(&got, "< %s\n", strings.ReplaceAll(c.line(), instructionsJSON(), "INSTRUCTIONS"))
				}
			}
			c.end()
			golden(t, strings.TrimSuffix(filepath.Base(file), ".in")+".out", got.String())
		})
	}
}

func instructionsJSON() string {
	b, _ := encode(instructions)
	return strings.Trim(string(b), "\"\n")
}

func TestVersions(t *testing.T) {
	c := dial(t, fake(t, echo))
	for asked, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25", // the handshake ends with 2025-11-25
	} {
		r := c.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, asked))
		if r.Result.ProtocolVersion != want {
			t.Errorf("initialize %s: %s, want %s", asked, r.Result.ProtocolVersion, want)
		}
	}
	r := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if r.Error == nil || r.Error.Code != -32022 || r.Error.Data["requested"] != "2031-01-01" || len(r.Error.Data["supported"].([]any)) != 5 {
		t.Errorf("unknown version: %+v", r.Error)
	}
	c.end()
}

// TestBadMessages: each gets one clear sentence and the right code, and the connection lives on.
func TestBadMessages(t *testing.T) {
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	c := dial(t, fake(t, echo))
	for _, tc := range []struct {
		line string
		code int
		id   any
		text string
	}{
		{`nope`, -32700, nil, "not JSON"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"`, -32700, nil, "not JSON"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, nil, "batches"},
		{`[]`, -32600, nil, "batches"},
		{`5`, -32600, nil, "object"},
		{`{}`, -32600, nil, "jsonrpc"},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, 1.0, "jsonrpc"},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, nil, "id"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, nil, "id"},
		{`{"jsonrpc":"2.0","id":1}`, -32600, 1.0, "method"},
		{`{"jsonrpc":"2.0","id":1,"method":5}`, -32600, 1.0, "method"},
		{`{"jsonrpc":"2.0","id":"a","method":"no/such"}`, -32601, "a", "no/such"},
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, -32601, 1.0, "prompts"},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}`, -32602, 1.0, "params.uri"},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"nobody://here"}}`, -32002, 1.0, "no resource"},
		{`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, -32601, 1.0, "2026-07-28"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, -32602, 1.0, "object"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}`, -32602, 1.0, "wrong type"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}`, -32602, 1.0, "_meta"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modern + `}}}`, -32602, 1.0, "clientCapabilities"},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`, -32602, 1.0, "wrong type"},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + modern + `,"io.modelcontextprotocol/clientCapabilities":{}}}}`, -32601, 1.0, "removed"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, -32602, 1.0, "params.name"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, -32602, 1.0, "params.name"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"store:create"}}`, -32602, 1.0, "execute"},
		{toolCall(1, strings.Repeat("x", 500), "{}"), -32602, 1.0, "no tool"},
	} {
		r := c.ask(tc.line)
		if r.Error == nil || r.Error.Code != tc.code || r.ID != tc.id || !strings.Contains(r.Error.Message, tc.text) {
			t.Errorf("%s: id %v, %+v; want id %v, code %d, %q", tc.line, r.ID, r.Error, tc.id, tc.code, tc.text)
			continue
		}
		if m := r.Error.Message; len(m) > 300 || strings.ContainsAny(m, "\n") || regexp.MustCompile(`\bmcp\.|Go struct|0x`).MatchString(m) {
			t.Errorf("%s: unfit for a reader: %q", tc.line, m)
		}
	}
	for _, silent := range []string{
		``, `   `, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"no/such"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}`,
		`{"jsonrpc":"2.0","id":3,"result":{}}`, `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}}`,
	} {
		c.send(silent)
	}
	if r := c.ask(`{"jsonrpc":"2.0","id":"still","method":"ping"}`); r.ID != "still" || r.Error != nil {
		t.Errorf("after all that: %+v", r)
	}
	c.end()
}

// TestArguments: they reach the command as they came, and its errors reach the agent as results.
func TestArguments(t *testing.T) {
	fails := tool("fails", func(context.Context, in) (string, error) { return "", errors.New("boom\n  at x.go:5") })
	c := dial(t, fake(t, echo, fails))
	for _, tc := range []struct {
		name, args string
		isError    bool
		text       string
	}{
		{"echo", `{"text":"<a> & \"b\" é"}`, false, `<a> & "b" é`},
		{"echo", `{}`, false, ""},
		{"echo", `null`, false, ""},
		{"echo", `{"txet":"x"}`, true, "text"},
		{"echo", `{"n":"many"}`, true, "n"},
		{"echo", `[]`, true, "object"},
		{"echo", `"x"`, true, "object"},
		{"fails", `{}`, true, "internal error: boom at x.go:5. try again"},
	} {
		r := c.ask(toolCall(1, tc.name, tc.args))
		if r.Error != nil || r.Result.IsError != tc.isError || !strings.Contains(r.text(), tc.text) || r.Result.StructuredContent != nil {
			t.Errorf("%s %s: %+v", tc.name, tc.args, r)
		}
	}
	c.end()
}

// TestPersonIsRefused: what only a person may do is refused through execute.
func TestPersonIsRefused(t *testing.T) {
	c := dial(t, real(t))
	n := 0
	for _, cmd := range product.Commands().All() {
		if cmd.Audience == command.Agent {
			continue
		}
		n++
		args, _ := json.Marshal(map[string]any{"command": cmd.Name, "args": json.RawMessage(cmd.Examples[0])})
		r := c.ask(toolCall(1, "execute", string(args)))
		if !r.Result.IsError || !strings.Contains(r.text(), "person") {
			t.Errorf("%s: %+v", cmd.Name, r)
		}
	}
	if n == 0 {
		t.Error("no command is for persons only: nothing was tested")
	}
	c.end()
}

func TestPanic(t *testing.T) {
	var log bytes.Buffer
	f := newFace(newApp(t), product.Commands(), []command.Command{echo, tool("bad", func(context.Context, in) (string, error) { panic("secret detail") })}, &log)
	c := dial(t, f)
	r := c.ask(toolCall(1, "bad", "{}"))
	if !r.Result.IsError || strings.Contains(r.text(), "secret") || strings.Contains(r.text(), ".go") {
		t.Errorf("reply: %+v", r)
	}
	if r := c.ask(toolCall(2, "echo", `{"text":"on"}`)); r.text() != "on" {
		t.Errorf("afterwards: %+v", r)
	}
	c.end()
	if !strings.Contains(log.String(), "secret detail") {
		t.Errorf("log: %q", log.String())
	}
}

func TestErrorText(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{kb.Errorf(kb.NotFound, "no store named %q", "x").WithHint("list them with: stores"), `no store named "x". list them with: stores`},
		{kb.Errorf(kb.Invalid, "query is empty."), "query is empty"},
		{context.Canceled, "the call was stopped before it ended. call again"},
		{fmt.Errorf("while reading: %w", kb.Errorf(kb.Corrupt, "bad sum").WithHint("index again")), "while reading: bad sum. index again"},
	} {
		if got := errorText(tc.err); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
	if got := errorText(errors.New(strings.Repeat("é", 2000))); len(got) > maxErrorText+100 {
		t.Errorf("%d bytes", len(got))
	}
}

// TestManyAtOnce: calls from many goroutines, each answered once.
func TestManyAtOnce(t *testing.T) {
	const n = 500
	c := dial(t, fake(t, echo))
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range n {
			if i%50 == 49 {
				c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			}
			c.send(toolCall(i, "echo", fmt.Sprintf(`{"text":"%d"}`, i)))
		}
	})
	seen := map[string]int{}
	for range n {
		r := c.read()
		if fmt.Sprint(r.ID) != r.text() {
			t.Errorf("call %v got %q", r.ID, r.text())
		}
		seen[r.text()]++
	}
	wg.Wait()
	if len(seen) != n {
		t.Errorf("%d different answers", len(seen))
	}
	c.end()
}

// TestReadingWithoutExecute: what only reads runs through a tool that says
// that it only reads, and nothing else does.
func TestReadingWithoutExecute(t *testing.T) {
	c := dial(t, real(t))
	show := func(line string) reply {
		b, _ := json.Marshal(map[string]string{"resultId": line})
		return c.ask(toolCall(1, "get_full_context", string(b)))
	}
	for _, line := range []string{"stores", "stores {}", `stores {"type":"repo"}`} {
		if r := show(line); r.Result.IsError || !strings.Contains(r.text(), `"stores":[]`) {
			t.Errorf("%s: %+v", line, r.Result)
		}
	}
	for _, name := range []string{"store:create x", `store:delete {"store":"x"}`, "sync"} {
		if r := show(name); !r.Result.IsError || !strings.Contains(r.text(), "runs only what reads") || !strings.Contains(r.text(), "execute {") {
			t.Errorf("%s: %+v", name, r.Result)
		}
	}
	if r := show("trust FILE"); !r.Result.IsError || !strings.Contains(r.text(), "only a person") {
		t.Errorf("%+v", r.Result)
	}
	if r := show(`stores {"typo":1}`); !r.Result.IsError || !strings.Contains(r.text(), "typo") {
		t.Errorf("%+v", r.Result)
	}
	c.end()
}
