package httpapi

import (
	"net/http"
	"strings"
	"testing"
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
