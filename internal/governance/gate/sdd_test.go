package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/governance/repostate"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// fake is an openspec that says what the test wants.
type fake struct {
	version string // "" is not installed
	out     string
	status  int
	err     error
	ran     []string
}

func (f *fake) Version(context.Context) (string, error) {
	if f.version == "" {
		return "", errNoProgram
	}
	return f.version, nil
}

func (f *fake) Run(_ context.Context, args ...string) (string, int, error) {
	f.ran = append(f.ran, strings.Join(args, " "))
	return f.out, f.status, f.err
}

func (f *fake) Why() string { return "" }

// repo makes a repository by hand: no git is needed.
func repo(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"objects", "refs/heads"} {
		mkdir(t, filepath.Join(root, ".git", filepath.FromSlash(d)))
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/x\n", "config": "[core]\n\trepositoryformatversion = 0\n"} {
		if err := os.WriteFile(filepath.Join(root, ".git", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestDecisions walks through the codes in their order: each step mends what
// the one before found.
func TestDecisions(t *testing.T) {
	root := repo(t)
	p := &fake{}
	clock := now
	env := map[string]string{}
	s := &SDD{Root: root, Repo: &repostate.Reader{Root: root}, Program: p, Env: func(k string) string { return env[k] }, Now: func() time.Time { return clock }}
	session := func(x *repostate.Session) {
		if err := s.Repo.SetSession(x); err != nil {
			t.Fatal(err)
		}
	}
	later := now.Add(time.Hour).Format(repostate.Time)
	change := filepath.Join(root, "openspec", "changes", "add-login")
	const valid = `{"items":[{"id":"add-login","valid":true}]}`
	for _, step := range []struct {
		mend func()
		code string
	}{
		{func() { env["PUMUKI_SDD_BYPASS"] = "1" }, Allowed},
		{func() { env["PUMUKI_SDD_BYPASS"] = "yes" }, OpenSpecMissing},
		{func() { p.version = "openspec 1.1.0" }, OpenSpecVersion},
		{func() { p.version = "dev" }, OpenSpecVersion},
		{func() { p.version = "1.1.1" }, OpenSpecProject},
		{func() { mkdir(t, filepath.Join(root, "openspec")) }, SessionMissing},
		{func() { session(&repostate.Session{Active: false, Change: "add-login", Expires: later}) }, SessionMissing},
		{func() { session(&repostate.Session{Active: true, Expires: later}) }, SessionInvalid},
		{func() {
			session(&repostate.Session{Active: true, Change: "add-login", Expires: now.Format(repostate.Time)})
		}, SessionInvalid},
		{func() { session(&repostate.Session{Active: true, Change: "../../etc", Expires: later}) }, ChangeMissing},
		{func() { session(&repostate.Session{Active: true, Change: "add-login", Expires: later}) }, ChangeMissing},
		{func() {
			mkdir(t, filepath.Join(root, "openspec", "changes", "archive", "2026-01-31-add-login"))
		}, ChangeArchived},
		{func() {
			mkdir(t, change)
			mkdir(t, filepath.Join(root, "openspec", "changes", "archive", "add-login"))
		}, ChangeArchived},
		{func() {
			os.Remove(filepath.Join(root, "openspec", "changes", "archive", "add-login"))
			p.err = errors.New("it did not end in time")
		}, ValidationError},
		{func() { p.err, p.out = nil, "no JSON" }, ValidationError},
		{func() { p.out, p.status = "", 1 }, ValidationFailed},
		{func() {
			p.out, p.status = `{"items":[{"id":"a","valid":false,"issues":[{"message":"no requirement"}]}]}`, 1
		}, ValidationFailed},
		{func() { p.status = 0 }, ValidationFailed},
		{func() { p.out = "- validating\n" + valid }, Allowed},
		{func() { clock = now.Add(time.Hour - time.Second) }, Allowed},
		{func() { clock = now.Add(time.Hour) }, SessionInvalid},
	} {
		step.mend()
		for _, stage := range Stages {
			p.ran = nil
			e := s.Evaluate(t.Context(), stage)
			want := step.code
			if stage == PreWrite && (want == ValidationError || want == ValidationFailed) {
				want = Allowed // nothing is validated before anything is written
			}
			if e.Decision.Code != want || e.Decision.Allowed != (want == Allowed) || e.Decision.Message == "" || e.Stage != stage {
				t.Fatalf("%s: %+v, want %s", stage, e.Decision, want)
			}
			if ran := strings.Join(p.ran, ","); ran != "" && (ran != "validate --changes --json --no-interactive" || stage == PreWrite) {
				t.Fatalf("%s ran %q", stage, ran)
			}
		}
	}
}

func TestOpenRefreshClose(t *testing.T) {
	root := repo(t)
	clock := now
	s := &SDD{Root: root, Repo: &repostate.Reader{Root: root}, Program: &fake{}, Env: func(string) string { return "" }, Now: func() time.Time { return clock }}
	for name, code := range map[string]kb.Code{"": kb.Invalid, "../x": kb.Invalid, "-x": kb.Invalid, "archive": kb.Invalid, "a/b": kb.Invalid, "a\nb": kb.Invalid, "none": kb.NotFound} {
		if _, err := s.Open(name, 0); kb.CodeOf(err) != code {
			t.Errorf("%q: %v, want %s", name, err, code)
		}
	}
	if _, err := s.Refresh(0); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("nothing is open: %v", err)
	}
	mkdir(t, filepath.Join(root, "openspec", "changes", "one"))
	if _, err := s.Open("none", 0); !strings.Contains(kb.HintOf(err), "one") {
		t.Errorf("the hint names no change: %q", kb.HintOf(err))
	}
	for _, ttl := range []int{-1, maxTTL + 1} {
		if _, err := s.Open("one", ttl); kb.CodeOf(err) != kb.Invalid {
			t.Errorf("%d minutes: %v", ttl, err)
		}
	}
	st, err := s.Open("one", 0)
	if err != nil || !st.Active || !st.Valid || st.TTL != 45 || *st.Remaining != 45*60 || st.Updated != "2026-02-01T10:00:00.000Z" || st.Expires != "2026-02-01T10:45:00.000Z" {
		t.Fatalf("%+v %v", st, err)
	}
	clock = now.Add(time.Hour)
	if st := s.Session(); st.Valid || *st.Remaining != 0 {
		t.Errorf("expired: %+v", st)
	}
	if st, err = s.Refresh(10); err != nil || !st.Valid || st.TTL != 10 || st.Change != "one" {
		t.Errorf("%+v %v", st, err)
	}
	if st, err = s.Refresh(0); err != nil || st.TTL != 10 {
		t.Errorf("%+v %v", st, err)
	}
	for range 2 {
		if st, err = s.Close(); err != nil || st.Active || st.Change != "" {
			t.Errorf("%+v %v", st, err)
		}
	}
}

// TestSecretsInTheSessionAreMasked: also in the decision on it, which looks
// for the change by its true name.
func TestSecretsInTheSessionAreMasked(t *testing.T) {
	root := repo(t)
	name := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	s := &SDD{Root: root, Repo: &repostate.Reader{Root: root}, Program: &fake{version: "1.2.0"}, Env: func(string) string { return "" }, Now: func() time.Time { return now }}
	mkdir(t, filepath.Join(root, "openspec", "changes", name))
	if _, err := s.Open(name, 0); err != nil {
		t.Fatal(err)
	}
	st, err := s.Refresh(10)
	e := s.Evaluate(t.Context(), PreWrite)
	if err != nil || strings.Trim(st.Change, "*") != "" || !e.Decision.Allowed || strings.Contains(e.Decision.Message+e.Status.Session.Change, name) {
		t.Errorf("%v %q %+v", err, st.Change, e.Decision)
	}
}

// script writes a program.
func script(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestProgram: which openspec is run, and which is not.
func TestProgram(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no shell")
	}
	root := repo(t)
	outside := filepath.Join(filepath.Dir(root), "bin")
	mark := filepath.Join(filepath.Dir(root), "ran")
	own := filepath.Join(root, "node_modules", ".bin", "openspec")
	evil := "echo hacked > '" + mark + "'; echo 9.9.9"
	script(t, filepath.Join(root, "bin", "openspec"), evil)
	script(t, filepath.Join(root, "openspec"), evil)
	path := strings.Join([]string{".", "", filepath.Join(root, "bin"), outside, filepath.Dir(sh)}, string(os.PathListSeparator))
	program := func(trusted ...string) *OpenSpecProgram {
		return &OpenSpecProgram{Root: root, Path: path, Trusted: func(p string) bool { return slices.Contains(trusted, p) }}
	}
	version := func(p *OpenSpecProgram) string {
		said, err := p.Version(t.Context())
		if err != nil {
			return "none"
		}
		return said
	}
	if got := version(program()); got != "none" {
		t.Errorf("what lies in the repository: %s", got)
	}
	script(t, own, evil)
	p := program()
	if got := version(p); got != "none" || !strings.Contains(p.Why(), "until a person vouches") {
		t.Errorf("nobody vouched: %s, %q", got, p.Why())
	}
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "bin", "openspec"), filepath.Join(outside, "openspec")); err != nil {
		t.Fatal(err)
	}
	if got := version(program()); got != "none" {
		t.Errorf("a link into the repository: %s", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("a program of the repository was run")
	}
	os.Remove(filepath.Join(outside, "openspec"))
	script(t, filepath.Join(outside, "openspec"), `[ "$1" = --version ] && { echo 1.2.3; exit; }; echo "$PATH"; pwd; exit 7`)
	p = program()
	if got := version(p); got != "1.2.3" || p.Why() != "" {
		t.Errorf("outside: %s %q", got, p.Why())
	}
	out, status, err := p.Run(t.Context(), "validate")
	if err != nil || status != 7 || strings.Contains(out, root+"/bin") || !strings.Contains(out, root) || strings.HasPrefix(out, ".") {
		t.Errorf("%q %d %v", out, status, err)
	}
	script(t, own, "echo 2.0.0")
	if got := version(program(own)); got != "2.0.0" {
		t.Errorf("a person vouched: %s", got)
	}
	script(t, own, "exec sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, err := program(own).Run(ctx, "--version"); err == nil {
		t.Error("it ended")
	}
	script(t, own, "echo "+strings.Repeat("x", 500)+"; echo more")
	if got := version(program(own)); len(got) > 120 || strings.Contains(got, "\n") {
		t.Errorf("%q", got)
	}
	if fmt.Sprint(older("1.1.0", "1.1.1"), older("1.1.1", "1.1.1"), older("2.0.0", "1.9.9"), older("1.10.0", "1.9.0")) != "true false false false" {
		t.Error("versions are compared wrongly")
	}
}
