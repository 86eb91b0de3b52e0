package restapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// shopSchema has every kind of type of the GraphQL specification (October 2021,
// section 3) in queries and mutations.
const shopSchema = `
"""The shop."""
type Query {
  "One item by its id."
  item(id: ID!): Item
  items(first: Int = 10, filter: ItemFilter, sort: [Sort!]): ItemConnection!
  find(text: String!, kinds: [Kind!]!): [Found!]!
  count(at: DateTime, exact: Boolean, above: Float): Int!
  viewer: User
  old: String @deprecated(reason: "gone")
}
extend type Query { extra(select: String): User }
type Mutation { rename(id: ID!, input: RenameInput!): Item, drop(id: ID!): Boolean }
type Subscription { changed: Item }
scalar DateTime
enum Kind { BOOK FILM }
enum Sort { NAME PRICE }
interface Node { id: ID! }
union Found = Item | User
type Item implements Node { id: ID! name: String! price: Float kind: Kind owner: User related(first: Int): ItemConnection secret(key: String!): String }
type User implements Node { id: ID! login: String! items(first: Int): ItemConnection }
type ItemConnection { nodes: [Item!]! totalCount: Int! pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
input ItemFilter { kind: Kind, and: [ItemFilter!], price: Range }
input Range { min: Float = 0, max: Float! }
input RenameInput { name: String! }
`

func shop(t *testing.T, base string, operations ...string) *restapi.Provider {
	t.Helper()
	im, err := restapi.ImportGraphQL("shop.graphql", []byte(shopSchema), restapi.ImportOptions{Code: "shop", BaseURL: base + "/graphql", Operations: operations})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := restapi.Merge("apis.yaml", nil, im); err != nil {
		t.Fatal(err)
	}
	if len(im.Merged.Problems) > 0 {
		t.Fatal(im.Merged.Problems)
	}
	return im.Merged.Providers[0]
}

// TestGraphQLRequests: the bodies that calls become, written by hand from the GraphQL
// specification and the convention of GraphQL over HTTP.
func TestGraphQLRequests(t *testing.T) {
	var sent string
	var answer string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b struct {
			Query     string
			Variables json.RawMessage
		}
		json.NewDecoder(r.Body).Decode(&b)
		sent = r.Method + " " + r.URL.Path + " " + b.Query + " " + string(b.Variables)
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(answer))
	}))
	defer ts.Close()
	p := shop(t, ts.URL, "query", "rename")
	c := &restapi.Caller{Secrets: &restapi.Resolver{}, Client: func(*restapi.Provider) (restapi.Client, error) { return direct{}, nil }}
	for _, x := range []struct{ name, args, answer, sent, want string }{
		{"item", `{"id":7}`, `{"data":{"item":{"id":"7"}}}`,
			`POST /graphql query ($id: ID!) { item(id: $id) { id name price kind owner { id login items(first: 5) { totalCount nodes { id name price kind } pageInfo { hasNextPage endCursor } } } related(first: 5) { totalCount nodes { id name price kind } pageInfo { hasNextPage endCursor } } } } {"id":"7"}`, `{"id":"7"}`},
		{"item", `{"id":"7","select":"{ name }"}`, `{"data":{"item":{"name":"x"}}}`, `POST /graphql query ($id: ID!) { item(id: $id) { name } } {"id":"7"}`, `{"name":"x"}`},
		{"item", `{"id":"7","select":"name owner { login }"}`, `{"data":{"item":null}}`, `POST /graphql query ($id: ID!) { item(id: $id) { name owner { login } } } {"id":"7"}`, `null`},
		{"items", `{"first":2,"filter":{"kind":"BOOK"},"sort":["NAME"],"select":"{ totalCount }"}`, `{"data":{"items":{"totalCount":12345678901234567890}}}`,
			`POST /graphql query ($first: Int, $filter: ItemFilter, $sort: [Sort!]) { items(first: $first, filter: $filter, sort: $sort) { totalCount } } {"filter":{"kind":"BOOK"},"first":2,"sort":["NAME"]}`, `{"totalCount":12345678901234567890}`},
		{"find", `{"text":"a","kinds":["BOOK"],"select":"{ ... on Item { name } }"}`, `{"data":{"find":[]}}`,
			`POST /graphql query ($text: String!, $kinds: [Kind!]!) { find(text: $text, kinds: $kinds) { ... on Item { name } } } {"kinds":["BOOK"],"text":"a"}`, `[]`},
		{"count", `{"exact":"true","above":1.50,"at":"2026-01-01"}`, `{"data":{"count":3}}`,
			`POST /graphql query ($at: DateTime, $exact: Boolean, $above: Float) { count(at: $at, exact: $exact, above: $above) } {"above":1.50,"at":"2026-01-01","exact":true}`, `3`},
		{"extra", `{"select":"x","select_of":"{ id }"}`, `{"data":{"extra":{"id":"1"}}}`, `POST /graphql query ($select: String) { extra(select: $select) { id } } {"select":"x"}`, `{"id":"1"}`},
		{"rename", `{"id":"7","input":{"name":"y"},"select":"{ id }"}`, `{"data":{"rename":{"id":"7"}}}`,
			`POST /graphql mutation ($id: ID!, $input: RenameInput!) { rename(id: $id, input: $input) { id } } {"id":"7","input":{"name":"y"}}`, `{"id":"7"}`},
	} {
		answer = x.answer
		_, tool, err := restapi.Find([]*restapi.Provider{p}, "shop_"+x.name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Call(t.Context(), p, tool, json.RawMessage(x.args))
		if err != nil || sent != x.sent || string(r.JSON) != x.want {
			t.Errorf("%s %s:\n%s\n%s\n%v %s", x.name, x.args, sent, x.sent, err, r.JSON)
		}
	}
	_, tool, _ := restapi.Find([]*restapi.Provider{p}, "shop_item")
	answer = `{"data":{"item":null},"errors":[{"message":"no such item"}]}`
	if _, err := c.Call(t.Context(), p, tool, json.RawMessage(`{"id":"7"}`)); kb.CodeOf(err) != kb.Invalid || !strings.Contains(err.Error(), "no such item") {
		t.Error(err)
	}
	answer = `{"data":{"item":{"id":"7","owner":null}},"errors":[{"message":"owner is away"}]}`
	if r, err := c.Call(t.Context(), p, tool, json.RawMessage(`{"id":"7"}`)); err != nil || !strings.Contains(r.Odd, "owner is away") {
		t.Error(r, err)
	}
}

// TestGraphQLPages: pages of connections are followed by their cursors.
func TestGraphQLPages(t *testing.T) {
	im, err := restapi.ImportGraphQL("x", []byte("type Query { items(first: Int, after: String): C } type C { nodes: [I] pageInfo: P } type I { id: ID } type P { hasNextPage: Boolean endCursor: String }"),
		restapi.ImportOptions{Code: "s", BaseURL: "https://s.example/graphql"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := restapi.Merge("apis.yaml", nil, im); err != nil {
		t.Fatal(err)
	}
	tool := &im.Merged.Providers[0].Tools[0]
	page := func(more bool) *restapi.Reply {
		return &restapi.Reply{JSON: json.RawMessage(fmt.Sprintf(`{"nodes":[{"id":"1"}],"pageInfo":{"hasNextPage":%v,"endCursor":"abc"}}`, more))}
	}
	if next := tool.NextPage(json.RawMessage(`{"first":1}`), page(true)); string(next) != `{"first":1,"after":"abc"}` {
		t.Errorf("%s", next)
	}
	if next := tool.NextPage(json.RawMessage(`{"first":1,"after":"abc"}`), page(false)); next != nil {
		t.Errorf("%s", next)
	}
}

// TestGraphQLBounds: a selection is one selection, of bounded depth and cost, and
// nothing is sent otherwise.
func TestGraphQLBounds(t *testing.T) {
	sent := 0
	ts := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }))
	defer ts.Close()
	p := shop(t, ts.URL)
	c := &restapi.Caller{Secrets: &restapi.Resolver{}, Client: func(*restapi.Provider) (restapi.Client, error) { return direct{}, nil }}
	_, item, _ := restapi.Find([]*restapi.Provider{p}, "shop_item")
	_, items, _ := restapi.Find([]*restapi.Provider{p}, "shop_items")
	for _, sel := range []string{
		"{ id } viewer { id }", "{ id } } mutation { drop(id: 1) { x", "{ id } } query b { viewer { id }", "{", "{ ...F }} fragment F on Item { id", "{ }",
		"{ id } other: item(id: 1) { id }", strings.Repeat("{ owner ", 20) + "{ id }" + strings.Repeat("}", 20), "{ related(first: 1000) { nodes { related(first: 1000) { nodes { id } } } } }",
		"{ " + strings.Repeat("id ", 5000) + "}", "{ id } # ", `{ name @include(if: $x) } }`,
	} {
		args, _ := json.Marshal(map[string]string{"id": "1", "select": sel})
		_, err := c.Call(t.Context(), p, item, args)
		if kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%.60q: %v", sel, err)
		}
	}
	if _, err := c.Call(t.Context(), p, items, json.RawMessage(`{"first":1000000,"select":"{ nodes { id } }"}`)); kb.CodeOf(err) != kb.Invalid {
		t.Error(err)
	}
	if sent != 0 {
		t.Errorf("%d requests were sent", sent)
	}
}

// TestGraphQLImport: mutations are tools only when they are named; the answer to an
// introspection makes what the language makes; schemas are schemas.
func TestGraphQLImport(t *testing.T) {
	p := shop(t, "https://shop.example")
	if len(p.Tools) != 7 {
		t.Errorf("%d tools", len(p.Tools))
	}
	for i := range p.Tools {
		if !p.Tools[i].Reads() || !p.Tools[i].Idempotent() {
			t.Errorf("%s changes something", p.Tools[i].Code)
		}
	}
	p = shop(t, "https://shop.example", "drop", "items")
	if len(p.Tools) != 2 || p.Tools[0].Reads() || !strings.HasPrefix(p.Tools[0].Description, "Changes data: ") {
		t.Errorf("%+v", p.Tools)
	}
	if s := string(p.Tools[1].Schema()); !strings.Contains(s, `"$ref":"#/$defs/ItemFilter"`) || !strings.Contains(s, `"Range":{`) || !json.Valid([]byte(s)) {
		t.Error(s)
	}
	answer := `{"data":{"__schema":{"queryType":{"name":"Q"},"mutationType":null,"types":[{"kind":"OBJECT","name":"Q","fields":[{"name":"item","args":[{"name":"id","type":{"kind":"NON_NULL","ofType":{"kind":"SCALAR","name":"ID"}}}],"type":{"kind":"OBJECT","name":"Item"}}]},` +
		`{"kind":"OBJECT","name":"Item","fields":[{"name":"id","args":[],"type":{"kind":"SCALAR","name":"ID"}}]},{"kind":"SCALAR","name":"ID"}]}}}`
	im, err := restapi.ImportGraphQL("x", []byte(answer), restapi.ImportOptions{Code: "s", BaseURL: "https://s.example/graphql"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := restapi.Merge("apis.yaml", nil, im); err != nil {
		t.Fatal(err)
	}
	if tool := im.Merged.Providers[0].Tools[0]; tool.GraphQL != "query ($id: ID!) { item(id: $id) {{select}} }" || *tool.Param("select").Default != "{ id }" {
		t.Errorf("%+v", tool)
	}
	for name, text := range map[string]string{
		"none": "type Query", "no query": "type A { a: Int }", "deep": "type Query { a" + strings.Repeat("(a: [", 100000), "cut": shopSchema[:700], "json": `{"__schema":7}`, "wide": "type Query { a: " + strings.Repeat("[", 100000) + "Int" + strings.Repeat("]", 100000) + " }",
	} {
		im, err := restapi.ImportGraphQL(name, []byte(text), restapi.ImportOptions{Code: "s", BaseURL: "https://s.example/graphql"})
		if err == nil && len(im.Codes) != 1 {
			t.Errorf("%s: %+v", name, im)
		}
	}
}

// direct is a client without a guard.
type direct struct{}

func (direct) Do(_ context.Context, r *http.Request) (*http.Response, error) {
	return http.DefaultClient.Do(r)
}

func (direct) Once(_ context.Context, r *http.Request) (*http.Response, error) {
	return http.DefaultClient.Do(r)
}
