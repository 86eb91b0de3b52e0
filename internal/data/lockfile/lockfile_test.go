package lockfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const helperEnv = "LOCKFILE_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(helperEnv); path != "" {
		if _, err := TryLock(path); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println("locked")
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// hold starts a process that holds the lock at path.
func hold(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	if strings.TrimSpace(line) != "locked" {
		t.Fatalf("helper said %q", line)
	}
	return cmd
}

func TestAKilledProcessHoldsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "x.lock")
	for range 3 {
		cmd := hold(t, path)
		_, err := TryLock(path)
		if kb.CodeOf(err) != kb.Busy {
			t.Fatalf("got %v, want busy", err)
		}
		if want := fmt.Sprintf("process %d", cmd.Process.Pid); !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
		if h, ok := Held(path); !ok || h.PID != cmd.Process.Pid {
			t.Errorf("Held: %+v, %v", h, ok)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if h, ok := Held(path); ok {
			t.Errorf("still held by %+v", h)
		}
		l, err := TryLock(path)
		if err != nil {
			t.Fatalf("the lock of a dead process: %v", err)
		}
		if err := l.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTwoHandlesOfOneProcessExclude(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	a, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(path); kb.CodeOf(err) != kb.Busy || !strings.Contains(err.Error(), "this process") {
		t.Fatalf("got %v, want busy", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := Acquire(ctx, path); kb.CodeOf(err) != kb.Busy {
		t.Fatalf("got %v, want busy", err)
	}
	ctx2, cancel2 := context.WithCancel(context.Background())
	cancel2()
	if _, err := Acquire(ctx2, path); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want canceled", err)
	}
	done := make(chan error)
	go func() {
		b, err := Acquire(context.Background(), path)
		if err == nil {
			err = b.Unlock()
		}
		done <- err
	}()
	for range 2 {
		if err := a.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, held := Held(path); held {
		t.Error("held after both gave up")
	}
	if _, held := Held(filepath.Join(t.TempDir(), "none")); held {
		t.Error("a missing file is held")
	}
}

// Holders that delete the file must never let two in at once.
func TestRemoveKeepsExclusion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	var inside, entries atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 40 {
				l, err := Acquire(context.Background(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				entries.Add(1)
				inside.Add(-1)
				if err := l.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if entries.Load() != 320 {
		t.Errorf("%d entries", entries.Load())
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("file stands: %v", err)
	}
}

func TestNoPermissionIsDenied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ro")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write anywhere")
	}
	if _, err := TryLock(filepath.Join(dir, "x.lock")); kb.CodeOf(err) != kb.Denied || kb.HintOf(err) == "" {
		t.Fatalf("got %v", err)
	}
}
