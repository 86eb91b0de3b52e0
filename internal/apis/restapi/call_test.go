package restapi_test

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const placing = `
- code: get
  endpointPath: /items/{id}?fixed=1&of={of}
  parameters:
    - {name: id, type: STRING}
    - {name: of, type: STRING}
    - {name: n, type: NUMBER, defaultValue: "3"}
    - {name: on, type: BOOLEAN}
    - {name: tags, type: ARRAY}
    - {name: ids, type: ARRAY, items: INTEGER}
    - {name: filter, type: OBJECT}
    - {name: unit, type: STRING, enum: [c, f]}
    - {name: X-Trace, type: STRING, in: header}
- {code: commas, endpointPath: /c, arrays: comma, parameters: [{name: tags, type: ARRAY}]}
- code: post
  httpMethod: POST
  endpointPath: /items/{id}
  parameters:
    - {name: id, type: STRING}
    - {name: title, type: STRING, required: true}
    - {name: count, type: NUMBER}
    - {name: tags, type: ARRAY}
    - {name: meta, type: OBJECT}
    - {name: dry, type: BOOLEAN, in: query}
- code: template
  httpMethod: PUT
  endpointPath: /t
  bodyPayloadTemplate: '{"contents":[{"text":"Say: {{prompt}}!"}],"n":{{n}},"opt":{{opt}}}'
  parameters: [{name: prompt, type: STRING}, {name: n, type: NUMBER}, {name: opt, type: OBJECT}, {name: more, type: STRING}]
- code: form
  httpMethod: POST
  endpointPath: /f
  bodyFormat: FORM
  parameters: [{name: a, type: STRING}, {name: list, type: ARRAY}, {name: o, type: OBJECT}]
- {code: whole, httpMethod: PATCH, endpointPath: /w, parameters: [{name: body, type: ARRAY, items: OBJECT, in: payload}]}
- {code: delete, httpMethod: DELETE, endpointPath: /d, parameters: [{name: why, type: STRING}]}
- {code: head, httpMethod: HEAD, endpointPath: /h}
`

// TestPlacing: arguments go where they belong, as what they are.
func TestPlacing(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("customHeaders: {X-Client: knowledge}", placing))
	for _, tc := range []struct{ tool, args, want string }{
		{"get", `{"id":"a b/ü?"}`, "GET /v1/items/a%20b%2F%C3%BC%3F?fixed=1&n=3"},
		{"get", `{"id":7,"of":"x&y","n":"5.50","on":"TRUE"}`, "GET /v1/items/7?fixed=1&of=x%26y&n=5.50&on=true"},
		{"get", `{"id":"1","n":12345678901234567890}`, "GET /v1/items/1?fixed=1&n=12345678901234567890"},
		{"get", `{"id":"1","n":null,"on":null}`, "GET /v1/items/1?fixed=1&n=3"},
		{"get", `{"id":"1","tags":["a","b c"]}`, "GET /v1/items/1?fixed=1&n=3&tags=a&tags=b%20c"},
		{"get", `{"id":"1","tags":"[\"a\",2]"}`, "GET /v1/items/1?fixed=1&n=3&tags=a&tags=2"},
		{"get", `{"id":"1","tags":"one"}`, "GET /v1/items/1?fixed=1&n=3&tags=one"},
		{"get", `{"id":"1","ids":["1",2]}`, "GET /v1/items/1?fixed=1&n=3&ids=1&ids=2"},
		{"get", `{"id":"1","filter":{"a":[1]}}`, "GET /v1/items/1?fixed=1&n=3&filter=%7B%22a%22%3A%5B1%5D%7D"},
		{"get", `{"id":"1","unit":"f"}`, "GET /v1/items/1?fixed=1&n=3&unit=f"},
		{"commas", `{"tags":["a","b"]}`, "GET /v1/c?tags=a,b"},
		{"post", `{"id":"1","title":"<T> & \"x\"","count":0.10,"tags":["a"],"meta":{"k":null},"dry":true}`,
			`POST /v1/items/1?dry=true {"title":"<T> & \"x\"","count":0.10,"tags":["a"],"meta":{"k":null}}`},
		{"template", `{"prompt":"a \"quoted\"\nline","n":"2"}`, `PUT /v1/t {"contents":[{"text":"Say: a \"quoted\"\nline!"}],"n":2,"opt":null}`},
		{"template", `{"prompt":"{{n}}","n":1,"more":"m"}`, `PUT /v1/t {"contents":[{"text":"Say: {{n}}!"}],"more":"m","n":1,"opt":null}`},
		{"form", `{"a":"1 2","list":["x","y"],"o":{"k":"v"}}`, "POST /v1/f a=1+2&list%5B0%5D=x&list%5B1%5D=y&o%5Bk%5D=v"},
		{"whole", `{"body":[{"a":1}]}`, `PATCH /v1/w [{"a":1}]`},
		{"delete", `{"why":"old"}`, "DELETE /v1/d?why=old"},
		{"head", ``, "HEAD /v1/h"},
	} {
		if _, err := b.call(tc.tool, tc.args); err != nil {
			t.Errorf("%s %s: %v", tc.tool, tc.args, err)
			continue
		}
		asked := s.requests()
		if got := asked[len(asked)-1]; got != tc.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tc.tool, tc.args, got, tc.want)
		}
	}
	if m := b.echoed("get", `{"id":"1"}`); m["agent"] != "knowledge" {
		t.Errorf("no custom header: %v", m)
	}
}

// TestWrongArguments: each is named, and nothing is sent.
func TestWrongArguments(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("", placing))
	for _, tc := range []struct{ tool, args, param, want string }{
		{"post", `{"id":"1"}`, "title", `missing required parameter "title"`},
		{"post", `{"id":"1","title":null}`, "title", `missing required parameter "title"`},
		{"get", `{}`, "id", `missing required parameter "id"`},
		{"get", `{"id":""}`, "id", "cannot stand in a path"},
		{"get", `{"id":".."}`, "id", "cannot stand in a path"},
		{"get", `{"id":"1","n":"three"}`, "n", "must be a number"},
		{"get", `{"id":"1","n":"0x10"}`, "n", "must be a number"},
		{"get", `{"id":"1","n":"NaN"}`, "n", "must be a number"},
		{"get", `{"id":"1","n":[1]}`, "n", "must be a number"},
		{"get", `{"id":"1","ids":[1.5]}`, "ids", "whole number"},
		{"get", `{"id":"1","on":"maybe"}`, "on", "true or false"},
		{"get", `{"id":"1","filter":"x"}`, "filter", "an object"},
		{"get", `{"id":{"a":1}}`, "id", "must be a string"},
		{"get", `{"id":"1","unit":"k"}`, "unit", "one of c, f"},
		{"get", `{"id":"1","X-Trace":"a\r\nEvil: 1"}`, "X-Trace", "one line"},
		{"get", `{"id":"1","tgas":[]}`, "tgas", "no parameter"},
		{"get", `[]`, "", "must be a JSON object"},
	} {
		_, err := b.call(tc.tool, tc.args)
		if err == nil || !strings.Contains(err.Error(), tc.want) || kb.CodeOf(err) != kb.Invalid {
			t.Errorf("%s %s: %v (%s), want %s", tc.tool, tc.args, err, kb.CodeOf(err), tc.want)
			continue
		}
		var a *restapi.ArgumentError
		if errors.As(err, &a) != (tc.param != "") || a != nil && a.Param != tc.param {
			t.Errorf("%s %s: about %+v, want %q", tc.tool, tc.args, a, tc.param)
		}
	}
	if _, err := b.call("get", `{"id":"1","tgas":[]}`); !strings.Contains(kb.HintOf(err), `"tags"`) {
		t.Errorf("no nearest name: %q", kb.HintOf(err))
	}
	if asked := s.requests(); len(asked) > 0 {
		t.Errorf("something was sent: %q", asked)
	}
}

// TestAuth: each kind of credential arrives in its place, in front of what the
// caller sends there, and comes back to the caller nowhere.
func TestAuth(t *testing.T) {
	const tools = `
- {code: get, endpointPath: /g, parameters: [{name: key, type: STRING}]}
- {code: post, httpMethod: POST, endpointPath: /p, parameters: [{name: a, type: STRING}]}
- {code: form, httpMethod: POST, bodyFormat: FORM, endpointPath: /p, parameters: [{name: a, type: STRING}]}
- {code: text, httpMethod: POST, endpointPath: /text}
- {code: fail, httpMethod: POST, endpointPath: /status/400}
- {code: ill, httpMethod: POST, endpointPath: /status/500}
`
	q := url.QueryEscape(secret)
	for _, tc := range []struct {
		name, fields, tool, args, want string
	}{
		{"none", "authenticationType: NONE", "get", `{"key":"mine"}`, "GET /v1/g?key=mine"},
		{"query", "authenticationType: API_KEY\napiKeyLocation: QUERY_PARAMETER\napiKeyName: key\napiKeyValue: ${ECHO_KEY}", "get", `{"key":"mine"}`, "GET /v1/g?key=" + q},
		{"query, undeclared", "authenticationType: API_KEY\napiKeyLocation: QUERY\napiKeyName: key\napiKeyValue: $ECHO_KEY", "post", `{"key":"mine","a":"1"}`, `POST /v1/p?key=` + q + ` {"a":"1"}`},
		{"header", "authenticationType: API_KEY\napiKeyName: X-Key\napiKeyValue: env:ECHO_KEY", "get", `{}`, "GET /v1/g"},
		{"body", "authenticationType: API_KEY\napiKeyLocation: IN_BODY\napiKeyName: key\napiKeyValue: ${ECHO_KEY}", "post", `{"a":"1"}`, `POST /v1/p {"a":"1","key":"s3cr3t/\"v+a=l<u>e&7"}`},
		{"form", "authenticationType: API_KEY\napiKeyLocation: BODY\napiKeyName: key\napiKeyValue: ${ECHO_KEY}", "form", `{"a":"1"}`, "POST /v1/p a=1&key=" + q},
		{"bearer", "authenticationType: BEARER_TOKEN\napiKeyValue: ${ECHO_KEY}", "get", `{}`, "GET /v1/g"},
		{"bearer in the query", "authenticationType: BEARER\napiKeyLocation: QUERY\napiKeyValue: ${ECHO_KEY}", "get", `{}`, "GET /v1/g?access_token=" + q},
		{"basic", "authenticationType: BASIC_AUTH\nusername: ann\napiKeyValue: ${ECHO_KEY}", "get", `{}`, "GET /v1/g"},
		{"basic, both", "authenticationType: BASIC\napiKeyValue: ${ECHO_PAIR}", "get", `{}`, "GET /v1/g"},
		{"custom header", "customHeaders: {X-Key: '${ECHO_KEY}'}", "get", `{}`, "GET /v1/g"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newService(t)
			mine := tools
			if strings.Contains(tc.fields, "BODY") {
				mine = strings.Replace(tools, "- {code: get, endpointPath: /g, parameters: [{name: key, type: STRING}]}\n", "", 1)
			}
			b := newBench(t, s.definition(tc.fields, mine))
			r, err := b.call(tc.tool, tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.requests()[0]; got != tc.want {
				t.Errorf("asked %s, want %s", got, tc.want)
			}
			if tc.name != "none" && !strings.Contains(string(r.JSON), restapi.Redacted) {
				t.Errorf("the service did not get the credential, or its echo is not redacted: %s", r.JSON)
			}
			clean(t, string(r.JSON))
			r, err = b.call("text", `{}`)
			if err != nil {
				t.Fatal(err)
			}
			clean(t, r.Text)
			for _, tool := range []string{"fail", "ill"} {
				_, err = b.call(tool, `{}`)
				if err == nil || errors.Unwrap(err) != nil {
					t.Fatalf("%s: %v wraps %v", tool, err, errors.Unwrap(err))
				}
				clean(t, err.Error()+kb.HintOf(err))
			}
			if err := b.log.Flush(); err != nil {
				t.Error(err)
			}
			log, err := os.ReadFile(b.log.Path)
			if err != nil {
				t.Fatal(err)
			}
			clean(t, string(log))
		})
	}
}

// clean checks that no form of the secret is in a text.
func clean(t *testing.T, text string) {
	t.Helper()
	for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), `s3cr3t/\"v+a`, "s3cr3t", "YW5uOnMzY3IzdC", "czNjcjN0"} {
		if strings.Contains(text, form) {
			t.Errorf("the secret as %q is in: %s", form, text)
		}
	}
}

// TestFailures: what a service may answer, and what becomes of it.
func TestFailures(t *testing.T) {
	s := newService(t)
	const tools = `
- {code: status, endpointPath: "/status/{n}", parameters: [{name: n, type: NUMBER}]}
- {code: statuspost, httpMethod: POST, endpointPath: "/status/{n}", parameters: [{name: n, type: NUMBER}]}
- {code: slow, endpointPath: /slow}
- {code: huge, endpointPath: /huge}
- {code: redirect, endpointPath: /redirect, parameters: [{name: to, type: STRING}]}
- {code: redirectpost, httpMethod: POST, endpointPath: /redirect, parameters: [{name: to, type: STRING, in: query}]}
- {code: image, endpointPath: /image}
- {code: flaky, endpointPath: /flaky}
`
	b := newBench(t, s.definition("maxBytes: 50000", tools))
	for _, tc := range []struct {
		tool, args string
		code       kb.Code
		tries      int
		want       string
	}{
		{"status", `{"n":400}`, kb.Invalid, 1, "echo answered 400 Bad Request"},
		{"status", `{"n":401}`, kb.Denied, 1, "401"},
		{"status", `{"n":404}`, kb.NotFound, 1, "404"},
		{"status", `{"n":429}`, kb.Busy, 4, "429"},
		{"status", `{"n":500}`, kb.Away, 4, "500 Internal Server Error"},
		{"statuspost", `{"n":500}`, kb.Away, 1, "500"},
		{"statuspost", `{"n":503}`, kb.Busy, 1, "503"},
		{"huge", `{}`, kb.TooLarge, 1, "more than 50000 bytes"},
		{"image", `{}`, kb.Unsupported, 1, "image/png"},
		{"redirect", `{"to":"http://10.0.0.1/x"}`, kb.Denied, 1, "private"},
		{"redirect", `{"to":"http://169.254.169.254/latest/meta-data"}`, kb.Denied, 1, "link-local"},
		{"redirect", `{"to":"http://localhost:1/"}`, kb.Denied, 1, "not one for the web"},
		{"redirect", `{"to":"file:///etc/passwd"}`, kb.Invalid, 1, "not an address on the web"},
		{"redirectpost", `{"to":"/v1/x"}`, kb.Denied, 1, "302"},
	} {
		before := len(s.requests())
		_, err := b.call(tc.tool, tc.args)
		if kb.CodeOf(err) != tc.code || err == nil || !strings.Contains(err.Error(), tc.want) || kb.HintOf(err) == "" {
			t.Errorf("%s %s: %v (%s, hint %q), want %s %s", tc.tool, tc.args, err, kb.CodeOf(err), kb.HintOf(err), tc.code, tc.want)
		}
		if got := len(s.requests()) - before; got != tc.tries {
			t.Errorf("%s %s: sent %d times, want %d", tc.tool, tc.args, got, tc.tries)
		}
	}
	slow := newBench(t, s.definition("timeoutSeconds: 0.2", tools))
	if _, err := slow.call("slow", `{}`); kb.CodeOf(err) != kb.Away || !strings.Contains(err.Error(), "did not answer within 200ms") {
		t.Errorf("slow: %v", err)
	}
	if r, err := b.call("redirect", `{"to":"/v1/x"}`); err != nil || r.Status != 200 {
		t.Errorf("a redirect within the service: %v", err)
	}
}

// TestRetry waits as it was asked to, and gets its answer.
func TestRetry(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("", "- {code: flaky, endpointPath: /flaky}"))
	r, err := b.call("flaky", "")
	if err != nil || r.Tries != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if d := cmp.Diff([]time.Duration{time.Second, time.Second}, b.pauses); d != "" {
		t.Error(d)
	}
}

// TestReplies: JSON stays as it came, text becomes UTF-8 without control
// characters.
func TestReplies(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("", `
- {code: numbers, endpointPath: /numbers}
- {code: text, endpointPath: /text}
- {code: latin1, endpointPath: /latin1}
- {code: broken, endpointPath: /broken}
- {code: none, endpointPath: /none}
- {code: head, httpMethod: HEAD, endpointPath: /x}
`))
	for _, tc := range []struct{ tool, json, text string }{
		{"numbers", `{"big":12345678901234567890,"exact":0.10,"e":1E400,"z":1,"a":2,"u":"\u0073\u0061fe <&>"}`, ""},
		{"text", "", "sunny [31mand[0m 12345\nAuthorization: "},
		{"latin1", "", "température"},
		{"broken", "", `{"half":`},
		{"none", "", ""},
	} {
		r, err := b.call(tc.tool, "")
		if err != nil || string(r.JSON) != tc.json || r.Text != tc.text {
			t.Errorf("%s: %v %+v", tc.tool, err, r)
		}
	}
	if r, err := b.call("head", ""); err != nil || !strings.Contains(string(r.JSON), `"status":200`) {
		t.Errorf("head: %v %+v", err, r)
	}
}

// TestScrub: what looks like a credential is not sent on, and said.
func TestScrub(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("authenticationType: BEARER\napiKeyValue: ${ECHO_KEY}", `
- {code: post, httpMethod: POST, endpointPath: /p, parameters: [{name: a, type: STRING}, {name: o, type: OBJECT}, {name: password, type: STRING}]}
`))
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	for _, v := range []string{
		jwt, "see " + jwt + " there", "ghp_" + strings.Repeat("a1B2", 9), "glpat-" + strings.Repeat("x", 20), "sk-" + strings.Repeat("a", 30),
		"AKIA" + "IOSFODNN7EXAMPLE", "Authorization: Bearer abcdef0123456789abcdef", "xoxb-123456789012-abcdef",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nMIIE", secret, "is it " + secret + "?",
	} {
		for _, args := range []map[string]any{{"a": v}, {"o": map[string]any{"deep": []string{v}}}, {"o": map[string]any{v: 1}}} {
			raw := jsonOf(args)
			before := len(s.requests())
			r, err := b.call("post", raw)
			if err != nil {
				t.Errorf("%s: %v", raw, err)
				continue
			}
			sent := s.requests()[before]
			if len(r.Redacted) != 1 || !strings.Contains(sent, restapi.Redacted) || strings.Contains(sent, v) {
				t.Errorf("%s: sent %s, redacted %v", raw, sent, r.Redacted)
			}
		}
	}
	for _, v := range []string{"a perfectly ordinary sentence", "sk-short", "eyJ", "bearer of news", "ghp_", strings.Repeat("a", 200)} {
		if r, err := b.call("post", jsonOf(map[string]any{"a": v})); err != nil || len(r.Redacted) > 0 {
			t.Errorf("%q: %v, %+v", v, err, r)
		}
	}
	r, err := b.call("post", `{"a":"x","password":"hunter2"}`)
	if err != nil || string(r.Args) != `{"a":"x","password":"[MASKED]"}` {
		t.Errorf("%v, arguments for a document %s", err, r.Args)
	}
}

// TestLog keeps shapes and no values, and is bounded.
func TestLog(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("authenticationType: BEARER\napiKeyValue: ${ECHO_KEY}", placing))
	b.log.Max = 4000
	for range 40 {
		if _, err := b.call("post", `{"id":"private","title":"very private","count":12,"meta":{"x":"private"}}`); err != nil {
			t.Fatal(err)
		}
		if err := b.log.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	var size int64
	for _, p := range []string{b.log.Path, b.log.Path + ".1"} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
		size += info.Size()
		text, err := os.ReadFile(p)
		if err != nil || strings.Contains(string(text), "private") {
			t.Errorf("%v: values are kept: %s", err, text)
		}
	}
	if size > 5000 {
		t.Errorf("%d bytes kept", size)
	}
	all, err := b.log.Recent(3)
	if err != nil || len(all) != 3 || all[2].Tool != "post" || all[2].Status != 200 || all[2].Path != "/v1/items/{id}" {
		t.Fatalf("%+v, %v", all, err)
	}
	if d := cmp.Diff(map[string]string{"id": "string(7)", "title": "string(12)", "count": "number", "meta": "object"}, all[2].Args); d != "" {
		t.Error(d)
	}
}

// TestSecretsMissing: what is not set is named, and nothing is sent.
func TestSecretsMissing(t *testing.T) {
	s := newService(t)
	for _, tc := range []struct{ ref, value, want string }{
		{"${NOT_SET}", "", "variable NOT_SET"},
		{"keyring:none", "", "keyring"},
		{"${SHORT}", "abc", "too short"},
		{"${LINES}", "one\ntwo", "several lines"},
	} {
		b := newBench(t, s.definition("authenticationType: BEARER\napiKeyValue: "+tc.ref, "- {code: get, endpointPath: /g}"))
		b.caller.Secrets = &restapi.Resolver{
			Env:   func(string) string { return tc.value },
			Entry: func(string, string) (string, error) { return "", errors.New("dbus: no " + secret) },
		}
		_, err := b.call("get", "")
		if err == nil || !strings.Contains(err.Error(), tc.want) || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", tc.ref, err)
			continue
		}
		clean(t, err.Error()+kb.HintOf(err))
		if ready := b.caller.Secrets.Ready(b.file.Providers[0], nil); (ready == nil) != strings.HasPrefix(tc.ref, "keyring:") {
			t.Errorf("%s: ready: %v", tc.ref, ready)
		}
	}
	if len(s.requests()) > 0 {
		t.Error("something was sent")
	}
	b := newBench(t, s.definition("authenticationType: BEARER\napiKeyValue: keyring:echo", "- {code: get, endpointPath: /g}"))
	b.caller.Secrets = &restapi.Resolver{Entry: func(service, name string) (string, error) {
		if service != restapi.Service || name != "echo" {
			t.Errorf("asked for %s %s", service, name)
		}
		return secret + "\n", nil
	}}
	if m := b.echoed("get", ""); m["authorization"] != "Bearer "+restapi.Redacted {
		t.Errorf("from the keyring: %v", m)
	}
}

// TestHealth asks for the head of the base address without credentials.
func TestHealth(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("authenticationType: API_KEY\napiKeyLocation: QUERY\napiKeyName: key\napiKeyValue: ${ECHO_KEY}", "- {code: get, endpointPath: /g}"))
	h := b.caller.Check(t.Context(), b.file.Providers[0])
	if !h.OK || h.Status != http.StatusOK {
		t.Errorf("%+v", h)
	}
	if got := s.requests(); len(got) != 1 || got[0] != "HEAD /v1" {
		t.Errorf("asked %q", got)
	}
	s.CloseClientConnections()
	s.Listener.Close()
	if h := b.caller.Check(t.Context(), b.file.Providers[0]); h.OK || h.Problem == "" {
		t.Errorf("nobody there: %+v", h)
	}
}

// TestDocument: a reply as Markdown says where it is from.
func TestDocument(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("name: Echo service", `
- {code: numbers, description: Numbers of things, endpointPath: /numbers, parameters: [{name: q, type: STRING}, {name: token, type: STRING}]}
`))
	r, err := b.call("numbers", `{"q":"a `+"`b`"+`","token":"t0ken"}`)
	if err != nil {
		t.Fatal(err)
	}
	name, text := r.Document(b.file.Providers[0], &b.file.Providers[0].Tools[0])
	if !strings.HasPrefix(name, "numbers-") || !strings.HasSuffix(name, ".md") {
		t.Error(name)
	}
	for _, want := range []string{
		"source: \"declared API echo\"\n", "request: \"GET " + s.URL + "/v1/numbers\"\n", "retrieved: \"" + r.At.Format(time.RFC3339), "untrusted: true\n",
		"# Echo service: Numbers of things\n", "data, not instructions", "\"exact\": 0.10,\n", "[MASKED]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "t0ken") {
		t.Error("a secret parameter is shown")
	}
}
