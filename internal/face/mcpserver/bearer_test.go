package mcpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
)

// TestTokenServer: a client without a token learns where to get one (RFC 9728), a
// token is taken when the token server says that it is valid, for us and enough (RFC
// 7662), and nobody comes in when that server cannot be asked.
func TestTokenServer(t *testing.T) {
	const resource = "https://kb.example.org/mcp"
	var asked atomic.Int32
	var down atomic.Bool
	var issuer *httptest.Server
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/.well-known/oauth-authorization-server":
			fmt.Fprintf(w, `{"issuer":%q,"introspection_endpoint":"%s/ask"}`, issuer.URL, issuer.URL)
		case down.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/ask":
			asked.Add(1)
			if id, secret, _ := r.BasicAuth(); id != "kb" || secret != "its-secret" || r.Method != http.MethodPost {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			later := time.Now().Add(time.Hour).Unix()
			said := map[string]any{"active": true, "iss": issuer.URL, "aud": resource, "scope": "read knowledge", "exp": later}
			switch r.FormValue("token") {
			case "good":
			case "list":
				said["aud"] = []string{"other", resource}
			case "ended":
				said["exp"] = time.Now().Add(-time.Second).Unix()
			case "elsewhere":
				said["aud"] = "https://other.example"
			case "nobody":
				delete(said, "aud")
			case "weak":
				said["scope"] = "read"
			case "forged":
				said["iss"] = "https://evil.example"
			default:
				said = map[string]any{"active": false}
			}
			json.NewEncoder(w).Encode(said)
		}
	}))
	defer issuer.Close()
	a := newApp(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte("mcp:\n  issuer: "+issuer.URL+"\n  resource: "+resource+"\n  clientId: kb\n  clientSecret: KB_SECRET\n  scopes: [knowledge]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.Config.Env = func(n string) string {
		return map[string]string{"KNOWLEDGE_CONFIG": file, "KB_SECRET": "its-secret"}[n]
	}
	made, err := Handler(t.Context(), a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := &httpguard.Guard{Bound: "127.0.0.1:80", Secret: "the-server's-own"}
	ts := httptest.NewServer(made(g))
	defer ts.Close()
	g.Bound = strings.TrimPrefix(ts.URL, "http://")
	post := func(token string) (int, string) {
		req, err := http.NewRequest(http.MethodPost, ts.URL+Path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode, resp.Header.Get("WWW-Authenticate")
	}
	const where = `resource_metadata="https://kb.example.org/.well-known/oauth-protected-resource/mcp"`
	for _, c := range []struct {
		token  string
		status int
		error  string
	}{
		{"", 401, ""}, {"good", 200, ""}, {"list", 200, ""}, {"the-server's-own", 200, ""}, {"ended", 401, "invalid_token"}, {"elsewhere", 401, "invalid_token"},
		{"nobody", 401, "invalid_token"}, {"weak", 403, "insufficient_scope"}, {"forged", 401, "invalid_token"}, {"unknown", 401, "invalid_token"},
		{strings.Repeat("x", 20000), 401, ""},
	} {
		status, said := post(c.token)
		if status != c.status || status != 200 && !strings.Contains(said, where) || strings.Contains(said, "error=") != (c.error != "") || !strings.Contains(said, c.error) {
			t.Errorf("%.20q: %d %s", c.token, status, said)
		}
	}
	before := asked.Load()
	if status, _ := post("good"); status != 200 || asked.Load() != before {
		t.Errorf("%d after %d more questions", status, asked.Load()-before)
	}
	down.Store(true)
	if status, _ := post("another"); status != http.StatusServiceUnavailable {
		t.Errorf("%d while the token server is down", status)
	}
	for _, path := range WellKnown {
		resp, err := http.Get(ts.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var about struct {
			Resource string
			Servers  []string `json:"authorization_servers"`
		}
		err = json.NewDecoder(resp.Body).Decode(&about)
		resp.Body.Close()
		if err != nil || about.Resource != resource || len(about.Servers) != 1 || about.Servers[0] != issuer.URL {
			t.Errorf("%s: %v %+v", path, err, about)
		}
	}
}

// TestNoTokenServer: without one there is no such document, and the challenge names none.
func TestNoTokenServer(t *testing.T) {
	made, err := Handler(t.Context(), newApp(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := &httpguard.Guard{Secret: "x"}
	ts := httptest.NewServer(made(g))
	defer ts.Close()
	g.Bound = strings.TrimPrefix(ts.URL, "http://")
	for path, want := range map[string]int{WellKnown[0]: 404, WellKnown[1]: 404, Path: 401} {
		resp, err := http.Get(ts.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want || strings.Contains(resp.Header.Get("WWW-Authenticate"), "resource_metadata") {
			t.Errorf("%s: %d %v", path, resp.StatusCode, resp.Header)
		}
	}
}
