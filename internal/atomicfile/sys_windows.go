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

// rename retries for half a second: virus scanners and indexers hold files
// that have just been written, and Windows refuses to rename those.
func rename(from, to string) error {
	var err error
	for wait := 5 * time.Millisecond; wait < 500*time.Millisecond; wait *= 2 {
		err = os.Rename(from, to)
		if err == nil || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		time.Sleep(wait)
	}
	return err
}

func syncDir(string) error { return nil }
