//go:build unix && !linux

package browser

import "syscall"

// outlived: the end of the pipe to a browser ends it where the kernel does not.
func outlived(*syscall.SysProcAttr) {}

func killUsers(string) {}

// groupMemory is not measured here; the heap of scripts is bounded by a flag.
func groupMemory(int) int64 { return 0 }
