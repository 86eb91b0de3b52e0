package watch

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const watchHint = "raise the limits fs.inotify.max_user_watches and fs.inotify.max_user_instances with sysctl"

// networkFS names file systems by the magic number that statfs(2) gives.
var networkFS = map[int64]string{
	0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "smb", 0x517b: "smb", 0x65735546: "fuse", 0x01021997: "9p",
	0x00c36400: "ceph", 0x5346414f: "afs", 0x73757245: "coda", 0x0bd00bd0: "lustre", 0x564c: "ncp", 0x7461636f: "ocfs2", 0x01161970: "gfs2",
	0x786f4256: "vboxsf", 0xbacbacbc: "vmhgfs", 0xa501fcf5: "vxfs",
}

// Network returns the name of the network file system, or of the file system
// in user space that may be one, that a folder is on; "" for all others.
func Network(root string) string {
	var s unix.Statfs_t
	if unix.Statfs(root, &s) != nil {
		return ""
	}
	return networkFS[int64(s.Type)&0xffffffff]
}

// Limits returns how many directories one user can watch, and by how many
// watchers, 0 where the system does not say.
func Limits() (watches, watchers int) {
	return number("/proc/sys/fs/inotify/max_user_watches"), number("/proc/sys/fs/inotify/max_user_instances")
}

func number(file string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}
