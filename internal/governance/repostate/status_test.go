package repostate

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// box is a repository in a folder of its own, made with the installed git.
type box struct {
	t    testing.TB
	root string
	git  string
}

func newBox(t testing.TB) *box {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t, filepath.Join(dir, "repo"), git}
	b.in(dir, "init", "-q", "-b", "main", "repo")
	return b
}

func (b *box) env(name string) string {
	switch name {
	case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM":
		return os.DevNull
	case "GIT_CONFIG_NOSYSTEM":
		return "1"
	case "PATH", "SystemRoot", "TEMP", "TMP":
		return os.Getenv(name)
	}
	return ""
}

func (b *box) try(dir string, args ...string) (string, error) {
	cmd := exec.Command(b.git, append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"), "HOME=" + filepath.Dir(b.root),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"}
	out, err := cmd.Output()
	return string(out), err
}

func (b *box) in(dir string, args ...string) string {
	b.t.Helper()
	out, err := b.try(dir, args...)
	if err != nil {
		said := ""
		if e, ok := err.(*exec.ExitError); ok {
			said = string(e.Stderr)
		}
		b.t.Fatalf("git %s: %v %s", strings.Join(args, " "), err, said)
	}
	return out
}

func (b *box) do(args ...string) string { b.t.Helper(); return b.in(b.root, args...) }

func (b *box) write(name, content string) {
	b.t.Helper()
	p := filepath.Join(b.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) commit(name, content string) {
	b.t.Helper()
	b.write(name, content)
	b.do("add", "-A")
	b.do("commit", "-qm", "x")
}

// both reads the state with git and without, and fails unless they agree with
// what git says.
func (b *box) both(what string) State {
	b.t.Helper()
	want := b.truth()
	var last State
	for _, git := range []string{b.git, ""} {
		s, err := (&Reader{Root: b.root, Git: git, Env: b.env}).State(context.Background())
		if err != nil || !s.Available || s.Note != "" {
			b.t.Fatalf("%s, git %q: %+v, %v", what, git, s, err)
		}
		got := [4]int{s.Staged, s.Unstaged, s.Untracked, s.Conflicts}
		if got != want {
			b.t.Fatalf("%s, git %q: staged, unstaged, untracked, conflicts %v, git says %v\n%s", what, git, got, want,
				strings.ReplaceAll(b.do("status", "--porcelain=v2", "-z"), "\x00", "\n"))
		}
		if last.Available && last != s {
			b.t.Fatalf("%s: with git %+v, without %+v", what, last, s)
		}
		last = s
	}
	return last
}

// truth counts what git status says, in the plainest way.
func (b *box) truth() (n [4]int) {
	b.t.Helper()
	records := strings.Split(b.do("status", "--porcelain=v2", "-z"), "\x00")
	for i := 0; i < len(records); i++ {
		switch r := records[i]; {
		case r == "":
		case r[0] == '?':
			n[2]++
		default:
			if r[2] != '.' {
				n[0]++
			}
			if r[3] != '.' {
				n[1]++
			}
			if r[0] == 'u' {
				n[3]++
			}
			if r[0] == '2' {
				i++
			}
		}
	}
	return n
}

// text makes lines of which many are the same in other texts.
func text(r *rand.Rand, lines int, eol string) string {
	var b strings.Builder
	for range lines {
		fmt.Fprintf(&b, "%s %d%s", strings.Repeat("word ", 1+r.Intn(4)), r.Intn(40), eol)
	}
	return b.String()
}

// TestStatusAgreesWithGit makes states at random, in rounds of a few changes
// each, and counts them both ways.
func TestStatusAgreesWithGit(t *testing.T) {
	states := 200
	if testing.Short() || raceEnabled {
		states = 40
	}
	const rounds = 10
	for seed := range states / rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			generate(t, int64(seed), rounds)
		})
	}
}

func generate(t *testing.T, seed int64, rounds int) {
	r := rand.New(rand.NewSource(seed))
	b := newBox(t)
	var log []string
	if seed%3 == 1 {
		b.do("config", "core.autocrlf", []string{"true", "input"}[seed%2])
	}
	names := []string{"a.txt", "b.txt", "d/a.txt", "d/b.txt", "d/e/c.txt", "f/g/h/i.txt", "sp ace.txt", "ü.txt", "x.log", "build/out.o", "z.sh", "l"}
	paths := func() string { return names[r.Intn(len(names))] }
	eols := []string{"\n", "\n", "\n", "\r\n"}
	tracked := func() string {
		all := strings.Split(strings.TrimSuffix(b.do("ls-files", "-z"), "\x00"), "\x00")
		if all[0] == "" {
			return "first"
		}
		return all[r.Intn(len(all))]
	}
	b.write("first", text(r, 20, "\n"))
	b.write(".gitignore", "*.log\nbuild/\n!keep.log\n")
	if seed%4 == 2 {
		b.write(".gitattributes", "*.txt text=auto\nd/** -text\n*.sh text eol=lf\n")
	}
	other := filepath.Join(filepath.Dir(b.root), "other")
	b.in(filepath.Dir(b.root), "init", "-q", "-b", "main", "other")
	b.in(other, "commit", "-q", "--allow-empty", "-m", "1")
	if seed%5 != 0 { // else nothing is committed in the first rounds
		b.do("add", "-A")
		b.do("commit", "-qm", "first")
	}
	ok := func(args ...string) { // what may fail by the state it meets
		_, err := b.try(b.root, args...)
		log = append(log, fmt.Sprintf("git %s (%v)", strings.Join(args, " "), err))
	}
	clear := func(name string) string { // makes room for a file
		p := filepath.Join(b.root, filepath.FromSlash(name))
		for d := filepath.Dir(p); len(d) > len(b.root); d = filepath.Dir(d) {
			if info, err := os.Lstat(d); err == nil && !info.IsDir() {
				os.Remove(d)
			}
		}
		os.RemoveAll(p)
		os.MkdirAll(filepath.Dir(p), 0o755)
		return p
	}
	for round := range rounds {
		for range 1 + r.Intn(4) {
			n := paths()
			log = append(log, n)
			switch k := r.Intn(24); k {
			case 0, 1, 2:
				clear(n)
				b.write(n, text(r, 5+r.Intn(20), eols[r.Intn(4)]))
			case 3:
				ok("add", "-A")
			case 4:
				ok("add", "--", n)
			case 5:
				ok("add", "-N", "--", n)
			case 6:
				os.RemoveAll(filepath.Join(b.root, filepath.FromSlash(tracked())))
			case 7:
				ok("rm", "-q", "--cached", "-f", "--", tracked())
			case 8, 9: // a rename, perhaps with an edit
				from, to := tracked(), fmt.Sprintf("moved/%d.txt", r.Intn(5))
				ok("mv", "-f", "--", from, to)
				if raw, err := os.ReadFile(filepath.Join(b.root, to)); err == nil && r.Intn(2) == 0 {
					b.write(to, string(raw)+text(r, 1+r.Intn(12), "\n"))
					ok("add", "--", to)
				}
			case 10:
				if runtime.GOOS != "windows" {
					p := clear(n)
					os.Symlink([]string{"first", "nowhere", "d"}[r.Intn(3)], p)
				}
			case 11:
				clear(n)
				b.write(n+"/inner", text(r, 3, "\n"))
			case 12:
				b.write(fmt.Sprintf("new/%d/%d.txt", r.Intn(3), r.Intn(3)), "x\n")
			case 13:
				b.write(fmt.Sprintf("new/%d.log", r.Intn(3)), "x\n")
			case 14:
				os.MkdirAll(filepath.Join(b.root, "empty/in/side"), 0o755)
			case 15:
				if runtime.GOOS != "windows" {
					os.Chmod(filepath.Join(b.root, filepath.FromSlash(tracked())), []os.FileMode{0o644, 0o755}[r.Intn(2)])
				}
			case 16:
				name := tracked()
				if raw, err := os.ReadFile(filepath.Join(b.root, filepath.FromSlash(name))); err == nil {
					b.write(name, strings.ReplaceAll(string(raw), "\n", "\r\n"))
				}
			case 17:
				ok("commit", "-qam", "more")
			case 18: // a conflict
				ok("commit", "-qam", "before")
				ok("checkout", "-qf", "-b", fmt.Sprintf("side%d", round))
				clear("a.txt")
				b.write("a.txt", text(r, 5, "\n"))
				ok("add", "a.txt")
				ok("commit", "-qm", "side")
				ok("checkout", "-qf", "main")
				clear("a.txt")
				b.write("a.txt", text(r, 5, "\n"))
				ok("add", "a.txt")
				ok("commit", "-qm", "main")
				ok("merge", "-q", fmt.Sprintf("side%d", round))
			case 19:
				ok("submodule", "--quiet", "add", other, "sub")
			case 20:
				switch r.Intn(4) {
				case 0:
					os.WriteFile(filepath.Join(b.root, "sub", "junk"), []byte("x"), 0o644)
				case 1:
					if _, err := os.Stat(filepath.Join(b.root, "sub", ".git")); err == nil {
						_, _ = b.try(filepath.Join(b.root, "sub"), "commit", "-q", "--allow-empty", "-m", "2")
					}
				case 2:
					os.RemoveAll(filepath.Join(b.root, "sub"))
				default:
					ok("submodule", "--quiet", "update", "--init", "-f")
				}
			case 21: // a repository inside
				os.RemoveAll(filepath.Join(b.root, "nested"))
				b.do("init", "-q", "nested")
			case 22:
				ok("checkout", "-qf", "--detach")
			case 23:
				ok("checkout", "-qf", "main")
			}
		}
		b.both(fmt.Sprintf("seed %d, round %d\n%s\n", seed, round, strings.Join(log, "\n")))
		if r.Intn(6) == 0 {
			ok("reset", "-q", "--hard")
			ok("clean", "-qffd")
		}
	}
}

// TestRacy: a file that changes in the moment in which the index is written,
// to a content of the same size, is seen.
func TestRacy(t *testing.T) {
	b := newBox(t)
	for range 5 {
		b.commit("f", fmt.Sprint(time.Now().UnixNano()))
		b.write("f", fmt.Sprint(time.Now().UnixNano()))
		if s := b.both("racy"); s.Unstaged != 1 {
			t.Fatalf("%+v", s)
		}
	}
}

func TestBranches(t *testing.T) {
	b := newBox(t)
	if s := b.both("no commits"); s.Branch != "main" || s.Commit != "" || s.Dirty() {
		t.Errorf("%+v", s)
	}
	b.commit("a", "1\n")
	b.do("branch", "old/merged")
	b.do("branch", "release")
	b.commit("a", "2\n")
	b.do("checkout", "-q", "-b", "feature/x")
	b.commit("b", "1\n")
	b.do("branch", "ahead")
	b.do("checkout", "-q", "main")
	tree := filepath.Join(filepath.Dir(b.root), "tree")
	b.do("worktree", "add", "-q", tree, "release")
	for _, git := range []string{b.git, ""} {
		r := &Reader{Root: b.root, Git: git, Env: b.env}
		got, err := r.Merged(t.Context())
		if err != nil || !slices.Equal(got, []string{"old/merged"}) {
			t.Errorf("git %q: merged %q, %v", git, got, err)
		}
	}
	linked := &box{t, tree, b.git}
	linked.write("new", "x")
	if s := linked.both("work tree"); s.Branch != "release" || s.Untracked != 1 {
		t.Errorf("work tree: %+v", s)
	}
	b.do("checkout", "-q", "--detach")
	if s := b.both("detached"); s.Branch != "HEAD" || !s.Detached {
		t.Errorf("detached: %+v", s)
	}
}

func TestUpstream(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1\n")
	clone := &box{t, filepath.Join(filepath.Dir(b.root), "clone"), b.git}
	b.in(filepath.Dir(b.root), "clone", "-q", "repo", "clone")
	for i := range 3 {
		clone.commit("c", fmt.Sprint(i))
	}
	for i := range 2 {
		b.commit("a", fmt.Sprint("x", i))
	}
	clone.do("fetch", "-q")
	if s := clone.both("diverged"); s.Upstream != "origin/main" || s.Ahead != 3 || s.Behind != 2 {
		t.Errorf("%+v", s)
	}
	clone.do("merge", "-q", "-s", "ours", "origin/main")
	if s := clone.both("merged"); s.Ahead != 4 || s.Behind != 0 {
		t.Errorf("%+v", s)
	}
	clone.do("branch", "local")
	clone.do("checkout", "-q", "-b", "on", "--track", "local")
	if s := clone.both("a local upstream"); s.Upstream != "local" {
		t.Errorf("%+v", s)
	}
	clone.do("update-ref", "-d", "refs/heads/local")
	clone.both("an upstream that is gone")
}

func TestNoRepository(t *testing.T) {
	s, err := (&Reader{Root: t.TempDir()}).State(t.Context())
	if err != nil || s.Available || s.Note == "" {
		t.Errorf("%+v, %v", s, err)
	}
}
