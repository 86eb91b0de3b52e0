package mcpserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/httpguard"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// apiMachine is a machine on which an API at a service on loopback is declared.
func apiMachine(t *testing.T) (*app.App, *[]string) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	asked := &[]string{}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = append(*asked, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":true}`)
	}))
	t.Cleanup(service.Close)
	config := write("config.yaml", "# nothing\n")
	write("apis.yaml", strings.NewReplacer("URL", service.URL, "HOST", strings.TrimPrefix(service.URL, "http://")).Replace(`apis:
  - code: shop
    baseUrl: URL
    allowHosts: ["HOST"]
    listed: false
    tools:
      - {code: shop_list, description: List goods, endpointPath: /goods, parameters: [{name: max, type: INTEGER}]}
      - {code: shop_add, description: Add goods, httpMethod: POST, endpointPath: /goods, parameters: [{name: name, required: true}]}
      - {code: shop_replace, httpMethod: PUT, endpointPath: '/goods/{id}', parameters: [{name: id}]}
      - {code: shop_remove, httpMethod: DELETE, endpointPath: '/goods/{id}', parameters: [{name: id}]}
      - {code: shop_off, endpointPath: /off, enabled: false}
`))
	a, err := product.New(app.Config{Version: "test", DataDir: filepath.Join(dir, "data"), Dir: dir, Env: func(n string) string {
		return map[string]string{"KNOWLEDGE_CONFIG": config}[n]
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a, asked
}

// TestAPITools: the operations of an API are tools with schemas and hints of what
// they do; calls and refusals reach the agent as results.
func TestAPITools(t *testing.T) {
	a, asked := apiMachine(t)
	serve, err := Handler(t.Context(), a, Options{Tools: "apis:shop", Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	h := serve(&httpguard.Guard{Bound: testHost, Secret: testToken})
	ask := func(method, params string) string {
		t.Helper()
		w := post(h, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, nil)
		if w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return w.Body.String()
	}
	var list struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema json.RawMessage
				Annotations struct{ ReadOnlyHint, DestructiveHint, IdempotentHint *bool }
			}
		}
	}
	if err := json.Unmarshal([]byte(ask("tools/list", "{}")), &list); err != nil {
		t.Fatal(err)
	}
	said := func(b *bool) string {
		if b == nil {
			return "-"
		}
		return fmt.Sprint(*b)
	}
	got := map[string]string{}
	for _, tool := range list.Result.Tools {
		got[tool.Name] = said(tool.Annotations.ReadOnlyHint) + " " + said(tool.Annotations.DestructiveHint) + " " + said(tool.Annotations.IdempotentHint)
	}
	if want := "map[shop_add:- false - shop_list:true - - shop_remove:- true true shop_replace:- true true]"; fmt.Sprint(got) != want {
		t.Errorf("%v\nwant %s", got, want)
	}
	if r := ask("tools/call", `{"name":"shop_add","arguments":{"name":"tea"}}`); !strings.Contains(r, `\"ok\":true`) || strings.Contains(r, "isError\":true") {
		t.Error(r)
	}
	if r := ask("tools/call", `{"name":"shop_add","arguments":{}}`); !strings.Contains(r, `"isError":true`) || !strings.Contains(r, "missing required parameter") {
		t.Error(r)
	}
	if fmt.Sprint(*asked) != `[POST /goods {"name":"tea"}]` {
		t.Error(*asked)
	}
	for _, bad := range []string{"apis:none", "apis:", "other"} {
		if _, err := Handler(t.Context(), a, Options{Tools: bad}); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
