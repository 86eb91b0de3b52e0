package blockfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A file that shrinks under its map makes the kernel raise SIGBUS.
func TestATruncatedMapIsDamageNotACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shrunk")
	data := random(8 * BlockSize)
	build(t, path, named{"a", data})
	r := openFile(t, path)
	a := r.Section("a")
	touched, err := a.Bytes(5*BlockSize, BlockSize)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, BlockSize); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Bytes(4*BlockSize, 1); kb.CodeOf(err) != kb.Corrupt || !strings.Contains(err.Error(), "shrunk") {
		t.Errorf("first touch: %v", err)
	}
	if err := r.Verify(); kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("Verify: %v", err)
	}
	sum := 0
	err = Guard(func() error {
		for _, b := range touched {
			sum += int(b)
		}
		return nil
	})
	if kb.CodeOf(err) != kb.Corrupt || !strings.Contains(err.Error(), "shrunk") {
		t.Errorf("later touch: %v", err)
	}
	out := make([]byte, len(touched))
	err = Guard(func() error { copy(out, touched); return nil })
	if kb.CodeOf(err) != kb.Corrupt {
		t.Errorf("copy: %v", err)
	}
}
