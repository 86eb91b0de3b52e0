//go:build !windows

package main

import (
	"os/exec"
	"syscall"
)

// detach lets the kept server outlive the shell that an agent looked from.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
