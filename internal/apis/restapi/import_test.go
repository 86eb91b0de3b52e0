package restapi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const recipe = `[
	{"name": "Weather \ud83d\ude00", "code": "weather", "baseUrl": "https://w.example", "authenticationType": "API_KEY", "apiKeyLocation": "QUERY_PARAMETER",
	 "apiKeyName": "key", "apiKeyValue": "SECRET", "customHeaders": {"Authorization": "Bearer abcdef0123456789"}, "isExportable": true,
	 "tools": [{"name": "Clima", "code": "clima4", "endpointPath": "/current.json", "httpMethod": "GET", "enabled": true,
	   "parameters": [{"name": "q", "type": "STRING", "description": "ciudad", "required": true, "defaultValue": ""}]}]}
]`

func imported(t *testing.T, old, text string, o restapi.ImportOptions) (*restapi.Imported, string, []string) {
	t.Helper()
	im, err := restapi.ImportRecipe("recipe.json", []byte(text), o)
	if err != nil {
		t.Fatalf("%v (%s)", err, kb.HintOf(err))
	}
	out, replaced, err := restapi.Merge("apis.yaml", []byte(old), im)
	if err != nil {
		t.Fatal(err)
	}
	f, err := restapi.Parse("apis.yaml", out)
	if err != nil || len(f.Problems) > 0 {
		t.Fatalf("%v %v\n%s", err, f, out)
	}
	return im, string(out), replaced
}

// TestImportRecipe: a credential in a recipe is not stored, and it is said
// what to set; what a person decided survives the next import.
func TestImportRecipe(t *testing.T) {
	im, out, _ := imported(t, "", strings.Replace(recipe, "SECRET", "hunter2hunter2", 1), restapi.ImportOptions{})
	if strings.Contains(out, "hunter2") || strings.Contains(out, "abcdef0123") || strings.Contains(fmt.Sprint(im.Notes, im.Secrets), "hunter2") {
		t.Errorf("the credential was stored:\n%s\n%v", out, im.Notes)
	}
	want := map[string]restapi.Ref{"weather": {Env: "WEATHER_API_KEY"}, "weather, header Authorization": {Env: "WEATHER_AUTHORIZATION"}}
	if d := cmp.Diff(want, im.Secrets); d != "" {
		t.Error(d)
	}
	if len(im.Notes) != 2 {
		t.Errorf("notes: %q", im.Notes)
	}

	mine := "# my APIs\n" + strings.NewReplacer("${WEATHER_API_KEY}", "keyring:mine", "enabled: true", "enabled: false").Replace(out)
	mine = strings.Replace(mine, "    tools:", "    allowHosts: [w.example]\n    tools:", 1)
	mine += "  # another\n  - code: other\n    baseUrl: https://o.example\n"
	for _, value := range []string{"<YOUR_API_KEY>", "", "hunter3hunter3"} {
		im, again, replaced := imported(t, mine, strings.Replace(recipe, "SECRET", value, 1), restapi.ImportOptions{})
		if d := cmp.Diff([]string{"weather"}, replaced); d != "" {
			t.Error(d)
		}
		for _, want := range []string{"# my APIs", "# another", "keyring:mine", "allowHosts", "enabled: false", "code: other"} {
			if !strings.Contains(again, want) {
				t.Errorf("importing %q lost %q:\n%s", value, want, again)
			}
		}
		if im.Secrets["weather"].Keyring != "mine" || strings.Contains(again, "hunter3") {
			t.Errorf("%v\n%s", im.Secrets, again)
		}
	}

	_, out, _ = imported(t, "", strings.Replace(recipe, "SECRET", "x", 1), restapi.ImportOptions{Secret: "keyring:w"})
	if !strings.Contains(out, "apiKeyValue: keyring:w") {
		t.Error(out)
	}
	if _, err := restapi.ImportRecipe("r", []byte(recipe), restapi.ImportOptions{Secret: "hunter2"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a credential given for a reference: %v", err)
	}
}

// TestImportOlder: the form in which each tool is an API by itself.
func TestImportOlder(t *testing.T) {
	_, out, _ := imported(t, "", `{"name":"Clima Actual","enabled":true,"description":"d","baseUrl":"https://w.example","endpointPath":"/c/{q}","httpMethod":"GET",
"authenticationType":"NONE","apiKeyLocation":"NONE","apiKeyValue":"","parameters":[{"name":"q","type":"STRING"}]}`, restapi.ImportOptions{})
	f, _ := restapi.Parse("x", []byte(out))
	if len(f.Providers) != 1 || f.Providers[0].Code != "clima-actual" || len(f.Providers[0].Tools) != 1 || f.Providers[0].Tools[0].Path != "/c/{q}" {
		t.Errorf("%s", out)
	}
	for _, bad := range []string{"", "[]", "[1]", `{"baseUrl":"ftp://x","code":"a"}`, `[{"name":"é"}]`, "nonsense"} {
		if _, err := restapi.ImportRecipe("r", []byte(bad), restapi.ImportOptions{}); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestRemove(t *testing.T) {
	_, out, _ := imported(t, "# keep\napis:\n  - {code: b, baseUrl: https://b.example}\n", strings.Replace(recipe, "SECRET", "", 1), restapi.ImportOptions{})
	left, err := restapi.Remove("apis.yaml", []byte(out), "weather")
	if err != nil || strings.Contains(string(left), "weather") || !strings.Contains(string(left), "# keep") {
		t.Errorf("%v\n%s", err, left)
	}
	if _, err := restapi.Remove("apis.yaml", left, "wether"); kb.CodeOf(err) != kb.NotFound {
		t.Error(err)
	}
}

// TestImportOpenAPI: every operation becomes a tool, with its parameters in
// their places.
func TestImportOpenAPI(t *testing.T) {
	text, err := os.ReadFile("testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	im, err := restapi.ImportOpenAPI("shop.yaml", text, restapi.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := restapi.Merge("apis.yaml", nil, im)
	if err != nil {
		t.Fatal(err)
	}
	f, err := restapi.Parse("apis.yaml", out)
	if err != nil || len(f.Problems) > 0 {
		t.Fatalf("%v %v\n%s", err, f.Problems, out)
	}
	p := f.Providers[0]
	if p.Code != "corner-shop-v2" || p.BaseURL != "https://eu.shop.example/api" || p.Auth.In != restapi.InQuery || p.Auth.Name != "api_key" || p.Auth.Secret.Env != "CORNER_SHOP_V2_API_KEY" {
		t.Errorf("%+v", p)
	}
	got := map[string]string{}
	for i := range p.Tools {
		tool := &p.Tools[i]
		checkSchema(t, tool)
		s := tool.Method + " " + tool.Path
		if len(tool.Media) > 0 {
			s += " " + tool.Media[0]
		}
		for _, q := range tool.Params {
			s += " " + q.Name + ":" + q.Type + ":" + q.In
			if q.Required {
				s += "!"
			}
		}
		got[tool.Code] = s
	}
	want := map[string]string{
		"corner-shop-v2_listGoods":    "GET /goods q:STRING:query limit:INTEGER:query ids:ARRAY:query sort:STRING:query X-Trace:STRING:header",
		"corner-shop-v2_goods_add":    "POST /goods application/json name:STRING:body! price:NUMBER:body! tags:ARRAY:body maker:OBJECT:body",
		"corner-shop-v2_removeGood":   "DELETE /goods/{id} id:STRING:path!",
		"corner-shop-v2_put_goods_id": "PUT /goods/{id} application/json id:STRING:path! body:ARRAY:payload",
		"corner-shop-v2_pay":          "POST /orders/{id}/pay application/x-www-form-urlencoded id:INTEGER:path! amount:INTEGER:body card:OBJECT:body",
		"corner-shop-v2_upload":       "POST /upload multipart/form-data body:OBJECT:payload!",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if notes := strings.Join(im.Notes, "\n"); !strings.Contains(notes, "2 servers") || len(im.Losses) != 0 {
		t.Error(notes, im.Losses)
	}

	im, err = restapi.ImportOpenAPI("shop.yaml", text, restapi.ImportOptions{Code: "shop", BaseURL: "http://localhost:1/x", Operations: []string{"orders", "list*"}, Secret: "${SHOP}"})
	if err != nil {
		t.Fatal(err)
	}
	out, _, err = restapi.Merge("apis.yaml", nil, im)
	if err != nil {
		t.Fatal(err)
	}
	f, _ = restapi.Parse("apis.yaml", out)
	if p := f.Providers[0]; len(p.Tools) != 2 || p.Tools[0].Code != "shop_listGoods" || p.BaseURL != "http://localhost:1/x" || p.Auth.Secret.Env != "SHOP" {
		t.Errorf("%s", out)
	}
	relative := []byte("openapi: 3.0.0\ninfo: {title: x, version: '1'}\nservers: [{url: /v3}]\npaths: {/a: {get: {responses: {'200': {description: d}}}}}\n")
	if im, err = restapi.ImportOpenAPI("x", relative, restapi.ImportOptions{From: "https://docs.example/spec/openapi.json"}); err != nil {
		t.Fatal(err)
	}
	if out, _, err = restapi.Merge("apis.yaml", nil, im); err != nil || !strings.Contains(string(out), "baseUrl: https://docs.example/v3") {
		t.Errorf("%v %s", err, out)
	}
	for _, bad := range []string{"", "openapi: 3.0.0\n", "swagger: '2.0'\n", `{"openapi":"3.0.0","info":{"title":"x","version":"1"},"paths":{}}`, "openapi: [", "openapi: 3.0.0\npaths: {/: {get: {$ref: 'http://evil.example/x'}}}\n"} {
		if _, err := restapi.ImportOpenAPI("x", []byte(bad), restapi.ImportOptions{}); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A document of the version before is told and read, as YAML and as JSON.
func TestSwaggerIsTold(t *testing.T) {
	for _, text := range []string{
		"swagger: \"2.0\"\ninfo: {title: t, version: \"1\"}\nhost: a.example\npaths: {/a: {get: {responses: {}}}}\n",
		`{"info":{"title":"t"},"swagger":"2.0","host":"a.example","paths":{"/a":{"get":{}}}}`,
	} {
		if !restapi.IsOpenAPI([]byte(text)) {
			t.Errorf("not told: %s", text)
		}
		if im, err := restapi.ImportOpenAPI("api.json", []byte(text), restapi.ImportOptions{}); err != nil || im.Codes[0] != "t" {
			t.Errorf("%s: %v", text, err)
		}
	}
}
