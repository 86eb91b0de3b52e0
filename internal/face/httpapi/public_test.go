package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/config"
)

const (
	publicAddr   = "127.0.0.1:8080"
	publicOrigin = "https://help.example.org"
)

// publicly is the public side beside a private store, with what it logs.
func publicly(t *testing.T, c config.Public) (http.Handler, *service, *bytes.Buffer) {
	t.Helper()
	s := answering(t, true)
	dir := filepath.Join(t.TempDir(), "secret")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "private.md"), []byte("# Plan\n\nThe project zebra is left out of the index until May.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	st, err := s.app.CreateStore(t.Context(), app.CreateStore{Name: "secret", Kind: kb.KindFolder, Source: dir, User: true})
	if err == nil {
		_, err = s.app.WaitJob(t.Context(), st.Job)
	}
	if err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	return PublicHandler(s.app, publicAddr, c, []string{listed}, Options{Log: log}), s, log
}

// send sends one request to the public side.
func send(h http.Handler, method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host, r.RemoteAddr = "help.example.org", "127.0.0.1:5555"
	r.Header.Set("Content-Type", "application/json")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func TestPublicKnowsOneStore(t *testing.T) {
	h, s, _ := publicly(t, config.Public{Host: publicOrigin, Trusted: loopback})
	n := 0
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		n++
		return send(h, method, path, body, func(r *http.Request) {
			r.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", n/200, n%200))
			r.Header.Set("Authorization", "Bearer "+token)
		})
	}
	w := ask("POST", callPath, recorded["widget"])
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Files over one mebibyte") || !strings.Contains(w.Body.String(), publicOrigin+"/api/v1/chunks/") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	// Every route of the private side, every command by name, in every dialect.
	routes := []string{"GET /", "GET /api/commands", "POST /api/commands/search", "GET /api/search?query=zebra", "POST /api/search", "GET /api/stores", "POST /api/stores",
		"GET /api/jobs", "GET /mcp/tools/list", "POST /mcp/tools/call", "POST /mcp", "GET /api/kdd/list", "GET /api/v1/feedback", "GET /api/v1/feedback/stats",
		"POST /api/v1/feedback/1/review?action_taken=x", "GET /api/v1/mcp/sessions/web", "DELETE /api/v1/mcp/sessions/web", "PUT /health"}
	for _, route := range routes {
		method, path, _ := strings.Cut(route, " ")
		if w := ask(method, path, `{"query":"zebra"}`); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", route, w.Code, w.Body)
		}
	}
	for _, name := range []string{"search", "stores", "read", "execute", "answer:ask", "answer:session", "feedback:list", "files", "store:create", "get_full_context"} {
		for _, body := range []string{
			`{"tool_name":%q,"arguments":{"query":"zebra","session_id":"web","stores":["*"],"store":"secret","command":"stores"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"query":"zebra"}}}`,
			`{"toolName":%q,"arguments":{"query":"zebra"}}`,
		} {
			w := ask("POST", callPath, fmt.Sprintf(body, name))
			if strings.Contains(w.Body.String(), "zebra is left") || strings.Contains(w.Body.String(), `"success":true`) {
				t.Errorf("%s: %s", name, w.Body)
			}
		}
	}
	for _, tool := range ragNames {
		w := ask("POST", callPath, fmt.Sprintf(`{"tool_name":%q,"arguments":{"query":"what is the project zebra?","stores":["secret"],"store":"secret","top_k":50}}`, tool))
		if strings.Contains(w.Body.String(), "until May") || strings.Contains(w.Body.String(), "private.md") {
			t.Errorf("%s: %s", tool, w.Body)
		}
	}
	found, err := s.find("search")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := found.Run(t.Context(), s.app, json.RawMessage(`{"query":"zebra","stores":["secret"],"detail":"full"}`))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(raw)
	id := between(string(text), `"id":"`, `"`)
	if id == "" {
		t.Fatalf("the private hit has no id: %s", text)
	}
	if w := ask("GET", "/api/v1/chunks/"+id, ""); w.Code == http.StatusOK {
		t.Errorf("a private chunk: %s", w.Body)
	}
}

func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

func TestPublicHost(t *testing.T) {
	h, _, _ := publicly(t, config.Public{Host: publicOrigin})
	for host, want := range map[string]int{"help.example.org": 200, "help.example.org:443": 200, "HELP.example.org": 200, "127.0.0.1:8080": 200, "evil.example": 403, "": 403} {
		if w := send(h, "GET", "/health", "", func(r *http.Request) { r.Host = host }); w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
	for origin, want := range map[string]int{"": 200, publicOrigin: 200, listed: 200, "https://evil.example": 403, "null": 403} {
		w := send(h, "POST", callPath, `{"tool_name":"list_documents"}`, func(r *http.Request) { r.Header.Set("Origin", origin) })
		if w.Code != want || w.Header().Get("Access-Control-Allow-Origin") == "*" {
			t.Errorf("origin %q: %d, want %d; %v", origin, w.Code, want, w.Header())
		}
	}
	if w := send(h, "OPTIONS", callPath, "", func(r *http.Request) {
		r.Header.Set("Origin", listed)
		r.Header.Set("Access-Control-Request-Method", "POST")
	}); w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != listed {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
}

// TestPublicClients: behind a trusted proxy every visitor is a client; what
// another says of itself is nothing.
func TestPublicClients(t *testing.T) {
	list := `{"tool_name":"list_documents"}`
	for _, c := range []struct {
		name   string
		c      config.Public
		header string
		passed int // of ten visitors, three times twenty requests each
	}{
		{"a trusted proxy", config.Public{Host: publicOrigin, Trusted: loopback}, "X-Forwarded-For", 200},
		{"a proxy that is not named", config.Public{Host: publicOrigin}, "X-Forwarded-For", 20},
		{"another header", config.Public{Host: publicOrigin, Trusted: loopback}, "X-Real-IP", 20},
		{"the header that is named", config.Public{Host: publicOrigin, Trusted: loopback, ClientHeader: "X-Real-IP"}, "X-Real-IP", 200},
	} {
		h, _, log := publicly(t, c.c)
		h.(*publicSide).one.Rate, h.(*publicSide).all.Burst = 1e-9, 10_000
		passed := 0
		for range 60 {
			for v := range 10 {
				w := send(h, "POST", callPath, list, func(r *http.Request) { r.Header.Set(c.header, fmt.Sprintf("198.51.100.%d", v)) })
				if w.Code == http.StatusOK {
					passed++
				} else if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
					t.Fatalf("%s: %d %s", c.name, w.Code, w.Body)
				}
			}
		}
		if passed != c.passed {
			t.Errorf("%s: %d passed, want %d", c.name, passed, c.passed)
		}
		if said := strings.Count(log.String(), "public.trusted_proxies"); said > 1 || said == 1 != (len(c.c.Trusted) == 0) {
			t.Errorf("%s: said %q", c.name, log)
		}
	}
}

func TestPublicAllTogether(t *testing.T) {
	h, _, _ := publicly(t, config.Public{Host: publicOrigin, Trusted: loopback})
	h.(*publicSide).all.Rate = 1e-9
	passed := 0
	for v := range allBurst + 50 {
		w := send(h, "POST", callPath, `{"tool_name":"list_documents"}`, func(r *http.Request) { r.Header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", v/250, v%250)) })
		if w.Code == http.StatusOK {
			passed++
		}
	}
	if passed != allBurst {
		t.Errorf("%d clients passed, want %d", passed, allBurst)
	}
}

func TestPublicRatings(t *testing.T) {
	h, s, _ := publicly(t, config.Public{Host: publicOrigin, Trusted: loopback})
	rate := func(client string) *httptest.ResponseRecorder {
		return send(h, "POST", "/api/v1/feedback", `{"query":"q","rating":"negative","session_id":"s"}`, func(r *http.Request) {
			r.Header.Set("X-Forwarded-For", client)
			r.Header.Set("Authorization", "Bearer "+token)
		})
	}
	if w := rate("198.51.100.1"); w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), `"pending":true`) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	taken := 1
	for range 30 {
		if rate("198.51.100.1").Code == http.StatusCreated {
			taken++
		}
	}
	if taken != 10 {
		t.Errorf("%d ratings of one session were taken, want 10", taken)
	}
	if w := rate("198.51.100.2"); w.Code != http.StatusCreated {
		t.Errorf("another client: %d", w.Code)
	}
	stats, err := answers.StatsOfFeedback(t.Context(), s.app)
	if err != nil || stats.Total != 0 {
		t.Errorf("%+v, %v: what is pending counts", stats, err)
	}
}

// TestPublicSessions: of two clients with the same session neither leans on what
// the other asked.
func TestPublicSessions(t *testing.T) {
	h, _, _ := publicly(t, config.Public{Host: publicOrigin, Trusted: loopback})
	ask := func(client, question string) string {
		w := send(h, "POST", callPath, fmt.Sprintf(`{"tool_name":"generate_rag_answer","arguments":{"query":%q},"session_id":"web"}`, question),
			func(r *http.Request) { r.Header.Set("X-Forwarded-For", client) })
		return w.Body.String()
	}
	ask("198.51.100.1", "What is maxFileBytes?")
	if got := ask("198.51.100.1", "and what is its default?"); !strings.Contains(got, "1048576") || !strings.Contains(got, `"question"`) {
		t.Errorf("a follow-up: %s", got)
	}
	if got := ask("198.51.100.2", "and what is its default?"); strings.Contains(got, `"question":"`) {
		t.Errorf("another client leans on it: %s", got)
	}
}

func TestWidgetFiles(t *testing.T) {
	h, _, _ := publicly(t, config.Public{Host: publicOrigin})
	for _, name := range webNames {
		w := send(h, "GET", "/"+name, "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
		body, _ := io.ReadAll(w.Body)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/javascript") || len(body) == 0 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
		if again := send(h, "GET", "/"+name, "", func(r *http.Request) { r.Header.Set("If-None-Match", w.Header().Get("ETag")) }); again.Code != http.StatusNotModified {
			t.Errorf("%s again: %d", name, again.Code)
		}
	}
}
