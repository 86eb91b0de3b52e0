package evidencehttp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const host = "127.0.0.1:7341"

// project is a folder that is no repository, with evidence in it unless text is "".
func project(t *testing.T, text string) (*app.App, string) {
	t.Helper()
	dir := t.TempDir()
	if text != "" {
		if err := os.WriteFile(filepath.Join(dir, ".ai_evidence.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := product.New(app.Config{Version: "test", DataDir: filepath.Join(dir, "data"), Project: dir, Dir: dir, Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a, dir
}

func golden(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../evidence/testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var guardOf = func() *httpguard.Guard { return &httpguard.Guard{Bound: host} }

func ask(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:5000"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestEvidenceMatrix: which statuses, bodies and headers which requests get.
func TestEvidenceMatrix(t *testing.T) {
	const off = `{"error":"Evidence file not found or invalid"}`
	for text, exists := range map[string]bool{"": false, "{bad": true, `{"version":"2.0"}`: true, `{"version":"2.1"}`: true, golden(t): true} {
		a, dir := project(t, text)
		valid := strings.Contains(text, `"2.1"`)
		h := Evidence(a, "/ai-evidence", guardOf(), io.Discard)
		for _, tc := range []struct {
			method, path string
			status       int
			body         string // "" is anything
		}{
			{"GET", "/health", 200, `{"status":"ok"}`},
			{"GET", "/health/", 200, `{"status":"ok"}`},
			{"GET", "/health//", 200, `{"status":"ok"}`},
			{"GET", "/status/?x=1", 200, ""},
			{"GET", "/", 404, `{"error":"Not found"}`},
			{"GET", "/nope", 404, `{"error":"Not found"}`},
			{"GET", "/ai-evidence/nope", 404, `{"error":"Not found"}`},
			{"GET", "/ai-evidencesummary", 404, `{"error":"Not found"}`},
			{"GET", "/ai-evidence/summary/more", 404, `{"error":"Not found"}`},
			{"POST", "/nope", 405, `{"error":"Method not allowed"}`},
			{"HEAD", "/health", 405, `{"error":"Method not allowed"}`},
			{"OPTIONS", "/status", 405, `{"error":"Method not allowed"}`},
			{"DELETE", "/ai-evidence", 405, `{"error":"Method not allowed"}`},
			{"GET", "/ai-evidence", 0, ""}, {"GET", "/ai-evidence/", 0, ""}, {"GET", "/ai-evidence/summary", 0, ""}, {"GET", "/ai-evidence/snapshot/", 0, ""},
			{"GET", "/ai-evidence/findings?limit=abc&offset=-1", 0, ""}, {"GET", "/ai-evidence/rulesets", 0, ""}, {"GET", "/ai-evidence/platforms", 0, ""}, {"GET", "/ai-evidence/ledger", 0, ""},
		} {
			if tc.status == 0 {
				tc.status = 200
				if !valid {
					tc.status, tc.body = 404, off
				}
			}
			w := ask(h, tc.method, tc.path, "")
			if w.Code != tc.status || tc.body != "" && w.Body.String() != tc.body || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%.20q: %s %s: %d %s, want %d %s", text, tc.method, tc.path, w.Code, w.Body, tc.status, tc.body)
			}
			head := w.Header()
			if head.Get("Content-Type") != "application/json; charset=utf-8" || head.Get("Cache-Control") != "no-store" ||
				head.Get("Content-Length") != strconv.Itoa(w.Body.Len()) || len(head) != 3 {
				t.Errorf("%s %s: %v", tc.method, tc.path, head)
			}
		}
		var s struct {
			Status   string
			Evidence struct {
				Path                   string
				Exists, Present, Valid bool
				Version                *string
			}
		}
		if err := json.Unmarshal(ask(h, "GET", "/status", "").Body.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		e := s.Evidence
		if e.Exists != exists || e.Present != exists || e.Valid != valid || (s.Status == "ok") != valid || filepath.Base(e.Path) != ".ai_evidence.json" ||
			(e.Version != nil) != strings.Contains(text, "version") || strings.Contains(ask(h, "GET", "/status", "").Body.String(), `"note"`) {
			t.Errorf("%.20q in %s: %+v", text, dir, s)
		}
	}
}

func TestWholeFile(t *testing.T) {
	a, _ := project(t, golden(t))
	h := Evidence(a, "/e", guardOf(), io.Discard)
	for query, want := range map[string]bool{
		"": true, "?view=full": true, "?view=compact": false, "?view=COMPACT": false, "?includeSuppressed=false": false, "?includeSuppressed=off": false,
		"?includeSuppressed=0": false, "?includeSuppressed=maybe": true, "?view=full&includeSuppressed=no": true, "?view=compact&includeSuppressed=yes": false, "?view=odd&includeSuppressed=no": false,
	} {
		body := ask(h, "GET", "/e"+query, "").Body.String()
		if got := strings.Contains(body, "consolidation"); got != want || !strings.HasPrefix(body, `{"version":"2.1","timestamp":"2026-02-01T10:00:00.000Z","snapshot":{"stage":"CI"`) {
			t.Errorf("%s: %v %s", query, got, body)
		}
	}
}

func TestPlatformsQuery(t *testing.T) {
	a, _ := project(t, golden(t))
	h := Evidence(a, "/e", guardOf(), io.Discard)
	for query, want := range map[string]int{"": 2, "?detectedOnly=false": 3, "?detectedOnly=OFF": 3, "?detectedOnly=x": 2, "?detectedOnly=0&confidence=low": 1, "?detectedOnly=no&limit=0": 0} {
		var r struct{ Platforms []any }
		if err := json.Unmarshal(ask(h, "GET", "/e/platforms"+query, "").Body.Bytes(), &r); err != nil || len(r.Platforms) != want || r.Platforms == nil {
			t.Errorf("%s: %d, want %d (%v)", query, len(r.Platforms), want, err)
		}
	}
}

// TestEnterpriseMatrix: outside a repository, too, everything has an answer.
func TestEnterpriseMatrix(t *testing.T) {
	a, _ := project(t, "")
	h := Enterprise(a, "/ai-evidence", guardOf(), io.Discard)
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string // "" is anything
	}{
		{"GET", "/health", "", 200, `{"status":"ok"}`},
		{"GET", "/nope", "", 404, `{"error":"Not found"}`},
		{"POST", "/nope", "", 404, `{"error":"Not found"}`},
		{"HEAD", "/health", "", 405, `{"error":"Method not allowed"}`},
		{"POST", "/status", "", 405, `{"error":"Method not allowed"}`},
		{"GET", "/tool", "", 405, `{"error":"Method not allowed"}`},
		{"GET", "/resource", "", 404, `{"error":"Unknown enterprise resource URI","requestedUri":null}`},
		{"GET", "/resource?uri=", "", 404, `{"error":"Unknown enterprise resource URI","requestedUri":""}`},
		{"GET", "/resource?uri=x://y", "", 404, `{"error":"Unknown enterprise resource URI","requestedUri":"x://y"}`},
		{"GET", "/resource?uri=evidence://summary", "", 404, ""}, // not one of the five
		{"GET", "/resource?uri=gitflow%3A%2F%2Fstate", "", 200, `{"uri":"gitflow://state","payload":{"available":false}}`},
		{"GET", "/resource?uri=sdd://status", "", 200, `{"uri":"sdd://status","payload":{"available":false}}`},
		{"GET", "/resource?uri=sdd://active-change", "", 200, `{"uri":"sdd://active-change","payload":{"available":false,"active":false,"valid":false,"changeId":null,"remainingSeconds":null}}`},
		{"GET", "/resource?uri=evidence://status", "", 200, ""},
		// The seed's text refuses these four with 400; the original's replies were 404.
		{"POST", "/tool", "", 400, `{"error":"Invalid request body."}`},
		{"POST", "/tool", " ", 400, `{"error":"Invalid request body."}`},
		{"POST", "/tool", "{}", 400, `{"error":"Invalid request body."}`},
		{"POST", "/tool", "[]", 400, `{"error":"Invalid request body."}`},
		{"POST", "/tool", `{"name":7}`, 400, `{"error":"Invalid request body."}`},
		{"POST", "/tool", `{"name":null}`, 400, `{"error":"Invalid request body."}`},
		{"POST", "/tool", `{"name":""}`, 404, `{"error":"Unknown enterprise tool.","requestedTool":""}`},
		{"POST", "/tool", `{"name":"search"}`, 404, `{"error":"Unknown enterprise tool.","requestedTool":"search"}`},
		{"POST", "/tool", "null", 400, `{"error":"Invalid request body."}`},
		{"POST", "/tool", "5", 400, `{"error":"Invalid request body."}`},
		{"POST", "/tool", `"x"`, 400, `{"error":"Invalid request body."}`},
		{"POST", "/tool", "{bad", 400, `{"error":"Invalid JSON body."}`},
		{"POST", "/tool", `"` + strings.Repeat("x", maxBody) + `"`, 413, `{"error":"Request body is too large."}`},
		{"POST", "/tool", `{"name":"sync_branches"}`, 200, `{"tool":"sync_branches","dryRun":true,"executed":false,"success":false,"warnings":["Critical tool blocked by SDD policy/session guard."],` +
			`"result":{"guard":{"stage":"PRE_COMMIT","decision":{"allowed":false,"code":"SDD_VALIDATION_ERROR","message":"This is not a git repository."},"status":null}}}`},
		{"POST", "/tool", `{"name":"check_sdd_status","args":null}`, 200, ""},
		{"POST", "/tool", `{"name":"ai_gate_check","args":5}`, 200, ""},
	} {
		w := ask(h, tc.method, tc.path, tc.body)
		if w.Code != tc.status || tc.want != "" && w.Body.String() != tc.want {
			t.Errorf("%s %s %.100s: %d %s, want %d %s", tc.method, tc.path, tc.body, w.Code, w.Body, tc.status, tc.want)
		}
		if tc.status != 200 || tc.path != "/tool" {
			continue
		}
		d := json.NewDecoder(w.Body)
		var keys []string
		depth := 0
		for {
			tok, err := d.Token()
			if err != nil {
				break
			}
			switch tok {
			case json.Delim('{'), json.Delim('['):
				depth++
			case json.Delim('}'), json.Delim(']'):
				depth--
			default:
				if k, ok := tok.(string); ok && depth == 1 && (k == "dryRun" || k == "executed" || k == "success" || k == "warnings" || k == "result" || k == "tool") {
					keys = append(keys, k)
				}
			}
		}
		if got := strings.Join(keys, " "); got != "tool dryRun executed success warnings result" {
			t.Errorf("%s: keys %s", tc.body, got)
		}
	}
}

// TestUnknownStage: what is asked about a stage that there is not is evaluated
// as a commit, warned about, and never allowed.
func TestUnknownStage(t *testing.T) {
	a, dir := project(t, fmt.Sprintf(`{"version":"2.1","timestamp":%q,"ai_gate":{"status":"ALLOWED"}}`, time.Now().UTC().Format(time.RFC3339)))
	h := Enterprise(a, "/e", guardOf(), io.Discard)
	for stage, allowed := range map[string]bool{`"PRE_COMMIT"`: true, `""`: true, `null`: true, `"PRE_COMIT"`: false, `"pre_commit"`: false, `7`: false, `["CI"]`: false} {
		var r struct {
			Success  bool
			Warnings []string
			Result   struct {
				Allowed       bool
				Status, Stage string
				Violations    []gate.Violation
			}
		}
		w := ask(h, "POST", "/tool", `{"name":"ai_gate_check","args":{"stage":`+stage+`}}`)
		if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != 200 {
			t.Fatalf("%s in %s: %d %s", stage, dir, w.Code, w.Body)
		}
		if r.Success != allowed || r.Result.Allowed != allowed || (r.Result.Status == "ALLOWED") != allowed || r.Result.Stage != "PRE_COMMIT" ||
			(len(r.Warnings) == 0) != allowed || (len(r.Result.Violations) == 0) != allowed {
			t.Errorf("%s: %s", stage, w.Body)
		}
	}
}

// TestGuard: pages of other sites and names that lead here get nothing.
func TestGuard(t *testing.T) {
	a, _ := project(t, golden(t))
	for name, h := range map[string]http.Handler{"evidence": Evidence(a, "/e", guardOf(), io.Discard), "enterprise": Enterprise(a, "/e", guardOf(), io.Discard)} {
		for _, headers := range [][]string{{"Host", "evil.example"}, {"Host", "evil.example:7341"}, {"Origin", "http://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}} {
			w := ask(h, "GET", "/status", "", headers...)
			if w.Code != http.StatusForbidden || bytes.Contains(w.Body.Bytes(), []byte("ai_evidence")) || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %v: %d %s", name, headers, w.Code, w.Body)
			}
		}
		if w := ask(h, "GET", "/status", "", "Origin", "http://"+host); w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s, own page: %d %v", name, w.Code, w.Header())
		}
	}
	h := Enterprise(a, "/e", guardOf(), io.Discard)
	body := `{"name":"ai_gate_check"}`
	for _, tc := range []struct {
		status  int
		headers []string
	}{
		{200, []string{"Content-Type", "text/plain"}}, {200, nil}, {200, []string{"Origin", "http://" + host, "Content-Type", "application/json; charset=utf-8"}},
		{415, []string{"Origin", "http://" + host, "Content-Type", "text/plain"}}, {415, []string{"Origin", "http://" + host}},
	} {
		if w := ask(h, "POST", "/tool", body, tc.headers...); w.Code != tc.status {
			t.Errorf("%v: %d %s", tc.headers, w.Code, w.Body)
		}
	}
	locked := &httpguard.Guard{Bound: host, Secret: "right", RequireToken: true}
	if w := ask(Evidence(a, "/e", locked, io.Discard), "GET", "/e", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("no token: %d", w.Code)
	}
	if w := ask(Evidence(a, "/e", locked, io.Discard), "GET", "/e", "", "Authorization", "Bearer right"); w.Code != 200 {
		t.Errorf("the token: %d", w.Code)
	}
}

// TestOriginalClients sends what the originals' clients send, byte for byte:
// none knows of a token. On this machine they are answered, unless the owner
// requires it; from another they are not.
func TestOriginalClients(t *testing.T) {
	a, _ := project(t, "")
	requests := []string{
		"GET /health HTTP/1.1\r\nhost: " + host + "\r\nconnection: keep-alive\r\naccept: */*\r\naccept-language: *\r\nsec-fetch-mode: cors\r\nuser-agent: node\r\naccept-encoding: gzip, deflate\r\n\r\n",
		"GET /status HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n",
		"GET /resource?uri=sdd://status HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n",
		"POST /tool HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\ncontent-type: application/json\r\nContent-Length: 54\r\n\r\n{\"name\":\"ai_gate_check\",\"args\":{\"stage\":\"PRE_WRITE\"}} ",
	}
	for _, tc := range []struct {
		name, remote string
		o            Options
		want         int
	}{
		{"near", "127.0.0.1:50000", Options{Token: "right"}, 200},
		{"near, token required", "127.0.0.1:50000", Options{Token: "right", RequireToken: true}, 401},
		{"far", "192.0.2.7:50000", Options{Token: "right"}, 401},
	} {
		h := Enterprise(a, "/e", tc.o.guard(host), io.Discard)
		for _, raw := range requests {
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
			if err != nil {
				t.Fatal(err)
			}
			r.RemoteAddr = tc.remote
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tc.want {
				t.Errorf("%s, %.20q: %d %s", tc.name, raw, w.Code, w.Body)
			}
		}
	}
}

func TestWhere(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, tc := range []struct {
		env  func(string) string
		flag *int
		want string
	}{
		{env(), nil, "127.0.0.1:7341"},
		{env("PUMUKI_EVIDENCE_HOST", "::1", "PUMUKI_EVIDENCE_PORT", "8"), nil, "[::1]:8"},
		{env("PUMUKI_EVIDENCE_PORT", "8", "KNOWLEDGE_EVIDENCE_PORT", "9"), nil, "127.0.0.1:9"},
		{env("KNOWLEDGE_EVIDENCE_HOST", "[::1]", "KNOWLEDGE_EVIDENCE_PORT", "9"), new(0), "[::1]:0"},
		{env("KNOWLEDGE_EVIDENCE_PORT", "x"), nil, ""},
		{env("KNOWLEDGE_EVIDENCE_PORT", "65536"), nil, ""},
		{env("KNOWLEDGE_EVIDENCE_PORT", "-1"), nil, ""},
	} {
		if got, err := address(tc.env, tc.flag, 7341, "KNOWLEDGE_EVIDENCE", "PUMUKI_EVIDENCE"); got != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("%q %v, want %q", got, err, tc.want)
		}
	}
	for route, want := range map[string]string{"": "/ai-evidence", "/": "/ai-evidence", "e": "/e", "/e/": "/e", "//a/b//": "/a/b"} {
		if got := Route(env("PUMUKI_EVIDENCE_ROUTE", route)); got != want {
			t.Errorf("%q: %q, want %q", route, got, want)
		}
	}
}

// TestStart: both are served on free ports, what is in use is said, and all ends with the context.
func TestStart(t *testing.T) {
	a, _ := project(t, golden(t))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	other := &http.Server{Handler: http.NotFoundHandler()}
	go other.Serve(taken)
	defer other.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	ctx, stop := context.WithCancel(t.Context())
	var log bytes.Buffer
	wait := Start(ctx, a, Options{EvidencePort: new(0), EnterprisePort: &port, Env: func(string) string { return "" }, Log: &log})
	first, second, _ := strings.Cut(log.String(), "\n")
	url, ok := strings.CutPrefix(first, "evidence: ")
	if !ok || !strings.HasPrefix(second, "enterprise: not served: another program listens on 127.0.0.1:"+strconv.Itoa(port)) || !strings.Contains(second, "--no-enterprise") {
		t.Fatalf("%s", log.String())
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Get(url + "/summary")
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%v %v", res, err)
	}
	res.Body.Close()
	stop()
	wait()
	if res, err := client.Get(url); err == nil {
		res.Body.Close()
		t.Error("it goes on")
	}
	log.Reset()
	Start(t.Context(), a, Options{Env: func(name string) string {
		return map[string]string{"KNOWLEDGE_EVIDENCE_HOST": "0.0.0.0", "KNOWLEDGE_ENTERPRISE_PORT": "high"}[name]
	}, Log: &log})()
	if text := log.String(); strings.Count(text, "not served") != 2 || !strings.Contains(text, "127.0.0.1") || !strings.Contains(text, "KNOWLEDGE_ENTERPRISE_PORT") {
		t.Errorf("%s", text)
	}
	log.Reset()
	Start(t.Context(), a, Options{NoEvidence: true, NoEnterprise: true, Log: &log})()
	if log.Len() > 0 {
		t.Errorf("%s", log.String())
	}
}

// TestWanted: nothing is opened that nobody asks for, and one line says how to.
func TestWanted(t *testing.T) {
	bare, _ := project(t, "")
	none := func(string) string { return "" }
	for name, c := range map[string]struct {
		o    Options
		open bool
	}{
		"nothing":           {},
		"a flag":            {Options{Wanted: true}, true},
		"a port":            {Options{EnterprisePort: new(0)}, true},
		"our variable":      {Options{Environ: []string{"HOME=/", "KNOWLEDGE_EVIDENCE_ROUTE=/x"}}, true},
		"an older variable": {Options{Environ: []string{"PUMUKI_ANYTHING=1"}}, true},
		"an empty variable": {Options{Environ: []string{"PUMUKI_ANYTHING="}}, false},
		"another variable":  {Options{Environ: []string{"KNOWLEDGE_DATA_DIR=/x"}}, false},
	} {
		if c.o.Environ == nil {
			c.o.Environ = []string{}
		}
		c.o.Env = none
		if got := c.o.wanted(bare); got != c.open {
			t.Errorf("%s: wanted is %v", name, got)
		}
	}
	var log bytes.Buffer
	Start(t.Context(), bare, Options{Env: none, Environ: []string{}, Log: &log})()
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, ": knowledge serve --evidence\n") {
		t.Errorf("%q", text)
	}
	with, _ := project(t, golden(t))
	if o := (Options{Env: none, Environ: []string{}}); !o.wanted(with) {
		t.Error("the evidence of the project does not open the servers")
	}
}
