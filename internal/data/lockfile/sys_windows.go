package lockfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// goes reports whether a file cannot be opened because it is being
// deleted. Access is denied to such a file as well as to one without
// permission, so that is to be tried for a while.
func goes(err error) (now, perhaps bool) {
	now = errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_DELETE_PENDING)
	return now, errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
