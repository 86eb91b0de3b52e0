package restapi_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestProblems: each fault is told with its line and what was meant, and
// costs no more than what it is about.
func TestProblems(t *testing.T) {
	const head = "apis:\n  - code: a\n    baseUrl: https://a.example\n"
	for _, tc := range []struct {
		name, text, want string
		apis, tools      int
	}{
		{"misspelt key", head + "    authType: NONE\n", `4: an API has no key "authType"`, 0, 0},
		{"nearest", head + "    baseURl: x\n", `did you mean "baseUrl"?`, 0, 0},
		{"misspelt choice", head + "    authenticationType: API-KEY\n    apiKeyName: k\n", "4: authenticationType must be one of NONE, API_KEY, BEARER_TOKEN, BASIC_AUTH, OAUTH2, AWS_SIGV4, MUTUAL_TLS (did you mean API_KEY?)", 0, 0},
		{"twice", head + "    code: b\n", `4: the key "code" stands there twice`, 0, 0},
		{"no base", "apis:\n  - code: a\n", "2: this API has no baseUrl", 0, 0},
		{"an empty base", "apis:\n  - {code: a, baseUrl: }\n", "2: this API has no baseUrl", 0, 0},
		{"no code", "apis:\n  - baseUrl: https://a.example\n", "2: this API has no code", 0, 0},
		{"base with password", "apis:\n  - {code: a, baseUrl: 'https://u:p@a.example'}\n", "user name or password", 0, 0},
		{"base of a file", "apis:\n  - {code: a, baseUrl: 'file:///etc'}\n", "an address of http or https", 0, 0},
		{"base with variable", "apis:\n  - {code: a, baseUrl: 'https://${HOST}/'}\n", "baseUrl", 0, 0},
		{"key without name", head + "    authenticationType: API_KEY\n    apiKeyValue: ${K}\n", "API_KEY needs apiKeyName", 0, 0},
		{"literal secret", head + "    authenticationType: BEARER\n    apiKeyValue: hunter2hunter2\n", "5: apiKeyValue is not a reference", 0, 0},
		{"placeholder", head + "    authenticationType: BEARER\n    apiKeyValue: <YOUR_API_KEY>\n", "5: apiKeyValue still is a placeholder", 0, 0},
		{"secret in a header", head + "    customHeaders:\n      Authorization: Bearer hunter2hunter2\n", `5: the header "Authorization" seems to hold a credential`, 0, 0},
		{"host header", head + "    customHeaders:\n      Host: evil.example\n", `5: "Host" cannot be set`, 0, 0},
		{"tool without code", head + "    tools:\n      - {name: two words}\n", "5: this tool has no code", 1, 0},
		{"tool twice", head + "    tools:\n      - {code: x}\n      - {code: x}\n", "6: the tool code \"x\" is used twice (the other is in line 5", 1, 1},
		{"undeclared in path", head + "    tools:\n      - {code: x, endpointPath: '/{citty}', parameters: [{name: city}]}\n      - {code: y}\n", "5: endpointPath names {citty}, which is no parameter (did you mean {city}?)", 1, 1},
		{"not in path", head + "    tools:\n      - {code: x, endpointPath: '/', parameters: [{name: city, in: path}]}\n", "is said to be in the path", 1, 0},
		{"path that climbs", head + "    tools:\n      - {code: x, endpointPath: '/../admin'}\n", "leads elsewhere", 1, 0},
		{"path to a host", head + "    tools:\n      - {code: x, endpointPath: '//evil.example/'}\n", "is no path", 1, 0},
		{"bad type", head + "    tools:\n      - {code: x, parameters: [{name: p, type: TEXT}]}\n", "5: type must be one of STRING, NUMBER", 1, 0},
		{"bad default", head + "    tools:\n      - {code: x, parameters: [{name: p, type: NUMBER, defaultValue: three}]}\n", `the default of "p" does not fit`, 1, 0},
		{"open post", head + "    tools:\n      - {code: x, httpMethod: POST, open: true}\n", "only a GET may be open", 1, 0},
		{"bad template", head + "    tools:\n      - {code: x, httpMethod: POST, bodyPayloadTemplate: '{\"a\":'}\n", "bodyPayloadTemplate is not JSON", 1, 0},
		{"hole of nothing", head + "    tools:\n      - {code: x, httpMethod: POST, bodyPayloadTemplate: '{\"a\":{{b}}}'}\n", "names {{b}}", 1, 0},
		{"body of a GET", head + "    tools:\n      - {code: x, parameters: [{name: p, in: body}]}\n", "a GET has none", 1, 0},
		{"code twice", head + "  - code: a\n    baseUrl: https://b.example\n", `4: the code "a" is used twice`, 1, 0},
	} {
		f, err := restapi.Parse("apis.yaml", []byte(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		var all []string
		for _, p := range f.Problems {
			all = append(all, p.String())
		}
		said := strings.Join(all, "\n")
		tools := 0
		for _, p := range f.Providers {
			tools += len(p.Tools)
		}
		if !strings.Contains(said, tc.want) || len(f.Providers) != tc.apis || tools != tc.tools || strings.Contains(said, "hunter2") {
			t.Errorf("%s: %d APIs, %d tools, said\n%s\nwant %d, %d, %s", tc.name, len(f.Providers), tools, said, tc.apis, tc.tools, tc.want)
		}
	}
	for _, tc := range []struct{ text, want string }{
		{"apis: {a: b}\n", "1: apis must be a list"},
		{"aips: []\n", `did you mean "apis"?`},
		{"version: 2\n", "version 1"},
		{"a: [", "is not YAML"},
		{"x\n", "no list of APIs"},
		{"---\na: b\n---\nc: d\n", "more than one document"},
	} {
		_, err := restapi.Parse("apis.yaml", []byte(tc.text))
		if err == nil || !strings.Contains(err.Error()+kb.HintOf(err), tc.want) {
			t.Errorf("%q: %v (%s), want %s", tc.text, err, kb.HintOf(err), tc.want)
		}
	}
	for _, empty := range []string{"", "# nothing\n", "apis:\n", "apis: []\n", "[]"} {
		if f, err := restapi.Parse("apis.yaml", []byte(empty)); err != nil || len(f.Providers)+len(f.Problems) > 0 {
			t.Errorf("%q: %v %+v", empty, err, f)
		}
	}
}

// TestDefinitionShape: the fields of lists are those of seed 002.
func TestDefinitionShape(t *testing.T) {
	f, err := restapi.Parse("apis.yaml", []byte(`[{"code":"w","baseUrl":"https://w.example","tools":[{"code":"clima4","name":"Clima","description":"Obtiene el clima","endpointPath":"/c","parameters":[
{"name":"q","type":"STRING","description":"ciudad","required":true},{"name":"days","type":"NUMBER","defaultValue":"3","required":true},
{"name":"l","type":"ARRAY","description":"<b>"},{"name":"o","type":"OBJECT"},{"name":"b","type":"BOOLEAN"}]}]}]`))
	if err != nil || len(f.Problems) > 0 {
		t.Fatal(err, f)
	}
	const want = `{"name":"clima4","description":"Obtiene el clima","type":"api_tool","parameters":{"type":"object","properties":{` +
		`"q":{"type":"string","description":"ciudad"},"days":{"type":"number","default":3},"l":{"type":"array","description":"\u003cb\u003e","items":{"type":"string"}},` +
		`"o":{"type":"object"},"b":{"type":"boolean"}},"required":["q"]}}`
	if d := cmp.Diff(want, jsonOf(f.Providers[0].Tools[0].Definition())); d != "" {
		t.Error(d)
	}
	if p, _, err := restapi.Find(f.Providers, "clima"); err != nil || p.Code != "w" {
		t.Errorf("by its display name: %v", err)
	}
	if _, _, err := restapi.Find(f.Providers, "clima5"); kb.CodeOf(err) != kb.NotFound || !strings.Contains(kb.HintOf(err), "clima4") {
		t.Errorf("%v (%s)", err, kb.HintOf(err))
	}
}

// TestGuide: the example of the guide is a definition.
func TestGuide(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/apis.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	f, err := restapi.Parse("docs/apis.md", []byte(text))
	if err != nil || len(f.Problems) > 0 || len(f.Providers) != 1 || len(f.Providers[0].Tools) != 1 {
		t.Errorf("%v %+v", err, f)
	}
}

// checkSchema fails unless a schema is one, and the example fits it.
func checkSchema(t *testing.T, tool *restapi.Tool) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(tool.Schema())))
	if err != nil {
		t.Fatalf("%s: %v", tool.Code, err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", doc); err != nil {
		t.Fatalf("%s: %v", tool.Code, err)
	}
	s, err := c.Compile("tool.json")
	if err != nil {
		t.Errorf("%s: %v in %s", tool.Code, err, tool.Schema())
		return
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(tool.Example())))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		t.Errorf("%s: the example %s does not fit %s: %v", tool.Code, tool.Example(), tool.Schema(), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("apis:\n  - code: a\n    baseUrl: https://a.example\n    tools: [{code: x, endpointPath: '/{a}', parameters: [{name: a}]}]\n")
	f.Add(`[{"code":"a","baseUrl":"https://a.example","authenticationType":"API_KEY","apiKeyValue":"hunter2hunter2"}]`)
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := restapi.Parse("f", []byte(text))
		if err != nil {
			if kb.CodeOf(err) == kb.Internal {
				t.Error(err)
			}
			return
		}
		for _, p := range file.Providers {
			if p.Host() == "" || p.Auth.Type != restapi.AuthNone && !p.Auth.Secret.Set() {
				t.Errorf("%+v", p)
			}
			for i := range p.Tools {
				if !json.Valid(p.Tools[i].Schema()) || !json.Valid(p.Tools[i].Example()) {
					t.Errorf("schema %s", p.Tools[i].Schema())
				}
			}
		}
		im, err := restapi.ImportRecipe("f", []byte(text), restapi.ImportOptions{})
		if err != nil {
			return
		}
		if _, _, err := restapi.Merge("f", nil, im); err != nil && kb.CodeOf(err) == kb.Internal {
			t.Error(err)
		}
	})
}
