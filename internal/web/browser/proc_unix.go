//go:build unix

package browser

import (
	"errors"
	"os/exec"
	"syscall"
)

// contain gives a browser a process group of its own.
func contain(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	outlived(cmd.SysProcAttr)
}

// kill kills the process group of a browser and what has left it but runs on
// its profile.
func kill(pid int, profile string) {
	if pid > 1 {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	killUsers(profile)
}

// gone reports whether no process has an id any more.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
