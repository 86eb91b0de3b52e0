package watch

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A real file system is unmounted from under the folder, and comes back.
func TestUnmounted(t *testing.T) {
	probe := t.TempDir()
	if err := unix.Mount("none", probe, "tmpfs", 0, ""); err != nil {
		t.Skip("file systems cannot be mounted here: ", err)
	}
	unmount := func(dir string) {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}
	unmount(probe)
	x := follow(t, nil)
	mount := func() {
		if err := unix.Mount("none", x.root, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	mount()
	x.write("a", "1")
	x.settled("a file system is mounted over the folder")
	unmount(x.root)
	x.until("not told once that it is gone", func() bool { return x.told("missing") == 1 && len(x.index) == 1 })
	mount()
	defer unmount(x.root)
	x.write("b", "2")
	x.settled("the file system is back")
	x.until("not told that it is back", func() bool { return x.told("back") == 1 })
}
