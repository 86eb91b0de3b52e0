package deps

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/outbound"
)

// TestRegistries asks a server that answers as each registry does, at the
// addresses that the user's settings name, once each.
func TestRegistries(t *testing.T) {
	answers := map[string]string{
		"/npm/@scope%2Fpkg/1.2.3":               `{"repository":{"type":"git","url":"git+https://github.com/scope/pkg.git"}}`,
		"/pypi/pypi/thing/json":                 `{"info":{"project_urls":{"Documentation":"https://docs.example.org/x","Source":"https://github.com/team/thing"},"home_page":""}}`,
		"/go/github.com/!acme/x/@v/v1.0.0.info": `{"Version":"v1.0.0","Origin":{"VCS":"git","URL":"https://github.com/Acme/x"}}`,
	}
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if a := answers[r.URL.EscapedPath()]; a != "" {
			fmt.Fprint(w, a)
			return
		}
		if strings.Contains(r.URL.Path, "broken") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		http.NotFound(w, r)
	}))
	defer srv.Close()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte("# mine\nregistry = "+srv.URL+"/npm/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "PIP_INDEX_URL": srv.URL + "/pypi/simple/", "GOPROXY": srv.URL + "/go,direct"}
	path := filepath.Join(t.TempDir(), "registry.json")
	for round := range 2 {
		r := NewRegistry(func(k string) string { return env[k] }, path, outbound.Policy{})
		for _, c := range []struct {
			d    Dependency
			want string
		}{
			{Dependency{Ecosystem: "npm", Name: "@scope/pkg", Version: "1.2.3"}, "https://github.com/scope/pkg"},
			{Dependency{Ecosystem: "pypi", Name: "thing"}, "https://github.com/team/thing"},
			{Dependency{Ecosystem: "go", Name: "github.com/Acme/x", Version: "v1.0.0"}, "https://github.com/Acme/x"},
			{Dependency{Ecosystem: "npm", Name: "nobody", Version: "1.0.0"}, ""},
			{Dependency{Ecosystem: "swift", Name: "none"}, ""},
		} {
			if got, err := r.Repository(t.Context(), c.d); got != c.want || err != nil {
				t.Errorf("round %d, %s: %q, %v", round, c.d.ID(), got, err)
			}
		}
		if err := r.Save(); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("asked %d times", n)
	}
	r := NewRegistry(func(k string) string { return env[k] }, path, outbound.Policy{})
	_, err := r.Repository(t.Context(), Dependency{Ecosystem: "npm", Name: "broken", Version: "1"})
	if kb.CodeOf(err) != kb.Away || kb.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	env["GOPROXY"] = "off"
	r = NewRegistry(func(k string) string { return env[k] }, filepath.Join(t.TempDir(), "none.json"), outbound.Policy{})
	before := asked.Load()
	if got, err := r.Repository(t.Context(), Dependency{Ecosystem: "go", Name: "github.com/Acme/x", Version: "v1.0.0"}); got != "" || err != nil || asked.Load() != before {
		t.Errorf("GOPROXY=off: %q, %v", got, err)
	}
}

func TestRegistryAnswers(t *testing.T) {
	for _, c := range []struct{ eco, name, answer, want string }{
		{"cargo", "a", `{"crate":{"repository":"https://github.com/o/a"}}`, "https://github.com/o/a"},
		{"gem", "a", `{"source_code_uri":null,"metadata":{"source_code_uri":"https://github.com/o/a/tree/v1"}}`, "https://github.com/o/a"},
		{"composer", "o/a", `{"packages":{"o/a":[{"source":{"url":"https://github.com/o/a.git"}}]}}`, "https://github.com/o/a"},
		{"hex", "a", `{"meta":{"links":{"GitHub":"https://github.com/o/a"}}}`, "https://github.com/o/a"},
		{"nuget", "A", `<package><metadata><repository type="git" url="https://github.com/o/a.git" commit="x"/></metadata></package>`, "https://github.com/o/a"},
		{"maven", "g:a", `<project><url>https://a.example.org</url><scm><connection>scm:git:git://github.com/o/a.git</connection></scm></project>`, "https://github.com/o/a"},
		{"cargo", "a", `nothing`, ""},
	} {
		d := Dependency{Ecosystem: c.eco, Name: c.name, Version: "1.0.0"}
		if at := address("https://example.org", d); !strings.HasPrefix(at, "https://example.org/") || strings.Contains(at, "{") {
			t.Errorf("%s: %s", c.eco, at)
		}
		if got := CleanURL(registries[c.eco].repo(d, []byte(c.answer))); got != c.want {
			t.Errorf("%s: %q", c.eco, got)
		}
	}
}

// TestRegistrySendsOn: a registry that sends its readers on to another port of
// this machine, which the user's settings do not name, is not followed there.
func TestRegistrySendsOn(t *testing.T) {
	var seen atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen.Add(1) }))
	defer inside.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inside.URL+"/meta-data", http.StatusFound)
	}))
	defer srv.Close()
	env := map[string]string{"npm_config_registry": srv.URL}
	r := NewRegistry(func(k string) string { return env[k] }, filepath.Join(t.TempDir(), "registry.json"), outbound.Policy{})
	_, err := r.Repository(t.Context(), Dependency{Ecosystem: "npm", Name: "x", Version: "1.0.0"})
	if kb.CodeOf(err) != kb.Denied || seen.Load() != 0 {
		t.Errorf("%v; %d requests went on", err, seen.Load())
	}
}
