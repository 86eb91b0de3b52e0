package crash

import (
	"fmt"
	"os"
	"strings"
)

// alive reports whether a process runs: a zombie does not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// footprint returns the resident memory of a process in KiB and its open files.
func footprint(pid int) (kib, files int, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, false
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0, 0, false
	}
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return kib, len(list), err == nil
}
