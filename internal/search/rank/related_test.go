package rank

import (
	goflag "flag"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
	"github.com/seed-4f2d999b/knowledge/internal/text/thesaurus"
)

var update = goflag.Bool("update", false, "make related.txt again")

// makeRelated returns the table of terms that the thesaurus relates: a word
// with each of its single alternatives, both ways, and the words of a group
// with each other.
func makeRelated() map[string][]string {
	m := map[string][]string{}
	add := func(a, b string) {
		if len(a) < 3 || len(b) < 3 { // parts of addresses and the like
			return
		}
		for _, p := range [2][2]string{{a, b}, {b, a}} {
			if a != b && !slices.Contains(m[p[0]], p[1]) {
				m[p[0]] = append(m[p[0]], p[1])
			}
		}
	}
	for group := range thesaurus.Groups() {
		var all []string
		for _, w := range group {
			all = append(all, terms.Of(w)...)
		}
		for i, a := range all {
			for _, b := range all[:i] {
				add(a, b)
			}
		}
	}
	for _, list := range []iter.Seq[thesaurus.Entry]{thesaurus.English(), thesaurus.Spanish()} {
		for e := range list {
			for _, w := range terms.Of(e.Word) {
				for _, alternative := range e.Alternatives {
					if !strings.Contains(alternative, " ") {
						for _, a := range terms.Of(alternative) {
							add(w, a)
						}
					}
				}
			}
		}
	}
	return m
}

func TestRelated(t *testing.T) {
	m := makeRelated()
	var b strings.Builder
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b.WriteString(k + " " + strings.Join(m[k], " ") + "\n")
	}
	if *update {
		if err := os.WriteFile("related.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		relatedText = b.String()
	}
	if relatedText != b.String() {
		t.Fatal("related.txt is not made of the thesaurus as it stands; run: go test ./internal/search/rank -update")
	}
	for _, k := range keys {
		if got := related(k); !slices.Equal(got, m[k]) {
			t.Fatalf("related(%q) = %q, want %q", k, got, m[k])
		}
	}
	for _, k := range []string{"", "\x00", "zzzzzzzz", "delet e", "~"} {
		if got := related(k); got != nil {
			t.Errorf("related(%q) = %q", k, got)
		}
	}
	if got := related(terms.Of("delete")[0]); !slices.Contains(got, terms.Of("borrar")[0]) {
		t.Errorf("delete: %q", got)
	}
}
