package source

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestMeantURL(t *testing.T) {
	dir := t.TempDir()
	for raw, want := range map[string]string{
		"owner/name":             "https://github.com/owner/name",
		"example.org/owner/name": "https://example.org/owner/name",
		"./owner/name":           "",
		"../name":                "",
		"/owner/name":            "",
		"name":                   "",
		"a/b/c":                  "",
	} {
		if got := MeantURL(raw, dir); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

// TestOtherPackages: a package of another registry is no host of ssh.
func TestOtherPackages(t *testing.T) {
	for _, raw := range []string{"pypi:requests", "cargo:serde", "gem:rails@7"} {
		_, _, err := Canonical(t.Context(), "", raw, t.TempDir())
		if kb.CodeOf(err) != kb.Invalid || !strings.Contains(err.Error(), "only those of npm: and go:") || !strings.Contains(kb.HintOf(err), "URL of its repository") {
			t.Errorf("%s: %v (%s)", raw, err, kb.HintOf(err))
		}
	}
}

func TestMeantName(t *testing.T) {
	names := []string{"v1.18.0", "v1.19.0", "tool/v0.3.1", "2.0"}
	for want, name := range map[string]string{"v1.18": "v1.18.0", "1.19.0": "v1.19.0", "v0.3.1": "tool/v0.3.1", "v2.0": "2.0", "1.18": "v1.18.0", "master": ""} {
		if got := meant(want, names); got != name {
			t.Errorf("%s: %q, want %q", want, got, name)
		}
	}
}
