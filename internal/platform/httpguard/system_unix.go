//go:build !windows

package httpguard

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	errInUse    = syscall.EADDRINUSE
	errNoAccess = syscall.EACCES
)

// ours reports whether a file belongs to the user of this process, or to root.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == uint32(os.Geteuid()) || s.Uid == 0)
}
