package app_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

func TestFirstSearchIndexesTheProjectAndFollowsEdits(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/conf/duration.go", producttest.Parser)
	a := s.In("p", true)
	r := s.Search(a, search.Request{Query: "how is a duration parsed"}, app.Scope{})
	if len(r.Hits) == 0 || r.Hits[0].At != "conf/duration.go:L3-9" || !strings.Contains(r.Hits[0].Code, "ParseDuration") {
		t.Fatalf("got %+v", r)
	}
	c, err := find.ByID(t.Context(), a, r.Hits[0].ID)
	if err != nil || c.Code != strings.TrimSuffix(producttest.Parser[len("package conf\n\n"):], "\n") || c.Start != 3 || c.End != 9 {
		t.Errorf("got %+v, %v", c, err)
	}
	s.Write("p/conf/zebra.go", "package conf\n\nfunc Zebra() {}\n")
	if r := s.Search(a, search.Request{Query: "Zebra"}, app.Scope{}); len(r.Hits) == 0 || !strings.HasPrefix(r.Hits[0].At, "conf/zebra.go") {
		t.Errorf("an edit is not found: %+v", r)
	}
	// Where a look takes long there is none at every search: that is said, and a
	// hit says that it is out of date.
	s.Write("p/conf/zebra.go", "package conf\n\nfunc Zebra() { println() }\n")
	producttest.MustOpen(t, a).Library.Saw(kb.StoreID(producttest.MustInfo(t, a, ".").ID), time.Now(), time.Minute)
	r = s.Search(a, search.Request{Query: "Zebra"}, app.Scope{})
	if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Note, "changed since indexing") {
		t.Errorf("got %+v", r)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "was last compared with its folder at") || !strings.Contains(r.Notes[0], `store:index {"store":"p"}`) {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestFoldersOutsideProjectsAreForPersonsOnly(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("loose/a.txt", "alpha beta\n")
	a := s.In("loose", false)
	if _, err := find.Search(t.Context(), a, search.Request{Query: "alpha"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}}); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
	if r := s.Search(a, search.Request{Query: "alpha"}, app.Scope{Waiting: app.Waiting{Person: true}}); len(r.Hits) != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestNamesBelongToProjects(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("lib1/a.txt", "apple\n")
	s.Write("lib2/a.txt", "banana\n")
	one, two := s.In("one", true), s.In("two", true)
	s.Create(one, app.CreateStore{Name: "lib", Source: filepath.Join(s.Root, "lib1")})
	s.Create(two, app.CreateStore{Name: "lib", Source: filepath.Join(s.Root, "lib2")})
	for a, word := range map[*app.App]string{one: "apple", two: "banana"} {
		if r := s.Search(a, search.Request{Query: "apple banana"}, app.Scope{Stores: []string{"lib"}}); len(r.Hits) != 1 || !strings.Contains(r.Hits[0].Code, word) {
			t.Errorf("%s: got %+v", word, r)
		}
	}
	if _, err := one.CreateStore(t.Context(), app.CreateStore{Name: "lib", Source: filepath.Join(s.Root, "lib2")}); kb.CodeOf(err) != kb.Exists {
		t.Errorf("one name for two stores: %v", err)
	}
	// A store that two projects hold survives the first deletion.
	s.Create(one, app.CreateStore{Name: "other", Source: filepath.Join(s.Root, "lib2")})
	d, err := two.DeleteStore(t.Context(), "lib", false)
	if err != nil || d.Removed || len(d.UsedBy) != 1 {
		t.Errorf("got %+v, %v", d, err)
	}
	d, err = one.DeleteStore(t.Context(), "other", false)
	if err != nil || !d.Removed {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, err := one.StoreInfo(t.Context(), "other"); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("got %v", err)
	}
	s.Create(one, app.CreateStore{Name: "lib3", Source: filepath.Join(s.Root, "lib2")})
	if r := s.Search(one, search.Request{Query: "banana"}, app.Scope{Stores: []string{"*"}}); len(r.Hits) != 1 {
		t.Errorf("made again: %+v", r)
	}
}

func TestDeletingTheLastStoreLeavesNoFiles(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("lib/a.txt", "apple\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "lib", Source: filepath.Join(s.Root, "lib")})
	if _, err := a.DeleteStore(t.Context(), "lib", false); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"segments", "generations"} {
		if files, _ := os.ReadDir(filepath.Join(s.Data, dir)); len(files) > 0 {
			t.Errorf("%s holds %v", dir, files)
		}
	}
}

func TestReadFilesGrep(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("lib/a.txt", "one\ntwo apple\nthree\n")
	s.Write("lib/c.go", "package c\n\nfunc (s *Server) Close() {}\n")
	s.Write("lib/sub/b.md", "# B\n\napple pie\r\nApple\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "lib", Source: filepath.Join(s.Root, "lib")})
	ctx := t.Context()
	reads := map[string]string{"": "one\ntwo apple\nthree", "2": "two apple", "2-": "two apple\nthree", "-2": "one\ntwo apple", "1-99": "one\ntwo apple\nthree"}
	for lines, want := range reads {
		if r, err := find.Read(ctx, a, "lib", "a.txt", lines, app.Waiting{}); err != nil || r.Text != want || r.Lines != 3 {
			t.Errorf("Read(%q) = %+v, %v", lines, r, err)
		}
	}
	for _, lines := range []string{"0", "x", "3-2", "-", "4", "1-2-3"} {
		if _, err := find.Read(ctx, a, "lib", "a.txt", lines, app.Waiting{}); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("Read(%q): %v", lines, err)
		}
	}
	if _, err := find.Read(ctx, a, "lib", "../../etc/passwd", "", app.Waiting{}); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("got %v", err)
	}
	globs := map[string]int{"": 3, "*.md": 1, "sub/*": 1, "*": 3, "sub/**": 1, "**/b.md": 1, "a.[!t]xt": 0, "a.[st]xt": 1, "[a-b].*": 2, "s?b/b.md": 1, "nope": 0}
	for glob, want := range globs {
		if r, err := find.Files(ctx, a, "lib", glob, 0, app.Waiting{}); err != nil || r.Total != want {
			t.Errorf("Files(%q) = %+v, %v; want %d", glob, r, err, want)
		}
	}
	g, err := find.Grep(ctx, a, "lib", "^.*apple", "", true, 0, app.Waiting{})
	want := []find.GrepMatch{{Path: "a.txt", Line: 2, Text: "two apple"}, {Path: "sub/b.md", Line: 3, Text: "apple pie"}, {Path: "sub/b.md", Line: 4, Text: "Apple"}}
	if diff := cmp.Diff(want, g.Matches); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	// A line of code as it stands is no regular expression that matches itself.
	for _, p := range []string{"func (s *Server) Close", "FUNC (S *SERVER)"} {
		g, err := find.Grep(ctx, a, "lib", p, "", p == strings.ToUpper(p), 0, app.Waiting{})
		if want := []find.GrepMatch{{Path: "c.go", Line: 3, Text: "func (s *Server) Close() {}"}}; err != nil || !slices.Equal(g.Matches, want) ||
			!strings.Contains(g.Note, "literally") || !strings.Contains(g.Note, regexp.QuoteMeta(p)) {
			t.Errorf("%s: %+v, %v", p, g, err)
		}
	}
	if g, err := find.Grep(ctx, a, "lib", "nobody (here)", "", false, 0, app.Waiting{}); err != nil || g.Total != 0 || strings.Contains(g.Note, "literally") {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := find.Grep(ctx, a, "lib", "(", "", false, 0, app.Waiting{}); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
	if g, err := find.Grep(ctx, a, "lib", "", "", false, 0, app.Waiting{}); err == nil {
		t.Errorf("got %+v", g)
	}
}

func TestBadRequestsSayWhatToDo(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.txt", "alpha\n")
	a := s.In("p", true)
	ctx := t.Context()
	calls := map[string]func() error{
		"empty query": func() error { _, err := find.Search(ctx, a, search.Request{Query: " "}, app.Scope{}); return err },
		"signs only": func() error {
			_, err := find.Search(ctx, a, search.Request{Query: "?!"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
			return err
		},
		"not UTF-8": func() error { _, err := find.Search(ctx, a, search.Request{Query: "a\xff"}, app.Scope{}); return err },
		"mode": func() error {
			_, err := find.Search(ctx, a, search.Request{Query: "a", Mode: "magic"}, app.Scope{})
			return err
		},
		"limit": func() error {
			_, err := find.Search(ctx, a, search.Request{Query: "a", Limit: -1}, app.Scope{})
			return err
		},
		"missing store": func() error {
			_, err := find.Search(ctx, a, search.Request{Query: "a"}, app.Scope{Stores: []string{"nope"}})
			return err
		},
		"bad id":      func() error { _, err := find.ByID(ctx, a, "x"); return err },
		"unknown id":  func() error { _, err := find.ByID(ctx, a, "aaaaaaaaaaa"); return err },
		"missing job": func() error { _, err := a.Job(ctx, "nope"); return err },
		"web store": func() error {
			_, err := a.CreateStore(ctx, app.CreateStore{Kind: kb.KindWeb, Source: "http://127.0.0.1/"})
			return err
		},
		"two refs": func() error {
			_, err := a.CreateStore(ctx, app.CreateStore{Source: "https://x.org/y", Branch: "a", Tag: "b"})
			return err
		},
		"no folder": func() error { _, err := a.CreateStore(ctx, app.CreateStore{Source: "/nope/nope"}); return err },
		"root":      func() error { _, err := a.CreateStore(ctx, app.CreateStore{Source: "/"}); return err },
		"name": func() error {
			_, err := a.CreateStore(ctx, app.CreateStore{Name: "a b", Source: filepath.Join(s.Root, "p")})
			return err
		},
		"trust": func() error { _, err := a.Trust(ctx, "nope", false); return err },
	}
	for name, call := range calls {
		err := call()
		if err == nil || kb.CodeOf(err) == kb.Internal || kb.HintOf(err) == "" || strings.ContainsAny(err.Error(), "{\n") {
			t.Errorf("%s: %v (%s; %s)", name, err, kb.CodeOf(err), kb.HintOf(err))
		}
	}
	if r := s.Search(a, search.Request{Query: "alpha"}, app.Scope{}); len(r.Hits) != 1 {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestDeadRepositoryFailsItsJobAndIsSaid(t *testing.T) {
	s := producttest.NewSite(t)
	a := s.Configured("p", "web: {allow: [\"127.0.0.1:1\"]}\n", nil)
	j := s.Create(a, app.CreateStore{Name: "dead", Source: "http://127.0.0.1:1/x/y"})
	if j.State != kb.JobFailed || j.Message == "" || j.Hint == "" {
		t.Errorf("got %+v", j)
	}
	// Nothing is left that every later search would tell of.
	if l, err := a.Stores(t.Context(), "", true); err != nil || len(l.Stores) != 0 {
		t.Errorf("got %+v, %v", l, err)
	}
	if _, err := a.StoreInfo(t.Context(), "dead"); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestEnginesAnswerAlike(t *testing.T) {
	s := producttest.NewSite(t)
	for i := range 30 {
		s.Write(fmt.Sprintf("p/f%d.go", i), strings.ReplaceAll(producttest.Parser, "Duration", fmt.Sprint("Value", i)))
	}
	flat := s.In("p", true)
	want := s.Search(flat, search.Request{Query: "parse value", Detail: "full"}, app.Scope{})
	chromem, err := app.New(app.Config{DataDir: s.Data, Project: filepath.Join(s.Root, "p"), Dir: s.Root, Engine: "chromem", Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer chromem.Close()
	got := s.Search(chromem, search.Request{Query: "parse value", Detail: "full"}, app.Scope{})
	want.Ms, got.Ms = 0, 0
	if diff := cmp.Diff(want, got); diff != "" || len(want.Hits) == 0 {
		t.Errorf("(-flat +chromem)\n%s", diff)
	}
	if _, err := app.New(app.Config{Engine: "faiss", Dir: s.Root}); kb.CodeOf(err) != kb.Invalid || !strings.Contains(kb.HintOf(err), "chromem") {
		t.Errorf("got %v", err)
	}
}

func TestClosedAppSaysSo(t *testing.T) {
	s := producttest.NewSite(t)
	a := s.In("p", true)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Stores(context.Background(), "", false); kb.CodeOf(err) != kb.Canceled {
		t.Errorf("got %v", err)
	}
}

// A long text is read as far as a query goes, and the reply says so.
func TestLongQuery(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.txt", "alpha\n")
	a := s.In("p", true)
	r := s.Search(a, search.Request{Query: "alpha " + strings.Repeat("x ", 1<<19)}, app.Scope{})
	if len(r.Hits) != 1 || len(r.Notes) == 0 {
		t.Errorf("%+v", r)
	}
}
