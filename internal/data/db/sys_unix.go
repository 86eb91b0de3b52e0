//go:build !windows

package db

import "syscall"

// sizeLimit returns the size, in bytes, beyond which this process may not grow
// a file; limited is false when it may.
func sizeLimit() (limit int64, limited bool) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l); err != nil || l.Cur > 1<<60 {
		return 0, false
	}
	return int64(l.Cur), true
}
