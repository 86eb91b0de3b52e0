package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, syscall.ENOSPC) // what tests inject
}

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// rename retries for two seconds: Windows refuses to rename a file, and to
// rename over one, that is open: in a reader, or in a virus scanner that checks
// new files.
func rename(from, to string) error {
	began := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		err := os.Rename(from, to)
		held := errors.Is(err, fs.ErrPermission) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !held || time.Since(began) > 2*time.Second {
			return err
		}
		time.Sleep(wait)
	}
}

func syncDir(string) error { return nil }
