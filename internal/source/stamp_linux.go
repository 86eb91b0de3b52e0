package source

import (
	"io/fs"
	"syscall"
)

// nonBlock keeps the opening of a fifo, put in the place of a file, from hanging.
const nonBlock = syscall.O_NONBLOCK

// stamp is size, modification time, inode and time of the inode's last change.
func stamp(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return formatStamp(info.Size(), info.ModTime().UnixNano(), int64(st.Ino), st.Ctim.Nano())
	}
	return formatStamp(info.Size(), info.ModTime().UnixNano())
}
