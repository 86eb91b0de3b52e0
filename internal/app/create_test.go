package app_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/data/verify"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

func callersOf(symbol string) search.CodeRequest {
	return search.CodeRequest{Symbol: symbol, What: search.Callers}
}

// TestOwnFolderOfAnEmptyName: a name whose first job was cancelled does not
// keep the folder one is in from being indexed by a search.
func TestOwnFolderOfAnEmptyName(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.txt", "alpha\n")
	a := s.In("p", true)
	c, err := a.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	spec := kb.Spec{Kind: kb.KindFolder, Source: filepath.Join(s.Root, "p")}
	if _, _, err := c.Catalog.Add(t.Context(), "", "own", spec, "", nil); err != nil {
		t.Fatal(err)
	}
	if r := s.Search(a, search.Request{Query: "alpha"}, app.Scope{}); len(r.Hits) != 1 || r.Hits[0].Store != "own" {
		t.Errorf("got %+v", r)
	}
	// One of another folder says what to run, whole.
	s.Write("q/b.txt", "bravo\n")
	if _, _, err := c.Catalog.Add(t.Context(), "", "other", kb.Spec{Kind: kb.KindFolder, Source: filepath.Join(s.Root, "q")}, "", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := find.Grep(t.Context(), a, "other", "bravo", "", false, 0, app.Waiting{}); err == nil || kb.HintOf(err) != `index it with: store:index {"store":"other"}` {
		t.Errorf("got %v, %s", err, kb.HintOf(err))
	}
}

// TestCreateAgain: whoever has to make a store again is given the whole line.
func TestCreateAgain(t *testing.T) {
	s := producttest.NewSite(t)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", filepath.Join(s.Root, "lib"), "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git: %v %s", err, out)
		}
	}
	s.Write("lib/src/a.txt", "alpha\n")
	s.Write("lib/doc/b.txt", "bravo\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "x")
	git("tag", "v1.18.0")
	a := s.In("p", true)
	src := filepath.Join(s.Root, "lib")
	j := s.Create(a, app.CreateStore{Name: "lib", Source: src, Tag: "v1.18", Paths: []string{"src"}, User: true})
	want := app.Args{"name": "lib", "source": src, "tag": "v1.18.0", "paths": []string{"src"}, "scope": "user"}
	if j.State != kb.JobFailed || !strings.Contains(j.Hint, "did you mean v1.18.0?") || !strings.HasSuffix(j.Hint, "store:create "+want.String()) {
		t.Errorf("got %s, %q", j.State, j.Hint)
	}
	if err := a.TakenBack(t.Context(), producttest.MustOpen(t, a), &j); err != nil || !strings.HasSuffix(j.Hint, `"tag":"v1.18"}`) {
		t.Errorf("got %q, %v", j.Hint, err)
	}
	j = s.Create(a, app.CreateStore{Name: "lib", Source: src, Tag: "v2-nothing-like-it"})
	if !strings.Contains(j.Hint, "it has: v1.18.0") {
		t.Errorf("got %q", j.Hint)
	}
	// A folder of a repository is that folder of the commit.
	if j = s.Create(a, app.CreateStore{Name: "lib", Source: filepath.Join(src, "src"), Tag: "v1.18.0"}); j.State != kb.JobCompleted {
		t.Fatalf("got %+v", j)
	}
	if f, err := find.Files(t.Context(), a, "lib", "", 0, app.Waiting{}); err != nil || len(f.Files) != 1 || f.Files[0] != "src/a.txt" {
		t.Errorf("got %v, %v", f, err)
	}
	_, err := a.CreateStore(t.Context(), app.CreateStore{Source: "owner/name", Branch: "main"})
	if want := (app.Args{"source": "https://github.com/owner/name", "branch": "main"}); kb.CodeOf(err) != kb.NotFound || !strings.HasSuffix(kb.HintOf(err), "store:create "+want.String()) {
		t.Errorf("got %v, %s", err, kb.HintOf(err))
	}
}

// TestUndo: what is taken back leaves nothing in the catalog.
func TestUndo(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("q/a.txt", "alpha\n")
	a := s.In("p", true)
	c, err := a.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	st, _, err := c.Catalog.Add(t.Context(), "", "q", kb.Spec{Kind: kb.KindFolder, Source: filepath.Join(s.Root, "q")}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	// One of the same source that was made after somebody had deleted it is another.
	if err := c.Undo(t.Context(), st.ID, app.Making{Name: "q", Created: st.Created.Add(-time.Second)}); err != nil {
		t.Fatal(err)
	}
	if all, err := c.Catalog.All(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("left %v, %v", all, err)
	}
	if err := c.Undo(t.Context(), st.ID, app.Making{Name: "q", Created: st.Created}); err != nil {
		t.Fatal(err)
	}
	if all, err := c.Catalog.All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("left %v, %v", all, err)
	}
}

// TestShowLineOfABundle: of several declarations in one chunk a line means the
// one that it lies in, with that one's relations.
func TestShowLineOfABundle(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/errors.py", "class Base(IOError):\n    \"\"\"One.\"\"\"\n\n\nclass Proxy(Base):\n    \"\"\"Two.\"\"\"\n\n\nclass Many(Base):\n    \"\"\"Three.\"\"\"\n")
	s.Write("p/use.py", "from errors import Base, Many, Proxy\n\n\ndef resolve():\n    raise Many(\"x\")\n\n\ndef send():\n    raise Proxy(\"y\")\n\n\ndef other():\n    raise Base(\"z\")\n")
	a := s.In("p", true)
	w := app.Waiting{Wait: time.Minute}
	if _, err := code.Ask(t.Context(), a, code.CodeRequest{Waiting: w, CodeRequest: callersOf("Many")}); err != nil { // resolves
		t.Fatal(err)
	}
	for place, want := range map[string][2]string{"errors.py:9": {"Many", "resolve"}, "errors.py:6": {"Proxy", "send"}} {
		c, err := find.Show(t.Context(), a, place, w)
		if err != nil || c.Symbol != want[0] || len(c.Callers) != 1 || c.Callers[0].Symbol != want[1] {
			t.Errorf("%s: %s, %+v, %v", place, c.Symbol, c.Callers, err)
		}
		r, err := code.Ask(t.Context(), a, code.CodeRequest{Waiting: w, CodeRequest: callersOf(place)})
		if err != nil || len(r.Symbols) != 1 || r.Symbols[0].Symbol != want[0] || len(r.Uses) != 1 || r.Uses[0].Symbol != want[1] {
			t.Errorf("%s: %+v, %v", place, r, err)
		}
	}
	// An id means the chunk: all of it for callers, and whose relations are shown is said.
	c, err := find.Show(t.Context(), a, "errors.py:9", w)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := code.Ask(t.Context(), a, code.CodeRequest{Waiting: w, CodeRequest: callersOf(c.ID)}); err != nil || len(r.Symbols) != 3 || len(r.Uses) != 3 {
		t.Errorf("got %+v, %v", r, err)
	}
	if c, err = find.ByID(t.Context(), a, c.ID); err != nil || c.Of != "Base" {
		t.Errorf("got %q, %v", c.Of, err)
	}
}

// TestShowSaysWhereElse: of a path that several stores have one is taken, the
// others are named, and each can be asked for.
func TestShowSaysWhereElse(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/main.txt", "alpha\n")
	s.Write("q/main.txt", "bravo\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "q", Source: filepath.Join(s.Root, "q")})
	w := app.Waiting{Wait: time.Minute}
	c, err := find.Show(t.Context(), a, "main.txt:1", w)
	if err != nil || c.Code != "alpha" || !strings.Contains(c.Note, `also in q: get_full_context {"resultId":"q:main.txt:1"}`) {
		t.Errorf("got %+v, %v", c, err)
	}
	if c, err = find.Show(t.Context(), a, "q:main.txt:1", w); err != nil || c.Code != "bravo" || c.Store != "q" {
		t.Errorf("got %+v, %v", c, err)
	}
}

// TestLeftoversAreNoIllness: what may go is listed, with a status of its own,
// and nothing is wrong.
func TestLeftoversAreNoIllness(t *testing.T) {
	left := verify.Finding{Status: verify.Left, File: "repos/x", Text: "a copy"}
	v := care.Verified{Report: verify.Report{Findings: []verify.Finding{left}}}
	if v.ExitStatus() != 1 || !strings.HasSuffix(v.Text(), "all of it is there and true; 1 leftover may go: knowledge gc") {
		t.Errorf("status %d: %s", v.ExitStatus(), v.Text())
	}
	v.Findings = append(v.Findings, verify.Finding{Status: verify.Damaged})
	if v.ExitStatus() != 7 {
		t.Errorf("status %d", v.ExitStatus())
	}
}

// TestHintOfALargeFolder: what refuses a folder says what indexes it all the
// same, as one line that a shell takes as it is, with the name that was given.
func TestHintOfALargeFolder(t *testing.T) {
	home := filepath.Join(t.TempDir(), "my home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	err := app.RefuseLarge(t.Context(), kb.Spec{Kind: kb.KindFolder, Source: home})
	var e *kb.Error
	if !errors.As(err, &e) || !strings.HasSuffix(e.Hint, ": knowledge store:create --yes --source "+kb.ShellWord(home)) {
		t.Errorf("the hint of %v is %q", err, e.Hint)
	}
}
