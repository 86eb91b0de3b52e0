package main

import (
	"os"
	"syscall"
	"testing"
)

// TestFullDisk runs on a small file system in memory.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.Mkdir(w.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", w.data, "tmpfs", 0, "size=1600k"); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { // before the world ends
		w.waitIdle()
		w.workersEnd()
		if err := syscall.Unmount(w.data, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	fullDisk(t, w, func() {
		if err := syscall.Mount("tmpfs", w.data, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
			t.Fatal(err)
		}
	})
}
