//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Opening a pipe that nobody writes into would not come back.
func TestOpenOfWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, folder := filepath.Join(dir, "pipe"), filepath.Join(dir, "a folder")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{pipe, folder, os.DevNull} {
		_, err := ReadFile(p)
		if kb.CodeOf(err) != kb.Corrupt || !strings.HasSuffix(kb.HintOf(err), ": knowledge verify --repair") {
			t.Errorf("%s: %v; %s", p, err, kb.HintOf(err))
		}
	}
	// Nothing is written over a folder, and the error says how it goes on.
	if err := Write(folder, []byte("x")); kb.CodeOf(err) != kb.Corrupt || !strings.Contains(kb.HintOf(err), "mv '"+folder+"'") {
		t.Errorf("%v; %s", err, kb.HintOf(err))
	}
}
