package httpapi

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// TestWhatAPageAsks: what our page shows is had by a person with the token from
// the page itself, and by nobody else.
func TestWhatAPageAsks(t *testing.T) {
	s := answering(t, false)
	for _, c := range []struct{ command, args, says string }{
		{"search", `{"query":"files left out of the index","explain":true,"stores":["*"]}`, `"explain"`},
		{"search", `{"query":"files left out of the index","in":"limits.md","stores":["*"]}`, `limits.md`},
		{"kdd:graph", `{"format":"json","stores":["*"]}`, `"graph":{"nodes":[`},
		{"code:files", `{"path":"gone.go","store":"handbook"}`, `"error"`},
		{"stores", `{"all":true}`, `"status":"ready"`},
		{"jobs", `{"all":true}`, `"progress"`},
		{"usage", `{}`, `"memory"`},
		{"feedback:review", `{}`, `"questions_kept"`},
		{"evidence:status", `{}`, `{`},
		{"gate:check", `{}`, `{`},
		{"doctor", `{}`, `"findings"`},
	} {
		ask := request{method: "POST", path: "/api/commands/" + c.command, body: c.args, token: s.guard.Secret, origin: "http://" + s.guard.Bound, host: s.guard.Bound, contentType: "application/json"}
		if w := ask.send(s); !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %s", c.command, w.Code, w.Body)
		}
		for name, change := range map[string]func(*request){
			"another origin": func(r *request) { r.origin = "https://evil.example" },
			"no token":       func(r *request) { r.token = "" },
			"a wrong token":  func(r *request) { r.token = "x" + r.token },
			"another host":   func(r *request) { r.host = "evil.example" },
		} {
			r := ask
			change(&r)
			if w := r.send(s); w.Code != http.StatusForbidden && w.Code != http.StatusUnauthorized && w.Code != http.StatusMisdirectedRequest ||
				w.Header().Get("Access-Control-Allow-Origin") != "" || strings.Contains(w.Body.String(), c.says) && len(c.says) > 1 && c.says != `"error"` {
				t.Errorf("%s with %s: %d %s", c.command, name, w.Code, w.Body)
			}
		}
	}
}

// TestAskStreams: with the token an answer comes as events, the last of them with
// what the command returns; a failure is one too.
func TestAskStreams(t *testing.T) {
	s := answering(t, false)
	for _, c := range []struct{ args, event, says string }{
		{`{"query":"which files are left out of the index?","stores":["*"]}`, "done", "Files over one mebibyte"},
		{`{"query":""}`, "error", `"code":"invalid"`},
	} {
		ask := request{method: "POST", path: "/api/commands/answer:ask", body: c.args, token: s.guard.Secret, origin: "http://" + s.guard.Bound, host: s.guard.Bound,
			contentType: "application/json", accept: "text/event-stream, application/json"}
		w := ask.send(s)
		if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
			t.Fatalf("%s: %d %s", c.args, w.Code, got)
		}
		events := strings.Split(strings.TrimSpace(w.Body.String()), "\n\n")
		name, data, _ := strings.Cut(events[len(events)-1], "\n")
		data = strings.TrimPrefix(data, "data: ")
		if name != "event: "+c.event || !strings.Contains(data, c.says) || !json.Valid([]byte(data)) || !strings.HasPrefix(events[0], "event: start") {
			t.Errorf("%s: %s", c.args, w.Body)
		}
		ask.token = ""
		if w := ask.send(s); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), c.says) {
			t.Errorf("without the token: %d %s", w.Code, w.Body)
		}
	}
}

// TestNoSuchPage: a browser is shown the page at an address that is none, with
// the status of one, and a program what it can go on with.
func TestNoSuchPage(t *testing.T) {
	a := newApp(t)
	s := newService(a, Options{Addr: host, Token: token, Log: io.Discard, Page: func(*httpguard.Guard) map[string]http.Handler {
		return map[string]http.Handler{root: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(http.StatusOK)
			io.WriteString(w, "<!doctype html>")
		})}
	}})
	for _, path := range []string{"/nonsense", "/stores/none/of/these"} {
		r := request{method: "GET", path: path, host: s.guard.Bound, accept: "text/html,application/xhtml+xml"}
		if w := r.send(s); w.Code != http.StatusNotFound || w.Body.String() != "<!doctype html>" {
			t.Errorf("%s in a browser: %d %s", path, w.Code, w.Body)
		}
		r.accept = "*/*"
		if w := r.send(s); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "GET /api/commands lists the commands") {
			t.Errorf("%s in a program: %d %s", path, w.Code, w.Body)
		}
	}
}
