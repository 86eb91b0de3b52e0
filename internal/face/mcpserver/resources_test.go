package mcpserver

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/product"
)

type resourceReply struct {
	Result struct {
		TTLMs             *int
		Resources         []struct{ URI, Name, Description, MimeType string }
		ResourceTemplates []struct{ URITemplate, Name, Description, MimeType string }
		Contents          []struct{ URI, MimeType, Text string }
	}
	Error *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

// TestResources: the registry's resources are listed and read over the
// protocol, in both eras, as resource:read reads them.
func TestResources(t *testing.T) {
	f := released(t)
	c := dial(t, f)
	ask := func(method, params string) (r resourceReply) {
		t.Helper()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params))
		if err := json.Unmarshal([]byte(c.line()), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for era, meta := range map[string]string{"legacy": "", "modern": modernMeta} {
		plain, more := meta, ""
		if meta != "" {
			more = "," + meta
		}
		var want, got []string
		for _, r := range product.Commands().Resources() {
			want = append(want, r.URI+" "+r.Name+" "+r.Description+" "+mimeJSON)
		}
		for _, r := range ask("resources/list", plain).Result.Resources {
			got = append(got, r.URI+" "+r.Name+" "+r.Description+" "+r.MimeType)
		}
		for _, r := range ask("resources/templates/list", plain).Result.ResourceTemplates {
			got = append(got, r.URITemplate+" "+r.Name+" "+r.Description+" "+r.MimeType)
		}
		if d := cmp.Diff(count(want), count(got)); d != "" {
			t.Errorf("%s (-registry +listed)\n%s", era, d)
		}
		for _, r := range product.Commands().Resources() {
			if r.Template() {
				continue
			}
			got := ask("resources/read", fmt.Sprintf(`"uri":%q`, r.URI)+more)
			text, err := product.Commands().ReadResource(t.Context(), f.app, r.URI)
			switch {
			case err != nil:
				if got.Error == nil || got.Error.Message != errorText(err) {
					t.Errorf("%s %s: %+v, want the error %q", era, r.URI, got, errorText(err))
				}
			case len(got.Result.Contents) != 1 || got.Result.Contents[0].Text != string(text) || got.Result.Contents[0].URI != r.URI:
				t.Errorf("%s %s: %+v, want %s", era, r.URI, got, text)
			case meta != "" && (got.Result.TTLMs == nil || *got.Result.TTLMs != 0):
				t.Errorf("%s %s: what was read may be kept for %v ms", era, r.URI, got.Result.TTLMs)
			}
		}
		missing := ask("resources/read", `"uri":"evidence://nothing"`+more)
		code := map[string]int{"legacy": -32002, "modern": -32602}[era]
		if missing.Error == nil || missing.Error.Code != code || missing.Error.Data["uri"] != "evidence://nothing" {
			t.Errorf("%s: what there is not: %+v", era, missing.Error)
		}
	}
}

func count(all []string) map[string]int {
	m := map[string]int{}
	for _, s := range all {
		m[s]++
	}
	return m
}

func TestCanonical(t *testing.T) {
	for _, r := range product.Commands().Resources() {
		if !r.Template() {
			continue
		}
		before := r.URI[:len(r.URI)-len("{name}")]
		for in, want := range map[string]string{
			before + "plain": before + "plain", before + "a b/c": before + "a%20b%2Fc", before + "a%20b%2Fc": before + "a%20b%2Fc", before + "ü": before + "%C3%BC",
		} {
			if got := canonical(in); r.URI == before+"{name}" && got != want {
				t.Errorf("%s: %s, want %s", in, got, want)
			}
		}
	}
	if got := canonical("nobody://x y"); got != "nobody://x y" {
		t.Error(got)
	}
}
