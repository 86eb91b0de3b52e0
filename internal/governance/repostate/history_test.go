package repostate

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHistory: the last commit of each file is the same with an installed git
// and without, in a history with a merge, a file that went and one with an odd name.
func TestHistory(t *testing.T) {
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git is installed")
	}
	root := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command(program, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	at := 0
	commit := func(files ...string) {
		t.Helper()
		at++
		for _, f := range files {
			p := filepath.Join(root, filepath.FromSlash(f))
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte{byte('a' + at)}, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "-A")
		when := "2026-01-0" + string(rune('0'+at)) + "T00:00:00Z"
		t.Setenv("GIT_COMMITTER_DATE", when)
		git("commit", "-qm", "x")
	}
	git("init", "-q")
	empty, err := (&Reader{Root: root, Git: program}).History(t.Context())
	if err != nil || len(empty.Last) != 0 {
		t.Fatalf("%v %v", empty, err)
	}
	commit("specs/a.md", "specs/b.md", "gone.md")
	git("checkout", "-qb", "side")
	commit("specs/b.md", "specs/caña \"x\".md")
	git("checkout", "-q", "main")
	commit("specs/a.md")
	at++
	t.Setenv("GIT_COMMITTER_DATE", "2026-01-04T00:00:00Z")
	git("merge", "-q", "side")
	if err := os.Remove(filepath.Join(root, "gone.md")); err != nil {
		t.Fatal(err)
	}
	commit()

	with, err := (&Reader{Root: root, Git: program}).History(t.Context())
	if err != nil || with.Cut {
		t.Fatalf("%v %v", with, err)
	}
	without, err := (&Reader{Root: root}).History(t.Context())
	if err != nil || without.Cut {
		t.Fatalf("%v %v", without, err)
	}
	day := func(h History) map[string]string {
		out := map[string]string{}
		for p, c := range h.Last {
			out[p] = c.When.UTC().Format("02") + c.Commit
		}
		return out
	}
	if d := cmp.Diff(day(with), day(without)); d != "" {
		t.Error(d)
	}
	for p, want := range map[string]string{"specs/a.md": "03", "specs/b.md": "02", "specs/caña \"x\".md": "02", "gone.md": "05"} {
		if got := day(with)[p]; len(got) < 2 || got[:2] != want {
			t.Errorf("%s changed last on %q, want %s", p, got, want)
		}
	}
	if a, b := with.Last["specs/a.md"].Order, with.Last["specs/b.md"].Order; a >= b {
		t.Errorf("a in commit %d, b in %d", a, b)
	}
}
