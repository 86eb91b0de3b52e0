package project

import (
	"os"
	"path/filepath"
	"testing"
)

// A data directory that was made here is nobody's to commit; one that held
// something already, such as a project's own folder, is left alone.
func TestMakeDataDir(t *testing.T) {
	dir := t.TempDir()
	ignores := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, ".gitignore"))
		return err == nil
	}
	for _, name := range []string{"new/deep", "empty", "project", "old"} {
		if name != "new/deep" {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, filepath.Join(dir, "project", "main.go"), "package main\n")
	write(t, filepath.Join(dir, "old", Database), "")
	for name, want := range map[string]bool{"new/deep": true, "empty": true, "project": false, "old": false} {
		MakeDataDir(filepath.Join(dir, name))
		if got := ignores(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: .gitignore %v, want %v", name, got, want)
		}
	}
	MakeDataDir(filepath.Join(dir, "project", "main.go", "below a file")) // opening the database says what is wrong
}
