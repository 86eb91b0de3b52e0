package restapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the credential of every test: with all that an encoding changes.
const secret = `s3cr3t/"v+a=l<u>e&7`

// service is a REST service that tells what it was asked and misbehaves on
// request: /leaks, /status/500, /slow, /huge, /redirect?to=, /text, /latin1, /broken,
// /image, /flaky (fails twice), /echo and everything else.
type service struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // method, path with query, body
	flaky int
	stop  chan struct{}
}

func newService(t *testing.T) *service {
	s := &service{stop: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() { close(s.stop); s.Close() })
	return s
}

func (s *service) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	s.flaky++
	n := s.flaky
	s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	h := w.Header()
	switch {
	case strings.HasPrefix(path, "/status/"):
		var code int
		fmt.Sscanf(path, "/status/%d", &code)
		h.Set("Content-Type", "application/json")
		w.WriteHeader(code)
		// A careless service shows what it was sent.
		json.NewEncoder(w).Encode(map[string]any{"error": "no", "headers": r.Header, "url": r.URL.String()})
	case path == "/flaky" && n <= 2:
		h.Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case path == "/slow":
		select {
		case <-s.stop:
		case <-r.Context().Done():
		}
	case path == "/huge":
		h.Set("Content-Type", "application/json")
		io.WriteString(w, `"`+strings.Repeat("x", 100_000)+`"`)
	case path == "/redirect":
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	case path == "/text":
		h.Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "sunny \x1b[31mand\x1b[0m 12345\nAuthorization: "+r.Header.Get("Authorization")+r.Header.Get("X-Key"))
	case path == "/latin1":
		h.Set("Content-Type", "text/plain; charset=iso-8859-1")
		w.Write([]byte("temp\xe9rature"))
	case path == "/broken":
		h.Set("Content-Type", "application/json")
		io.WriteString(w, `{"half":`)
	case path == "/image":
		h.Set("Content-Type", "image/png")
		w.Write([]byte("\x89PNG\x00\x01\x02\xff"))
	case path == "/none":
		w.WriteHeader(http.StatusNoContent)
	case path == "/leaks":
		h.Set("Content-Type", "application/json")
		io.WriteString(w, `{"key":"`+leaked+`","note":"use `+leaked+` \u0026 go","nextPageToken":"CAUQAA","`+leaked+`":1}`)
	case path == "/leaks.txt":
		h.Set("Content-Type", "text/plain")
		io.WriteString(w, "use "+leaked+" and go")
	case path == "/numbers":
		h.Set("Content-Type", "application/vnd.example+json")
		io.WriteString(w, `{"big": 12345678901234567890, "exact": 0.10, "e": 1E400, "z":1, "a":2, "u":"\u0073\u0061fe <&>"}`)
	default:
		h.Set("Content-Type", "application/json")
		user, pass, _ := r.BasicAuth()
		json.NewEncoder(w).Encode(map[string]any{
			"method": r.Method, "path": r.URL.EscapedPath(), "query": r.URL.Query(), "body": string(body), "type": r.Header.Get("Content-Type"),
			"authorization": r.Header.Get("Authorization"), "key": r.Header.Get("X-Key"), "agent": r.Header.Get("X-Client"), "user": user, "pass": pass,
		})
	}
}

// definition is one API at the service with the given fields and tools.
func (s *service) definition(fields, tools string) string {
	host := strings.TrimPrefix(s.URL, "http://")
	return "apis:\n  - code: echo\n    baseUrl: " + s.URL + "/v1\n    allowHosts: [\"" + host + "\"]\n" + indent(fields, 4) + "    tools:\n" + indent(tools, 6)
}

func indent(s string, n int) string {
	var b strings.Builder
	for l := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		if l != "" {
			b.WriteString(strings.Repeat(" ", n) + l + "\n")
		}
	}
	return b.String()
}

// bench is a caller with one file of definitions.
type bench struct {
	t      *testing.T
	file   *restapi.File
	caller *restapi.Caller
	log    *restapi.Log
	pauses []time.Duration
}

func newBench(t *testing.T, text string) *bench {
	t.Helper()
	f, err := restapi.Parse("apis.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Problems {
		t.Fatal(p)
	}
	b := &bench{t: t, file: f, log: &restapi.Log{Path: filepath.Join(t.TempDir(), "calls.jsonl")}}
	client := map[*restapi.Provider]*outbound.Client{}
	for _, p := range f.Providers {
		c, err := outbound.New(outbound.Policy{Allow: p.AllowHosts, MaxBytes: p.MaxBytes, Timeout: p.Timeout, MaxRedirects: 5})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		client[p] = c
	}
	b.caller = &restapi.Caller{
		Client:  func(p *restapi.Provider) (restapi.Client, error) { return client[p], nil },
		Secrets: &restapi.Resolver{Env: func(n string) string { return map[string]string{"ECHO_KEY": secret, "ECHO_PAIR": "ann:" + secret}[n] }},
		Log:     b.log,
		Pause:   func(ctx context.Context, d time.Duration) error { b.pauses = append(b.pauses, d); return ctx.Err() },
	}
	t.Cleanup(func() { b.log.Close() })
	return b
}

func (b *bench) call(name, args string) (*restapi.Reply, error) {
	b.t.Helper()
	p, tool, err := restapi.Find(b.file.Providers, name)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.caller.Call(b.t.Context(), p, tool, json.RawMessage(args))
}

// echoed calls a tool and returns what the service says it was asked.
func (b *bench) echoed(name, args string) map[string]any {
	b.t.Helper()
	r, err := b.call(name, args)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, args, err)
	}
	var m map[string]any
	if err := json.Unmarshal(r.JSON, &m); err != nil {
		b.t.Fatalf("%s %s: %v in %s", name, args, err, r.JSON)
	}
	return m
}

// leaked is a token that no definition of ours holds.
const leaked = "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
