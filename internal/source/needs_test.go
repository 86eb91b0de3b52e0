package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A job needs the variable of its own host, if it is set, and no other.
func TestNeeds(t *testing.T) {
	t.Setenv("TEST_NEEDS_A", "secret")
	t.Setenv("TEST_NEEDS_UNSET", "")
	o := &Opener{Tokens: []Token{{"Git.example.org:8443", "TEST_NEEDS_A"}, {"git.example.org:8443", "TEST_NEEDS_UNSET"}, {"other.example.org", "TEST_NEEDS_A"}}}
	for src, want := range map[string][]string{
		"https://git.example.org:8443/a/b": {"TEST_NEEDS_A"},
		"https://git.example.org/a/b":      nil,
		"/srv/git.example.org:8443":        nil,
		"ssh://other.example.net/a":        nil,
	} {
		if diff := cmp.Diff(want, o.Needs(kb.Spec{Kind: kb.KindRepo, Source: src})); diff != "" {
			t.Errorf("%s: %s", src, diff)
		}
	}
}
