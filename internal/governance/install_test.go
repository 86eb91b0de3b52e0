package governance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
)

// TestHooks: a hook that was there is asked first, and is back when ours is
// taken out, to the byte.
func TestHooks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hooks")
	path := filepath.Join(dir, "pre-commit")
	script := hookScript("pre-commit", gate.PreCommit)
	do := func(what string, f func() (string, error), says string) {
		t.Helper()
		if said, err := f(); err != nil || !strings.Contains(said, says) {
			t.Errorf("%s: %q, %v", what, said, err)
		}
	}
	put := func() (string, error) { return putHook(path, script) }
	take := func() (string, error) { return takeHook(path) }
	do("nothing there", put, "put in")
	do("again", put, "already")
	do("out", take, "taken out")
	if _, err := os.Stat(path); err == nil {
		t.Error("it is still there")
	}
	const other = "#!/bin/sh\nexit 0\n"
	if err := os.WriteFile(path, []byte(other), 0o750); err != nil {
		t.Fatal(err)
	}
	do("not ours", take, "not ours")
	do("beside another", put, "asked first")
	if text, err := os.ReadFile(path); err != nil || string(text) != string(script) {
		t.Errorf("%s %v", text, err)
	}
	do("again", put, "already")
	if text, err := os.ReadFile(path + before); err != nil || string(text) != other {
		t.Errorf("what was there: %s %v", text, err)
	}
	do("out", take, "is back")
	text, err := os.ReadFile(path)
	info, _ := os.Stat(path)
	if err != nil || string(text) != other || info.Mode().Perm() != 0o750 {
		t.Errorf("%s %v %v", text, err, info.Mode())
	}
	if err := os.WriteFile(path+before, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := put(); err == nil {
		t.Error("a kept hook is overwritten")
	}
}
