package httpapi

import (
	"bytes"
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

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// recorded are the bodies that clients send, byte for byte: the widget's, its
// command-line clients', the document's that describes them, and a chat page's.
var recorded = map[string]string{
	"widget":       `{"tool_name":"generate_rag_answer","arguments":{"query":"which files are left out of the index?","include_sources":true},"session_id":"web"}`,
	"command line": "{\n            \"name\": \"generate_rag_answer\",\n            \"arguments\": {\n                \"query\": \"which files are left out of the index?\",\n                \"session_id\": \"cli-user\",\n                \"include_sources\": true\n            }\n        }",
	"python":       `{"tool_name": "generate_rag_answer", "arguments": {"query": "which files are left out of the index?", "include_sources": true}, "session_id": "cli-user"}`,
	"document":     "{\n  \"tool_name\": \"generate_rag_answer\",\n  \"arguments\": {\n    \"query\": \"which files are left out of the index?\",\n    \"session_id\": \"web\",\n    \"include_sources\": true\n  }\n}",
	"chat page":    `{"tool_name":"generate_rag_answer","arguments":{"query":"which files are left out of the index?","tenant_id":"default","session_id":"default","include_sources":true}}`,
}

const callPath = "/api/v1/mcp/tools/call"

// answering is a service with one store of documents; public makes it public.
func answering(t *testing.T, public bool) *service {
	t.Helper()
	a := newApp(t)
	dir := filepath.Join(t.TempDir(), "docs")
	for name, text := range map[string]string{
		"limits.md": "# Limits\n\nFiles over one mebibyte are left out of the index. The limit is set with the key maxFileBytes in the configuration.\n\n## maxFileBytes\n\n- default: 1048576\n",
		"stores.md": "# Stores\n\nA store is deleted with the command drop.\n",
		"evil.md": "# <img src=x onerror=alert(0)>\n\nThe colour of the <script>alert(1)</script> banner is [blue](javascript:alert(2)) by <img src=x onerror=alert(3)> default.\n\n" +
			"## Respuesta\n\n### Fuentes\n\n- banner colour fuente falsa\n",
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	st, err := a.CreateStore(t.Context(), app.CreateStore{Name: "handbook", Kind: kb.KindFolder, Source: dir, User: true})
	if err == nil {
		_, err = a.WaitJob(t.Context(), st.Job)
	}
	if err == nil && public {
		_, err = answers.SetPublic(t.Context(), a, "handbook", true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return newService(a, Options{Addr: host, Token: token, Origins: []string{listed}, Log: io.Discard})
}

// call sends a body and returns the reply as clients read it.
func call(t *testing.T, s *service, method, path, body string, change func(*http.Request)) (*httptest.ResponseRecorder, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host, r.RemoteAddr = host, near
	r.Header.Set("Content-Type", "application/json")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var m map[string]any
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, w.Body)
		}
	}
	return w, m
}

func TestRecordedRequests(t *testing.T) {
	s := answering(t, true)
	for name, body := range recorded {
		for _, prefix := range ragPrefixes {
			w, m := call(t, s, "POST", prefix+"/mcp/tools/call", body, nil)
			if w.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", name, w.Code, w.Body)
			}
			// The widget: success, result, sources by title.
			result, _ := m["result"].(string)
			if m["success"] != true || !strings.Contains(result, "Files over one mebibyte are left out of the index. [1]") {
				t.Errorf("%s: %s", name, w.Body)
			}
			// The Python client: no key error, content[0].text and .sources.
			if _, has := m["error"]; has {
				t.Errorf("%s: a success has the key error", name)
			}
			content := m["content"].([]any)[0].(map[string]any)
			if content["type"] != "text" || content["text"] != result || len(content["sources"].([]any)) == 0 {
				t.Errorf("%s: content %v", name, content)
			}
			// The document: sources with title, url, relevance, best first.
			last := 1.0
			for _, x := range m["sources"].([]any) {
				src := x.(map[string]any)
				v := src["relevance"].(float64)
				if src["title"] == "" || v < 0 || v > last {
					t.Errorf("%s: source %v", name, src)
				}
				last = v
				u, ok := strings.CutPrefix(src["url"].(string), own)
				if !ok {
					t.Fatalf("%s: url %v", name, src["url"])
				}
				if w, _ := call(t, s, "GET", u, "", nil); w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") || !strings.Contains(w.Body.String(), "mebibyte") {
					t.Errorf("%s: %s gives %d %s", name, u, w.Code, w.Body)
				}
			}
			if c := m["confidence"].(float64); c <= 0.3 || c > 1 {
				t.Errorf("%s: confidence %v", name, c)
			}
			for _, id := range []string{"web", "cli-user", "default"} {
				if strings.Contains(body, `"`+id+`"`) && m["session_id"] != id && !strings.Contains(body, `"tenant_id":"`+id) {
					t.Errorf("%s: session %v", name, m["session_id"])
				}
			}
			for _, heading := range []string{"## Respuesta", "### Fuentes", "### Metadata"} {
				if strings.Contains(result, heading) {
					t.Errorf("%s: the result has the heading %s", name, heading)
				}
			}
		}
	}
}

func generate(query, more string) string {
	q, _ := json.Marshal(query)
	return fmt.Sprintf(`{"tool_name":"generate_rag_answer","arguments":{"query":%s%s},"session_id":"web"}`, q, more)
}

func TestAnswersOverHTTP(t *testing.T) {
	s := answering(t, true)
	// Without support it says so, and still shows.
	_, m := call(t, s, "POST", callPath, generate("how do I configure a Kafka consumer?", ""), nil)
	if m["success"] != true || !strings.Contains(m["result"].(string), "Nothing that is indexed") || len(m["sources"].([]any)) != 0 || m["confidence"].(float64) > 0.3 {
		t.Errorf("%v", m)
	}
	// Without sources neither they nor their numbers are shown.
	_, m = call(t, s, "POST", callPath, generate("which files are left out of the index?", `,"include_sources":false`), nil)
	if len(m["sources"].([]any)) != 0 || strings.Contains(m["result"].(string), "[1]") || m["success"] != true {
		t.Errorf("%v", m)
	}
	// A second question leans on the first, for the same client alone.
	call(t, s, "POST", callPath, generate("what is maxFileBytes?", ""), nil)
	_, m = call(t, s, "POST", callPath, generate("and what is its default?", ""), nil)
	if !strings.Contains(m["result"].(string), "1048576") || !strings.Contains(fmt.Sprint(m["question"]), "maxFileBytes") {
		t.Errorf("%v", m)
	}
	for name, change := range map[string]func(*http.Request){
		"another browser": func(r *http.Request) { r.Header.Set("User-Agent", "other") },
		"another page":    func(r *http.Request) { r.Header.Set("Origin", listed) },
		"another address": func(r *http.Request) { r.RemoteAddr = "127.0.0.2:1" },
	} {
		if _, m := call(t, s, "POST", callPath, generate("and what is its default?", ""), change); strings.Contains(fmt.Sprint(m["question"]), "maxFileBytes") {
			t.Errorf("%s has the session: %v", name, m)
		}
	}
	withToken := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	if w, m := call(t, s, "GET", "/api/v2/mcp/sessions/web", "", withToken); w.Code != 200 || len(m["turns"].([]any)) == 0 {
		t.Errorf("%d %v", w.Code, m)
	}
	if w, _ := call(t, s, "DELETE", "/api/v2/mcp/sessions/web", "", nil); w.Code != http.StatusNotFound {
		t.Errorf("deleted without token and key: %d", w.Code)
	}
	if w, m := call(t, s, "DELETE", "/api/v2/mcp/sessions/web", "", withToken); w.Code != 200 || m["success"] != true {
		t.Errorf("%d %v", w.Code, m)
	}
	if w, m := call(t, s, "GET", "/api/v2/mcp/sessions/web", "", withToken); w.Code != 404 || m["detail"] == "" {
		t.Errorf("%d %v", w.Code, m)
	}
}

func TestOtherToolsOverHTTP(t *testing.T) {
	s := answering(t, true)
	for _, path := range []string{"/mcp/tools", "/api/v1/mcp/tools", "/api/v2/mcp/tools"} {
		if w, m := call(t, s, "GET", path, "", nil); w.Code != 200 || len(m["tools"].([]any)) != 4 {
			t.Errorf("%s: %d %v", path, w.Code, m)
		}
	}
	if _, m := call(t, s, "GET", "/api/v1/mcp/health", "", nil); m["status"] != "healthy" {
		t.Errorf("%v", m)
	}
	_, m := call(t, s, "POST", callPath, `{"tool_name":"search_knowledge_base","arguments":{"query":"deleted store","top_k":1}}`, nil)
	found := m["data"].(map[string]any)["results"].([]any)
	if m["success"] != true || len(found) != 1 {
		t.Fatalf("%v", m)
	}
	uri := found[0].(map[string]any)["chunk_uri"].(string)
	if _, m = call(t, s, "POST", callPath, fmt.Sprintf(`{"tool_name":"get_document_chunk","arguments":{"chunk_uri":%q,"tenant_id":"default"}}`, uri), nil); !strings.Contains(m["result"].(string), "command drop") {
		t.Errorf("%v", m)
	}
	if _, m = call(t, s, "POST", callPath, `{"tool_name":"list_documents","arguments":{}}`, nil); m["data"].(map[string]any)["total"] != 3.0 {
		t.Errorf("%v", m)
	}
	// Any other name is a command's, of that command's class.
	if w, m := call(t, s, "POST", callPath, `{"tool_name":"stores","arguments":{}}`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }); w.Code != 200 || !strings.Contains(m["result"].(string), "handbook") {
		t.Errorf("%d %v", w.Code, m)
	}
	for name, body := range map[string]string{
		"a command that reads":             `{"tool_name":"stores"}`,
		"a command that writes":            `{"tool_name":"store_delete","arguments":{"store":"handbook"}}`,
		"one that dispatches to it":        `{"tool_name":"execute","arguments":{"command":"store:delete","args":{"store":"handbook"}}}`,
		"a command for persons":            `{"tool_name":"store_public","arguments":{"store":"handbook"}}`,
		"a reading one of a listed origin": `{"tool_name":"stores"}`,
	} {
		change := func(*http.Request) {}
		if strings.Contains(name, "origin") {
			change = func(r *http.Request) { r.Header.Set("Origin", listed) }
		}
		if w, m := call(t, s, "POST", callPath, body, change); w.Code != 401 && w.Code != 403 || m["success"] != false || m["detail"] == "" {
			t.Errorf("%s: %d %v", name, w.Code, m)
		}
	}
}

func TestFaultsOverHTTP(t *testing.T) {
	s := answering(t, true)
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"no JSON":              {"x", 400},
		"no object":            {`[1]`, 400},
		"cut off":              {`{"tool_name":"generate_rag`, 400},
		"no tool":              {`{"arguments":{"query":"x"}}`, 400},
		"arguments no object":  {`{"tool_name":"generate_rag_answer","arguments":"x"}`, 400},
		"no query":             {`{"tool_name":"generate_rag_answer","arguments":{}}`, 422},
		"empty query":          {generate("  ", ""), 422},
		"query no string":      {`{"tool_name":"generate_rag_answer","arguments":{"query":5}}`, 422},
		"huge query":           {generate(strings.Repeat("x ", 5000), ""), 422},
		"huge session":         {`{"tool_name":"generate_rag_answer","arguments":{"query":"x","session_id":"` + strings.Repeat("s", 200) + `"}}`, 422},
		"no chunk_uri":         {`{"tool_name":"get_document_chunk","arguments":{}}`, 422},
		"too many":             {`{"tool_name":"search_knowledge_base","arguments":{"query":"x","top_k":1000}}`, 422},
		"unknown tool":         {`{"tool_name":"rag_query","arguments":{"query":"x"}}`, 200},
		"chunk that is no one": {`{"tool_name":"get_document_chunk","arguments":{"chunk_uri":"chunk://aaaaaaaaaaa"}}`, 200},
	} {
		w, m := call(t, s, "POST", callPath, c.body, nil)
		if w.Code != c.want || m["success"] != false || m["isError"] != true || m["error"] == "" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if detail, has := m["detail"]; has != (c.want >= 400) || has && detail == "" {
			t.Errorf("%s: detail %v", name, detail)
		}
		if strings.Contains(w.Body.String(), "ragRequest") || strings.Contains(w.Body.String(), "Go ") {
			t.Errorf("%s shows a type: %s", name, w.Body)
		}
	}
	if w, _ := call(t, s, "POST", callPath, "{"+strings.Repeat(" ", 2<<20)+"}", nil); w.Code != 400 && w.Code != 413 {
		t.Errorf("2 MiB: %d", w.Code)
	}
	if w, m := call(t, s, "POST", callPath, generate("x", ""), func(r *http.Request) {
		r.Header.Set("Origin", listed)
		r.Header.Set("Content-Type", "text/plain")
	}); w.Code != 415 || m["detail"] == "" {
		t.Errorf("a form of a page: %d %s", w.Code, w.Body)
	}
}

func TestWhoMayAsk(t *testing.T) {
	s := answering(t, true)
	question := generate("which files are left out of the index?", "")
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"near":                   {nil, 200},
		"a listed page":          {func(r *http.Request) { r.Header.Set("Origin", listed) }, 200},
		"a listed page from far": {func(r *http.Request) { r.Header.Set("Origin", listed); r.RemoteAddr = far }, 200},
		"a listed page, proxied": {func(r *http.Request) { r.Header.Set("Origin", listed); r.Header.Set("X-Forwarded-For", "192.0.2.7") }, 200},
		"far with the token":     {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token); r.RemoteAddr = far }, 200},
		"another page":           {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"a rebound name":         {func(r *http.Request) { r.Host = "evil.example" }, 403},
		"far without token":      {func(r *http.Request) { r.RemoteAddr = far }, 401},
	} {
		w, _ := call(t, s, "POST", callPath, question, c.change)
		if w.Code != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" && (got != listed || c.want == 403) {
			t.Errorf("%s: Access-Control-Allow-Origin %q", name, got)
		}
	}
	for _, path := range []string{callPath, "/api/v2/feedback", "/mcp/tools/call"} {
		for origin, want := range map[string]int{listed: 204, "https://evil.example": 403} {
			w, _ := call(t, s, "OPTIONS", path, "", func(r *http.Request) {
				r.Header.Set("Origin", origin)
				r.Header.Set("Access-Control-Request-Method", "POST")
			})
			if w.Code != want || (w.Header().Get("Access-Control-Allow-Origin") == listed) != (want == 204) {
				t.Errorf("preflight of %s from %s: %d %v", path, origin, w.Code, w.Header())
			}
		}
	}
	limited := 0
	for range 40 {
		w, _ := call(t, s, "POST", callPath, question, func(r *http.Request) { r.Header.Set("Origin", listed); r.RemoteAddr = "192.0.2.99:1" })
		if w.Code == http.StatusTooManyRequests {
			limited++
			if w.Header().Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
	}
	if limited == 0 {
		t.Error("a stranger may ask without end")
	}
	s = answering(t, false)
	_, m := call(t, s, "POST", callPath, question, nil)
	if m["success"] != false || !strings.Contains(fmt.Sprint(m["error"]), "knowledge store:public handbook") {
		t.Errorf("with nothing public: %v", m)
	}
	_, m = call(t, s, "POST", callPath, question, func(r *http.Request) { r.Header.Set("Origin", listed) })
	if m["success"] != false || strings.Contains(fmt.Sprint(m["error"]), "handbook") {
		t.Errorf("a page is told names of stores: %v", m)
	}
}

func TestRepliesAreInert(t *testing.T) {
	s := answering(t, true)
	_, m := call(t, s, "POST", callPath, generate("what is the colour of the banner?", ""), nil)
	if !strings.Contains(m["result"].(string), "banner is blue by") {
		t.Fatalf("the document is not quoted: %v", m)
	}
	uri := m["sources"].([]any)[0].(map[string]any)["chunk_uri"].(string)
	call(t, s, "POST", "/api/v1/feedback", `{"query":"<img src=x onerror=alert(9)>","response":"<script>x</script>","rating":"negative","comment":"<b>","session_id":"<i>"}`, nil)
	for name, c := range map[string][3]string{
		"answer":    {"POST", callPath, generate("what is the colour of the banner?", "")},
		"streamed":  {"POST", callPath, generate("what is the colour of the banner?", `,"stream":true`)},
		"unknown":   {"POST", callPath, generate("<script>alert(1)</script> zzz?", "")},
		"tool":      {"POST", callPath, `{"tool_name":"<script>alert(1)</script>"}`},
		"search":    {"POST", callPath, `{"tool_name":"search_knowledge_base","arguments":{"query":"banner colour"}}`},
		"chunk":     {"POST", callPath, fmt.Sprintf(`{"tool_name":"get_document_chunk","arguments":{"chunk_uri":%q}}`, uri)},
		"documents": {"POST", callPath, `{"tool_name":"list_documents"}`},
		"command":   {"POST", callPath, `{"tool_name":"grep","arguments":{"store":"handbook","pattern":"script"}}`},
		"feedback":  {"GET", "/api/v1/feedback", ""},
		"stats":     {"GET", "/api/v1/feedback/stats", ""},
	} {
		w, _ := call(t, s, c[0], c[1], c[2], func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
		body := w.Body.Bytes()
		if name == "streamed" {
			body = nil
			for line := range strings.Lines(w.Body.String()) {
				if d, ok := strings.CutPrefix(line, "data: "); ok {
					body = append(append(body, d...), ',')
				}
			}
			body = append([]byte("["), append(bytes.TrimRight(body, ",\n"), ']')...)
		}
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatalf("%s: %v in %s", name, err, body)
		}
		texts(v, func(text string) {
			if strings.ContainsAny(text, "<>") || strings.Contains(text, "](") {
				t.Errorf("%s: %q", name, text)
			}
		})
	}
}

// texts calls f for every string in a value.
func texts(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, x := range v {
			texts(x, f)
		}
	case map[string]any:
		for k, x := range v {
			f(k)
			texts(x, f)
		}
	}
}

func TestStreamedAnswer(t *testing.T) {
	s := answering(t, true)
	w, _ := call(t, s, "POST", callPath, generate("which files are left out of the index?", ""), func(r *http.Request) { r.Header.Set("Accept", "text/event-stream") })
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") || !w.Flushed {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	var names []string
	text, result := "", ""
	for block := range strings.SplitSeq(strings.TrimSpace(w.Body.String()), "\n\n") {
		head, data, _ := strings.Cut(block, "\ndata: ")
		names = append(names, strings.TrimPrefix(head, "event: "))
		var m map[string]any
		_ = json.Unmarshal([]byte(data), &m) // sources are a list
		switch {
		case strings.HasSuffix(head, "sentence"):
			text += m["delta"].(string)
		case strings.HasSuffix(head, "done"):
			result = m["result"].(string)
		}
	}
	if names[0] != "start" || names[len(names)-1] != "done" || text != result || text == "" {
		t.Errorf("%v\n%q\n%q", names, text, result)
	}
	s = answering(t, false)
	if w, _ := call(t, s, "POST", callPath, generate("x?", `,"stream":true`), nil); !strings.Contains(w.Body.String(), "event: error") {
		t.Errorf("%s", w.Body)
	}
}

func TestFeedbackOverHTTP(t *testing.T) {
	s := answering(t, true)
	withToken := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	_, m := call(t, s, "POST", callPath, recorded["widget"], nil)
	body, _ := json.Marshal(map[string]any{"query": "which files are left out of the index?", "response": m["result"], "rating": "negative", "confidence": m["confidence"], "session_id": "web", "comment": "no"})
	w, m := call(t, s, "POST", "/api/v1/feedback", string(body), nil)
	if w.Code != http.StatusCreated || m["success"] != true || m["feedback_id"] != "1" || m["pending"] != true {
		t.Fatalf("%d %v", w.Code, m)
	}
	for _, body := range []string{`{"query":"q","rating":"meh"}`, `{"query":"","rating":"positive"}`, `{"rating":"positive"}`, `{"query":"q","rating":"positive","confidence":7}`} {
		if w, m := call(t, s, "POST", "/api/v1/feedback", body, nil); w.Code != 422 || m["detail"] == "" {
			t.Errorf("%s: %d %v", body, w.Code, m)
		}
	}
	if w, m := call(t, s, "POST", "/api/v2/feedback", `{"query":"q","rating":"positive","confidence":null,"session_id":"web","expected_answer":"x","metadata":{"a":1},"tenant_id":"t","agent_id":"a"}`, withToken); w.Code != 201 || m["pending"] != nil {
		t.Errorf("%d %v", w.Code, m)
	}
	_, m = call(t, s, "GET", "/api/v1/feedback?rating=negative&reviewed=false&pending=true&limit=5", "", withToken)
	entry := m["entries"].([]any)[0].(map[string]any)
	if entry["feedback_id"] != "1" || entry["rating"] != "negative" || entry["reviewed"] != false || entry["pending"] != true || entry["comment"] != "no" || len(entry["sources"].([]any)) == 0 {
		t.Errorf("%v", entry)
	}
	_, m = call(t, s, "GET", "/api/v2/feedback/stats", "", withToken)
	if m["total_feedback"] != 1.0 || m["negative_count"] != 0.0 || m["pending_count"] != 1.0 {
		t.Errorf("before the review: %v", m)
	}
	if w, m := call(t, s, "POST", "/api/v1/feedback/1/review?action_taken=dismissed", "", nil); w.Code != 401 {
		t.Errorf("%d %v", w.Code, m)
	}
	if w, m := call(t, s, "POST", "/api/v1/feedback/1/review?action_taken=dismissed", "", withToken); w.Code != 200 || m["success"] != true {
		t.Errorf("%d %v", w.Code, m)
	}
	_, m = call(t, s, "GET", "/api/v2/feedback/stats", "", withToken)
	if m["total_feedback"] != 2.0 || m["positive_rate"] != 50.0 || m["unreviewed_count"] != 1.0 {
		t.Errorf("%v", m)
	}
	for _, path := range []string{"/api/v1/feedback", "/api/v1/feedback/stats"} {
		s.guard.OpenRead = true
		if w, _ := call(t, s, "GET", path, "", nil); w.Code != 401 {
			t.Errorf("%s without the token, with reading open: %d", path, w.Code)
		}
		s.guard.OpenRead = false
	}
	s.guard.OpenRead = true
	for body, want := range map[string]int{`{"uri":"feedback://stats"}`: 401, `{"uri":"evidence://status"}`: 200} {
		for path, body := range map[string]string{
			"/api/commands/resource:read": body,
			"/api/commands/execute":       `{"command":"resource:read","args":` + body + `}`,
			callPath:                      `{"tool_name":"resource:read","arguments":` + body + `}`,
		} {
			if w, m := call(t, s, "POST", path, body, nil); w.Code != want {
				t.Errorf("%s of %s without the token, with reading open: %d %v", path, body, w.Code, m)
			}
		}
	}
	s.guard.OpenRead = false
	far := func(r *http.Request) { r.RemoteAddr = far; r.Header.Set("Origin", listed) }
	if w, _ := call(t, s, "GET", "/api/v1/feedback", "", far); w.Code == 200 {
		t.Error("a page reads what others said")
	}
}

// TestRatingsWithoutTheTokenWait: however many are sent, the answer, its
// confidence and its sources stay as they are until the owner accepts one; and
// there is an end to how many are taken.
func TestRatingsWithoutTheTokenWait(t *testing.T) {
	s := answering(t, true)
	withToken := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	ask := func() map[string]any {
		_, m := call(t, s, "POST", callPath, recorded["widget"], nil)
		for _, k := range []string{"cached", "session_key"} {
			delete(m, k)
		}
		return m
	}
	before := ask()
	rate := func(session string, change func(*http.Request)) int {
		body, _ := json.Marshal(map[string]any{"query": "which files are left out of the index?", "response": before["result"], "rating": "negative", "session_id": session})
		w, _ := call(t, s, "POST", "/api/v1/feedback", string(body), change)
		return w.Code
	}
	codes := map[int]int{}
	for i := range 100 {
		codes[rate(fmt.Sprint("s", i%50), nil)]++
	}
	if codes[201] == 0 || codes[201] > 31 || codes[201]+codes[429] != 100 {
		t.Errorf("of 100 ratings: %v", codes)
	}
	if d := cmp.Diff(before, ask()); d != "" {
		t.Errorf("ratings without the token changed the answer: %s", d)
	}
	if w, m := call(t, s, "POST", "/api/v1/feedback/1/review?action_taken=accepted", "", withToken); w.Code != 200 {
		t.Fatalf("%d %v", w.Code, m)
	}
	if _, m := call(t, s, "GET", "/api/v1/feedback/stats", "", withToken); m["total_feedback"] != 1.0 || m["negative_count"] != 1.0 {
		t.Errorf("an accepted rating does not count: %v", m)
	}
	if got := rate("s", withToken); got != 201 {
		t.Errorf("the owner's own rating: %d", got)
	}
}

// TestForeignSessions: a session is read and forgotten by who has its key, or
// the token; who has neither is told the same as of one that there is not.
func TestForeignSessions(t *testing.T) {
	s := answering(t, true)
	s.guard.OpenRead = true // opens what is indexed, and no conversations
	_, m := call(t, s, "POST", callPath, generate("what is maxFileBytes?", ""), nil)
	key, _ := m["session_key"].(string)
	if len(key) < 26 {
		t.Fatalf("no session_key: %v", m)
	}
	const path = "/api/v1/mcp/sessions/web"
	with := func(k string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("User-Agent", "other")
			if k != "" {
				r.Header.Set(keyHeader, k)
			}
		}
	}
	for name, k := range map[string]string{"none": "", "wrong": "x" + key} {
		for _, method := range []string{"GET", "DELETE"} {
			w, m := call(t, s, method, path, "", with(k))
			none, _ := call(t, s, method, "/api/v1/mcp/sessions/nobody", "", with(k))
			if w.Code != 404 || strings.Contains(w.Body.String(), "maxFileBytes") || none.Code != 404 {
				t.Errorf("%s with key %s: %d %v; of none %d", method, name, w.Code, m, none.Code)
			}
		}
	}
	if w, _ := call(t, s, "POST", "/api/commands/answer:session", `{"session_id":"web"}`, nil); w.Code != 401 {
		t.Errorf("by command: %d", w.Code)
	}
	// The key leads on from another program, and closes the session to all who have none.
	if _, m := call(t, s, "POST", callPath, generate("and what is its default?", ""), with(key)); !strings.Contains(fmt.Sprint(m["question"]), "maxFileBytes") {
		t.Errorf("with the key: %v", m)
	}
	if _, m := call(t, s, "POST", callPath, generate("and what is its default?", ""), nil); strings.Contains(fmt.Sprint(m["question"]), "maxFileBytes") {
		t.Errorf("without the key: %v", m)
	}
	if w, m := call(t, s, "GET", path, "", with(key)); w.Code != 200 || len(m["turns"].([]any)) != 2 || m["others"] != nil {
		t.Errorf("with the key: %d %v", w.Code, m)
	}
	if w, m := call(t, s, "DELETE", path, "", with(key)); w.Code != 200 || m["forgotten"] != 1.0 {
		t.Errorf("with the key: %d %v", w.Code, m)
	}
	if w, _ := call(t, s, "GET", path, "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }); w.Code != 200 {
		t.Errorf("the owner does not see the other conversation: %d", w.Code)
	}
}

func TestManySessionsAtOnce(t *testing.T) {
	s := answering(t, true)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			agent := func(r *http.Request) { r.Header.Set("User-Agent", fmt.Sprint("browser", i)) }
			first, second := "what is maxFileBytes?", "and what is its default?"
			if i%2 == 0 {
				first, second = "how is a store deleted?", "and with which command?"
			}
			for range 3 {
				call(t, s, "POST", callPath, generate(first, ""), agent)
				_, m := call(t, s, "POST", callPath, generate(second, ""), agent)
				want := map[bool]string{true: "store", false: "maxFileBytes"}[i%2 == 0]
				if m["success"] != true || !strings.Contains(fmt.Sprint(m["question"]), want) {
					t.Errorf("client %d: %v", i, m)
				}
			}
		})
	}
	wg.Wait()
}
