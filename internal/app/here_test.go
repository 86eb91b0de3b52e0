package app

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestAnswersNow: what is small is worth the wait, what is large is answered
// from what is ready, unless somebody says to wait.
func TestAnswersNow(t *testing.T) {
	const w = 10 * time.Second
	for name, c := range map[string]struct {
		early  time.Duration
		waited time.Duration
		at     kb.Progress
		want   bool
	}{
		"just begun":          {w, time.Second, kb.Progress{Done: 1, Total: 50_000}, false},
		"much left":           {w, 11 * time.Second, kb.Progress{Done: 5_000, Total: 50_000}, true},
		"nearly done":         {w, 11 * time.Second, kb.Progress{Done: 49_500, Total: 50_000}, false},
		"small and slow":      {w, time.Hour, kb.Progress{Done: 1, Total: 900}, false},
		"not counted yet":     {w, time.Hour, kb.Progress{Done: 5_000}, false},
		"who waits":           {0, time.Hour, kb.Progress{Done: 1, Total: 50_000}, false},
		"who has seen it all": {w, time.Hour, kb.Progress{Done: 50_000, Total: 50_000}, false},
	} {
		if got := answersNow(c.early, c.waited, c.at); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAsked: a person means the path as seen from the working directory, an
// agent the one that search shows; each finds the other's too.
func TestAsked(t *testing.T) {
	s := newSite(t)
	s.write("p/sub/a.txt", "x\n")
	root := filepath.Join(s.root, "p")
	a, err := New(Config{Rooms: allRooms(), DataDir: s.data, Project: root, Dir: filepath.Join(root, "sub"), Env: func(string) string { return "" }})
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
			got := a.asked(c.written, person).Spellings
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
	s := newSite(t)
	s.write("p/a.txt", "alpha\n")
	a := s.in("p", true)
	s.create(a, CreateStore{Name: "own", Source: filepath.Join(s.root, "p")})
	s.write("p/b.txt", "bravo\n")
	if r := s.search(a, SearchRequest{Query: "bravo"}); len(r.Hits) != 1 || r.Hits[0].Store != "own" {
		t.Errorf("got %+v", r)
	}
}
