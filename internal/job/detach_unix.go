//go:build unix

package job

import (
	"os/exec"
	"syscall"
)

// detach gives the process a session of its own, so that neither the end of a
// terminal nor of a process group reaches it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
