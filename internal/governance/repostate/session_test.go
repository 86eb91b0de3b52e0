package repostate

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestSession(t *testing.T) {
	b := newBox(t)
	r := &Reader{Root: b.root, Env: b.env}
	config := filepath.Join(b.root, ".git", "config")
	odd := "# a comment ; and more\n[alias]\n\tx = !echo \\\n  [pumuki \"sdd.session\"]\n[core]\n\tkeep = \"a # b\"\n"
	raw, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	before := string(raw) + odd
	if err := os.WriteFile(config, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(config, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := r.Session(); s != (Session{}) {
		t.Errorf("none: %+v", s)
	}
	want := Session{Active: true, Change: "add-login", Updated: "2026-02-01T10:00:00.000Z", Expires: "2026-02-01T10:45:00.000Z", TTL: 45}
	for range 2 {
		if err := r.SetSession(&want); err != nil {
			t.Fatal(err)
		}
		if got := r.Session(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for key, value := range map[string]string{"active": "true", "change": want.Change, "updatedAt": want.Updated, "expiresAt": want.Expires, "ttlMinutes": "45"} {
		if got := strings.TrimSpace(b.do("config", "--local", "pumuki.sdd.session."+key)); got != value {
			t.Errorf("git reads %s as %q, want %q", key, got, value)
		}
	}
	// What git writes is read, and replaced.
	b.do("config", "--local", "pumuki.sdd.session.change", "other")
	if s := r.Session(); s.Change != "other" {
		t.Errorf("%+v", s)
	}
	if err := r.SetSession(nil); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, string(after)); d != "" {
		t.Errorf("the rest changed (-before +after)\n%s", d)
	}
	if info, err := os.Stat(config); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := os.WriteFile(config+".lock", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.SetSession(&want); kb.CodeOf(err) != kb.Busy {
		t.Errorf("locked: %v", err)
	}
	if err := (&Reader{Root: t.TempDir()}).SetSession(&want); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("no repository: %v", err)
	}
}

func TestSessionFormsThatAreNotEdited(t *testing.T) {
	for _, text := range []string{"[pumuki \"sdd.session\"] active = true\n", "[core\n", "[pumuki \"sdd.session\"] # note\n\tactive = true\n"} {
		if out, err := edited(text, nil); err == nil {
			t.Errorf("%q became %q", text, out)
		}
	}
}

func TestLifecycle(t *testing.T) {
	b := newBox(t)
	b.write("node_modules/pumuki/package.json", `{"version":"6.3.26"}`)
	b.write("pkg/node_modules/x/i.js", "1")
	b.do("add", "-f", ".")
	b.do("config", "pumuki.installed", "true")
	b.do("config", "pumuki.installed-at", "2026-01-01T00:00:00.000Z")
	hooks := filepath.Join(b.root, ".git", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"pre-commit": "#!/bin/sh\n" + managedStart + "\nnpx x\n" + managedEnd + "\n", "pre-push": "#!/bin/sh\n"} {
		if err := os.WriteFile(filepath.Join(hooks, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := (&Reader{Root: b.root, Env: b.env}).Lifecycle()
	want := Lifecycle{Package: "6.3.26", Installed: "true", At: "2026-01-01T00:00:00.000Z", Modules: 2, PreCommit: Hook{true, true}, PrePush: Hook{true, false}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
}

// TestSecretsOfTheRepositoryAreMasked: names of branches and what the
// configuration says are shown as what is indexed is.
func TestSecretsOfTheRepositoryAreMasked(t *testing.T) {
	token := "ghp_" + "q8Zr3Lw0Vt7Yb2Nc5Xd9Kf4Hg6Jm1Ps8Rt2W"
	masked := strings.Repeat("*", len(token))
	b := newBox(t)
	b.commit("a", "1\n")
	b.do("branch", "done/"+token)
	b.do("checkout", "-q", "-b", "x-"+token)
	b.commit("a", "2\n")
	b.do("config", "pumuki.version", token)
	s := b.both("a token in a name")
	if s.Branch != "x-"+masked {
		t.Errorf("branch %q", s.Branch)
	}
	r := &Reader{Root: b.root, Git: b.git, Env: b.env}
	if got, err := r.Merged(t.Context()); err != nil || !slices.Contains(got, "done/"+masked) {
		t.Errorf("merged %q, %v", got, err)
	}
	if l, err := r.Lifecycle(); err != nil || l.Version != masked {
		t.Errorf("%+v, %v", l, err)
	}
}
