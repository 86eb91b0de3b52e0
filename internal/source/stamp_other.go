//go:build !linux && !darwin

package source

import (
	"errors"
	"io/fs"
)

const nonBlock = 0

// stamp is size and modification time: the platform's listing has no more.
func stamp(info fs.FileInfo) string {
	return formatStamp(info.Size(), info.ModTime().UnixNano())
}

// trails is that the platform does not tell when a file or directory changed.
const trails = false

func inodeAt(string) (inode, error)    { return inode{}, errors.ErrUnsupported }
func inodeOf(fs.FileInfo) (none inode) { return none }

type seenDir struct{}

func openSeen(string) (d seenDir, i inode, err error) { return d, i, errors.ErrUnsupported }
func (seenDir) inode(string) (inode, error)           { return inode{}, errors.ErrUnsupported }
func (seenDir) close()                                {}
