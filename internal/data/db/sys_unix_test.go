//go:build !windows

package db

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A limit on the size of files is told as what it is, and nothing is lost.
func TestALimitOnTheSizeOfFilesIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "knowledge.db")
	cmd := exec.Command("sh", "-c", `ulimit -f 60 && exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=5 "+path)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no file may grow beyond") {
		t.Errorf("got %v: %s", err, out)
	}
	d := openAt(t, path)
	if err := d.Write(t.Context(), add); err != nil {
		t.Error(err)
	}
}

// What else than a database may lie there is told, with what to do about it.
func TestAFolderWhereTheDatabaseBelongs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "knowledge.db")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path)
	if kb.CodeOf(err) != kb.Corrupt || !strings.Contains(err.Error(), "there is a folder where") || kb.HintOf(err) == "" {
		t.Errorf("got %v (%s)", err, kb.HintOf(err))
	}
}
