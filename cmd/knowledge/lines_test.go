package main

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
)

// origin is a git repository that tests make.
type origin struct {
	t    testing.TB
	dir  string
	repo *git.Repository
}

func newOrigin(t testing.TB, dir string) *origin {
	t.Helper()
	repo, err := git.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	return &origin{t, dir, repo}
}

// commit records the work tree as it stands.
func (o *origin) commit() string {
	o.t.Helper()
	tree, err := o.repo.Worktree()
	if err == nil {
		err = tree.AddWithOptions(&git.AddOptions{All: true})
	}
	if err != nil {
		o.t.Fatal(err)
	}
	who := &object.Signature{Name: "t", Email: "t@example.org", When: time.Unix(1e9, 0)}
	h, err := tree.Commit("change", &git.CommitOptions{Author: who, Committer: who})
	if err != nil {
		o.t.Fatal(err)
	}
	return h.String()
}

// serve serves the repository over smart HTTP; where git's backend is missing
// it returns the path instead. wrap, if not nil, sees requests first.
func (o *origin) serve(wrap func(http.Handler) http.Handler) (source string, remote bool) {
	o.t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		o.t.Logf("served from its path: there is no git: %v", err)
		return o.dir, false
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		o.t.Logf("served from its path: there is no HTTP backend of git: %v", err)
		return o.dir, false
	}
	var h http.Handler = &cgi.Handler{
		Path: backend, Stderr: os.Stderr, Env: []string{
			"GIT_PROJECT_ROOT=" + filepath.Dir(o.dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	if wrap != nil {
		h = wrap(h)
	}
	srv := httptest.NewServer(h)
	o.t.Cleanup(srv.Close)
	return srv.URL + "/" + filepath.Base(o.dir) + "/.git", true
}

// blobs returns how the text of a path at a commit is read, by go-git alone.
func blobs(t testing.TB, repo *git.Repository, commit string) func(path string) string {
	t.Helper()
	c, err := repo.CommitObject(plumbing.NewHash(commit))
	if err != nil {
		t.Fatalf("commit %s: %v", commit, err)
	}
	return func(path string) string {
		t.Helper()
		f, err := c.File(path)
		if err != nil {
			t.Fatalf("%s at %s: %v", path, commit, err)
		}
		text, err := f.Contents()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

var part = regexp.MustCompile(`:L(\d+):c(\d+)-(\d+)$`)

// trueLines checks a place, and all it goes on to, against the text.
func trueLines(t testing.TB, a *agent, c find.Context, text func(path string) string) {
	t.Helper()
	for {
		all := strings.Split(decoded(text(c.Path)), "\n")
		switch {
		case c.Start < 1 || c.End < c.Start || c.End > len(all):
			t.Errorf("%s: lines %d to %d of %d", c.At, c.Start, c.End, len(all))
			return
		case part.MatchString(c.At):
			if c.Start != c.End || c.Code == "" || !strings.Contains(all[c.Start-1]+"\n", c.Code) {
				t.Errorf("%s: %.80q is no part of the line", c.At, c.Code)
			}
		default:
			if want := strings.Join(all[c.Start-1:c.End], "\n"); c.Code != want {
				t.Errorf("%s: the reply's lines are not the text's:\n%.300q\n%.300q", c.At, c.Code, want)
			}
		}
		for _, o := range c.Others {
			trueLines(t, a, o, text)
		}
		if c.Next == "" {
			return
		}
		next := a.show(c.Next)
		if next.Path != c.Path || next.Start != c.End+1 {
			t.Errorf("%s goes on at %s", c.At, next.At)
			return
		}
		c = next
	}
}

// decoded is text as the program shows it: UTF-8 without its mark, and what
// is not UTF-8 taken for windows-1252 (as far as that is Latin-1).
func decoded(text string) string {
	if !utf8.ValidString(text) {
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	}
	return strings.TrimPrefix(text, "\ufeff")
}

// trueHits asks questions and checks the lines of every hit, as found and in
// full. It returns how many hits it saw.
func trueHits(t testing.TB, a *agent, stores []string, questions []string, text func(path string) string) int {
	t.Helper()
	n := 0
	for i, q := range questions {
		detail := []string{"minimal", "contextual", "full"}[i%3]
		r := a.search(obj{"query": q, "stores": stores, "detail": detail})
		for _, h := range r.Hits {
			n++
			c := a.show(h.ID)
			if c.ID != h.ID || !strings.HasPrefix(h.At, c.Path+":L") || c.Store != h.Store || c.Note != "" {
				t.Errorf("hit %+v is shown as %s %s in %s, note %q", h, c.ID, c.At, c.Store, c.Note)
			}
			trueLines(t, a, c, text)
			trueCode(t, h, text(c.Path))
		}
	}
	return n
}

// trueCode checks the lines that a hit shows, of which long ones are cut.
func trueCode(t testing.TB, h find.Hit, text string) {
	t.Helper()
	all := strings.Split(decoded(text), "\n")
	for i, l := range strings.Split(h.Code, "\n") {
		at := h.Line + i
		if at < 1 || at > len(all) {
			t.Errorf("%s shows a line %d of %d", h.At, at, len(all))
			return
		}
		head, cut := strings.CutSuffix(l, "…")
		want := strings.TrimRight(all[at-1], " \t\r")
		if part.MatchString(h.At) {
			if !strings.Contains(all[at-1], head) {
				t.Errorf("%s shows %q, which is no part of the line", h.At, l)
			}
		} else if l != want && !(cut && strings.HasPrefix(want, head)) {
			t.Errorf("%s shows %q as line %d, which is %q", h.At, l, at, want)
		}
	}
}

// TestRepository is the main job: an agent makes a store of a repository and
// reads in it; every line stands in the blob at the commit that is named.
func TestRepository(t *testing.T) {
	t.Parallel()
	for _, era := range []struct {
		name   string
		modern bool
	}{{"2025-11-25", false}, {"2026-07-28", true}} {
		t.Run(era.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			material := goSources(t, large...).and(oddities())
			if era.modern {
				material = goSources(t, small...).and(oddities())
			}
			dir := w.dir("upstream")
			o := newOrigin(t, dir)
			material.write(t, dir)
			first := o.commit()
			if _, err := o.repo.CreateTag("v1", plumbing.NewHash(first), nil); err != nil {
				t.Fatal(err)
			}
			source, _ := o.serve(nil)
			w.opens(source)

			a := w.agentOf(era.modern, w.dir("project"))
			var tools struct{ Tools []struct{ Name string } }
			a.request(&tools, "tools/list", map[string]any{})
			if len(tools.Tools) != 3 {
				t.Fatalf("tools: %+v", tools)
			}
			s, j := a.index("store:create", obj{"name": "upstream", "type": "repo", "source": source})
			t.Logf("%d documents, %d bytes: %s", len(material), material.bytes(), j.Message)
			checkRepo(t, a, s, o.repo, first, questions)

			// The upstream goes on; the store follows, and a tag stays.
			write(t, dir, "odd/sections.md", []byte("# Brewing\n\nsteep the oolong for five minutes, says the second edition\n"))
			write(t, dir, "odd/added.go", []byte("package odd\n\n// Zeppelin floats.\nfunc Zeppelin() {}\n"))
			if err := os.Remove(filepath.Join(dir, "odd", "blank.txt")); err != nil {
				t.Fatal(err)
			}
			second := o.commit()
			a.index("store:create", obj{"name": "pinned", "source": source, "type": "repo", "tag": "v1"})
			s, _ = a.index("store:index", obj{"store": "upstream"})
			checkRepo(t, a, s, o.repo, second, append([]string{"Zeppelin"}, questions[:6]...))
			blob := blobs(t, o.repo, second)
			r := a.search(obj{"query": "Zeppelin floats", "stores": []string{"upstream"}})
			if len(r.Hits) == 0 || !strings.HasPrefix(r.Hits[0].At, "odd/added.go:") {
				t.Errorf("the second commit is not found: %+v", r.Hits)
			} else {
				trueLines(t, a, a.show(r.Hits[0].ID), blob)
			}
			if n := trueHits(t, a, []string{"pinned"}, []string{"steep the oolong", "quokka sleeps"}, blobs(t, o.repo, first)); n == 0 {
				t.Error("nothing is found at the tag")
			}
		})
	}
}

// checkRepo checks the commit that is named everywhere, and true lines.
func checkRepo(t testing.TB, a *agent, s app.Started, repo *git.Repository, commit string, questions []string) {
	t.Helper()
	var info app.StoreInfo
	a.execute(&info, "store:info", obj{"store": s.ID})
	if info.Commit != commit || info.Status != "ready" || info.Documents == 0 || info.Chunks == 0 {
		t.Errorf("store:info: %+v, want commit %s", info, commit)
	}
	r := a.search(obj{"query": questions[0], "stores": []string{s.ID}})
	for _, h := range r.Hits {
		if !strings.HasSuffix(h.Store, "@"+commit[:7]) {
			t.Errorf("a hit cites store %q, want commit %s", h.Store, commit)
		}
		if c := a.show(h.ID); c.Commit != commit {
			t.Errorf("%s is of commit %s, want %s", h.ID, c.Commit, commit)
		}
	}
	if n := trueHits(t, a, []string{s.ID}, questions, blobs(t, repo, commit)); n < len(questions) {
		t.Errorf("%d hits for %d questions", n, len(questions))
	}
}

// TestOwnRepository is the same on a repository of one's own choice.
func TestOwnRepository(t *testing.T) {
	source := os.Getenv("KNOWLEDGE_E2E_REPO")
	if source == "" {
		t.Skip("KNOWLEDGE_E2E_REPO names no repository")
	}
	w := newWorld(t)
	if p, ok := os.LookupEnv("SSH_AUTH_SOCK"); ok {
		w = w.with("SSH_AUTH_SOCK=" + p)
	}
	a := w.agentOf(true, w.dir("project"))
	began := time.Now()
	s, j := a.index("store:create", obj{"name": "own", "type": "repo", "source": source})
	t.Logf("%.1f s: %s", time.Since(began).Seconds(), j.Message)
	var info app.StoreInfo
	a.execute(&info, "store:info", obj{"store": s.ID})
	repo, err := git.PlainOpen(source)
	if err != nil {
		repo, err = git.PlainClone(filepath.Join(w.root, "clone"), true, &git.CloneOptions{URL: source, Depth: 1, Tags: git.NoTags, SingleBranch: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Head()
	if err != nil {
		t.Fatal(err)
	}
	blob := blobs(t, repo, info.Commit)
	if info.Commit != head.Hash().String() {
		t.Errorf("indexed %s, and HEAD is %s", info.Commit, head.Hash())
	}
	var files find.FileList
	a.execute(&files, "files", obj{"store": s.ID, "limit": 5000})
	asked := questionsFrom(files.Files, blob)
	n := trueHits(t, a, []string{s.ID}, asked, blob)
	t.Logf("%d documents, %d questions, %d hits with true lines", info.Documents, len(asked), n)
	if n == 0 {
		t.Error("nothing is found")
	}
}

// TestOwnFolder is the same on a folder of one's own choice.
func TestOwnFolder(t *testing.T) {
	dir := os.Getenv("KNOWLEDGE_E2E_FOLDER")
	if dir == "" {
		t.Skip("KNOWLEDGE_E2E_FOLDER names no folder")
	}
	w := newWorld(t)
	a := w.agent(w.dir("project"))
	began := time.Now()
	s, j := a.index("store:create", obj{"name": "own", "type": "file", "source": dir})
	t.Logf("%.1f s: %s", time.Since(began).Seconds(), j.Message)
	var files find.FileList
	a.execute(&files, "files", obj{"store": s.ID, "limit": 5000})
	text := func(p string) string { return read(t, dir, p) }
	asked := questionsFrom(files.Files, text)
	n := trueHits(t, a, []string{s.ID}, asked, text)
	t.Logf("%d documents, %d questions, %d hits with true lines", files.Total, len(asked), n)
	if n == 0 {
		t.Error("nothing is found")
	}
}

var longWord = regexp.MustCompile(`[A-Za-z_]{9,40}`)

// questionsFrom takes three words out of the middle of every so many files.
func questionsFrom(paths []string, text func(string) string) []string {
	out := []string{"how are errors handled", "read the configuration"}
	for i := 0; i < len(paths); i += max(1, len(paths)/60) {
		words := longWord.FindAllString(text(paths[i]), -1)
		if n := len(words); n > 2 {
			out = append(out, strings.Join(words[n/2:min(n/2+3, n)], " "))
		}
	}
	return out
}
