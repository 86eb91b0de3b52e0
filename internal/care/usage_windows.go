package care

import "golang.org/x/sys/windows"

// diskSpace returns what is free for this user on the disk of dir, and its size.
func diskSpace(dir string) (free, size int64) {
	name, err := windows.UTF16PtrFromString(dir)
	var ours, all, left uint64
	if err != nil || windows.GetDiskFreeSpaceEx(name, &ours, &all, &left) != nil {
		return 0, 0
	}
	return int64(ours), int64(all)
}
