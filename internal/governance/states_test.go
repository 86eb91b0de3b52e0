package governance_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/governance"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// box is a repository on branch feature/x with two commits and evidence that
// allows every stage.
type box struct {
	t      *testing.T
	root   string // of the work tree that is asked about
	git    string // the program
	folder string // .git
}

// fresh is evidence that every stage allows.
const fresh = `{"version":"2.1","timestamp":%q,"snapshot":{"stage":"PRE_COMMIT","outcome":"PASS","findings":[],
"rules_coverage":{"stage":"PRE_WRITE","counts":{"unevaluated":0},"coverage_ratio":1}},
"ai_gate":{"status":"ALLOWED"},"severity_metrics":{"gate_status":"ALLOWED"}}`

func (b *box) do(args ...string) { b.t.Helper(); b.in(b.root, args...) }

func (b *box) in(dir string, args ...string) {
	b.t.Helper()
	cmd := exec.Command(b.git, append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"), "HOME=" + filepath.Dir(b.root),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	if out, err := cmd.CombinedOutput(); err != nil && args[0] != "merge" {
		b.t.Fatalf("git %v: %v %s", args, err, out)
	}
}

// put writes a file of .git, or with a leading slash one of the work tree.
func (b *box) put(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.folder, filepath.FromSlash(name))
	if rest, ok := strings.CutPrefix(name, "/"); ok {
		path = filepath.Join(b.root, filepath.FromSlash(rest))
	}
	os.Remove(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// read returns a file of .git.
func (b *box) read(name string) string {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.folder, filepath.FromSlash(name)))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw)
}

// drop removes what .git has of a name.
func (b *box) drop(name string) {
	b.t.Helper()
	if err := os.RemoveAll(filepath.Join(b.folder, filepath.FromSlash(name))); err != nil {
		b.t.Fatal(err)
	}
}

// link puts a link in the place of a file of .git.
func (b *box) link(target, name string) {
	b.t.Helper()
	b.drop(name)
	if err := os.Symlink(target, filepath.Join(b.folder, name)); err != nil {
		b.t.Skip("no links here")
	}
}

// moved makes another work tree of the repository the one that is asked about.
func (b *box) moved(branch string) {
	b.t.Helper()
	away := filepath.Join(filepath.Dir(b.root), "away")
	b.do("worktree", "add", "-q", "--force", away, branch)
	if err := os.Rename(filepath.Join(b.root, evidence.Name), filepath.Join(away, evidence.Name)); err != nil {
		b.t.Fatal(err)
	}
	b.root = away
}

// anew begins a repository with options of git init, on a branch with one commit.
func (b *box) anew(branch string, options ...string) {
	b.t.Helper()
	b.drop("")
	b.do(append([]string{"init", "-q", "-b", branch}, options...)...)
	b.do("add", "a.txt")
	b.do("commit", "-qm", "1")
}

// sparse keeps whole folders out of the index.
func (b *box) sparse() {
	b.do("sparse-checkout", "init", "--cone", "--sparse-index")
	b.do("sparse-checkout", "set", "kept")
	b.do("sparse-checkout", "reapply", "--sparse-index")
}

// What a row expects: allowed, or BLOCKED with these codes.
const (
	allowed    = ""
	branch     = gate.ProtectedBranch
	unreadable = gate.StateUnreadable
	both       = unreadable + " " + branch
)

// states are ways in which a repository may stand: the first wanted verdict is
// that with an installed git, the second that without one. What git itself
// cannot read is never allowed, nor what cannot be read without git where
// there is none.
var states = []struct {
	name          string
	make          func(b *box)
	with, without string
}{
	// Read in both ways, and allowed.
	{"clean", func(*box) {}, allowed, allowed},
	{"changed", func(b *box) { b.put("/a.txt", "other\n") }, allowed, allowed},
	{"staged", func(b *box) { b.put("/new", "1\n"); b.do("add", "new") }, allowed, allowed},
	{"untracked", func(b *box) { b.put("/dir/new", "1\n") }, allowed, allowed},
	{"conflict", func(b *box) {
		b.do("checkout", "-qb", "other", "HEAD~1")
		b.put("/a.txt", "theirs\n")
		b.do("commit", "-qam", "theirs")
		b.do("merge", "feature/x")
	}, allowed, allowed},
	{"detached", func(b *box) { b.do("checkout", "-q", "--detach") }, allowed, allowed},
	{"unborn feature", func(b *box) { b.put("HEAD", "ref: refs/heads/feature/new\n") }, allowed, allowed},
	{"further work tree", func(b *box) { b.do("branch", "feature/y"); b.moved("feature/y") }, allowed, allowed},
	{"packed references", func(b *box) { b.do("pack-refs", "--all") }, allowed, allowed},
	{"index of version 4", func(b *box) { b.do("update-index", "--index-version", "4") }, allowed, allowed},
	{"no index", func(b *box) { b.drop("index") }, allowed, allowed},
	{"HEAD without a space", func(b *box) { b.put("HEAD", "ref:refs/heads/feature/x\n") }, allowed, allowed},
	{"HEAD of Windows", func(b *box) { b.put("HEAD", "ref: refs/heads/feature/x\r\n") }, allowed, allowed},
	{"HEAD as a link", func(b *box) { b.link("refs/heads/feature/x", "HEAD") }, allowed, allowed},
	{"reference to a feature", func(b *box) {
		b.put("refs/heads/alias", "ref: refs/heads/feature/x\n")
		b.put("HEAD", "ref: refs/heads/alias\n")
	}, allowed, allowed},
	{"nearly protected: mainline", func(b *box) { b.do("checkout", "-qb", "mainline") }, allowed, allowed},
	{"nearly protected: feature/main", func(b *box) { b.do("checkout", "-qb", "feature/main") }, allowed, allowed},
	{"nearly protected: dev-2", func(b *box) { b.do("checkout", "-qb", "dev-2") }, allowed, allowed},
	{"a folder .git inside that is none of ours", func(b *box) { b.put("/dir/.git/x", "") }, allowed, allowed},
	{"no repository", func(b *box) { b.drop("") }, allowed, allowed},

	// Read in both ways, on a branch that forbids direct work.
	{"main", func(b *box) { b.do("checkout", "-qB", "main") }, branch, branch},
	{"master", func(b *box) { b.do("checkout", "-qb", "master") }, branch, branch},
	{"develop", func(b *box) { b.do("checkout", "-qb", "develop") }, branch, branch},
	{"dev", func(b *box) { b.do("checkout", "-qb", "dev") }, branch, branch},
	{"unborn main", func(b *box) { b.put("HEAD", "ref: refs/heads/master\n") }, branch, branch},
	{"main in a further work tree", func(b *box) { b.moved("main") }, branch, branch},
	{"main packed", func(b *box) { b.do("checkout", "-q", "main"); b.do("pack-refs", "--all") }, branch, branch},
	{"main, index of version 4", func(b *box) { b.do("checkout", "-q", "main"); b.do("update-index", "--index-version", "4") }, branch, branch},
	{"main, HEAD of Windows", func(b *box) { b.put("HEAD", "ref: refs/heads/main\r\n") }, branch, branch},
	{"main behind a tab", func(b *box) { b.put("HEAD", "ref:\trefs/heads/main\n") }, branch, branch},
	{"main by a link", func(b *box) { b.link("refs/heads/main", "HEAD") }, branch, branch},
	{"main by another reference", func(b *box) {
		b.put("refs/heads/alias", "ref: refs/heads/main\n")
		b.put("HEAD", "ref: refs/heads/alias\n")
	}, branch, branch},
	{"main, changed", func(b *box) { b.do("checkout", "-q", "main"); b.put("/a.txt", "other\n") }, branch, branch},

	// Read by git only.
	{"split index", func(b *box) { b.do("update-index", "--split-index") }, allowed, unreadable},
	{"sparse index", func(b *box) { b.sparse() }, allowed, unreadable},
	{"sha256", func(b *box) { b.anew("feature/x", "--object-format=sha256") }, allowed, unreadable},
	{"sha256, detached", func(b *box) {
		b.anew("feature/x", "--object-format=sha256")
		b.do("checkout", "-q", "--detach")
	}, allowed, unreadable},
	{"configuration of work trees", func(b *box) { b.version1("worktreeConfig", "true") }, allowed, unreadable},
	{"partial clone", func(b *box) { b.version1("partialClone", "origin") }, allowed, unreadable},
	{"index with a wrong checksum", func(b *box) {
		index := b.read("index")
		b.put("index", index[:len(index)-1]+string(index[len(index)-1]^1))
	}, allowed, unreadable},
	{"main, split index", func(b *box) { b.do("checkout", "-q", "main"); b.do("update-index", "--split-index") }, branch, both},
	{"main, sparse index", func(b *box) { b.do("checkout", "-q", "main"); b.sparse() }, branch, both},
	{"main, sha256", func(b *box) { b.anew("main", "--object-format=sha256") }, branch, both},
	{"main, configuration of work trees", func(b *box) { b.do("checkout", "-q", "main"); b.version1("worktreeConfig", "true") }, branch, both},

	// Read by nothing: on a feature branch, and where HEAD says so on main.
	{"unknown extension", func(b *box) { b.version1("unknownThing", "true") }, unreadable, unreadable},
	{"main, unknown extension", func(b *box) { b.do("checkout", "-q", "main"); b.version1("unknownThing", "true") }, both, both},
	{"unknown version", func(b *box) { b.do("config", "core.repositoryformatversion", "99") }, unreadable, unreadable},
	{"empty index", func(b *box) { b.put("index", "") }, unreadable, unreadable},
	{"main, empty index", func(b *box) { b.do("checkout", "-q", "main"); b.put("index", "") }, both, both},
	{"index of something else", func(b *box) { b.put("index", strings.Repeat("garbage ", 40)) }, unreadable, unreadable},
	{"index cut short", func(b *box) { b.put("index", b.read("index")[:60]) }, unreadable, unreadable},
	{"index as a folder", func(b *box) { b.drop("index"); b.put("index/x", "") }, unreadable, unreadable},
	{"index as a pipe", func(b *box) { b.pipe("index") }, unreadable, unreadable},
	{"main, index as a pipe", func(b *box) { b.do("checkout", "-q", "main"); b.pipe("index") }, both, both},
	{"HEAD of something else", func(b *box) { b.put("HEAD", "garbage\n") }, unreadable, unreadable},
	{"HEAD empty", func(b *box) { b.put("HEAD", "") }, unreadable, unreadable},
	{"HEAD gone", func(b *box) { b.drop("HEAD") }, unreadable, unreadable},
	{"HEAD as a folder", func(b *box) { b.drop("HEAD"); b.put("HEAD/x", "") }, unreadable, unreadable},
	{"HEAD as a pipe", func(b *box) { b.pipe("HEAD") }, unreadable, unreadable},
	{"HEAD of two megabytes", func(b *box) { b.put("HEAD", strings.Repeat(" ", 2<<20)+"ref: refs/heads/feature/x\n") }, unreadable, unreadable},
	{"HEAD that climbs", func(b *box) { b.put("HEAD", "ref: refs/heads/feature/../main\n") }, unreadable, unreadable},
	{"HEAD outside of the references", func(b *box) { b.put("HEAD", "ref: heads/feature\n") }, unreadable, unreadable},
	{"HEAD with a control character", func(b *box) { b.put("HEAD", "ref: refs/heads/main\x01\n") }, unreadable, unreadable},
	{"HEAD of a table of references", func(b *box) { b.put("HEAD", "ref: refs/heads/.invalid\n") }, unreadable, unreadable},
	{"references in a circle", func(b *box) {
		b.put("refs/heads/a", "ref: refs/heads/b\n")
		b.put("refs/heads/b", "ref: refs/heads/a\n")
		b.put("HEAD", "ref: refs/heads/a\n")
	}, unreadable, unreadable},
	{"commit gone", func(b *box) { b.drop("objects"); b.put("objects/info/x", "") }, unreadable, unreadable},
	{"detached at nothing", func(b *box) { b.put("HEAD", strings.Repeat("12", 20)+"\n") }, unreadable, unreadable},
	{"objects gone", func(b *box) { b.drop("objects") }, unreadable, unreadable},
	{"references gone", func(b *box) { b.drop("refs") }, unreadable, unreadable},
	{"configuration of something else", func(b *box) { b.put("config", "[core\nbroken = [[[\n") }, unreadable, unreadable},
	{"main, configuration of something else", func(b *box) { b.do("checkout", "-q", "main"); b.put("config", "[core\nbroken\n") }, both, both},
	{"configuration as a pipe", func(b *box) { b.pipe("config") }, unreadable, unreadable},
	{".git of something else", func(b *box) { b.drop(""); b.put("/.git", "garbage\n") }, unreadable, unreadable},
	{".git that leads nowhere", func(b *box) { b.drop(""); b.put("/.git", "gitdir: /nowhere/at/all\n") }, unreadable, unreadable},
	{".git as an empty folder", func(b *box) { b.drop(""); b.put("x/x", ""); b.drop("x") }, unreadable, unreadable},
	{".git as a link to nothing", func(b *box) { b.drop(""); b.link("/nowhere/at/all", "") }, unreadable, unreadable},
	{"work tree without its repository", func(b *box) {
		b.do("branch", "feature/y")
		b.moved("feature/y")
		b.drop("")
	}, unreadable, unreadable},
}

// version1 sets an extension, which repositories of version 1 have.
func (b *box) version1(name, value string) {
	b.do("config", "core.repositoryformatversion", "1")
	b.put("config", b.read("config")+fmt.Sprintf("[extensions]\n\t%s = %s\n", name, value))
}

// copied copies a folder of files and folders.
func copied(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// template makes the repository of which every state begins as a copy.
func template(t *testing.T, git string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b := &box{t, dir, git, filepath.Join(dir, ".git")}
	b.do("init", "-q", "-b", "main")
	b.put("/a.txt", "one\n")
	b.put("/kept/k.txt", "one\n")
	b.put("/left/l.txt", "one\n")
	b.do("add", "-A")
	b.do("commit", "-qm", "1")
	b.do("checkout", "-qb", "feature/x")
	b.put("/a.txt", "two\n")
	b.do("commit", "-qam", "2")
	b.put("/"+evidence.Name, fmt.Sprintf(fresh, time.Now().UTC().Format(time.RFC3339)))
	return dir
}

// TestStatesOfRepositories: every state, at every stage, with git and without.
// What cannot be read is BLOCKED for that reason, and what HEAD says of the
// branch counts even then.
func TestStatesOfRepositories(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes and links")
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git installed")
	}
	if len(states) < 60 {
		t.Errorf("only %d states", len(states))
	}
	made := template(t, git)
	for _, tc := range states {
		t.Run(tc.name, func(t *testing.T) {
			s := producttest.NewSite(t)
			root := filepath.Join(s.Root, "p")
			copied(t, made, root)
			b := &box{t, root, git, filepath.Join(root, ".git")}
			tc.make(b)
			rel, err := filepath.Rel(s.Root, b.root)
			if err != nil {
				t.Fatal(err)
			}
			a := s.In(rel, true)
			for path, want := range map[string]string{os.Getenv("PATH"): tc.with, t.TempDir(): tc.without} {
				t.Setenv("PATH", path)
				for _, stage := range gate.Stages {
					r, err := governance.GateCheck(t.Context(), a, stage)
					if err != nil {
						t.Fatal(err)
					}
					var codes []string
					for _, v := range r.Violations {
						codes = append(codes, v.Code)
						if v.Code == unreadable && !strings.Contains(v.Message, ": ") {
							t.Errorf("no reason: %s", v.Message)
						}
					}
					if got := strings.Join(codes, " "); got != want || r.Allowed != (want == allowed) {
						t.Errorf("%s, PATH %.20s: %+v, want %q", stage, path, r.Violations, want)
					}
					if slices.Contains(codes, branch) && (r.Repo.Git.Branch == nil || *r.Repo.Git.Branch == "") {
						t.Error("the branch is not said")
					}
				}
			}
		})
	}
}
