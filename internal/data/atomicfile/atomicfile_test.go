package atomicfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func temps(t *testing.T, dir string) []string {
	t.Helper()
	got, err := filepath.Glob(filepath.Join(dir, TempPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWriteReplacesWholeContentWithPrivateModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "f")
	for _, s := range []string{"first", "", "second, longer than before"} {
		if err := Write(path, []byte(s)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != s {
			t.Fatalf("read %q, wrote %q", got, s)
		}
	}
	if left := temps(t, filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700} {
		st, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", p, st.Mode().Perm(), want)
		}
	}
}

func TestEveryFailureKeepsTheOldContentAndIsNamed(t *testing.T) {
	eio := errors.New("input/output error")
	for _, op := range []Op{OpMkdir, OpCreate, OpWrite, OpSync, OpClose, OpRename} {
		for cause, code := range map[error]kb.Code{error(syscall.ENOSPC): kb.Full, error(syscall.EACCES): kb.Denied, eio: kb.Internal, error(syscall.EMFILE): kb.Internal} {
			if runtime.GOOS == "windows" && cause == error(syscall.ENOSPC) {
				continue // another errno there
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if op == OpMkdir { // the directory is known after the first write
				path = filepath.Join(dir, "sub", "f")
			} else if err := Write(path, []byte("old")); err != nil {
				t.Fatal(err)
			}
			restore := Inject(func(o Op, _ string) error {
				if o == op {
					return cause
				}
				return nil
			})
			err := Write(path, []byte("new content"))
			restore()
			if kb.CodeOf(err) != code {
				t.Errorf("%s failing with %v: got code %q (%v), want %q", op, cause, kb.CodeOf(err), err, code)
			}
			if kb.HintOf(err) == "" || !strings.Contains(err.Error(), "f\"") && op != OpMkdir {
				t.Errorf("%s: error %q (hint %q) does not help", op, err, kb.HintOf(err))
			}
			if op != OpMkdir {
				if got := read(t, path); got != "old" {
					t.Errorf("%s failing left %q", op, got)
				}
			}
			if left := temps(t, dir); len(left) > 0 {
				t.Errorf("%s failing left %q", op, left)
			}
		}
	}
}

func TestFailedDirectorySyncIsReported(t *testing.T) {
	defer Inject(func(o Op, _ string) error {
		if o == OpSyncDir {
			return syscall.ENOSPC
		}
		return nil
	})()
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, []byte("x")); err == nil {
		t.Fatal("no error")
	}
}

func TestAFileThatFailedCannotBeCommitted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	restore := Inject(func(o Op, _ string) error {
		if o == OpWrite {
			return syscall.EIO
		}
		return nil
	})
	if _, err := f.Write([]byte("abc")); err == nil {
		t.Fatal("no error")
	}
	restore()
	if _, err := f.Write([]byte("def")); err == nil {
		t.Fatal("wrote on after a failure")
	}
	if err := f.Commit(); err == nil {
		t.Fatal("committed a file with a hole")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatalf("file exists: %v", err)
	}
}

func TestAbortAndCommitAs(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "unnamed"))
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("x"))
	if err := f.CommitAs(filepath.Join(dir, "other", "f")); err == nil {
		t.Error("committed into another directory")
	}
	if err := f.CommitAs(filepath.Join(dir, "named")); err != nil {
		t.Fatal(err)
	}
	if err := f.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err == nil {
		t.Error("committed twice")
	}
	if got := read(t, filepath.Join(dir, "named")); got != "x" {
		t.Errorf("read %q", got)
	}
	g, err := Create(filepath.Join(dir, "gone"))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Write(nil); err == nil {
		t.Error("wrote after Abort")
	}
	names, _ := os.ReadDir(dir)
	if len(names) != 1 {
		t.Errorf("left %v", names)
	}
}

func TestCleanTempRemovesOnlyOldLeftovers(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for name, age := range map[string]time.Time{
		TempPrefix + "old": old, TempPrefix + "young": time.Now(), "kept": old,
		TempPrefix + "future": time.Now().Add(24 * time.Hour),
	} {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, age, age); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, TempPrefix+"dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	n, err := CleanTemp(dir, time.Hour)
	if n != 1 || err != nil {
		t.Fatalf("removed %d, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(dir, TempPrefix+"old")); !os.IsNotExist(err) {
		t.Errorf("leftover stands: %v", err)
	}
	if n, err := CleanTemp(filepath.Join(dir, "missing"), 0); n != 0 || err != nil {
		t.Errorf("missing directory: %d, %v", n, err)
	}
}

func TestReadersNeverSeeHalf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, b := bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<17)
	if err := Write(path, a); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, data := range [][]byte{a, b} {
		wg.Go(func() {
			for range 50 {
				if err := Write(path, data); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		got, err := os.ReadFile(path)
		if err != nil && runtime.GOOS == "windows" {
			continue // it is being replaced at this moment
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, a) && !bytes.Equal(got, b) {
			t.Fatalf("read %d bytes of neither content", len(got))
		}
	}
	wg.Wait()
}
