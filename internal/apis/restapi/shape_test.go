package restapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestShape: what is wanted of a reply is taken out of it, digits kept.
func TestShape(t *testing.T) {
	const issues = `[{"id":12345678901234567890,"title":"a","user":{"login":"ann"},"labels":[{"name":"x"},{"name":"y"}]},{"id":2,"title":"b","user":{"login":"bob"},"labels":[]}]`
	for _, tc := range []struct {
		in    string
		shape restapi.Shape
		want  string
	}{
		{issues, restapi.Shape{}, issues},
		{issues, restapi.Shape{Fields: []string{"id", "user.login", "labels.name", "absent"}}, `[{"id":12345678901234567890,"user.login":"ann","labels.name":["x","y"]},{"id":2,"user.login":"bob","labels.name":[]}]`},
		{issues, restapi.Shape{Fields: []string{"title"}, First: 1}, `[{"title":"a"}]`},
		{issues, restapi.Shape{Fields: []string{"id", "title"}, Table: true}, `{"columns":["id","title"],"rows":[[12345678901234567890,"a"],[2,"b"]]}`},
		{issues, restapi.Shape{Query: "[?user.login=='bob'].title"}, `["b"]`},
		{issues, restapi.Shape{Query: "length(@)"}, `2`},
		{issues, restapi.Shape{Query: "[].id"}, `["12345678901234567890",2]`},
		{`{"items":[{"a":1,"b":2}],"total":9}`, restapi.Shape{Fields: []string{"a"}}, `[{"a":1}]`},
		{`{"items":[{"a":1,"b":2}],"total":9}`, restapi.Shape{Fields: []string{"total"}}, `{"total":9}`},
		{`{"items":[1,2,3],"total":9}`, restapi.Shape{First: 2}, `{"items":[1,2],"total":9}`},
		{`[1,2]`, restapi.Shape{Table: true}, `[1,2]`},
		{`"text"`, restapi.Shape{Fields: []string{"a"}, First: 1, Table: true}, `"text"`},
		{`null`, restapi.Shape{Query: "a.b"}, `null`},
	} {
		got, err := tc.shape.Of(json.RawMessage(tc.in))
		if err != nil || string(got) != tc.want {
			t.Errorf("%+v of %s:\n got %s %v\nwant %s", tc.shape, tc.in, got, err, tc.want)
		}
	}
	for _, bad := range []restapi.Shape{{Query: "[?"}, {First: -1}, {Query: strings.Repeat("a", 3000)}} {
		if err := bad.Check(); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%.30v: %v", bad, err)
		}
	}
}

// FuzzShape: nothing that a service or an agent writes makes a shape panic, and
// what comes of JSON is JSON.
func FuzzShape(f *testing.F) {
	f.Add(`[{"a":{"b":1}}]`, "a.b", "[].a", 1)
	f.Add(`{"items":[[],{}],"n":1e999}`, "items.", "items[0]|[0]", 2)
	f.Fuzz(func(t *testing.T, v, field, query string, n int) {
		if !json.Valid([]byte(v)) {
			return
		}
		s := restapi.Shape{Fields: []string{field}, First: n & 7, Table: true, Query: query}
		if s.Check() != nil {
			s.Query = ""
		}
		out, err := s.Of(json.RawMessage(v))
		if err == nil && !json.Valid(out) {
			t.Errorf("%q of %q: %q", field, v, out)
		}
		restapi.Summary(json.RawMessage(v))
	})
}

// TestNextPage: what services say of the next page becomes its arguments.
func TestNextPage(t *testing.T) {
	b := newBench(t, `apis:
  - code: p
    baseUrl: https://a.example
    tools:
      - {code: list, endpointPath: /l, parameters: [{name: page, type: INTEGER}, {name: per_page, type: INTEGER}, {name: cursor}, {name: pageToken}, {name: starting_after}, {name: limit, type: INTEGER}, {name: q}]}
      - {code: skip, endpointPath: /s, parameters: [{name: offset, type: INTEGER}, {name: limit, type: INTEGER}]}
      - {code: plain, endpointPath: /p}
`)
	for _, tc := range []struct{ tool, args, link, reply, want string }{
		{"list", `{"q":"x"}`, `<https://a.example/l?q=x&page=2>; rel="next", <https://a.example/l?page=9>; rel="last"`, `[1]`, `{"q":"x","page":2}`},
		{"list", `{"page":9}`, `<https://a.example/l?page=1>; rel="first"`, `[1]`, ``},
		{"list", `{}`, `<https://evil.example/steal?secret=1>; rel="next"`, `[1]`, ``},
		{"list", `{}`, ``, `{"items":[1],"nextPageToken":"t1"}`, `{"pageToken":"t1"}`},
		{"list", `{"pageToken":"t1"}`, ``, `{"items":[1],"nextPageToken":""}`, ``},
		{"list", `{}`, ``, `{"ok":true,"response_metadata":{"next_cursor":"c="}}`, `{"cursor":"c="}`},
		{"list", `{"cursor":"c"}`, ``, `{"data":[1],"next_cursor":"c"}`, ``},
		{"list", `{}`, ``, `{"data":[{"id":"a"},{"id":"b"}],"has_more":true}`, `{"starting_after":"b"}`},
		{"list", `{}`, ``, `{"data":[{"id":"a"}],"has_more":false,"next_cursor":"x"}`, ``},
		{"list", `{}`, ``, `{"results":[1],"next":"https://a.example/l?page=3"}`, `{"page":3}`},
		{"list", `{"limit":2}`, ``, `[1,2]`, `{"limit":2,"page":2}`},
		{"list", `{"limit":2,"page":2}`, ``, `[1]`, ``},
		{"list", `{}`, ``, `[1,2,3]`, ``},
		{"skip", `{"limit":2}`, ``, `{"values":[1,2]}`, `{"limit":2,"offset":2}`},
		{"skip", `{"limit":2,"offset":4}`, ``, `{"values":[1,2]}`, `{"limit":2,"offset":6}`},
		{"plain", `{}`, `<https://a.example/p?page=2>; rel="next"`, `[1]`, ``},
		{"plain", `{}`, ``, `{"next":"not an address?","nextPageToken":{"a":1}}`, ``},
	} {
		_, tool, err := restapi.Find(b.file.Providers, tc.tool)
		if err != nil {
			t.Fatal(err)
		}
		got := tool.NextPage(json.RawMessage(tc.args), &restapi.Reply{JSON: json.RawMessage(tc.reply), Link: tc.link})
		if string(got) != tc.want {
			t.Errorf("%s %s %s %s:\n got %s\nwant %s", tc.tool, tc.args, tc.link, tc.reply, got, tc.want)
		}
	}
}

// TestDry: the request is shown, where its credential comes from is said, and
// nothing is read or sent.
func TestDry(t *testing.T) {
	sent := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }))
	defer s.Close()
	for _, auth := range []string{
		"authenticationType: BEARER_TOKEN\napiKeyValue: ${ECHO_KEY}", "authenticationType: BASIC_AUTH\nusername: ann\napiKeyValue: ${ECHO_KEY}",
		"authenticationType: API_KEY\napiKeyName: k\napiKeyLocation: QUERY_PARAMETER\napiKeyValue: ${ECHO_KEY}",
		"authenticationType: API_KEY\napiKeyName: k\napiKeyLocation: IN_BODY\napiKeyValue: ${ECHO_KEY}",
		"authenticationType: API_KEY\napiKeyName: k\napiKeyLocation: COOKIE\napiKeyValue: keyring:mine",
		"customHeaders: {X-Secret-Key: '${ECHO_KEY}'}",
	} {
		b := newBench(t, "apis:\n  - code: echo\n    baseUrl: "+s.URL+"\n"+indent(auth, 4)+"    tools:\n      - {code: add, httpMethod: POST, endpointPath: '/a/{id}', parameters: [{name: id}, {name: n, type: NUMBER}]}\n")
		p, tool, err := restapi.Find(b.file.Providers, "add")
		if err != nil {
			t.Fatal(err)
		}
		b.caller.Secrets.Entry = func(string, string) (string, error) { t.Error("the keyring was read"); return "", fmt.Errorf("no") }
		r, err := b.caller.Dry(t.Context(), p, tool, json.RawMessage(`{"id":"x y","n":1.50}`))
		if err != nil {
			t.Errorf("%s: %v", auth, err)
			continue
		}
		shown := fmt.Sprint(*r)
		if !strings.Contains(shown, "/a/x%20y") || !strings.Contains(shown, `"n":1.50`) || strings.Contains(shown, secret) ||
			!strings.Contains(shown, "ECHO_KEY") && !strings.Contains(shown, "keyring") {
			t.Errorf("%s: %s", auth, shown)
		}
	}
	if sent > 0 {
		t.Errorf("%d requests were sent", sent)
	}
}
