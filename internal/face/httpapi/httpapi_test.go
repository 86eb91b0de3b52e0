package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	host   = "127.0.0.1:7390"
	own    = "http://" + host
	listed = "https://docs.example.org"
	near   = "127.0.0.1:50000"
	far    = "192.0.2.7:50000"
	token  = "right"
)

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

// asked is what a test's command was run with: the arguments of all routes.
type asked struct {
	Store      string   `json:"store,omitempty"`
	Query      string   `json:"query,omitempty"`
	JobID      string   `json:"jobId,omitempty"`
	Name       string   `json:"name,omitempty"`
	Stores     []string `json:"stores,omitempty"`
	Limit      int      `json:"limit,omitempty"`
	Everywhere bool     `json:"everywhere,omitempty"`
}

type answered struct {
	Command string `json:"command"`
	Args    asked  `json:"args"`
}

// fake serves commands that answer with what they were asked. Their class
// follows from the name; "boom" panics and "fail:CODE" fails.
func fake(t *testing.T, o Options) *service {
	t.Helper()
	o.Addr, o.Token, o.Origins = host, token, []string{listed}
	if o.Log == nil {
		o.Log = io.Discard
	}
	s := newService(newApp(t), o)
	s.find = func(name string) (command.Command, error) {
		if name == "nothing" {
			return command.Command{}, kb.Errorf(kb.NotFound, "no command named %q", name).WithHint("list them")
		}
		c := command.New(name, "of the test", command.Reads, func(_ context.Context, _ *app.App, in asked) (answered, error) {
			switch code, isFail := strings.CutPrefix(name, "fail:"); {
			case isFail && code == "plain":
				return answered{}, errors.New("plain")
			case isFail:
				return answered{}, kb.Errorf(kb.Code(code), "failed").WithHint("do better")
			case name == "boom":
				panic("secret detail")
			}
			return answered{name, in}, nil
		})
		c.Audience = command.Agent
		switch name {
		case "person":
			c.Audience, c.Access = command.Person, command.Open // the audience counts
		case "write", "store:create", "store:index", "store:delete":
			c.Access = command.Token
		case "answer":
			c.Access = command.Answer
		case "open":
			c.Access = command.Open
		default:
			c.Access = command.Read
		}
		return c, nil
	}
	return s
}

// request is one line of a table; empty fields are left out.
type request struct {
	method, path, body, token, origin, remote, host, contentType, accept string
}

func (q request) send(h http.Handler) *httptest.ResponseRecorder {
	method, _, _ := strings.Cut(q.method, " ")
	r := httptest.NewRequest(method, q.path, strings.NewReader(q.body))
	r.Host, r.RemoteAddr = host, near
	if q.host != "" {
		r.Host = q.host
	}
	if q.remote != "" {
		r.RemoteAddr = q.remote
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	if q.origin != "" {
		r.Header.Set("Origin", q.origin)
	}
	if q.contentType != "" {
		r.Header.Set("Content-Type", q.contentType)
	}
	if q.accept != "" {
		r.Header.Set("Accept", q.accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// failed checks that w says an error as it should and returns its code.
func failed(t *testing.T, w *httptest.ResponseRecorder) kb.Code {
	t.Helper()
	var f failure
	if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil || f.Error.Message == "" || f.Error.Code == "" {
		t.Errorf("%d %q: not an error of ours (%v)", w.Code, w.Body, err)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("%d %q: type %q", w.Code, w.Body, got)
	}
	return f.Error.Code
}

// TestClasses asks commands of every class over POST /api/commands/NAME.
// want lists the status of person, write, read, answer, open.
func TestClasses(t *testing.T) {
	names := []string{"person", "write", "read", "answer", "open"}
	for _, tc := range []struct {
		name string
		q    request
		o    Options
		want [5]int
	}{
		{"near", request{}, Options{}, [5]int{401, 401, 401, 200, 200}},
		{"near, own page without token", request{origin: own}, Options{}, [5]int{401, 401, 401, 200, 200}},
		{"near, reading open", request{}, Options{OpenRead: true}, [5]int{401, 401, 200, 200, 200}},
		{"far, reading open", request{remote: far}, Options{OpenRead: true}, [5]int{401, 401, 401, 401, 200}},
		{"near, own page", request{origin: own, token: token}, Options{}, [5]int{200, 200, 200, 200, 200}},
		{"near, token", request{token: token}, Options{}, [5]int{403, 200, 200, 200, 200}},
		{"near, wrong token", request{token: "wrong"}, Options{}, [5]int{401, 401, 401, 200, 200}},
		{"near, listed page", request{origin: listed}, Options{}, [5]int{403, 403, 403, 200, 200}},
		{"near, foreign page", request{origin: "https://evil.example", token: token}, Options{}, [5]int{403, 403, 403, 403, 200}},
		{"near, other port's page", request{origin: "http://127.0.0.1:1", token: token}, Options{}, [5]int{403, 403, 403, 403, 200}},
		{"near, rebound name", request{host: "evil.example:7390", token: token}, Options{}, [5]int{403, 403, 403, 403, 403}},
		{"near, token required", request{}, Options{RequireToken: true}, [5]int{401, 401, 401, 401, 200}},
		{"far", request{remote: far}, Options{}, [5]int{401, 401, 401, 401, 200}},
		{"far, token", request{remote: far, token: token}, Options{}, [5]int{403, 200, 200, 200, 200}},
		{"far, own page", request{remote: far, token: token, origin: own}, Options{}, [5]int{200, 200, 200, 200, 200}},
		{"far, listed page", request{remote: far, origin: listed}, Options{}, [5]int{403, 403, 403, 200, 200}},
		{"far, rebound name", request{remote: far, host: "evil.example:7390", token: token}, Options{}, [5]int{403, 403, 403, 403, 403}},
	} {
		s := fake(t, tc.o)
		for i, want := range tc.want {
			q := tc.q
			q.method, q.path, q.body, q.contentType = "POST", "/api/commands/"+names[i], "{}", "application/json"
			w := q.send(s)
			if w.Code != want {
				t.Errorf("%s, %s: %d %s, want %d", tc.name, names[i], w.Code, w.Body, want)
			}
			if want != 200 {
				if code := failed(t, w); code != kb.Denied {
					t.Errorf("%s, %s: code %s", tc.name, names[i], code)
				}
			}
			if want == 401 && w.Header().Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s, %s: no WWW-Authenticate", tc.name, names[i])
			}
			allow := w.Header().Get("Access-Control-Allow-Origin")
			if shared := names[i] == "answer" && q.origin == listed; (allow == listed) != shared || allow == "*" {
				t.Errorf("%s, %s: Access-Control-Allow-Origin %q", tc.name, names[i], allow)
			}
		}
	}
}

// TestRoutes: every route runs its command with the arguments of path, query and body.
func TestRoutes(t *testing.T) {
	s := fake(t, Options{})
	for _, tc := range []struct {
		q    request
		want answered
	}{
		{request{method: "GET", path: "/api/commands"}, answered{"commands", asked{}}},
		{request{method: "POST", path: "/api/commands/read", body: `{"query":"x"}`}, answered{"read", asked{Query: "x"}}},
		{request{method: "POST", path: "/api/commands/store:info"}, answered{"store:info", asked{}}},
		{request{method: "GET", path: "/api/search?query=a+b&limit=3&stores=x,y&stores=z"}, answered{"search", asked{Query: "a b", Limit: 3, Stores: []string{"x", "y", "z"}}}},
		{request{method: "POST", path: "/api/search", body: `{"query":"x","stores":["*"]}`}, answered{"search", asked{Query: "x", Stores: []string{"*"}}}},
		{request{method: "GET", path: "/api/stores"}, answered{"stores", asked{}}},
		{request{method: "POST", path: "/api/stores", body: `{"name":"n"}`, token: token}, answered{"store:create", asked{Name: "n"}}},
		{request{method: "GET", path: "/api/stores/react"}, answered{"store:info", asked{Store: "react"}}},
		{request{method: "GET", path: "/api/stores/a%2Fb"}, answered{"store:info", asked{Store: "a/b"}}},
		{request{method: "POST", path: "/api/stores/react/index", token: token}, answered{"store:index", asked{Store: "react"}}},
		{request{method: "POST", path: "/api/stores/react/index", token: token, body: `{"store":"other"}`}, answered{"store:index", asked{Store: "react"}}},
		{request{method: "DELETE", path: "/api/stores/react?everywhere=true", token: token}, answered{"store:delete", asked{Store: "react", Everywhere: true}}},
		{request{method: "GET", path: "/api/jobs"}, answered{"jobs", asked{}}},
		{request{method: "GET", path: "/api/jobs/abc"}, answered{"job:status", asked{JobID: "abc"}}},
	} {
		tc.q.token = token
		w := tc.q.send(s)
		var got answered
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
			t.Errorf("%s %s: %d %s", tc.q.method, tc.q.path, w.Code, w.Body)
			continue
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s %s (-want +got)\n%s", tc.q.method, tc.q.path, d)
		}
	}
}

// TestTable: the commands of the routes exist, and so do the arguments that
// come from their paths.
func TestTable(t *testing.T) {
	for _, r := range table {
		if r.command == "" {
			continue
		}
		c, err := product.Commands().Find(r.command)
		if err != nil || c.Name != r.command {
			t.Errorf("%s: %v", r.pattern, err)
			continue
		}
		for wildcard, arg := range r.args {
			known := false
			for _, p := range c.Params {
				known = known || p.Name == arg
			}
			if !known || !strings.Contains(r.pattern, "{"+wildcard+"}") {
				t.Errorf("%s: %s has no argument %q from {%s}", r.pattern, c.Name, arg, wildcard)
			}
		}
		writes := !strings.HasPrefix(r.pattern, "GET ")
		if c.Effect != command.Reads && !writes {
			t.Errorf("%s changes something", r.pattern)
		}
	}
}

// TestRegistry: whatever the registry holds needs the token, and what is for
// persons needs our own page as well. Nothing runs here.
func TestRegistry(t *testing.T) {
	h := Handler(newApp(t), Options{Addr: host, Token: token, Log: io.Discard})
	for _, c := range product.Commands().All() {
		ask := func(token, origin string) int {
			return request{method: "POST", path: "/api/commands/" + c.Name, body: "{", token: token, origin: origin, contentType: "application/json"}.send(h).Code
		}
		if c.Audience == command.Person {
			if a, b, d := ask("", ""), ask(token, ""), ask("", own); a != 401 || b != 403 || d != 401 {
				t.Errorf("%s: %d without both, %d without origin, %d without token", c.Name, a, b, d)
			}
			if got := ask(token, "https://evil.example"); got != 403 {
				t.Errorf("%s from a foreign page: %d", c.Name, got)
			}
			if got := ask(token, own); got != 400 { // it got as far as the broken body
				t.Errorf("%s from our page: %d", c.Name, got)
			}
		} else if got := ask("", ""); got != 401 {
			t.Errorf("%s without token: %d", c.Name, got)
		}
	}
}

// TestDispatch: execute has the class of the command that it names.
func TestDispatch(t *testing.T) {
	h := Handler(newApp(t), Options{Addr: host, Token: token, Log: io.Discard})
	ask := func(body string, q request) int {
		q.method, q.path, q.body = "POST", "/api/commands/execute", body
		return q.send(h).Code
	}
	for _, tc := range []struct {
		body string
		q    request
		want int
	}{
		{`{"command":"commands"}`, request{}, 401},
		{`{"command":"commands"}`, request{token: token}, 200},
		{`{"command":"help","args":{"command":"search"}}`, request{token: token}, 200},
		{`{"command":"commands"}`, request{remote: far}, 401},
		{`{"command":"commands"}`, request{remote: far, token: token}, 200},
		{`{"command":"store:delete","args":{"store":"x"}}`, request{}, 401},
		{`{"command":"store_delete","args":{"store":"x"}}`, request{}, 401},
		{`{"command":"nothing"}`, request{}, 401},
		{`{"command":"nothing"}`, request{token: token}, 404},
		{`{"command":"trust","args":{"path":"x"}}`, request{}, 401},
		{`{"command":"trust","args":{"path":"x"}}`, request{token: token, origin: own, contentType: "application/json"}, 403},
		{`[]`, request{token: token}, 400},
	} {
		if got := ask(tc.body, tc.q); got != tc.want {
			t.Errorf("%s %+v: %d, want %d", tc.body, tc.q, got, tc.want)
		}
	}
}

func TestBodies(t *testing.T) {
	s := fake(t, Options{})
	big := `{"query":"` + strings.Repeat("x", maxBody) + `"}`
	for _, tc := range []struct {
		name string
		q    request
		want int
	}{
		{"no type, no origin", request{body: `{"query":"x"}`}, 200},
		{"text, no origin", request{body: `{"query":"x"}`, contentType: "text/plain"}, 200},
		{"form, no origin", request{body: `{"query":"x"}`, contentType: "application/x-www-form-urlencoded"}, 200},
		{"json, own page", request{body: `{"query":"x"}`, contentType: "application/json; charset=utf-8", origin: own}, 200},
		{"text, own page", request{body: `{"query":"x"}`, contentType: "text/plain", origin: own}, 415},
		{"no type, own page", request{body: `{"query":"x"}`, origin: own}, 415},
		{"over a mebibyte", request{body: big}, 413},
		{"not JSON", request{body: `{`}, 400},
		{"a list", request{body: `[1]`}, 400},
		{"misspelt", request{body: `{"querry":"x"}`}, 400},
	} {
		q := tc.q
		q.method, q.path, q.token = "POST", "/api/search", token
		w := q.send(s)
		if w.Code != tc.want {
			t.Errorf("%s: %d %s, want %d", tc.name, w.Code, w.Body, tc.want)
		}
		if tc.want != 200 {
			failed(t, w)
		}
	}
	if w := (request{method: "POST", path: "/api/stores/x/index", body: "[]", token: token}).send(s); w.Code != 400 {
		t.Errorf("a list where the path adds an argument: %d %s", w.Code, w.Body)
	}
}

func TestErrors(t *testing.T) {
	var log bytes.Buffer
	s := fake(t, Options{Log: &log})
	for name, want := range map[string]int{
		"fail:invalid": 400, "fail:not_found": 404, "fail:exists": 409, "fail:busy": 503, "fail:denied": 403,
		"fail:too_large": 413, "fail:unsupported": 501, "fail:corrupt": 500, "fail:away": 503, "fail:disk_full": 507,
		"fail:canceled": 503, "fail:newer": 409, "fail:internal": 500, "fail:plain": 500, "boom": 500, "nothing": 404,
	} {
		w := request{method: "POST", path: "/api/commands/" + name, token: token}.send(s)
		if w.Code != want {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, want)
		}
		failed(t, w)
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %s", name, w.Body)
		}
	}
	if !strings.Contains(log.String(), "secret detail") {
		t.Errorf("the panic is not in the log: %q", log.String())
	}
	for _, tc := range []struct {
		q     request
		want  int
		allow string
	}{
		{request{method: "GET", path: "/nothing"}, 404, ""},
		{request{method: "GET", path: "/api/"}, 404, ""},
		{request{method: "PUT", path: "/api/stores/x"}, 405, "DELETE, GET, HEAD"},
		{request{method: "GET", path: "/api/commands/search"}, 405, "POST"},
		{request{method: "DELETE", path: "/api/search"}, 405, "GET, HEAD, POST"},
		{request{method: "POST", path: "/health"}, 405, "GET, HEAD"},
		{request{method: "GET", path: "/nothing", host: "evil.example:7390"}, 403, ""},
		{request{method: "PUT", path: "/api/stores", host: "evil.example:7390"}, 403, ""},
	} {
		w := tc.q.send(s)
		if w.Code != tc.want || w.Header().Get("Allow") != tc.allow {
			t.Errorf("%s %s: %d %v %s", tc.q.method, tc.q.path, w.Code, w.Header(), w.Body)
		}
		failed(t, w)
	}
	// Names that do not exist are not told to those who may not read.
	if w := (request{method: "POST", path: "/api/commands/nothing", remote: far}).send(s); w.Code != 401 {
		t.Errorf("unknown command from afar: %d", w.Code)
	}
}

func TestOpenPages(t *testing.T) {
	s := fake(t, Options{RequireToken: true})
	w := request{method: "GET", path: "/health", remote: far}.send(s)
	if w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"status":"ok","version":"test"}` {
		t.Errorf("health: %d %s", w.Code, w.Body)
	}
	w = request{method: "GET", path: "/", remote: far}.send(s)
	if w.Code != 200 || !strings.Contains(w.Body.String(), "/api/commands") {
		t.Errorf("page: %d %s", w.Code, w.Body)
	}
	for _, h := range []string{"X-Content-Type-Options", "X-Frame-Options", "Content-Security-Policy", "Referrer-Policy"} {
		if w.Header().Get(h) == "" {
			t.Errorf("no %s", h)
		}
	}
	if w := (request{method: "GET", path: "/health", host: "evil.example"}).send(s); w.Code != 403 {
		t.Errorf("health for a foreign host: %d", w.Code)
	}
}

func TestPreflight(t *testing.T) {
	s := fake(t, Options{})
	ask := func(path, method, origin, host string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodOptions, path, nil)
		r.Host, r.RemoteAddr = host, near
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", method)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	if w := ask("/api/commands/answer", "POST", listed, host); w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != listed ||
		w.Header().Get("Access-Control-Allow-Methods") != "POST" || w.Header().Get("Vary") != "Origin" {
		t.Errorf("listed page: %d %v", w.Code, w.Header())
	}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"foreign page":  ask("/api/commands/answer", "POST", "https://evil.example", host),
		"null":          ask("/api/commands/answer", "POST", "null", host),
		"other class":   ask("/api/commands/write", "POST", listed, host),
		"read class":    ask("/api/search", "GET", listed, host),
		"rebound name":  ask("/api/commands/answer", "POST", listed, "evil.example:7390"),
		"other command": ask("/api/stores/x", "DELETE", listed, host),
	} {
		if w.Code != 403 || w.Header().Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
}

// TestAnswersAreLimited: who asks from elsewhere is slowed down.
func TestAnswersAreLimited(t *testing.T) {
	s := fake(t, Options{})
	s.guard.Limit = &httpguard.Limiter{Rate: 0.001, Burst: 3}
	counts := map[int]int{}
	for range 10 {
		counts[request{method: "POST", path: "/api/commands/answer", origin: listed, contentType: "application/json", remote: far}.send(s).Code]++
	}
	if d := cmp.Diff(map[int]int{200: 3, 429: 7}, counts); d != "" {
		t.Error(d)
	}
	for range 10 {
		if w := (request{method: "POST", path: "/api/commands/answer"}).send(s); w.Code != 200 {
			t.Errorf("near: %d", w.Code)
		}
	}
}

// TestHandlerWithoutToken: nobody knows the token, so nobody writes.
func TestHandlerWithoutToken(t *testing.T) {
	h := Handler(newApp(t), Options{Addr: host, Log: io.Discard})
	for _, tok := range []string{"", " ", "x"} {
		if w := (request{method: "POST", path: "/api/stores", body: "{}", token: tok}).send(h); w.Code != 401 {
			t.Errorf("token %q: %d", tok, w.Code)
		}
	}
}

type lockedBuffer struct {
	mu   sync.Mutex
	b    bytes.Buffer
	wake chan struct{}
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.b.Write(p)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return n, err
}

// TestServe goes over a real socket with the address and token that were printed once.
func TestServe(t *testing.T) {
	log := &lockedBuffer{wake: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	a := newApp(t)
	go func() { done <- Serve(ctx, a, Options{Addr: "127.0.0.1:0", Log: log}) }()
	<-log.wake
	log.mu.Lock()
	printed := log.b.String()
	log.mu.Unlock()
	m := regexp.MustCompile(`^(http://(127\.0\.0\.1:\d+))/#token=(\S{43})\n$`).FindStringSubmatch(printed)
	if m == nil {
		t.Fatalf("printed %q", printed)
	}
	tr := &http.Transport{}
	get := func(auth string) int {
		r, err := http.NewRequest(http.MethodPost, m[1]+"/api/stores", strings.NewReader(`{"nonsense":1}`))
		if err != nil {
			t.Fatal(err)
		}
		if auth != "" {
			r.Header.Set("Authorization", "Bearer "+auth)
		}
		res, err := (&http.Client{Transport: tr}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	if a, b := get(""), get(m[3]); a != 401 || b != 400 {
		t.Errorf("%d without the token, %d with it", a, b)
	}
	if err := Serve(t.Context(), a, Options{Addr: m[2], Log: io.Discard}); kb.CodeOf(err) != kb.Busy || kb.HintOf(err) == "" {
		t.Errorf("a second server on the port: %v", err)
	}
	tr.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServeRefuses(t *testing.T) {
	for _, origin := range []string{"*", "null", "https://*.example.org", "docs.example.org", "https://docs.example.org/", "file:///x", "https://Docs.example.org"} {
		err := Serve(t.Context(), newApp(t), Options{Addr: "127.0.0.1:0", Origins: []string{origin}, Log: io.Discard})
		if kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("origin %q: %v", origin, err)
		}
	}
	if err := Serve(t.Context(), newApp(t), Options{Addr: "7390", Log: io.Discard}); kb.CodeOf(err) != kb.Invalid {
		t.Error(err)
	}
}

func ExampleHandler() {
	a, err := product.New(app.Config{Version: "v1"})
	if err != nil {
		return
	}
	w := request{method: "GET", path: "/health"}.send(Handler(a, Options{}))
	fmt.Print(w.Body)
	// Output: {"status":"ok","version":"v1"}
}
