package crash

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// mountSmall mounts a file system of so many bytes at dir.
func mountSmall(t *testing.T, dir string, size int) (resize func(size int) error, err error) {
	if err := syscall.Mount("crash", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		return nil, err
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return func(size int) error {
		return syscall.Mount("crash", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", size))
	}, nil
}

// unprivileged takes the rights of root from a command.
func unprivileged(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}
