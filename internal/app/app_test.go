package app

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

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// site is a machine: a data directory and folders on it.
type site struct {
	*testing.T
	data, root string
}

func newSite(t *testing.T) *site {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &site{T: t, data: filepath.Join(root, "data"), root: root}
}

func (s *site) write(path, body string) {
	s.Helper()
	p := filepath.Join(s.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(body), 0o644); err != nil {
		s.Fatal(err)
	}
}

// in returns an App as a process started in dir has it; project makes dir one.
func (s *site) in(dir string, project bool) *App {
	s.Helper()
	dir = filepath.Join(s.root, dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.Fatal(err)
	}
	cfg := Config{Rooms: allRooms(), DataDir: s.data, Dir: dir, Env: func(string) string { return "" }}
	if project {
		cfg.Project = dir
	}
	a, err := New(cfg)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := a.Close(); err != nil {
			s.Error(err)
		}
	})
	return a
}

func (s *site) create(a *App, r CreateStore) kb.Job {
	s.Helper()
	st, err := a.CreateStore(s.Context(), r)
	if err != nil {
		s.Fatal(err)
	}
	j, err := a.WaitJob(s.Context(), st.Job)
	if err != nil {
		s.Fatal(err)
	}
	return j
}

func (s *site) search(a *App, r SearchRequest) SearchReply {
	s.Helper()
	r.Wait = time.Minute
	reply, err := a.Search(s.Context(), r)
	if err != nil {
		s.Fatal(err)
	}
	return reply
}

const parser = `package conf

// ParseDuration reads a length of time such as 90s.
func ParseDuration(s string) (int, error) {
	if s == "" {
		return 0, errEmpty
	}
	return atoi(s)
}
`

func TestFirstSearchIndexesTheProjectAndFollowsEdits(t *testing.T) {
	s := newSite(t)
	s.write("p/conf/duration.go", parser)
	a := s.in("p", true)
	r := s.search(a, SearchRequest{Query: "how is a duration parsed"})
	if len(r.Hits) == 0 || r.Hits[0].At != "conf/duration.go:L3-9" || !strings.Contains(r.Hits[0].Code, "ParseDuration") {
		t.Fatalf("got %+v", r)
	}
	c, err := a.Context(t.Context(), r.Hits[0].ID)
	if err != nil || c.Code != strings.TrimSuffix(parser[len("package conf\n\n"):], "\n") || c.Start != 3 || c.End != 9 {
		t.Errorf("got %+v, %v", c, err)
	}
	s.write("p/conf/zebra.go", "package conf\n\nfunc Zebra() {}\n")
	if r := s.search(a, SearchRequest{Query: "Zebra"}); len(r.Hits) == 0 || !strings.HasPrefix(r.Hits[0].At, "conf/zebra.go") {
		t.Errorf("an edit is not found: %+v", r)
	}
	// Where a look takes long there is none at every search: that is said, and a
	// hit says that it is out of date.
	s.write("p/conf/zebra.go", "package conf\n\nfunc Zebra() { println() }\n")
	a.core.library.saw(kb.StoreID(mustInfo(t, a, ".").ID), time.Now(), time.Minute)
	r = s.search(a, SearchRequest{Query: "Zebra"})
	if len(r.Hits) == 0 || !strings.Contains(r.Hits[0].Note, "changed since indexing") {
		t.Errorf("got %+v", r)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "was last compared with its folder at") || !strings.Contains(r.Notes[0], `store:index {"store":"p"}`) {
		t.Errorf("notes %q", r.Notes)
	}
}

func mustInfo(t *testing.T, a *App, store string) StoreInfo {
	t.Helper()
	i, err := a.StoreInfo(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestFoldersOutsideProjectsAreForPersonsOnly(t *testing.T) {
	s := newSite(t)
	s.write("loose/a.txt", "alpha beta\n")
	a := s.in("loose", false)
	if _, err := a.Search(t.Context(), SearchRequest{Query: "alpha", Wait: time.Minute}); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
	if r := s.search(a, SearchRequest{Query: "alpha", Person: true}); len(r.Hits) != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestNamesBelongToProjects(t *testing.T) {
	s := newSite(t)
	s.write("lib1/a.txt", "apple\n")
	s.write("lib2/a.txt", "banana\n")
	one, two := s.in("one", true), s.in("two", true)
	s.create(one, CreateStore{Name: "lib", Source: filepath.Join(s.root, "lib1")})
	s.create(two, CreateStore{Name: "lib", Source: filepath.Join(s.root, "lib2")})
	for a, word := range map[*App]string{one: "apple", two: "banana"} {
		if r := s.search(a, SearchRequest{Query: "apple banana", Stores: []string{"lib"}}); len(r.Hits) != 1 || !strings.Contains(r.Hits[0].Code, word) {
			t.Errorf("%s: got %+v", word, r)
		}
	}
	if _, err := one.CreateStore(t.Context(), CreateStore{Name: "lib", Source: filepath.Join(s.root, "lib2")}); kb.CodeOf(err) != kb.Exists {
		t.Errorf("one name for two stores: %v", err)
	}
	// A store that two projects hold survives the first deletion.
	s.create(one, CreateStore{Name: "other", Source: filepath.Join(s.root, "lib2")})
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
	s.create(one, CreateStore{Name: "lib3", Source: filepath.Join(s.root, "lib2")})
	if r := s.search(one, SearchRequest{Query: "banana", Stores: []string{"*"}}); len(r.Hits) != 1 {
		t.Errorf("made again: %+v", r)
	}
}

func TestDeletingTheLastStoreLeavesNoFiles(t *testing.T) {
	s := newSite(t)
	s.write("lib/a.txt", "apple\n")
	a := s.in("p", true)
	s.create(a, CreateStore{Name: "lib", Source: filepath.Join(s.root, "lib")})
	if _, err := a.DeleteStore(t.Context(), "lib", false); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"segments", "generations"} {
		if files, _ := os.ReadDir(filepath.Join(s.data, dir)); len(files) > 0 {
			t.Errorf("%s holds %v", dir, files)
		}
	}
}

func TestReadFilesGrep(t *testing.T) {
	s := newSite(t)
	s.write("lib/a.txt", "one\ntwo apple\nthree\n")
	s.write("lib/c.go", "package c\n\nfunc (s *Server) Close() {}\n")
	s.write("lib/sub/b.md", "# B\n\napple pie\r\nApple\n")
	a := s.in("p", true)
	s.create(a, CreateStore{Name: "lib", Source: filepath.Join(s.root, "lib")})
	ctx := t.Context()
	reads := map[string]string{"": "one\ntwo apple\nthree", "2": "two apple", "2-": "two apple\nthree", "-2": "one\ntwo apple", "1-99": "one\ntwo apple\nthree"}
	for lines, want := range reads {
		if r, err := a.Read(ctx, "lib", "a.txt", lines, Waiting{}); err != nil || r.Text != want || r.Lines != 3 {
			t.Errorf("Read(%q) = %+v, %v", lines, r, err)
		}
	}
	for _, lines := range []string{"0", "x", "3-2", "-", "4", "1-2-3"} {
		if _, err := a.Read(ctx, "lib", "a.txt", lines, Waiting{}); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("Read(%q): %v", lines, err)
		}
	}
	if _, err := a.Read(ctx, "lib", "../../etc/passwd", "", Waiting{}); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("got %v", err)
	}
	globs := map[string]int{"": 3, "*.md": 1, "sub/*": 1, "*": 3, "sub/**": 1, "**/b.md": 1, "a.[!t]xt": 0, "a.[st]xt": 1, "[a-b].*": 2, "s?b/b.md": 1, "nope": 0}
	for glob, want := range globs {
		if r, err := a.Files(ctx, "lib", glob, 0, Waiting{}); err != nil || r.Total != want {
			t.Errorf("Files(%q) = %+v, %v; want %d", glob, r, err, want)
		}
	}
	g, err := a.Grep(ctx, "lib", "^.*apple", "", true, 0, Waiting{})
	want := []GrepMatch{{"a.txt", 2, "two apple"}, {"sub/b.md", 3, "apple pie"}, {"sub/b.md", 4, "Apple"}}
	if diff := cmp.Diff(want, g.Matches); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	// A line of code as it stands is no regular expression that matches itself.
	for _, p := range []string{"func (s *Server) Close", "FUNC (S *SERVER)"} {
		g, err := a.Grep(ctx, "lib", p, "", p == strings.ToUpper(p), 0, Waiting{})
		if want := []GrepMatch{{"c.go", 3, "func (s *Server) Close() {}"}}; err != nil || !slices.Equal(g.Matches, want) ||
			!strings.Contains(g.Note, "literally") || !strings.Contains(g.Note, regexp.QuoteMeta(p)) {
			t.Errorf("%s: %+v, %v", p, g, err)
		}
	}
	if g, err := a.Grep(ctx, "lib", "nobody (here)", "", false, 0, Waiting{}); err != nil || g.Total != 0 || strings.Contains(g.Note, "literally") {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := a.Grep(ctx, "lib", "(", "", false, 0, Waiting{}); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
	if g, err := a.Grep(ctx, "lib", "", "", false, 0, Waiting{}); err == nil {
		t.Errorf("got %+v", g)
	}
}

func TestBadRequestsSayWhatToDo(t *testing.T) {
	s := newSite(t)
	s.write("p/a.txt", "alpha\n")
	a := s.in("p", true)
	ctx := t.Context()
	calls := map[string]func() error{
		"empty query": func() error { _, err := a.Search(ctx, SearchRequest{Query: " "}); return err },
		"signs only": func() error {
			_, err := a.Search(ctx, SearchRequest{Query: "?!", Wait: time.Minute})
			return err
		},
		"long query":    func() error { _, err := a.Search(ctx, SearchRequest{Query: strings.Repeat("x ", 1<<19)}); return err },
		"not UTF-8":     func() error { _, err := a.Search(ctx, SearchRequest{Query: "a\xff"}); return err },
		"mode":          func() error { _, err := a.Search(ctx, SearchRequest{Query: "a", Mode: "magic"}); return err },
		"limit":         func() error { _, err := a.Search(ctx, SearchRequest{Query: "a", Limit: -1}); return err },
		"missing store": func() error { _, err := a.Search(ctx, SearchRequest{Query: "a", Stores: []string{"nope"}}); return err },
		"bad id":        func() error { _, err := a.Context(ctx, "x"); return err },
		"unknown id":    func() error { _, err := a.Context(ctx, "aaaaaaaaaaa"); return err },
		"missing job":   func() error { _, err := a.Job(ctx, "nope"); return err },
		"web store": func() error {
			_, err := a.CreateStore(ctx, CreateStore{Kind: kb.KindWeb, Source: "http://127.0.0.1/"})
			return err
		},
		"two refs": func() error {
			_, err := a.CreateStore(ctx, CreateStore{Source: "https://x.org/y", Branch: "a", Tag: "b"})
			return err
		},
		"no folder": func() error { _, err := a.CreateStore(ctx, CreateStore{Source: "/nope/nope"}); return err },
		"root":      func() error { _, err := a.CreateStore(ctx, CreateStore{Source: "/"}); return err },
		"name": func() error {
			_, err := a.CreateStore(ctx, CreateStore{Name: "a b", Source: filepath.Join(s.root, "p")})
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
	if r := s.search(a, SearchRequest{Query: "alpha"}); len(r.Hits) != 1 {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestDeadRepositoryFailsItsJobAndIsSaid(t *testing.T) {
	s := newSite(t)
	a := s.configured("p", "web: {allow: [\"127.0.0.1:1\"]}\n", nil)
	j := s.create(a, CreateStore{Name: "dead", Source: "http://127.0.0.1:1/x/y"})
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
	s := newSite(t)
	for i := range 30 {
		s.write(fmt.Sprintf("p/f%d.go", i), strings.ReplaceAll(parser, "Duration", fmt.Sprint("Value", i)))
	}
	flat := s.in("p", true)
	want := s.search(flat, SearchRequest{Query: "parse value", Detail: "full"})
	chromem, err := New(Config{Rooms: allRooms(), DataDir: s.data, Project: filepath.Join(s.root, "p"), Dir: s.root, Engine: "chromem", Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer chromem.Close()
	got := s.search(chromem, SearchRequest{Query: "parse value", Detail: "full"})
	want.Ms, got.Ms = 0, 0
	if diff := cmp.Diff(want, got); diff != "" || len(want.Hits) == 0 {
		t.Errorf("(-flat +chromem)\n%s", diff)
	}
	if _, err := New(Config{Engine: "faiss", Dir: s.root}); kb.CodeOf(err) != kb.Invalid || !strings.Contains(kb.HintOf(err), "chromem") {
		t.Errorf("got %v", err)
	}
}

func TestClosedAppSaysSo(t *testing.T) {
	s := newSite(t)
	a := s.in("p", true)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Stores(context.Background(), "", false); kb.CodeOf(err) != kb.Canceled {
		t.Errorf("got %v", err)
	}
}
