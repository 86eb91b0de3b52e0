package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestWeb(t *testing.T) {
	abs, err := filepath.Abs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text, fail string
		want       Web
	}{
		{text: "web:\n  allow: [docs.internal, 'localhost:8080', 10.0.0.0/8, '::1']\n  rate: 2.5\n  userAgent: bot/1\n  browser: ~/chrome\n  proxy: http://p:3128\n",
			want: Web{Allow: []string{"docs.internal", "localhost:8080", "10.0.0.0/8", "::1"}, Rate: 2.5, UserAgent: "bot/1", Browser: filepath.Join(abs, "chrome"), Proxy: "http://p:3128"}},
		{text: "web: {allow: localhost}\n", want: Web{Allow: []string{"localhost"}}},
		{text: "web: {headers: {Docs.example.org: {authorization: DOCS, cookie: 'file:~/c'}}}\n",
			want: Web{Headers: []Header{{"docs.example.org", "Authorization", "DOCS", ""}, {"docs.example.org", "Cookie", "", filepath.Join(abs, "c")}}}},
		{text: "web: {allow: [http://x/]}\n", fail: "f:1: web.allow: \"http://x/\" is not understood"},
		{text: "web: {rate: 0}\n", fail: "f:1: web.rate must be"},
		{text: "web: {rate: fast}\n", fail: "f:1: web.rate must be"},
		{text: "web: {userAgent: \"a\\nb\"}\n", fail: "f:1: web.userAgent must be one line"},
		{text: "web: {browser: chrome}\n", fail: "f:1: web.browser must be an absolute path"},
		{text: "web: {proxy: 'socks5://x'}\n", fail: "f:1: web.proxy must be"},
		{text: "web: {headers: {x: DOCS}}\n", fail: "f:1: web.headers: what stands for \"x\""},
		{text: "web: {headers: {'https://x': {A: B}}}\n", fail: "f:1: web.headers: \"https://x\" is not a host"},
		{text: "web: {headers: {x: {Host: B}}}\n", fail: "f:1: web.headers: \"Host\" is no header"},
		{text: "web: {headers: {x: {A: B, a: C}}}\n", fail: "f:1: web.headers names A of \"x\" twice"},
		{text: "web: {headers: {x: {A: 'Bearer abc'}}}\n", fail: "f:1: web.headers: what stands for A of \"x\""},
		{text: "web: {headers: {x: {A: 'file:c'}}}\n", fail: "f:1: web.headers: the file for A"},
	} {
		got, err := Parse("f", []byte(tt.text), abs)
		if tt.fail == "" && err != nil || tt.fail != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.fail) || kb.HintOf(err) == "") {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.fail)
		}
		if err == nil {
			if diff := cmp.Diff(tt.want, got.Web); diff != "" {
				t.Errorf("%q: %s", tt.text, diff)
			}
		} else if strings.Contains(err.Error()+kb.HintOf(err), "Bearer abc") {
			t.Errorf("%v repeats the secret", err)
		}
	}
}
