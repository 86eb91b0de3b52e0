//go:build !linux && !darwin

package source

import "io/fs"

const nonBlock = 0

// stamp is size and modification time: the platform's listing has no more.
func stamp(info fs.FileInfo) string {
	return formatStamp(info.Size(), info.ModTime().UnixNano())
}
