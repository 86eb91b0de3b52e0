package project

import (
	"os"
	"path/filepath"
	"testing"
)

// A data directory is not to be committed, also one that was made before there
// was a .gitignore in it; one that holds something else, such as a project's
// own folder, is left alone.
func TestMakeDataDir(t *testing.T) {
	dir := t.TempDir()
	ignores := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, ".gitignore"))
		return err == nil
	}
	for _, name := range []string{"new/deep", "empty", "project", "mixed", "names", "theirs", "old"} {
		if name != "new/deep" {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, filepath.Join(dir, "project", "main.go"), "package main\n")
	const schema = "SQLite format 3\x00 CREATE TABLE stores ("
	write(t, filepath.Join(dir, "old", Database), schema)
	write(t, filepath.Join(dir, "theirs", Database), "a database of somebody else")
	write(t, filepath.Join(dir, "old", "worker.log"), "")
	write(t, filepath.Join(dir, "mixed", Database), schema)
	write(t, filepath.Join(dir, "mixed", "thesis.md"), "")
	write(t, filepath.Join(dir, "names", "worker.log"), "")
	for name, want := range map[string]bool{"new/deep": true, "empty": true, "project": false, "mixed": false, "names": false, "theirs": false, "old": true} {
		MakeDataDir(filepath.Join(dir, name))
		if got := ignores(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: .gitignore %v, want %v", name, got, want)
		}
	}
	MakeDataDir(filepath.Join(dir, "project", "main.go", "below a file")) // opening the database says what is wrong
}
