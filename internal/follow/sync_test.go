package follow

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source/deps"
)

// A tag goes on in the spelling that it had.
func TestRespell(t *testing.T) {
	for _, c := range [][3]string{
		{"v18.2.0", "18.3.1", "v18.3.1"}, {"18.2.0", "v18.3.1", "18.3.1"}, {"redis@4.6.15", "5.0.0", "redis@5.0.0"},
		{"service/ec2/v1.321.0", "1.322.0", "service/ec2/v1.322.0"}, {"regex-syntax-0.8.11", "0.8.12", "regex-syntax-0.8.12"},
		{"rel_2_0_41", "2.0.42", "rel_2_0_42"}, {"v2-2.9.3", "2.9.4", "v2-2.9.4"}, {"v1.0.0-rc.1", "1.0.0", "v1.0.0"},
		{"r13", "14", "r14"}, {"latest", "2.0.0", "latest"},
	} {
		if got := respell(c[0], c[1]); got != c[2] {
			t.Errorf("%s → %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

func TestPin(t *testing.T) {
	l := &locks{read: true, list: []deps.Dependency{
		{Ecosystem: "npm", Name: "a", Version: "2.0.0", Tag: "a@2.0.0"}, {Ecosystem: "go", Name: "b", Version: "v0.0.0-x", Commit: "0123456789ab"},
		{Ecosystem: "npm", Name: "c"},
	}}
	tag := func(n string) kb.Ref { return kb.Ref{Type: kb.RefTag, Name: n} }
	for _, c := range []struct {
		follows   string
		old, want kb.Ref
	}{
		{"npm:a", tag("v1.0.0"), tag("v2.0.0")}, {"npm:a", kb.Ref{}, tag("a@2.0.0")}, {"go:b", tag("v1.0.0"), kb.Ref{Type: kb.RefCommit, Name: "0123456789ab"}},
	} {
		spec := kb.Spec{Ref: c.old}
		if err := l.pin(t.Context(), &spec, c.follows); err != nil || spec.Ref != c.want {
			t.Errorf("%s: %v, %v", c.follows, spec.Ref, err)
		}
	}
	for _, follows := range []string{"npm:c", "npm:gone"} {
		if err := l.pin(t.Context(), &kb.Spec{}, follows); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", follows, err)
		}
	}
}

func TestParseDefinitions(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":2,"stores":[]}`: "version 2", `[]`: "do not parse", `{"stores":{}}`: "do not parse", ``: "do not parse",
	} {
		if _, err := parseDefinitions("f", []byte(text), true); err == nil || !strings.Contains(err.Error(), want) || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", text, err)
		}
	}
	got, err := parseDefinitions("f", []byte(`{"stores":[{"name":"a","type":"file","path":"x"},{"nam":"b"},7,{"type":"repo"}]}`), true)
	if err != nil || len(got) != 4 || got[0].err != nil || got[0].request().Source != "x" {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, d := range got[1:] {
		if d.err == nil || d.Name == "" {
			t.Errorf("%+v", d)
		}
	}
}

func TestStoreNames(t *testing.T) {
	taken := map[string]bool{"react": true, "acme-common": true}
	for repo, want := range map[string]string{
		"https://github.com/facebook/react": "facebook-react", "https://github.com/vuejs/core": "vuejs-core", "https://github.com/spf13/cobra": "cobra",
		"https://github.com/acme/common": "acme-common-2", "https://github.com/a/three.js": "three.js",
	} {
		if got := storeName(repo, taken); got != want {
			t.Errorf("%s: %s, want %s", repo, got, want)
		}
	}
}

// One row is one repository, and the project's own is none.
func TestSuggestRows(t *testing.T) {
	d := func(name string, files int, repo string) deps.Dependency {
		return deps.Dependency{Ecosystem: "npm", Name: name, Files: files, Repository: repo}
	}
	rows := SuggestRows([]deps.Dependency{
		d("react", 9, "https://github.com/facebook/react"), d("me", 8, "https://github.com/Me/it"), d("react-dom", 7, "https://github.com/Facebook/react"),
		d("mystery", 6, ""), d("vue", 5, "https://github.com/vuejs/core"), d("unused", 0, "https://github.com/x/unused"),
	}, "https://github.com/me/it", 10)
	if len(rows) != 2 || rows[0].Name != "react" || len(rows[0].Also) != 1 || rows[1].Name != "vue" {
		t.Errorf("%+v", rows)
	}
	// Where nothing is imported, there being no code, what it runs with counts.
	rows = SuggestRows([]deps.Dependency{d("a", 0, "https://github.com/x/a")}, "", 10)
	if len(rows) != 1 {
		t.Errorf("%+v", rows)
	}
}
