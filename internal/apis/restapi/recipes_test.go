package restapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
)

// replayed answers requests from what a test says, and keeps them.
type replayed struct {
	sent    []string
	headers []http.Header
	replies []string // a body each, with the header Link before a newline where there is one
}

func (r *replayed) Do(_ context.Context, req *http.Request) (*http.Response, error) {
	body := ""
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body = " " + string(b)
	}
	reply := r.replies[min(len(r.sent), len(r.replies)-1)]
	r.sent, r.headers = append(r.sent, req.Method+" "+req.URL.String()+body), append(r.headers, req.Header)
	h := http.Header{"Content-Type": {"application/json"}}
	if link, rest, ok := strings.Cut(reply, "\n"); ok {
		h.Set("Link", link)
		reply = rest
	}
	return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(reply)), Request: req}, nil
}

func (r *replayed) Once(ctx context.Context, req *http.Request) (*http.Response, error) {
	return r.Do(ctx, req)
}

// giver has a token for whoever wants one.
type giver struct{}

func (giver) Token(context.Context, *restapi.Provider, *restapi.Auth, restapi.OAuth, string) (string, error) {
	return "token-of-oauth", nil
}
func (giver) Ready(*restapi.Provider, *restapi.Auth) error       { return nil }
func (giver) Drop(*restapi.Provider, *restapi.Auth, string) bool { return false }

// TestRecipes: the recipes of docs/recipes.md send what their services document, and
// read replies of the documented shape, whose values are invented; where a page follows, it is asked for.
func TestRecipes(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []*restapi.Provider
	for i, block := range strings.Split(string(doc), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		f, err := restapi.Parse("recipes.md", []byte(text))
		if err != nil || len(f.Problems) > 0 || len(f.Providers) != 1 {
			t.Fatalf("recipe %d: %v %+v", i+1, err, f)
		}
		all = append(all, f.Providers...)
	}
	if len(all) < 10 {
		t.Errorf("there are %d recipes", len(all))
	}
	tried := map[string]bool{}
	for _, c := range recipeCalls {
		tried[c.tool] = true
		p, tool, err := restapi.Find(all, c.tool)
		if err != nil {
			t.Fatal(err)
		}
		r := &replayed{replies: []string{c.reply}}
		caller := &restapi.Caller{Client: func(*restapi.Provider) (restapi.Client, error) { return r, nil }, Tokens: giver{},
			Secrets: &restapi.Resolver{Env: func(n string) string { return "value-of-" + n }}}
		got, err := caller.Call(t.Context(), p, tool, json.RawMessage(c.args))
		if err != nil {
			t.Errorf("%s: %v", c.tool, err)
			continue
		}
		if sent := strings.Replace(r.sent[0], " https://", " ", 1); sent != c.sent {
			t.Errorf("%s sent\n%s\nwant\n%s", c.tool, sent, c.sent)
		}
		for k, want := range c.header {
			if v := r.headers[0].Get(k); v != want {
				t.Errorf("%s: %s: %q, want %q", c.tool, k, v, want)
			}
		}
		args := json.RawMessage(c.args)
		if c.args == "" {
			args = json.RawMessage("{}")
		}
		if next := tool.NextPage(args, got); string(next) != c.next {
			t.Errorf("%s: the next page is %s, want %s", c.tool, next, c.next)
		}
		if c.query != "" {
			if shown, err := (restapi.Shape{Query: c.query}).Of(got.JSON); err != nil || string(shown) != c.shown {
				t.Errorf("%s: %s is %s, %v, want %s", c.tool, c.query, shown, err, c.shown)
			}
		}
	}
	for _, p := range all {
		for _, tool := range p.Tools {
			if !tried[tool.Code] {
				t.Errorf("%s is not tried", tool.Code)
			}
		}
	}
}

var bearerOf = func(name string) map[string]string {
	return map[string]string{"Authorization": "Bearer value-of-" + name}
}

var recipeCalls = []struct {
	tool, args, sent string
	header           map[string]string
	reply, next      string
	query, shown     string
}{
	{"weather_daily", `{"latitude":-54.8,"longitude":-68.3}`,
		"GET api.open-meteo.com/v1/forecast?latitude=-54.8&longitude=-68.3&daily=temperature_2m_max,temperature_2m_min,precipitation_sum&timezone=auto", nil,
		`{"latitude":-54.75,"daily_units":{"time":"iso8601"},"daily":{"time":["2026-11-23"],"temperature_2m_max":[9.4],"precipitation_sum":[1.20]}}`, "",
		"daily.temperature_2m_max[0]", "9.4"},
	{"openweather_now", `{"q":"Ushuaia,AR"}`, "GET api.openweathermap.org/data/2.5/weather?q=Ushuaia%2CAR&units=metric&appid=value-of-OPENWEATHER_KEY", nil,
		`{"weather":[{"id":500,"main":"Rain"}],"main":{"temp":4.1},"name":"Ushuaia","cod":200}`, "", "weather[0].main", `"Rain"`},
	{"wikipedia_search", `{"q":"beagle channel"}`, "GET en.wikipedia.org/w/rest.php/v1/search/page?q=beagle%20channel&limit=10", nil,
		`{"pages":[{"id":1,"key":"Beagle_Channel","title":"Beagle Channel","excerpt":"a strait"}]}`, "", "pages[].key", `["Beagle_Channel"]`},
	{"wikipedia_summary", `{"title":"Beagle Channel"}`, "GET en.wikipedia.org/api/rest_v1/page/summary/Beagle%20Channel", nil,
		`{"type":"standard","title":"Beagle Channel","extract":"A strait in the south."}`, "", "extract", `"A strait in the south."`},
	{"books_search", `{"q":"fuego","limit":1}`, "GET openlibrary.org/search.json?q=fuego&fields=key%2Ctitle%2Cauthor_name%2Cfirst_publish_year&limit=1", nil,
		`{"numFound":2,"start":0,"docs":[{"key":"/works/OL1W","title":"Fuego","author_name":["A. Writer"]}]}`, `{"q":"fuego","limit":1,"page":2}`, "docs[].title", `["Fuego"]`},
	{"stack_search", `{"q":"mmap","tagged":"go"}`,
		"GET api.stackexchange.com/2.3/search/advanced?q=mmap&site=stackoverflow&tagged=go&sort=relevance&pagesize=20", nil,
		`{"items":[{"question_id":1,"title":"Maps","is_answered":true}],"has_more":true,"quota_remaining":299}`, `{"q":"mmap","tagged":"go","page":2}`, "items[].title", `["Maps"]`},
	{"issues_list", `{"owner":"o","repo":"r","labels":["a b","c"]}`, "GET api.github.com/repos/o/r/issues?labels=a%20b,c&per_page=30",
		map[string]string{"Authorization": "Bearer value-of-GITHUB_TOKEN", "Accept": "application/vnd.github+json", "X-Github-Api-Version": "2022-11-28"},
		`<https://api.github.com/repositories/1/issues?labels=a+b%2Cc&page=2>; rel="next", <https://api.github.com/repositories/1/issues?page=9>; rel="last"` + "\n" + `[{"number":7,"title":"x","user":{"login":"u"}}]`,
		`{"owner":"o","repo":"r","labels":["a b","c"],"page":2}`, "[].number", "[7]"},
	{"issues_create", `{"owner":"o","repo":"r","title":"t","labels":["bug"]}`, `POST api.github.com/repos/o/r/issues {"title":"t","labels":["bug"]}`, bearerOf("GITHUB_TOKEN"),
		`{"number":8,"html_url":"https://github.com/o/r/issues/8"}`, "", "number", "8"},
	{"discussions_list", `{"owner":"o","name":"n"}`,
		`POST api.github.com/graphql {"query":"query ($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { discussions(first: 10) { totalCount nodes { number title url } } } }","variables":{"name":"n","owner":"o"}}`,
		bearerOf("GITHUB_TOKEN"), `{"data":{"repository":{"discussions":{"totalCount":1,"nodes":[{"number":3,"title":"How?","url":"https://github.com/o/n/discussions/3"}]}}}}`, "",
		"discussions.nodes[].title", `["How?"]`},
	{"slack_channels", "", "GET slack.com/api/conversations.list?limit=200&exclude_archived=true", bearerOf("SLACK_TOKEN"),
		`{"ok":true,"channels":[{"id":"C1","name":"general"}],"response_metadata":{"next_cursor":"dGVhbTpDMg=="}}`, `{"cursor":"dGVhbTpDMg=="}`, "channels[].name", `["general"]`},
	{"slack_post", `{"channel":"C1","text":"hola"}`, `POST slack.com/api/chat.postMessage {"channel":"C1","text":"hola"}`, bearerOf("SLACK_TOKEN"),
		`{"ok":true,"channel":"C1","ts":"1503435956.000247"}`, "", "ts", `"1503435956.000247"`},
	{"notion_search", `{"query":"plan"}`, `POST api.notion.com/v1/search {"query":"plan","page_size":50}`,
		map[string]string{"Authorization": "Bearer value-of-NOTION_TOKEN", "Notion-Version": "2022-06-28"},
		`{"object":"list","results":[{"object":"page","id":"a"}],"has_more":true,"next_cursor":"b-1"}`, `{"query":"plan","start_cursor":"b-1"}`, "results[].id", `["a"]`},
	{"notion_blocks", `{"block_id":"a"}`, "GET api.notion.com/v1/blocks/a/children?page_size=100", map[string]string{"Notion-Version": "2022-06-28"},
		`{"object":"list","results":[{"type":"paragraph","id":"p"}],"has_more":false,"next_cursor":null}`, "", "results[].type", `["paragraph"]`},
	{"stripe_customers", `{"limit":1}`, "GET api.stripe.com/v1/customers?limit=1", bearerOf("STRIPE_KEY"),
		`{"object":"list","url":"/v1/customers","has_more":true,"data":[{"id":"cus_1","email":"a@b.example"}]}`, `{"limit":1,"starting_after":"cus_1"}`, "data[].id", `["cus_1"]`},
	{"stripe_customer_create", `{"email":"a@b.example","metadata":{"plan":"x"},"Idempotency-Key":"k1"}`, "POST api.stripe.com/v1/customers email=a%40b.example&metadata%5Bplan%5D=x",
		map[string]string{"Idempotency-Key": "k1", "Content-Type": "application/x-www-form-urlencoded"}, `{"id":"cus_2","object":"customer"}`, "", "id", `"cus_2"`},
	{"calendar_events", `{"timeMin":"2026-12-01T00:00:00Z"}`,
		"GET www.googleapis.com/calendar/v3/calendars/primary/events?timeMin=2026-12-01T00%3A00%3A00Z&singleEvents=true&maxResults=50",
		map[string]string{"Authorization": "Bearer token-of-oauth"}, `{"kind":"calendar#events","items":[{"id":"e","summary":"Ferry"}],"nextPageToken":"n1"}`,
		`{"timeMin":"2026-12-01T00:00:00Z","pageToken":"n1"}`, "items[].summary", `["Ferry"]`},
}
