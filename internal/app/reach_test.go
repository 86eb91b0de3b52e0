package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// reaching is an App in a project p of a site, with a neighbour that is
// nobody's business, and a function that asks as an agent does.
func reaching(t *testing.T, config string, env map[string]string) (*producttest.Site, *app.App, func(source string, kind kb.Kind) error) {
	t.Helper()
	s := producttest.NewSite(t)
	s.Write("p/docs/a.md", "# A\n\nturn the crank\n")
	s.Write("secret/keys.md", "# Keys\n\nunder the doormat\n")
	a := s.Configured("p", strings.ReplaceAll(config, "ROOT", filepath.ToSlash(s.Root)), env)
	n := 0
	return s, a, func(source string, kind kb.Kind) error {
		n++
		_, err := a.CreateStore(t.Context(), app.CreateStore{Name: fmt.Sprintf("s%d", n), Source: source, Kind: kind, Agent: true})
		return err
	}
}

// TestReach: what an agent may have indexed without a person's word, and what
// it hears of the rest.
func TestReach(t *testing.T) {
	s, a, ask := reaching(t, "", nil)
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(filepath.Join(s.Root, to), filepath.Join(s.Root, at)); err != nil {
			t.Skip(err)
		}
	}
	link("secret", "p/out")
	link("p/docs", "in")
	for _, src := range []string{".", "docs", "./docs/../docs", filepath.Join(s.Root, "p"), filepath.Join(s.Root, "in"), "../p/docs"} {
		if err := ask(src, ""); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
	said := map[string]bool{}
	for _, src := range []string{"../secret", "out", "docs/../../secret", filepath.Join(s.Root, "secret"), filepath.Join(s.Root, "secret/keys.md"),
		filepath.Join(s.Root, "none"), filepath.Join(s.Root, "none/at/all"), "/", "~", filepath.Join(s.Root, "p2")} {
		for _, kind := range []kb.Kind{"", kb.KindFolder, kb.KindRepo} {
			err := ask(src, kind)
			if kb.CodeOf(err) != kb.Denied {
				t.Fatalf("%s as %q: %v", src, kind, err)
			}
			if hint := kb.HintOf(err); !strings.Contains(hint, "ask your user") || strings.Contains(hint, "knowledge ") {
				t.Errorf("%s: the hint %q", src, hint)
			}
			_, rest, _ := strings.Cut(err.Error(), "\" ")
			said[rest] = true
		}
	}
	if len(said) != 1 {
		t.Errorf("what is there is told from what is not: %v", said)
	}
	// A person at a shell names what they like, and what is there already stays.
	old, err := a.CreateStore(t.Context(), app.CreateStore{Name: "old", Source: "../secret"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.WaitJob(t.Context(), old.Job); err != nil {
		t.Fatal(err)
	}
	if r := s.Search(a, search.Request{Query: "doormat"}, app.Scope{Stores: []string{"old"}}); len(r.Hits) != 1 {
		t.Errorf("a store from before: %+v", r)
	}
	if err := ask("../secret", ""); err != nil {
		t.Errorf("a store that is in scope already: %v", err)
	}
}

// TestReachByWord: a person's word, in the configuration, the environment or
// on a terminal, opens a folder with what lies below it and nothing beside it.
func TestReachByWord(t *testing.T) {
	s, _, ask := reaching(t, "trust: {paths: [ROOT/shared, ROOT/missing]}\n", map[string]string{"KNOWLEDGE_TRUST_PATHS": "../one" + string(os.PathListSeparator) + "../two/three"})
	for _, dir := range []string{"shared/deep", "sharedness", "one", "two/three", "two/four"} {
		s.Write(dir+"/a.md", "# A\n")
	}
	for src, ok := range map[string]bool{"../shared": true, "../shared/deep": true, "../sharedness": false, "../one": true, "../two": false, "../two/three": true, "../two/four": false} {
		if err := ask(src, ""); (err == nil) != ok {
			t.Errorf("%s: %v", src, err)
		}
	}

	s, a, ask := reaching(t, "", nil)
	s.Write("beside/deep/a.md", "# A\n")
	said, err := a.Trust(t.Context(), "../beside", false)
	if err != nil || !strings.Contains(said, filepath.Join(s.Root, "beside")) {
		t.Fatalf("%q, %v", said, err)
	}
	if err := ask("../beside/deep", ""); err != nil {
		t.Error(err)
	}
	if err := ask("../secret", ""); kb.CodeOf(err) != kb.Denied {
		t.Errorf("what lies beside it: %v", err)
	}
	if _, err := a.Trust(t.Context(), "../beside", true); err != nil {
		t.Error(err)
	}
	s.Write("beside/other/a.md", "# A\n")
	if err := ask("../beside/other", ""); kb.CodeOf(err) != kb.Denied {
		t.Errorf("after it was taken back: %v", err)
	}
	for _, path := range []string{"/", s.Root + "/none"} {
		if _, err := a.Trust(t.Context(), path, false); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestReachOfHome: a home directory that is a project gives what it is not
// asked for to nobody; a folder in it that is worked in gives itself.
func TestReachOfHome(t *testing.T) {
	s := producttest.NewSite(t)
	t.Setenv("HOME", filepath.Join(s.Root, "home"))
	t.Setenv("USERPROFILE", filepath.Join(s.Root, "home"))
	s.Write("home/.ssh/config.md", "# Host\n")
	s.Write("home/work/a.md", "# A\n")
	a, err := app.New(app.Config{DataDir: s.Data, Dir: filepath.Join(s.Root, "home", "work"), Project: filepath.Join(s.Root, "home"), Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.CreateStore(t.Context(), app.CreateStore{Name: "ssh", Source: "../.ssh", Agent: true}); kb.CodeOf(err) != kb.Denied {
		t.Errorf("a folder of the home directory: %v", err)
	}
	if _, err := a.CreateStore(t.Context(), app.CreateStore{Name: "work", Source: ".", Agent: true}); err != nil {
		t.Errorf("the working directory: %v", err)
	}
}

// gitDir makes what passes for a repository's directory, with one commit's refs missing.
func gitDir(s *producttest.Site, at string) {
	s.Write(at+"/HEAD", "ref: refs/heads/main\n")
	s.Write(at+"/config", "[core]\n\trepositoryformatversion = 0\n")
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(s.Root, filepath.FromSlash(at), d), 0o755); err != nil {
			s.Fatal(err)
		}
	}
}

// TestReachOfRepositories: the other work trees of the project are the
// project's, and a folder that only claims to be one is not, nor is a
// repository inside the project that takes its objects from outside.
func TestReachOfRepositories(t *testing.T) {
	s, _, ask := reaching(t, "", nil)
	gitDir(s, "p/.git")
	tree := func(at, name string, knows bool) {
		s.Write("p/.git/worktrees/"+name+"/HEAD", "ref: refs/heads/x\n")
		s.Write("p/.git/worktrees/"+name+"/commondir", "../..\n")
		s.Write("p/.git/worktrees/"+name+"/gitdir", filepath.Join(s.Root, at, ".git")+"\n")
		s.Write(at+"/a.md", "# A\n")
		if knows {
			s.Write(at+"/.git", "gitdir: "+filepath.Join(s.Root, "p/.git/worktrees", name)+"\n")
		}
	}
	tree("tree", "one", true)
	tree("stranger", "two", false) // p says that it is one; the folder knows nothing of it
	if err := ask("../tree", ""); err != nil {
		t.Errorf("another work tree: %v", err)
	}
	if err := ask("../stranger", ""); kb.CodeOf(err) != kb.Denied {
		t.Errorf("a folder that a repository claims: %v", err)
	}
	gitDir(s, "private/.git")
	s.Write("p/sub/.git", "gitdir: ../../private/.git\n")
	gitDir(s, "p/common/.git")
	s.Write("p/common/.git/commondir", "../../../private/.git\n")
	gitDir(s, "p/borrows/.git")
	s.Write("p/borrows/.git/objects/info/alternates", filepath.Join(s.Root, "private/.git/objects")+"\n")
	gitDir(s, "p/honest/.git")
	for src, ok := range map[string]bool{"sub": false, "common": false, "borrows": false, "honest": true} {
		if err := ask(src, kb.KindRepo); (kb.CodeOf(err) == kb.Denied) == ok {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// TestTrustWhatWasShown: what was put in a file's place while a person read it
// is not what they vouch for.
func TestTrustWhatWasShown(t *testing.T) {
	s, a, _ := reaching(t, "", nil)
	s.Write("p/f.json", "harmless")
	if subject, err := a.TrustSubject(t.Context(), "f.json"); err != nil || subject.Text != "harmless" {
		t.Fatalf("%+v, %v", subject, err)
	}
	s.Write("p/f.json", "harmful")
	if _, err := a.Trust(t.Context(), "f.json", false); kb.CodeOf(err) != kb.Busy {
		t.Errorf("%v", err)
	}
}

// TestOwnRulesNeedAWord: what looks like a secret is kept by a project's
// .knowledgeignore only while the user vouches for the file as it is.
func TestOwnRulesNeedAWord(t *testing.T) {
	s, a, _ := reaching(t, "", nil)
	s.Write("p/.env", "ZEBRA=1\n")
	s.Write("p/.knowledgeignore", "!.env\n")
	index := func() (notes string, found bool) {
		t.Helper()
		j, err := a.IndexStore(t.Context(), ".", false)
		if err == nil {
			_, err = a.WaitJob(t.Context(), j.Job)
		}
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(producttest.MustInfo(t, a, ".").Notes, "; "), holds(t, a, "ZEBRA")
	}
	s.Search(a, search.Request{Query: "zebra"}, app.Scope{})
	if notes, found := index(); found || !strings.Contains(notes, `although .knowledgeignore keeps them: ".env"`) {
		t.Errorf("without a word: %v, %q", found, notes)
	}
	if said, err := a.Trust(t.Context(), ".knowledgeignore", false); err != nil || !strings.Contains(said, "store:index") {
		t.Fatalf("%q, %v", said, err)
	}
	if notes, found := index(); !found || !strings.Contains(notes, `kept by .knowledgeignore: ".env"`) {
		t.Errorf("with it: %v, %q", found, notes)
	}
	s.Write("p/.knowledgeignore", "!.env\n!other.env\n")
	if notes, found := index(); found {
		t.Errorf("the file has changed since: %q", notes)
	}
}

// holds reports whether a line of the own folder, as it is indexed, has the text.
func holds(t *testing.T, a *app.App, text string) bool {
	t.Helper()
	g, err := find.Grep(t.Context(), a, ".", text, "", false, 0, app.Waiting{})
	return err == nil && len(g.Matches) > 0
}
