package source

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// nonBlock keeps the opening of a fifo, put in the place of a file, from hanging.
const nonBlock = syscall.O_NONBLOCK

// stamp is size, modification time, inode and time of the inode's last change.
func stamp(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return formatStamp(info.Size(), info.ModTime().UnixNano(), int64(st.Ino), st.Ctimespec.Nano())
	}
	return formatStamp(info.Size(), info.ModTime().UnixNano())
}

// trails is that the system tells when a file or directory changed, whatever set its times.
const trails = true

// inodeAt asks the system about a file or directory. It follows no link.
func inodeAt(path string) (inode, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return inode{}, nil
	}
	if err != nil {
		return inode{}, err
	}
	return inodeOf(info), nil
}

// inodeOf is inodeAt of what was asked already.
func inodeOf(info fs.FileInfo) inode {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}
	}
	kind := mix(uint64(st.Dev), st.Ino, uint64(st.Mode&syscall.S_IFMT))
	mtime, ctime := st.Mtimespec.Nano(), st.Ctimespec.Nano()
	return inode{mix(kind, uint64(st.Mode), uint64(st.Size), uint64(mtime), uint64(ctime)), kind, max(mtime, ctime)}
}

// seenDir is a directory that is asked about its files.
type seenDir string

func openSeen(path string) (seenDir, inode, error) {
	i, err := inodeAt(path)
	return seenDir(path), i, err
}

func (d seenDir) inode(name string) (inode, error) { return inodeAt(string(d) + "/" + name) }
func (d seenDir) close()                           {}
