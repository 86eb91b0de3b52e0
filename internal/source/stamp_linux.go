package source

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
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

// trails is that the system tells when a file or directory changed, whatever set its times.
const trails = true

// inodeAt asks the system about a file or directory. It follows no link.
func inodeAt(path string) (inode, error) {
	return inodeIn(unix.AT_FDCWD, path)
}

// inodeIn asks about a file in an open directory; a path that is absolute lies anywhere.
func inodeIn(dir int, path string) (inode, error) {
	var st unix.Stat_t
	err := unix.Fstatat(dir, path, &st, unix.AT_SYMLINK_NOFOLLOW)
	for err == unix.EINTR {
		err = unix.Fstatat(dir, path, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err == unix.ENOENT {
		return inode{}, nil
	}
	if err != nil {
		return inode{}, err
	}
	return inodeFrom(uint64(st.Dev), st.Ino, uint64(st.Mode), st.Size, st.Mtim.Nano(), st.Ctim.Nano()), nil
}

func inodeFrom(dev, ino, mode uint64, size, mtime, ctime int64) inode {
	kind := mix(dev, ino, mode&unix.S_IFMT)
	return inode{mix(kind, mode, uint64(size), uint64(mtime), uint64(ctime)), kind, max(mtime, ctime)}
}

// inodeOf is inodeAt of what was asked already.
func inodeOf(info fs.FileInfo) inode {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return inodeFrom(uint64(st.Dev), st.Ino, uint64(st.Mode), st.Size, st.Mtim.Nano(), st.Ctim.Nano())
	}
	return inode{}
}

// seenDir is a directory that is open to be asked about its files.
type seenDir int

func openSeen(path string) (seenDir, inode, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return -1, inode{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return -1, inode{}, err
	}
	return seenDir(fd), inodeFrom(uint64(st.Dev), st.Ino, uint64(st.Mode), st.Size, st.Mtim.Nano(), st.Ctim.Nano()), nil
}

func (d seenDir) inode(name string) (inode, error) { return inodeIn(int(d), name) }
func (d seenDir) close()                           { unix.Close(int(d)) }
