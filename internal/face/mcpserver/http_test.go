package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

const (
	testHost  = "127.0.0.1:7788"
	testToken = "right"
)

func handler(f *face) http.Handler {
	return f.http(&httpguard.Guard{Bound: testHost, Secret: testToken})
}

// post sends body as a right request would be, but for what change does to it.
func post(h http.Handler, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body))
	r.Host, r.RemoteAddr = testHost, "127.0.0.1:5000"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+testToken)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func set(pairs ...string) func(*http.Request) {
	return func(r *http.Request) {
		for i := 0; i < len(pairs); i += 2 {
			r.Header.Set(pairs[i], pairs[i+1])
		}
	}
}

func parsed(t *testing.T, w *httptest.ResponseRecorder) (r reply) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
		t.Fatalf("%d %q: %v", w.Code, w.Body, err)
	}
	return r
}

func TestHTTPGuard(t *testing.T) {
	h := handler(fake(t, echo))
	for _, tc := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"right", nil, 200},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"wrong token", set("Authorization", "Bearer wrong"), 401},
		{"not a bearer", set("Authorization", "Basic "+testToken), 401},
		{"rebound name", func(r *http.Request) { r.Host = "evil.example:7788" }, 403},
		{"other port", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		{"own origin", set("Origin", "http://"+testHost), 200},
		{"foreign origin", set("Origin", "https://evil.example"), 403},
		{"null origin", set("Origin", "null"), 403},
		{"from elsewhere", func(r *http.Request) { r.RemoteAddr = "192.0.2.1:1" }, 200},
		{"elsewhere, no token", func(r *http.Request) { r.RemoteAddr = "192.0.2.1:1"; r.Header.Del("Authorization") }, 401},
		{"another path", func(r *http.Request) { r.URL.Path = "/" }, 404},
		{"get", func(r *http.Request) { r.Method = http.MethodGet }, 405},
		{"delete", func(r *http.Request) { r.Method = http.MethodDelete }, 405},
		{"options", func(r *http.Request) { r.Method = http.MethodOptions }, 405},
		{"form", set("Content-Type", "text/plain"), 415},
	} {
		w := post(h, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, tc.change)
		if w.Code != tc.status {
			t.Errorf("%s: %d %s, want %d", tc.name, w.Code, w.Body, tc.status)
		}
		if r := parsed(t, w); (r.Error != nil) != (tc.status != 200) {
			t.Errorf("%s: %s", tc.name, w.Body)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: headers %v", tc.name, w.Header())
		}
	}
}

func TestHTTPMessages(t *testing.T) {
	h := handler(fake(t, echo))
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	modern := func(method string, more ...string) func(*http.Request) {
		return set(append([]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}, more...)...)
	}
	for _, tc := range []struct {
		name, body string
		change     func(*http.Request)
		status     int
		code       int
		want       string
	}{
		{"initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil, 200, 0, `"protocolVersion":"2025-11-25"`},
		{"initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, set("Mcp-Protocol-Version", "2025-11-25"), 202, 0, ""},
		{"legacy list", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, set("Mcp-Protocol-Version", "2025-06-18"), 200, 0, `"echo"`},
		{"legacy call", toolCall(3, "echo", `{"text":"hello"}`), nil, 200, 0, `"hello"`},
		{"a session id is ignored", `{"jsonrpc":"2.0","id":2,"method":"ping"}`, set("Mcp-Session-Id", "made-up"), 200, 0, `"result":{}`},
		{"discover", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`, modern("server/discover"), 200, 0, `"supportedVersions":["2026-07-28"`},
		{"modern list", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, modern("tools/list"), 200, 0, `"resultType":"complete"`},
		{"modern call", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},` + meta + `}}`, modern("tools/call", "Mcp-Name", "echo"), 200, 0, `"hello"`},
		{"listen", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`, modern("subscriptions/listen"), 200, 0, "notifications/subscriptions/acknowledged"},
		{"header missing", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, nil, 400, -32020, ""},
		{"header differs", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, modern("tools/call"), 400, -32020, ""},
		{"name differs", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",` + meta + `}}`, modern("tools/call", "Mcp-Name", "x"), 400, -32020, ""},
		{"unknown version", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}`, set("Mcp-Protocol-Version", "2031-01-01"), 400, -32022, ""},
		{"unknown version, header differs", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}`, set("Mcp-Protocol-Version", "2026-07-28"), 400, -32020, ""},
		{"unknown version in the header", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, set("Mcp-Protocol-Version", "1900-01-01"), 400, -32022, ""},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, nil, 200, -32601, ""},
		{"unknown method, modern", `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{` + meta + `}}`, modern("no/such"), 404, -32601, ""},
		{"unknown tool", toolCall(1, "nope", `{}`), nil, 400, -32602, ""},
		{"not JSON", `{`, nil, 400, -32700, ""},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, nil, 400, -32600, ""},
		{"too long", `{"jsonrpc":"2.0","id":1,"method":"ping","x":"` + strings.Repeat("x", maxMessage) + `"}`, nil, 413, -32600, ""},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 202, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := post(h, tc.body, tc.change)
			if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.want) {
				t.Errorf("%d %s, want %d with %q", w.Code, w.Body, tc.status, tc.want)
			}
			if tc.code != 0 {
				if r := parsed(t, w); r.Error == nil || r.Error.Code != tc.code || len(r.Error.Message) > 300 {
					t.Errorf("%s, want code %d", w.Body, tc.code)
				}
			}
		})
	}
}

// TestHTTPProgress: with a token and a client that reads events, progress
// comes in order before the result; without either, a plain result.
func TestHTTPProgress(t *testing.T) {
	f := fake(t, steps)
	f.every = 0
	h := handler(f)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			w := post(h, withToken(1, "steps", `{"n":5}`, "p"), nil)
			events := strings.Split(strings.TrimSpace(w.Body.String()), "\n\n")
			if w.Header().Get("Content-Type") != "text/event-stream" || len(events) < 3 {
				t.Errorf("%v %q", w.Header(), w.Body)
				return
			}
			high := -1.0
			for i, e := range events {
				data, ok := strings.CutPrefix(e, "event: message\ndata: ")
				var r reply
				if err := json.Unmarshal([]byte(data), &r); !ok || err != nil {
					t.Errorf("event %q: %v", e, err)
					return
				}
				if final := i == len(events)-1; final != (r.Method == "") || !final && r.Params.Progress <= high {
					t.Errorf("event %d of %d: %+v after %v", i, len(events), r, high)
				}
				high = max(high, r.Params.Progress)
			}
		})
	}
	wg.Wait()
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no events read": post(h, withToken(1, "steps", `{"n":5}`, "p"), set("Accept", "application/json")),
		"no token":       post(h, toolCall(1, "steps", `{"n":5}`), nil),
	} {
		if r := parsed(t, w); r.text() != "done" {
			t.Errorf("%s: %s", name, w.Body)
		}
	}
}

// TestHTTPClientGone: closing the connection cancels the call; a message of
// another client that names the same id does not.
func TestHTTPClientGone(t *testing.T) {
	began := make(chan context.Context, 1)
	h := handler(fake(t, tool("block", blocker(began, nil))))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		post(h, toolCall(1, "block", "{}"), func(r *http.Request) { *r = *r.WithContext(ctx) })
	}()
	call := <-began
	post(h, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, nil)
	if call.Err() != nil {
		t.Error("another client cancelled the call")
	}
	cancel()
	<-call.Done()
	<-done
}

func TestServeHTTPRefuses(t *testing.T) {
	for addr, want := range map[string]kb.Code{"0.0.0.0:0": kb.Invalid, "192.0.2.1:0": kb.Invalid, "nonsense": kb.Invalid} {
		err := ServeHTTP(t.Context(), newApp(t), Options{Addr: addr, NoAuth: true})
		if kb.CodeOf(err) != want || kb.HintOf(err) == "" {
			t.Errorf("%s without a token: %v", addr, err)
		}
	}
}

// lockedBuffer takes the log of a server while the test reads it.
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

// TestServeHTTP goes over a real socket with the address and token that were printed.
func TestServeHTTP(t *testing.T) {
	for _, noAuth := range []bool{false, true} {
		log := &lockedBuffer{wake: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- ServeHTTP(ctx, newApp(t), Options{Addr: "127.0.0.1:0", NoAuth: noAuth, Log: log})
		}()
		<-log.wake
		log.mu.Lock()
		printed := log.b.String()
		log.mu.Unlock()
		url := regexp.MustCompile(`http://\S+/mcp`).FindString(printed)
		token := regexp.MustCompile(`Bearer (\S{43})`).FindStringSubmatch(printed)
		if url == "" || (token == nil) != noAuth {
			t.Fatalf("printed %q", printed)
		}
		tr := &http.Transport{}
		ask := func(auth string) (int, string) {
			r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(ping))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			if auth != "" {
				r.Header.Set("Authorization", auth)
			}
			res, err := (&http.Client{Transport: tr}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, _ := io.ReadAll(res.Body)
			return res.StatusCode, string(b)
		}
		wantBare := http.StatusUnauthorized
		if noAuth {
			wantBare = http.StatusOK
		}
		if got, body := ask(""); got != wantBare {
			t.Errorf("no token: %d %s", got, body)
		}
		if !noAuth {
			if got, body := ask(token[0]); got != 200 || !strings.Contains(body, `"result":{}`) {
				t.Errorf("token: %d %s", got, body)
			}
		}
		tr.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// unread is a response whose client takes nothing until it is opened.
type unread struct {
	open   chan struct{}
	events int
}

func (u *unread) Header() http.Header { return http.Header{} }
func (u *unread) WriteHeader(int)     {}
func (u *unread) Write(p []byte) (int, error) {
	<-u.open
	u.events += strings.Count(string(p), "data: ")
	return len(p), nil
}

// TestNotificationsOverHTTPWaitForNobody: a command goes on although its
// client takes nothing, what waits is bounded, and the result is never lost.
func TestNotificationsOverHTTPWaitForNobody(t *testing.T) {
	u := &unread{open: make(chan struct{})}
	s := &stream{ResponseWriter: u}
	for i := range 1000 {
		s.notify("notifications/progress", i)
	}
	if len(s.notes) > mostNotes {
		t.Errorf("%d notifications are kept", len(s.notes))
	}
	io.WriteString(s, `{"result":1}`)
	close(u.open)
	s.finish()
	if u.events < 2 || u.events > 2*mostNotes+1 || s.result.Len() == 0 {
		t.Errorf("%d events were written", u.events)
	}
}
