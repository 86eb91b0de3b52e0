//go:build unix

package source

import (
	"os/exec"
	"syscall"
)

// detach gives the child a session of its own, so that neither it nor the ssh
// it starts finds a terminal to ask on, and lets all of it be killed at once.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
