package mcpsource

import (
	"os/exec"
	"strconv"
)

// contain: a program ends with its input.
func contain(*exec.Cmd) {}

// killGroup ends the tree of processes of a program.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}
