package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file that is being written stays when others clean up, however old the
// clock says it is: the clock may have been set forward by hours. When its
// writer is gone it goes.
func TestClockSetForwardUnderAWriter(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, TempPrefix+"left")
	old := time.Now().Add(-5 * time.Hour)
	for _, p := range []string{dead, f.f.Name()} {
		if p == dead {
			if err := os.WriteFile(p, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(p, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := CleanTemp(dir, time.Hour); err != nil || n != 1 {
		t.Errorf("removed %d, %v; the one that nobody writes was to go", n, err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
}
