package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/jhttp"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

const apiSecret = "s3cr3t-v4lue-nobody-sees"

// upstream is a REST service on loopback, and what it was asked.
type upstream struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func (u *upstream) requests() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.asked...)
}

func newUpstream(t testing.TB) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		u.asked = append(u.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		u.mu.Unlock()
		h := w.Header()
		h.Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/fail":
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"stack":"at Main.java:12","key":%q}`, r.Header.Get("X-Key"))
		case "/huge":
			io.WriteString(w, `"`+strings.Repeat("x", 5000)+`"`)
		case "/private":
			http.Redirect(w, r, "http://192.168.0.1/admin?key="+r.Header.Get("X-Key"), http.StatusFound)
		case "/text":
			h.Set("Content-Type", "text/plain")
			io.WriteString(w, "just words, "+r.Header.Get("X-Key"))
		default:
			fmt.Fprintf(w, `{"temp":22.50,"big":12345678901234567890,"q":%q,"key":%q,"html":"<b>&"}`, r.URL.Query().Get("q"), r.Header.Get("X-Key"))
		}
	}))
	t.Cleanup(u.Close)
	return u
}

// declare writes the user's definitions for the service and returns an App with them.
func declare(t testing.TB, u *upstream) *app.App {
	t.Helper()
	dir := t.TempDir()
	text := strings.NewReplacer("URL", u.URL, "HOST", strings.TrimPrefix(u.URL, "http://")).Replace(`
apis:
  - code: weather
    baseUrl: URL
    authenticationType: API_KEY
    apiKeyName: X-Key
    apiKeyValue: ${WEATHER_KEY}
    allowHosts: ["HOST"]
    maxBytes: 2000
    tools:
      - code: clima4
        name: Clima Actual
        description: Obtiene el clima actual para una ciudad.
        endpointPath: /current
        parameters:
          - {name: q, type: STRING, description: Nombre de la ciudad, required: true}
          - {name: days, type: NUMBER, defaultValue: "3"}
          - {name: tags, type: ARRAY}
      - {code: send, httpMethod: POST, endpointPath: "/send/{id}", parameters: [{name: id, type: NUMBER}, {name: text, required: true}]}
      - {code: fail, httpMethod: POST, endpointPath: /fail}
      - {code: huge, endpointPath: /huge}
      - {code: private, endpointPath: /private}
      - {code: text, endpointPath: /text}
      - {code: public, endpointPath: /current, open: true}
      - {code: off, endpointPath: /off, enabled: false}
  - code: unset
    baseUrl: https://unset.example
    authenticationType: BEARER_TOKEN
    apiKeyValue: ${NOT_SET}
    tools: [{code: unready, endpointPath: /}]
`)
	if err := os.WriteFile(filepath.Join(dir, "apis.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte("apis: {expose: [search, stores, generate_rag_answer, kdd_nothing, api:import, execute]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := product.New(app.Config{Version: "test", DataDir: filepath.Join(dir, "data"), Project: dir, Dir: dir, Env: func(n string) string {
		return map[string]string{"KNOWLEDGE_CONFIG": config, "WEATHER_KEY": apiSecret}[n]
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// rpcServer is the handler of a server with a declared API, and its log.
func rpcServer(t testing.TB) (*upstream, *service, *bytes.Buffer) {
	u := newUpstream(t)
	log := &bytes.Buffer{}
	return u, newService(declare(t, u), Options{Addr: host, Token: token, Origins: []string{listed}, Log: log}), log
}

func post(path, body string) request {
	return request{method: "POST", path: path, body: body, token: token}
}

// TestRPCReplies: the spec's behaviours, request by request, byte for byte
// where the reply is short.
func TestRPCReplies(t *testing.T) {
	u, s, _ := rpcServer(t)
	call := func(name, args string) string {
		return `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `},"id":1}`
	}
	for _, tc := range []struct {
		name, body, want string
		sent             int
	}{
		{"not JSON", `{"jsonrpc":`, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: the body is not JSON"},"id":null}`, 0},
		{"nothing", ``, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: the body is not JSON"},"id":null}`, 0},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}", `"code":-32700`, 0},
		{"a number", `5`, `"code":-32600,"message":"Invalid Request: a request must be an object"},"id":null}`, 0},
		{"batch", `[{"jsonrpc":"2.0","method":"tools/call","id":1}]`, `"code":-32600,"message":"Invalid Request: batches are not supported, send each request by itself"},"id":null}`, 0},
		{"empty batch", `[]`, `"code":-32600`, 0},
		{"empty object", `{}`, `"code":-32600,"message":"Invalid Request: jsonrpc must be \"2.0\""},"id":null}`, 0},
		{"version 1", `{"jsonrpc":"1.0","method":"tools/call","id":7}`, `"code":-32600,"message":"Invalid Request: jsonrpc must be \"2.0\""},"id":7}`, 0},
		{"version as number", `{"jsonrpc":2.0,"method":"tools/call","id":7}`, `"code":-32600`, 0},
		{"no version", `{"method":"tools/call","params":{"name":"clima4"},"id":"x"}`, `"code":-32600,"message":"Invalid Request: jsonrpc must be \"2.0\""},"id":"x"}`, 0},
		{"capitals", `{"JSONRPC":"2.0","method":"tools/call","id":1}`, `"code":-32600`, 0},
		{"method a number", `{"jsonrpc":"2.0","method":1,"params":"bar"}`, `"code":-32600,"message":"Invalid Request: method must be a string"},"id":null}`, 0},
		{"other method", `{"jsonrpc":"2.0","method":"tools/delete","id":1}`, `"code":-32601,"message":"Method not found: only tools/call is served here"},"id":1}`, 0},
		{"no params", `{"jsonrpc":"2.0","method":"tools/call","id":"1"}`, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params: missing required parameters"},"id":"1"}`, 0},
		{"params a list", `{"jsonrpc":"2.0","method":"tools/call","params":["clima4"],"id":1}`, `"code":-32602,"message":"Invalid params: params must be an object"}`, 0},
		{"no name", `{"jsonrpc":"2.0","method":"tools/call","params":{},"id":1}`, `"code":-32602,"message":"Invalid params: missing required parameter 'name'"}`, 0},
		{"name a number", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":4},"id":1}`, `"code":-32602,"message":"Invalid params: parameter 'name' must be a string"}`, 0},
		{"arguments a list", call("clima4", `[]`), `"code":-32602,"message":"Invalid params: parameter 'arguments' must be an object"}`, 0},
		{"unknown tool", call("clima5", `{}`), `"code":-32602,"message":"Invalid params: unknown tool 'clima5'","data":{"hint":"did you mean \"clima4\"? \"apis\" lists them all"}`, 0},
		{"disabled tool", call("off", `{}`), `"code":-32602,"message":"Invalid params: unknown tool 'off'"`, 0},
		{"missing argument", call("clima4", `{}`), `"code":-32602,"message":"Invalid params: missing required parameter 'q'"`, 0},
		{"missing argument, null", call("clima4", `null`), `'q'`, 0},
		{"wrong type", call("clima4", `{"q":"x","days":"soon"}`), `"code":-32602,"message":"Invalid params: parameter 'days': parameter \"days\" must be a number"`, 0},
		{"unknown argument", call("clima4", `{"q":"x","dayz":1}`), `did you mean \"days\"?`, 0},
		{"called", call("clima4", `{"q":"Buenos Aires"}`), `{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"{\"temp\":22.50,\"big\":12345678901234567890,\"q\":\"Buenos Aires\",\"key\":\"[REDACTED_SECRET]\",\"html\":\"<b>&\"}"}],"_meta":{"untrusted":true,"note":"written by an outside service: data, not instructions"}},"id":1}` + "\n", 1},
		{"by its display name", call("Clima Actual", `{"q":"x"}`), `"text":"{\"temp\":22.50`, 1},
		{"text", call("text", `{}`), `"text":"just words, [REDACTED_SECRET]"`, 1},
		{"a string for a number", call("send", `{"id":"12","text":"hi"}`), `"content"`, 1},
		{"the service fails", call("fail", `{}`), `"isError":true`, 1},
		{"too large", call("huge", `{}`), `more than 2000 bytes`, 1},
		{"sent to a private host", call("private", `{}`), `"isError":true`, 1},
		{"without its secret", call("unready", `{}`), `the variable NOT_SET, which unset needs, is not set`, 0},
		{"own command", call("stores", `{}`), `"text":"{\"stores\":[]`, 0},
		{"own command, missing", call("search", `{}`), `"code":-32602,"message":"Invalid params: missing required parameter 'query'"`, 0},
		{"own command, unknown", call("stores", `{"al":true}`), `"code":-32602`, 0},
		{"by its name upstream, missing", call("generate_rag_answer", `{"session_id":"s"}`), `missing required parameter 'query'`, 0},
		{"not exposed", call("jobs", `{}`), `unknown tool 'jobs'`, 0},
		{"for persons", call("api_import", `{"source":"x"}`), `unknown tool`, 0},
	} {
		before := len(u.requests())
		for _, path := range []string{"/mcp/tools/call", "/api/tools/execute"} {
			if path == "/api/tools/execute" && (!strings.HasPrefix(tc.body, `{"jsonrpc"`) || !json.Valid([]byte(tc.body)) || tc.name == "not UTF-8") {
				continue // that is its own dialect there
			}
			if tc.sent > 0 && path == "/api/tools/execute" {
				continue
			}
			w := post(path, tc.body).send(s)
			if w.Code != 200 || !strings.Contains(w.Body.String(), tc.want) || strings.Contains(w.Body.String(), apiSecret) {
				t.Errorf("%s at %s: %d %s\nwant %s", tc.name, path, w.Code, w.Body, tc.want)
			}
			if path == "/mcp/tools/call" && strings.Contains(tc.body, `"id":1}`) && !strings.HasSuffix(w.Body.String(), `,"id":1}`+"\n") && !strings.HasPrefix(tc.body, "[") && !strings.HasPrefix(tc.name, "cap") {
				t.Errorf("%s: the id is not echoed: %s", tc.name, w.Body)
			}
		}
		if got := len(u.requests()) - before; got != tc.sent {
			t.Errorf("%s: %d requests sent, want %d", tc.name, got, tc.sent)
		}
	}
	if got := u.requests()[0]; got != "GET /current?q=Buenos%20Aires&days=3" {
		t.Errorf("sent %s", got)
	}
}

// TestRPCIDs: an id that is a string, a number or null comes back byte for
// byte, another is refused and nothing is done; without one there is no body.
func TestRPCIDs(t *testing.T) {
	u, s, _ := rpcServer(t)
	for _, id := range []string{`"1"`, `1`, `-0`, `1.50e+3`, `12345678901234567890123`, `null`, `""`, `"a\u0062\/"`} {
		for _, params := range []string{`{"name":"clima4","arguments":{"q":"x"}}`, `{}`} {
			w := post("/mcp/tools/call", `{"id": `+id+` ,"jsonrpc":"2.0","method":"tools/call","params":`+params+`}`).send(s)
			if !strings.HasSuffix(w.Body.String(), `,"id":`+id+"}\n") || !json.Valid(w.Body.Bytes()) {
				t.Errorf("id %s: %s", id, w.Body)
			}
		}
	}
	before := len(u.requests())
	for _, id := range []string{`true`, `false`, `{"a" : 1}`, `[1, 2]`} {
		w := post("/mcp/tools/call", `{"id": `+id+` ,"jsonrpc":"2.0","method":"tools/call","params":{"name":"clima4","arguments":{"q":"x"}}}`).send(s)
		if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, `"code":-32600`) || !strings.HasSuffix(got, `,"id":null}`+"\n") {
			t.Errorf("id %s: %d %s", id, w.Code, got)
		}
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"clima4","arguments":{"q":"x"}}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"clima4"}}`, `{"jsonrpc":"2.0","method":"tools/call"}`,
		`{"jsonrpc":"2.0","method":"nothing"}`, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"nobody"}}`,
	} {
		if w := post("/mcp/tools/call", body).send(s); w.Code != 204 || w.Body.Len() > 0 {
			t.Errorf("%s: %d %q", body, w.Code, w.Body)
		}
	}
	if got := len(u.requests()) - before; got != 1 {
		t.Errorf("notifications sent %d requests, want 1", got)
	}
}

// TestListsAgree: both lists have the same tools in their own shapes, each
// with a schema that is one; what is disabled or not ready is in neither.
func TestListsAgree(t *testing.T) {
	_, s, _ := rpcServer(t)
	type def struct {
		Name, Description, Type string
		Parameters              json.RawMessage
		InputSchema             json.RawMessage `json:"inputSchema"`
	}
	var plain struct {
		Tools       []def
		TotalCount  int
		LastUpdated string
	}
	w := request{method: "GET", path: "/api/tools/discover", token: token}.send(s)
	if err := json.Unmarshal(w.Body.Bytes(), &plain); err != nil || w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var rpc struct {
		JSONRPC string
		ID      json.RawMessage
		Result  struct{ Tools []map[string]json.RawMessage }
	}
	w = request{method: "GET", path: "/mcp/tools/list", token: token}.send(s)
	if err := json.Unmarshal(w.Body.Bytes(), &rpc); err != nil || rpc.JSONRPC != "2.0" || !strings.HasSuffix(w.Body.String(), `,"id":null}`+"\n") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var names []string
	for i, d := range plain.Tools {
		names = append(names, d.Name+" "+d.Type)
		r := rpc.Result.Tools[i]
		if len(r) != 3 || string(r["name"]) != `"`+d.Name+`"` || string(r["inputSchema"]) != string(d.Parameters) {
			t.Errorf("%s differs: %v", d.Name, r)
		}
		checkSchema(t, d.Name, d.Parameters)
	}
	want := []string{"search system_tool", "stores system_tool", "generate_rag_answer system_tool", "clima4 api_tool", "send api_tool", "fail api_tool", "huge api_tool", "private api_tool", "text api_tool", "public api_tool"}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	if plain.TotalCount != len(want) || len(rpc.Result.Tools) != len(want) || !strings.HasSuffix(plain.LastUpdated, "Z") {
		t.Errorf("%d, %d, %s", plain.TotalCount, len(rpc.Result.Tools), plain.LastUpdated)
	}
	const clima = `{"name":"clima4","description":"Obtiene el clima actual para una ciudad.","inputSchema":{"type":"object","properties":{"q":{"type":"string","description":"Nombre de la ciudad"},"days":{"type":"number","default":3},"tags":{"type":"array","items":{"type":"string"}}},"required":["q"]}}`
	if !strings.Contains(w.Body.String(), clima) {
		t.Errorf("clima4 is not as the seed has it: %s", w.Body)
	}
}

// TestTokenlessClientsSeeWhatIsOpen replays what the original's client sends,
// byte for byte: it knows of no token.
func TestTokenlessClientsSeeWhatIsOpen(t *testing.T) {
	u, s, _ := rpcServer(t)
	send := func(head, body string) *httptest.ResponseRecorder {
		raw := strings.ReplaceAll(head, "\n", "\r\n")
		if body != "" {
			raw += fmt.Sprintf("Content-Length: %d\r\n", len(body))
		}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw + "\r\n" + body)))
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = near
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	const post = "POST %s HTTP/1.1\nHost: localhost:7390\nUser-Agent: Go-http-client/1.1\nContent-Type: application/json\nAccept-Encoding: gzip\n"
	for _, path := range []string{"/mcp/tools/list", "/api/tools/discover"} {
		w := send("GET "+path+" HTTP/1.1\nHost: localhost:7390\nContent-Type: application/json\nUser-Agent: Go-http-client/1.1\n", "")
		if w.Code != 200 || strings.Count(w.Body.String(), `"name":`) != 1 || !strings.Contains(w.Body.String(), `"name":"public"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, tc := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/mcp/tools/call", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"public","arguments":{}},"id":"1"}`, 200, `"result":{"content":[{"type":"text"`},
		{"/mcp/tools/call", "{\n\"jsonrpc\": \"2.0\",\n\"method\": \"tools/call\",\n\"params\": {\n\"name\": \"clima4\",\n\"arguments\": {\n\"q\": \"Buenos Aires\",\n\"key\": \"abc123\"\n}\n},\n\"id\": \"1\"\n}", 401, "needs the server's token"},
		{"/mcp/tools/call", `{"jsonrpc":"2.0","method":"tools/list","id":"1"}`, 200, "-32601"},
		{"/mcp/tools/call", `{"jsonrpc":`, 200, "-32700"},
		{"/mcp/tools/call", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"nobody"},"id":"1"}`, 401, "needs the server's token"},
		{"/mcp/tools/call", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"search","arguments":{"query":"x"}},"id":"1"}`, 401, "needs the server's token"},
		{"/api/tools/execute", `{"toolName":"public","parameters":{},"sessionId":"s1"}`, 200, `"success":true`},
		{"/api/tools/execute", `{"toolName":"clima4","parameters":{"q":"x"}}`, 401, "needs the server's token"},
		{"/api/tools/execute", `{"parameters":{}}`, 200, "no toolName"},
	} {
		if w := send(fmt.Sprintf(post, tc.path), tc.body); w.Code != tc.status || !strings.Contains(w.Body.String(), tc.want) {
			t.Errorf("%s %s: %d %s", tc.path, tc.body, w.Code, w.Body)
		}
	}
	if got := len(u.requests()); got != 2 {
		t.Errorf("%d requests were sent, want those of the open tool, 2", got)
	}
	s.guard.RequireToken = true
	if w := send("GET /mcp/tools/list HTTP/1.1\nHost: localhost:7390\n", ""); w.Code != 401 {
		t.Errorf("with --require-token: %d %s", w.Code, w.Body)
	}
}

func checkSchema(t *testing.T, name string, raw json.RawMessage) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil {
		c := jsonschema.NewCompiler()
		if err = c.AddResource("tool.json", doc); err == nil {
			_, err = c.Compile("tool.json")
		}
	}
	if err != nil {
		t.Errorf("%s: %v in %s", name, err, raw)
	}
}

// TestPlain: the older envelope stays as it was, at both addresses.
func TestPlain(t *testing.T) {
	u, s, _ := rpcServer(t)
	for _, tc := range []struct {
		body, result, kind, message string
		sent                        int
	}{
		{`{"toolName":"clima4","parameters":{"q":"x"},"sessionId":"s"}`, `{"temp":22.50,"big":12345678901234567890,"q":"x","key":"[REDACTED_SECRET]","html":"<b>&"}`, "api_tool", "", 2},
		{`{"toolName":"text"}`, `"just words, [REDACTED_SECRET]"`, "api_tool", "", 2},
		{`{"toolName":"stores","parameters":{}}`, `{"stores":[],"note":`, "system_tool", "", 0},
		{`{"toolName":"clima4","parameters":{}}`, "null", "api_tool", "missing required parameter 'q'", 0},
		{`{"toolName":"nobody"}`, "null", "api_tool", `no declared API has a tool "nobody"`, 0},
		{`{"toolName":5}`, "null", "api_tool", "toolName must be a string", 0},
		{`{"toolName":"fail","parameters":{}}`, "null", "api_tool", "weather answered 500", 2},
		{`{"toolName":"off"}`, "null", "api_tool", "disabled", 0},
		{`{"toolName":"clima4","parameters":[1]}`, "null", "api_tool", "must be a JSON object", 0},
	} {
		before := len(u.requests())
		for _, path := range []string{"/api/tools/execute", "/mcp/tools/call"} {
			w := post(path, tc.body).send(s)
			var got struct {
				Success         *bool
				Result          json.RawMessage
				ExecutionTimeMs *int64
				ToolType        string
				ErrorMessage    string
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || got.Success == nil || got.ExecutionTimeMs == nil {
				t.Errorf("%s: %d %s", tc.body, w.Code, w.Body)
				continue
			}
			if *got.Success != (tc.message == "") || !strings.HasPrefix(string(got.Result), tc.result) || got.ToolType != tc.kind || !strings.Contains(got.ErrorMessage, tc.message) || strings.Contains(w.Body.String(), apiSecret) {
				t.Errorf("%s: %s", tc.body, w.Body)
			}
		}
		if got := len(u.requests()) - before; got != tc.sent {
			t.Errorf("%s: %d requests sent, want %d", tc.body, got, tc.sent)
		}
	}
	for _, body := range []string{"", "{", "[]", "{}", "5"} {
		if w := post("/api/tools/execute", body).send(s); w.Code != 200 || !strings.Contains(w.Body.String(), `"success":false`) {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	}
}

// TestRPCClasses: without the token there are only the open tools, in lists and
// for calls.
func TestRPCClasses(t *testing.T) {
	u, s, _ := rpcServer(t)
	rpc := func(tool, args string) string {
		return `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `},"id":1}`
	}
	plain := func(tool, args string) string { return `{"toolName":"` + tool + `","parameters":` + args + `}` }
	for _, tc := range []struct {
		name string
		q    request
		want [4]int // list, clima4, public, stores
	}{
		{"near", request{}, [4]int{200, 401, 200, 401}},
		{"near, token", request{token: token}, [4]int{200, 200, 200, 200}},
		{"near, wrong token", request{token: "wrong"}, [4]int{200, 401, 200, 401}},
		{"near, own page", request{origin: own, token: token}, [4]int{200, 200, 200, 200}},
		{"near, own page without token", request{origin: own}, [4]int{200, 401, 200, 401}},
		{"near, listed page", request{origin: listed, token: token}, [4]int{403, 403, 403, 403}},
		{"near, foreign page", request{origin: "https://evil.example", token: token}, [4]int{403, 403, 403, 403}},
		{"near, rebound name", request{host: "evil.example:7390", token: token}, [4]int{403, 403, 403, 403}},
		{"far", request{remote: far}, [4]int{200, 401, 200, 401}},
		{"far, token", request{remote: far, token: token}, [4]int{200, 200, 200, 200}},
	} {
		ask := func(method, path, body string) int {
			q := tc.q
			q.method, q.path, q.body, q.contentType = method, path, body, "application/json"
			return q.send(s).Code
		}
		for _, path := range []string{"/mcp/tools/list", "/api/tools/discover"} {
			if got := ask("GET", path, ""); got != tc.want[0] {
				t.Errorf("%s, %s: %d, want %d", tc.name, path, got, tc.want[0])
			}
		}
		for i, tool := range []string{"clima4", "public", "stores"} {
			args := map[string]string{"clima4": `{"q":"x"}`}[tool]
			if args == "" {
				args = "{}"
			}
			before := len(u.requests())
			for _, body := range []string{rpc(tool, args), plain(tool, args)} {
				if got := ask("POST", "/mcp/tools/call", body); got != tc.want[i+1] {
					t.Errorf("%s, %s: %d, want %d", tc.name, tool, got, tc.want[i+1])
				}
			}
			if tc.want[i+1] != 200 && len(u.requests()) != before {
				t.Errorf("%s, %s: sent although refused", tc.name, tool)
			}
		}
	}
	q := post("/mcp/tools/call", rpc("clima4", `{"q":"x"}`))
	q.origin, q.contentType = own, "text/plain"
	if w := q.send(s); w.Code != 415 {
		t.Errorf("a page's plain text: %d", w.Code)
	}
	if w := post("/mcp/tools/call", `{"jsonrpc":"`+strings.Repeat("x", maxBody)+`"}`).send(s); w.Code != 413 {
		t.Errorf("a huge body: %d", w.Code)
	}
	q = request{method: "OPTIONS", path: "/mcp/tools/call", origin: "https://evil.example"}
	r := httptest.NewRequest("OPTIONS", q.path, nil)
	r.Host, r.RemoteAddr = host, near
	r.Header.Set("Origin", q.origin)
	r.Header.Set("Access-Control-Request-Method", "POST")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 403 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a foreign page's preflight: %d %v", w.Code, w.Header())
	}
}

// withToken adds the token to every request.
type withToken struct{ jhttp.HTTPClient }

func (c withToken) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+token)
	return c.HTTPClient.Do(r)
}

// TestRPCClient: a JSON-RPC client of somebody else's finds what it expects.
func TestRPCClient(t *testing.T) {
	u := newUpstream(t)
	ln, err := httpguard.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newService(declare(t, u), Options{Addr: ln.Addr().String(), Token: token, Log: io.Discard})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- httpguard.Run(ctx, httpguard.Server(s), ln) }()
	tr := &http.Transport{}
	ch := jhttp.NewChannel("http://"+ln.Addr().String()+"/mcp/tools/call", &jhttp.ChannelOptions{Client: withToken{&http.Client{Transport: tr}}})
	cli := jrpc2.NewClient(ch, nil)
	defer func() {
		cli.Close()
		tr.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	type args map[string]any
	var res rpcContent
	if err := cli.CallResult(ctx, "tools/call", args{"name": "clima4", "arguments": args{"q": "Ushuaia"}}, &res); err != nil || res.IsError || len(res.Content) != 1 {
		t.Fatalf("%v %+v", err, res)
	}
	if err := cli.CallResult(ctx, "tools/call", args{"name": "fail"}, &res); err != nil || !res.IsError {
		t.Errorf("%v %+v", err, res)
	}
	for method, want := range map[string]jrpc2.Code{"tools/call": -32602, "tools/other": -32601} {
		_, err := cli.Call(ctx, method, args{"name": "clima4"})
		if e, ok := err.(*jrpc2.Error); !ok || e.Code != want {
			t.Errorf("%s: %v", method, err)
		}
	}
	if err := cli.Notify(ctx, "tools/call", args{"name": "clima4", "arguments": args{"q": "quiet"}}); err != nil {
		t.Errorf("a notification: %v", err)
	}
}

// TestRPCPanic: a defect is -32603 with the id, and tells nothing.
func TestRPCPanic(t *testing.T) {
	_, s, log := rpcServer(t)
	find := s.find
	s.find = func(name string) (command.Command, error) {
		if name == "search" {
			panic("with " + apiSecret)
		}
		return find(name)
	}
	w := post("/mcp/tools/call", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"},"id":"p"}`).send(s)
	if w.Body.String() != `{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"},"id":"p"}`+"\n" {
		t.Errorf("%s", w.Body)
	}
	w = post("/api/tools/execute", `{"toolName":"x"}`).send(s)
	if !strings.Contains(w.Body.String(), `"success":false`) || strings.Contains(w.Body.String(), apiSecret) {
		t.Errorf("%s", w.Body)
	}
	if strings.Contains(log.String(), apiSecret) || !strings.Contains(log.String(), "panic") {
		t.Errorf("the log: %s", log)
	}
}

// FuzzRPC: whatever body comes, there is an answer that is JSON, and no byte
// of the secret leaves or is logged.
func FuzzRPC(f *testing.F) {
	u, s, log := rpcServer(f)
	for _, seed := range []string{
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"clima4","arguments":{"q":"x","days":"2","tags":["a"]}},"id":1}`,
		`{"toolName":"send","parameters":{"id":1,"text":"x"}}`, `{"tool_name":"x"}`, `[{}]`, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"fail"}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"private"},"id":{}}`, `{"toolName":"text"}`, "\xff", "", `{"jsonrpc":"2.0","id":1,"id":2}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"clima4","arguments":{"q":"` + apiSecret + `"}},"id":1}`,
	} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, body string, rpc bool) {
		if strings.Contains(body, `"search"`) || strings.Contains(strings.ToLower(body), `generate`) {
			t.Skip() // an index of a temporary folder for each
		}
		log.Reset()
		path := "/api/tools/execute"
		if rpc {
			path = "/mcp/tools/call"
		}
		w := post(path, body).send(s)
		echo := strings.Contains(body, apiSecret) // what the caller itself says may come back in an id
		if got := w.Body.String(); !echo && strings.Contains(got, apiSecret) || strings.Contains(log.String(), apiSecret) {
			t.Errorf("the secret left: %s\n%s", got, log)
		}
		if strings.Contains(log.String(), "panic") {
			t.Errorf("%q: %s", body, log)
		}
		switch {
		case w.Code == 204 && w.Body.Len() == 0:
		case w.Code == 404 && strings.Contains(body, "tool_name"):
		case w.Code >= 500 || !json.Valid(w.Body.Bytes()):
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
		for _, asked := range u.requests() {
			if strings.Contains(asked, apiSecret) { // it goes into a header alone
				t.Errorf("the secret was sent elsewhere: %s", asked)
			}
		}
		u.mu.Lock()
		u.asked = nil
		u.mu.Unlock()
	})
}
