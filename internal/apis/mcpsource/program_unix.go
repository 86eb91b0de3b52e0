//go:build unix

package mcpsource

import (
	"os/exec"
	"syscall"
)

// contain gives a program a process group of its own, so that what it starts ends
// with it, and a signal of the terminal does not reach it.
func contain(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	outlived(cmd.SysProcAttr)
}

// killGroup kills a program and what it has started.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil && cmd.Process.Pid > 1 {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
