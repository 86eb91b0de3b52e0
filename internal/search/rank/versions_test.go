package rank

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestVersionOf(t *testing.T) {
	for name, want := range map[string][]int{
		"v3": {3}, "v12": {12}, "v1.2": {1, 2}, "1.28": {1, 28}, "2.x": {2}, "v0.9": {0, 9},
		"version-3.x": {3}, "version-29.5": {29, 5}, "version4": {4},
		"v": nil, "v0": nil, "view": nil, "3": nil, "01": nil, "x": nil, "x.3": nil, "version": nil, "versions": nil,
		"v1alpha1": nil, "20240131.1": nil, "": nil, ".": nil, "..": nil, "1.": nil,
	} {
		if got, _ := versionOf(name); !slices.Equal(got, want) {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if e, ok := editionOf("a/b/v2/c/d.go"); !ok || e.before != "a/b/" || e.after != "c/d.go" || e.docs {
		t.Errorf("%+v", e)
	}
	if e, ok := editionOf("a/v3.ts"); ok {
		t.Errorf("a file is no folder: %+v", e)
	}
}

func TestNewestOfVersionsIsMeant(t *testing.T) {
	for query, want := range map[string]string{"parse headers": "a/v2/x.go a/v1/x.go", "parse headers v1": "a/v1/x.go a/v2/x.go"} {
		c := newCorpus(query)
		c.add("a/v1/x.go", 9, "pars header", "", 0)
		c.add("a/v2/x.go", 8.5, "pars header", "", 0)
		if got := c.order(Options{}); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	c := newCorpus("parse headers")
	c.add("a/v1/x.go", 9, "pars header", "", 0)
	c.add("b/v2/x.go", 8.5, "pars header", "", 0) // of something else
	if got := c.order(Options{}); got != "a/v1/x.go b/v2/x.go" {
		t.Error(got)
	}
}

// Of a page of documentation that is there in several versions the current
// one comes first, and only it is looked at closely, unless a version is named.
func TestVersionsOfDocumentation(t *testing.T) {
	corpus := func(query string) *corpus {
		c := newCorpus(query)
		for _, p := range []string{"site/versioned_docs/version-3.x/cli/run.md", "docs/cli/run.md", "site/versioned_docs/version-2.x/cli/run.md", "site/versioned_docs/version-2.x/cli/gone.md"} {
			c.add(p, 9, "pars header", "", kb.FlagProse)
		}
		return c
	}
	c := corpus("how to parse headers")
	looked := func() (out []string) {
		for _, i := range Closely(c.q, c.cands, Options{}) {
			out = append(out, c.cands[i].Path)
		}
		slices.Sort(out)
		return out
	}
	if got := strings.Join(looked(), " "); got != "docs/cli/run.md site/versioned_docs/version-2.x/cli/gone.md" {
		t.Errorf("looked at %s", got)
	}
	if got, _, _ := strings.Cut(c.order(Options{}), " "); got != "docs/cli/run.md" {
		t.Errorf("%s comes first", got)
	}
	c = corpus("how to parse headers in 2.x")
	if got := looked(); !slices.Contains(got, "site/versioned_docs/version-2.x/cli/run.md") || slices.Contains(got, "site/versioned_docs/version-3.x/cli/run.md") {
		t.Errorf("version 2 is asked for and looked at are %s", got)
	}
}
