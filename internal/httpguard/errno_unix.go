//go:build !windows

package httpguard

import "syscall"

const (
	errInUse    = syscall.EADDRINUSE
	errNoAccess = syscall.EACCES
)
