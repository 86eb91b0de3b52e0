package mcpsource_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/apis/mcpsource"
	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// rig is a pool with a caller of one server.
type rig struct {
	*testing.T
	pool   *mcpsource.Pool
	caller *restapi.Caller
	p      *restapi.Provider
	starts string // file with a line for each start
}

const userSecret = "secret-of-the-user-1"

func newRig(t *testing.T, mode string) *rig {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { // after the pool is closed
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		goleak.VerifyNone(t, ignore)
	})
	dir := t.TempDir()
	r := &rig{T: t, starts: filepath.Join(dir, "starts")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := func(n string) string {
		return map[string]string{"PATH": os.Getenv("PATH"), "TOKEN": userSecret, "AWS_SECRET_ACCESS_KEY": "not for it"}[n]
	}
	r.pool = &mcpsource.Pool{Version: "test", File: filepath.Join(dir, "lists.json"), Env: env, Dir: dir}
	t.Cleanup(r.pool.Close)
	r.p = &restapi.Provider{
		Code: "fake", Auth: restapi.Auth{Type: restapi.AuthNone}, Timeout: 20 * time.Second, MaxBytes: 1 << 20, Enabled: true, BaseURL: "program://self",
		Server: &restapi.Server{
			Command: []string{self, "serve=" + mode, r.starts}, Idle: time.Minute,
			Env: []restapi.Header{{Name: "MODE", Value: "plain"}, {Name: "API_TOKEN", Secret: restapi.Ref{Env: "TOKEN"}}},
		},
	}
	r.caller = &restapi.Caller{Secrets: &restapi.Resolver{Env: env}, Servers: r.pool}
	return r
}

func (r *rig) learn() error { return r.pool.Learn(r.Context(), r.caller.Link(r.p)) }

// listed is the API with the tools that the server listed.
func (r *rig) listed() *restapi.Provider {
	r.Helper()
	if err := r.learn(); err != nil {
		r.Fatal(err)
	}
	p := *r.p
	p.Tools = r.pool.Known(r.p).Tools
	return &p
}

func (r *rig) call(p *restapi.Provider, name, args string) (string, error) {
	r.Helper()
	_, t, err := restapi.Find([]*restapi.Provider{p}, name)
	if err != nil {
		r.Fatal(err)
	}
	got, err := r.caller.Call(r.Context(), p, t, json.RawMessage(args))
	if err != nil {
		return "", err
	}
	return string(got.JSON) + got.Text, nil
}

func (r *rig) want(p *restapi.Provider, name, args, want string) {
	r.Helper()
	if got, err := r.call(p, name, args); err != nil || got != want {
		r.Errorf("%s %s: %q, %v; want %q", name, args, got, err, want)
	}
}

func (r *rig) fails(p *restapi.Provider, name, args string, code kb.Code, words string) {
	r.Helper()
	got, err := r.call(p, name, args)
	if kb.CodeOf(err) != code || err == nil || !strings.Contains(err.Error(), words) || kb.HintOf(err) == "" {
		r.Errorf("%s: %q, %v (%s); want %s %q", name, got, err, kb.HintOf(err), code, words)
	}
	if err != nil && strings.Contains(err.Error()+kb.HintOf(err), userSecret) {
		r.Errorf("%s shows a secret: %v", name, err)
	}
}

func (r *rig) startCount() int {
	b, err := os.ReadFile(r.starts)
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "\n")
}

func TestProgram(t *testing.T) {
	r := newRig(t, "plain")
	p := r.listed()
	r.want(p, "fake_echo", `{"text":"¿qué?"}`, `{"text":"¿qué?"}`)
	r.want(p, "fake_echo", `{"text":"a","times":"3"}`, `{"text":"a","times":3}`)
	r.fails(p, "fake_echo", `{}`, kb.Invalid, "text")
	r.fails(p, "fake_fail", `{}`, kb.Invalid, "it went wrong")
	r.want(p, "fake_digits", `{}`, `{"n":12345678901234567890.10}`)
	r.want(p, "fake_read_one", `{}`, "memo at memo://one")
	r.want(p, "fake_read_memo", `{"year":"2026","name":"a b/c"}`, "memo at memo://2026/a%20b%2Fc")
	env, err := r.call(p, "fake_env", `{}`)
	if err != nil || !strings.Contains(env, "MODE=plain") || !strings.Contains(env, "API_TOKEN="+restapi.Redacted) || strings.Contains(env, "AWS_") {
		t.Errorf("%q %v", env, err)
	}
	if n := r.startCount(); n != 1 {
		t.Errorf("it was started %d times", n)
	}
}

// TestServerDies: a call that kills the server says so, the next one starts it anew;
// what only reads is asked again by itself.
func TestServerDies(t *testing.T) {
	r := newRig(t, "plain")
	p := r.listed()
	r.want(p, "fake_die_once", `{}`, "alive")
	r.fails(p, "fake_die", `{}`, kb.Away, "asked to die")
	r.want(p, "fake_echo", `{"text":"a"}`, `{"text":"a"}`)
	if n := r.startCount(); n != 3 {
		t.Errorf("it was started %d times", n)
	}
}

// TestServerHangs: a call ends at its deadline, the program with it, and the next
// call has a new one.
func TestServerHangs(t *testing.T) {
	r := newRig(t, "plain")
	p := r.listed()
	q := *p
	q.Timeout = 300 * time.Millisecond
	r.fails(&q, "fake_hang", `{}`, kb.Away, "did not answer within")
	r.want(p, "fake_echo", `{"text":"a"}`, `{"text":"a"}`)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, tool, _ := restapi.Find([]*restapi.Provider{p}, "fake_hang")
	if _, err := r.caller.Call(ctx, p, tool, nil); ctx.Err() == nil || err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Error(err)
	}
}

func TestServerIdle(t *testing.T) {
	r := newRig(t, "plain")
	r.p.Server.Idle = 10 * time.Millisecond
	p := r.listed()
	for end := time.Now().Add(20 * time.Second); r.pool.Running() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it was never stopped")
		}
	}
	r.want(p, "fake_echo", `{"text":"a"}`, `{"text":"a"}`)
	if n := r.startCount(); n < 2 {
		t.Errorf("it was started %d times", n)
	}
}

// TestListKept: what a server listed is found by another process, which starts nothing.
func TestListKept(t *testing.T) {
	r := newRig(t, "plain")
	r.listed()
	other := &mcpsource.Pool{File: r.pool.File, Env: r.pool.Env}
	defer other.Close()
	l := other.Known(r.p)
	if l == nil || len(l.Tools) != len(r.pool.Known(r.p).Tools) || !l.Tools[0].Same(&r.pool.Known(r.p).Tools[0]) {
		t.Fatalf("%+v", l)
	}
	if b, err := os.ReadFile(r.pool.File); err != nil || strings.Contains(string(b), userSecret) {
		t.Errorf("%v %s", err, b)
	}
	changed := *r.p
	changed.Server = &restapi.Server{Command: []string{"other"}}
	if other.Known(&changed) != nil {
		t.Error("the list of another definition was taken")
	}
}

// TestToolChanges: a tool that is not what it was when it was listed is not called.
func TestToolChanges(t *testing.T) {
	r := newRig(t, "changing")
	p := r.listed()
	r.want(p, "fake_echo", `{}`, "{}")
	r.want(p, "fake_change", `{}`, "changed")
	var err error
	for end := time.Now().Add(20 * time.Second); err == nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		_, err = r.call(p, "fake_echo", `{}`) // the notice may come behind the reply
	}
	if kb.CodeOf(err) != kb.Invalid || !strings.Contains(err.Error(), "changed since it was listed") {
		t.Fatal(err)
	}
	q := *p
	q.Tools = r.pool.Known(r.p).Tools
	r.want(&q, "fake_echo", `{}`, "{}")
}

func TestHostileServers(t *testing.T) {
	for _, c := range []struct {
		mode  string
		code  kb.Code
		words string
	}{
		{"silent", kb.Away, "did not answer in time"},
		{"deaf", kb.Away, "did not answer in time"},
		{"garbage", kb.Away, "did not answer in time"},
		{"endless", kb.TooLarge, "was stopped"},
		{"ends", kb.Away, "there is no database"},
	} {
		r := newRig(t, c.mode)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err := r.pool.Learn(ctx, r.caller.Link(r.p))
		cancel()
		if kb.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), userSecret) {
			t.Errorf("%s: %v", c.mode, err)
		}
		if n := r.pool.Running(); n != 0 {
			t.Errorf("%s: %d servers run", c.mode, n)
		}
	}
	r := newRig(t, "stderr")
	r.want(r.listed(), "fake_echo", `{"text":"a"}`, `{"text":"a"}`)
	r = newRig(t, "pages")
	if err := r.learn(); err == nil || !strings.Contains(err.Error(), "pages") {
		t.Error(err)
	}
	r = newRig(t, "plain")
	p := r.listed()
	r.fails(p, "fake_big", `{}`, kb.TooLarge, "bytes")
	r.want(p, "fake_echo", `{"text":"a"}`, `{"text":"a"}`)
}

// TestRestartPause: what cannot be started is not started at every call.
func TestRestartPause(t *testing.T) {
	r := newRig(t, "ends")
	for range 5 {
		if err := r.learn(); kb.CodeOf(err) != kb.Away {
			t.Fatal(err)
		}
	}
	err := r.learn()
	if !strings.Contains(kb.HintOf(err), "started again in") {
		t.Error(err, kb.HintOf(err))
	}
}

// TestSchemaBombs: what a server says of its tools is bounded, and one that cannot be
// taken hides no other.
func TestSchemaBombs(t *testing.T) {
	r := newRig(t, "bomb")
	p := r.listed()
	for i := range p.Tools {
		tool := &p.Tools[i]
		if s := tool.Schema(); !json.Valid(s) || len(s) > 1<<20 {
			t.Errorf("%s: %d bytes", tool.Code, len(s))
		}
		if s := tool.Example(); !json.Valid(s) || len(s) > 1<<20 {
			t.Errorf("%s: %d bytes", tool.Code, len(s))
		}
		for _, l := range tool.Lines(3, 80) {
			if len(l.String()) > 1<<20 {
				t.Errorf("%s: %d bytes", tool.Code, len(l.String()))
			}
		}
		if strings.ContainsAny(tool.Code+tool.Description, "\x1b\n") {
			t.Errorf("%q %q", tool.Code, tool.Description)
		}
	}
	r.want(p, "fake_echo", `{"text":"a"}`, `{"text":"a"}`)
	r.want(p, "fake_bomb", `{"a":{"b":1}}`, "")
}

// TestAddress: a server behind an address, with a credential, that is started anew.
func TestAddress(t *testing.T) {
	made := func() http.Handler {
		s := server.NewMCPServer("remote", "1", server.WithToolCapabilities(true))
		s.AddTool(mcp.NewTool("greet", mcp.WithDescription("Greets"), mcp.WithString("name", mcp.Required())), func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("hello " + req.GetString("name", "")), nil
		})
		return server.NewStreamableHTTPServer(s)
	}
	h := made()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer "+userSecret {
			http.Error(w, "who are you? not "+req.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, req)
	}))
	defer ts.Close()
	r := newRig(t, "")
	r.p.BaseURL, r.p.Server = ts.URL+"/mcp", &restapi.Server{Idle: time.Minute}
	r.p.Auth = restapi.Auth{Type: restapi.AuthBearer, In: restapi.InHeader, Name: "Authorization", Secret: restapi.Ref{Env: "TOKEN"}}
	r.caller.Client = func(*restapi.Provider) (restapi.Client, error) { return plain{}, nil }
	p := r.listed()
	r.want(p, "fake_greet", `{"name":"Ana"}`, "hello Ana")
	h = made() // the sessions are gone
	r.want(p, "fake_greet", `{"name":"Eva"}`, "hello Eva")
	h = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>down</html>")) })
	if _, err := r.call(p, "fake_greet", `{"name":"Eva"}`); err == nil {
		t.Error("a page was taken for a reply")
	}
}

type plain struct{}

func (plain) Do(_ context.Context, r *http.Request) (*http.Response, error) {
	return http.DefaultTransport.RoundTrip(r)
}
func (plain) Once(_ context.Context, r *http.Request) (*http.Response, error) {
	return http.DefaultTransport.RoundTrip(r)
}
