package repostate

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestHostileRepository: whatever a repository's own configuration names,
// looking at it runs none of it.
func TestHostileRepository(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the traps are shell scripts")
	}
	b := newBox(t)
	mark := filepath.Join(filepath.Dir(b.root), "ran")
	trap := filepath.Join(b.root, "trap")
	b.commit("f.txt", "one\n")
	b.commit(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n")
	other := filepath.Join(filepath.Dir(b.root), "other")
	b.in(filepath.Dir(b.root), "init", "-q", "-b", "main", "other")
	b.in(other, "commit", "-q", "--allow-empty", "-m", "1")
	b.do("submodule", "--quiet", "add", other, "sub")
	b.do("commit", "-qam", "sub")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\necho \"$0 $@\" >> '"+mark+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	evil := `
[core]
	fsmonitor = ` + trap + `
	hooksPath = ` + b.root + `
	sshCommand = ` + trap + `
	pager = ` + trap + `
	editor = ` + trap + `
	askPass = ` + trap + `
	gitProxy = ` + trap + `
	alternateRefsCommand = ` + trap + `
[diff]
	external = ` + trap + `
[diff "evil"]
	command = ` + trap + `
	textconv = ` + trap + `
[filter "evil"]
	clean = ` + trap + `
	smudge = ` + trap + `
	required = true
[alias]
	status = !` + trap + `
[include]
	path = more
[remote "origin"]
	url = ext::` + trap + `
	promisor = true
	partialclonefilter = blob:none
[extensions]
	partialClone = origin
[credential]
	helper = !` + trap + `
[uploadpack]
	packObjectsHook = ` + trap + `
`
	more := "[filter \"evil\"]\n\tprocess = " + trap + "\n[filter \"two\"]\n\tclean = " + trap + "\n"
	for _, dir := range []string{filepath.Join(b.root, ".git"), filepath.Join(b.root, ".git", "modules", "sub")} {
		raw, err := os.ReadFile(filepath.Join(dir, "config"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config"), []byte(string(raw)+evil), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "more"), []byte(more), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, hook := range []string{"post-index-change", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"} {
		script, err := os.ReadFile(trap)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{b.root, filepath.Join(b.root, ".git", "hooks")} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, hook), script, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Files whose content git would want to compare, and to find renames in.
	b.write("f.txt", "two\n")
	b.write("sub/new.txt", "x\n")
	for _, git := range []string{b.git, ""} {
		r := &Reader{Root: b.root, Git: git, Env: b.env}
		if git == "" { // partial clones are not read without git, and that is said
			if s, err := r.State(t.Context()); err != nil || s.Available || !strings.Contains(s.Note, "install") {
				t.Errorf("a partial clone: %+v, %v", s, err)
			}
			b.do("config", "--unset", "extensions.partialClone")
			b.in(filepath.Join(b.root, "sub"), "config", "--unset", "extensions.partialClone")
		}
		s, err := r.State(t.Context())
		if err != nil || !s.Available || s.Unstaged != 2 {
			t.Errorf("git %q: %+v, %v", git, s, err)
		}
		if _, err := r.Merged(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := r.Lifecycle(); err != nil {
			t.Error(err)
		}
		r.Session()
	}
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("the repository got executed:\n%s", ran)
	}
	// That the traps are traps: git alone steps into them.
	_, _ = b.try(b.root, "status")
	if ran, err := os.ReadFile(mark); err != nil || !strings.Contains(string(ran), "trap") {
		t.Errorf("the traps do not work: %v", err)
	}
}

// TestWorktreeElsewhere: core.worktree does not lead out of the folder asked for.
func TestWorktreeElsewhere(t *testing.T) {
	b := newBox(t)
	b.commit("a", "1\n")
	away := t.TempDir()
	if err := os.WriteFile(filepath.Join(away, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.do("config", "core.worktree", away)
	for _, git := range []string{b.git, ""} {
		s, err := (&Reader{Root: b.root, Git: git, Env: b.env}).State(t.Context())
		if err != nil || s.Dirty() {
			t.Errorf("git %q: %+v, %v", git, s, err)
		}
	}
}
