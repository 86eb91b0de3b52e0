//go:build !linux

package crash

import (
	"os"
	"runtime"
	"syscall"
)

// alive reports whether a process runs.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || runtime.GOOS == "windows" {
		return err == nil
	}
	return p.Signal(syscall.Signal(0)) == nil
}

// footprint is not known here.
func footprint(int) (kib, files int, ok bool) { return 0, 0, false }
