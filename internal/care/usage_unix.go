//go:build unix

package care

import "golang.org/x/sys/unix"

// diskSpace returns what is free for this user on the disk of dir, and its size.
func diskSpace(dir string) (free, size int64) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, 0
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize)
}
