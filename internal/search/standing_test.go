package search

import (
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

func TestNamesOfStores(t *testing.T) {
	for source, want := range map[string]string{
		"https://github.com/spf13/cobra":      "cobra",
		"https://github.com/spf13/cobra.git":  "cobra",
		"git@github.com:spf13/cobra.git":      "cobra",
		"npm:zod@3":                           "zod",
		"npm:@trpc/server":                    "server",
		"/home/ana/work/harbor":               "harbor",
		`C:\work\harbor`:                      "harbor",
		"https://docs.example.org/guide/zod@": "zod@",
	} {
		target := Target{Label: "label", Store: kb.Store{Spec: kb.Spec{Source: source}}}
		if got := target.names(); !slices.Equal(got, []string{"label", want}) {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

// Of several versions of a library the newest is meant, or the one that the
// query says.
func TestVersionsOfStores(t *testing.T) {
	repo := func(typ kb.RefType, ref string) Target {
		return Target{Label: "flask", Store: kb.Store{Spec: kb.Spec{Kind: kb.KindRepo,
			Source: "https://github.com/pallets/flask", Ref: kb.Ref{Type: typ, Name: ref}}}}
	}
	pkg := func(source, version string) Target {
		return Target{Label: "zod", Store: kb.Store{Spec: kb.Spec{Kind: kb.KindWeb, Source: source}, Head: &kb.Head{Commit: version}}}
	}
	targets := []Target{repo(kb.RefTag, "v1.9.0"), repo(kb.RefTag, "2.10.1"), repo(kb.RefBranch, "3.0"),
		pkg("npm:zod@3", "3.25.1"), pkg("npm:zod@4", "4.1.0")}
	for query, older := range map[string][]int{
		"how is a context pushed":            {0, 3},
		"how is a context pushed in 1.9":     {1, 3},
		"flask 2: how is a context pushed":   {0, 3},
		"zod v3: parse a string":             {0, 4},
		"zod 3.25 or flask v1 parse a thing": {1, 4},
		"what port is 8080 here":             {0, 3},
	} {
		q := &question{Query: rank.Parse(query), stores: make([]rank.Standing, len(targets))}
		q.versions(targets)
		var got []int
		for i, s := range q.stores {
			if s.Older {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, older) {
			t.Errorf("%s: older are %d, want %d", query, got, older)
		}
	}
}
