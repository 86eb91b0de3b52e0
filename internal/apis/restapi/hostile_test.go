package restapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/apis/restapi"
)

// TestSchemaBombs: a document of a few lines whose references mean more than can be
// written is imported, or refused, within bounds.
func TestSchemaBombs(t *testing.T) {
	doc := func(schemas string) string {
		return `{"openapi":"3.1.0","info":{"title":"t"},"servers":[{"url":"https://a.example"}],"paths":{"/a":{"post":{"operationId":"op","parameters":[{"name":"q","in":"query","schema":{"$ref":"#/components/schemas/S0"}}],` +
			`"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}},"responses":{"200":{"description":"d","content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}}},"components":{"schemas":{` + schemas + `}}}`
	}
	wide := func(form string) string { // each level names the next one ten times
		var all []string
		for i := range 30 {
			ref := fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, i+1)
			var parts []string
			for k := range 10 {
				parts = append(parts, strings.NewReplacer("REF", ref, "K", fmt.Sprint(k)).Replace(form[strings.Index(form, "|")+1:]))
			}
			all = append(all, fmt.Sprintf(`"S%d":%s`, i, strings.Replace(form[:strings.Index(form, "|")], "PARTS", strings.Join(parts, ","), 1)))
		}
		return strings.Join(append(all, `"S30":{"type":"string"}`), ",")
	}
	for name, text := range map[string]string{
		"oneOf":      doc(wide(`{"oneOf":[PARTS]}|REF`)),
		"allOf":      doc(wide(`{"allOf":[PARTS]}|REF`)),
		"properties": doc(wide(`{"type":"object","required":["p0","p1","p2","p3","p4","p5","p6","p7","p8","p9"],"properties":{PARTS}}|"pK":REF`)),
		"circle":     doc(`"S0":{"allOf":[{"$ref":"#/components/schemas/S0"},{"oneOf":[{"$ref":"#/components/schemas/S0"}]}],"properties":{"a":{"$ref":"#/components/schemas/S0"}}}`),
		"refs":       doc(`"S0":{"$ref":"#/components/schemas/S1"},"S1":{"$ref":"#/components/schemas/S0"}`),
		"deep":       doc(`"S0":` + strings.Repeat(`{"type":"array","items":`, 5000) + `{}` + strings.Repeat(`}`, 5000)),
		"pointer":    doc(`"S0":{"$ref":"#` + strings.Repeat("/a", 5000) + `"}`),
		"self":       doc(`"S0":{"$ref":"#"}`),
		"names":      doc(`"S0":{"type":"object","properties":{"` + strings.Repeat("a", 100000) + `":{},"{}":{},"":{}}}`),
		"yaml":       "openapi: 3.0.0\ninfo: {title: t}\nservers: [{url: https://a.example}]\nx0: &a [1,2,3,4,5,6,7,8,9]\nx1: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nx2: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nx3: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\nx4: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nx5: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\nx6: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\npaths: {/a: {get: {}}}\n",
	} {
		im, err := restapi.ImportOpenAPI("bomb", []byte(text), restapi.ImportOptions{})
		if err != nil {
			continue
		}
		out, _, err := restapi.Merge("apis.yaml", nil, im)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(out) > 10*len(text)+4096 {
			t.Errorf("%s: %d bytes became %d", name, len(text), len(out))
		}
		for i := range im.Merged.Providers[0].Tools {
			tool := &im.Merged.Providers[0].Tools[i]
			if s := tool.Schema(); !json.Valid(s) {
				t.Errorf("%s: %.200s", name, s)
			}
			if s := tool.Example(); !json.Valid(s) || len(s) > 1<<20 {
				t.Errorf("%s: an example of %d bytes", name, len(s))
			}
			for _, l := range tool.Lines(3, 80) {
				if len(l.String()) > 1<<20 {
					t.Errorf("%s: a line of %d bytes", name, len(l.String()))
				}
			}
		}
	}
}

// FuzzImportOpenAPI: no document makes the importer panic, and what it makes can be
// read back.
func FuzzImportOpenAPI(f *testing.F) {
	f.Add([]byte(`{"openapi":"3.1.0","info":{"title":"t"},"servers":[{"url":"https://a.example"}],"paths":{"/a/{b}":{"post":{"parameters":[{"name":"b","in":"path"}],"requestBody":{"content":{"multipart/form-data":{"schema":{"properties":{"f":{}}}}}}}}}}`))
	f.Add([]byte("swagger: '2.0'\ninfo: {title: t}\nhost: a.example\npaths: {/a: {get: {parameters: [{name: a, in: formData, type: file}]}}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		im, err := restapi.ImportOpenAPI("x", text, restapi.ImportOptions{Code: "x"})
		if err != nil {
			return
		}
		if _, _, err := restapi.Merge("apis.yaml", nil, im); err != nil {
			t.Logf("%v", err)
			return
		}
		for i := range im.Merged.Providers {
			for j := range im.Merged.Providers[i].Tools {
				if s := im.Merged.Providers[i].Tools[j].Schema(); !json.Valid(s) {
					t.Errorf("%s", s)
				}
			}
		}
	})
}

// TestOddReplies: what is no data is shown and said to be none.
func TestOddReplies(t *testing.T) {
	s := newService(t)
	b := newBench(t, s.definition("", "- {code: broken, endpointPath: /broken}\n- {code: text, endpointPath: /text}\n"))
	if r, err := b.call("broken", ""); err != nil || r.Odd == "" || r.JSON != nil {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := b.call("text", ""); err != nil || r.Odd != "" {
		t.Errorf("%+v %v", r, err)
	}
}
