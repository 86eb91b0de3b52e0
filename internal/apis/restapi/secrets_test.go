package restapi_test

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
)

// TestDescriptionsShowNoCredential: those of imported documents quote what
// their authors tried the API with.
func TestDescriptionsShowNoCredential(t *testing.T) {
	token := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	f, err := restapi.Parse("apis.yaml", []byte("apis:\n  - code: a\n    baseUrl: https://a.example\n    description: try "+token+
		"\n    tools:\n      - code: b\n        description: use "+token+"\n        endpointPath: /c\n        parameters: [{name: q, description: as "+token+"}]\n"))
	if err != nil || len(f.Providers) != 1 || len(f.Providers[0].Tools) != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	p := f.Providers[0]
	said := p.Description + jsonOf(p.Tools[0].Definition())
	if strings.Contains(said, token) || strings.Count(said, "****") == 0 {
		t.Errorf("shown: %s", said)
	}
}

// TestSecretsInRepliesAreMasked: a service may hold those of others.
func TestSecretsInRepliesAreMasked(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("", "\n- {code: json, endpointPath: /leaks}\n- {code: text, endpointPath: /leaks.txt}\n"))
	masked := strings.Repeat("*", len(leaked))
	want := `{"key":"` + masked + `","note":"use ` + masked + ` \u0026 go","nextPageToken":"CAUQAA","` + masked + `":1}`
	if r, err := b.call("json", ""); err != nil || string(r.JSON) != want {
		t.Errorf("%v %s", err, r.JSON)
	}
	if r, err := b.call("text", ""); err != nil || r.Text != "use "+masked+" and go" {
		t.Errorf("%v %q", err, r.Text)
	}
}

// TestNestedDocumentsAreRefused: an imported document nests no deeper than what
// reads it allows, and is refused and not followed.
func TestNestedDocumentsAreRefused(t *testing.T) {
	const n = 100_000
	for name, text := range map[string]string{
		"flow.yaml":    "openapi: 3.0.0\ninfo: " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n",
		"json":         `{"openapi":"3.0.0","info":` + strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) + "}",
		"unended.json": `{"openapi":"3.0.0","info":` + strings.Repeat("[", n),
	} {
		if _, err := restapi.ImportOpenAPI(name, []byte(text), restapi.ImportOptions{}); err == nil {
			t.Errorf("%s is imported", name)
		}
		if _, err := restapi.Parse(name, []byte(text)); err == nil {
			t.Errorf("%s is taken for definitions", name)
		}
	}
}
