package app_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// TestAsked: a person means the path as seen from the working directory, an
// agent the one that search shows; each finds the other's too.
func TestAsked(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/sub/a.txt", "x\n")
	root := filepath.Join(s.Root, "p")
	a, err := app.New(app.Config{DataDir: s.Data, Project: root, Dir: filepath.Join(root, "sub"), Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, c := range []struct {
		written       string
		person, agent []string
	}{
		{"a.txt", []string{"sub/a.txt", "a.txt"}, []string{"a.txt", "sub/a.txt"}},
		{"./a.txt", []string{"sub/a.txt", "a.txt"}, []string{"a.txt", "sub/a.txt"}},
		{"../b.txt", []string{"b.txt", "../b.txt"}, []string{"../b.txt", "b.txt"}},
		{"../../out.txt", []string{"../../out.txt"}, []string{"../../out.txt"}},
		{filepath.Join(root, "b.txt"), []string{"b.txt"}, []string{"b.txt"}},
		{"https://example.org/a#b", nil, nil},
	} {
		for person, want := range map[bool][]string{true: c.person, false: c.agent} {
			got := a.Asked(c.written, person).Spellings
			if filepath.IsAbs(c.written) {
				got = got[:min(1, len(got))]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, a person %v: %q, want %q", c.written, person, got, want)
			}
		}
	}
}

// TestNamedFolderStaysFresh: a project's folder that was made a store by name
// is brought up to date by a search as it was before.
func TestNamedFolderStaysFresh(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.txt", "alpha\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "own", Source: filepath.Join(s.Root, "p")})
	s.Write("p/b.txt", "bravo\n")
	if r := s.Search(a, search.Request{Query: "bravo"}, app.Scope{}); len(r.Hits) != 1 || r.Hits[0].Store != "own" {
		t.Errorf("got %+v", r)
	}
}
