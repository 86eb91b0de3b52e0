//go:build unix

package project

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipes: a pipe where a file of git would be is no file, and nobody waits for it.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	git := filepath.Join(dir, ".git")
	if err := syscall.Mkfifo(git, 0o600); err != nil {
		t.Skip(err)
	}
	if common, ok := commonDir(dir); ok {
		t.Errorf("a pipe as .git: %q", common)
	}
	os.Remove(git)
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(git, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(git, "commondir"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := commonDir(dir); !ok {
		t.Error("a pipe as commondir hides the repository")
	}
}
