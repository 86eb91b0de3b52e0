//go:build unix && !linux

package mcpsource

import "syscall"

// outlived: a program ends with its input, where the kernel does not end it.
func outlived(*syscall.SysProcAttr) {}
