package browser

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// outlived has the kernel kill the browser when its parent dies.
func outlived(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// processes calls fn with the id and the command line of every process whose
// command line can be read.
func processes(fn func(pid int, cmdline []byte)) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if cmdline, err := os.ReadFile("/proc/" + name + "/cmdline"); err == nil {
			fn(pid, cmdline)
		}
	}
}

// killUsers kills what runs on a profile: every process of a browser has its
// path on the command line, also one that has left the group.
func killUsers(profile string) {
	if profile == "" {
		return
	}
	processes(func(pid int, cmdline []byte) {
		if bytes.Contains(cmdline, []byte(profile)) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// groupMemory sums the private memory of a process group, in bytes: what is
// shared would be counted once per process.
func groupMemory(pgid int) int64 {
	if pgid <= 1 {
		return 0
	}
	var sum int64
	dir, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid < pgid {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// "pid (name) state ppid pgrp …"; the name may hold anything.
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(f) < 3 || string(f[2]) != strconv.Itoa(pgid) {
			continue
		}
		status, _ := os.ReadFile("/proc/" + name + "/status")
		for line := range bytes.Lines(status) {
			if rest, ok := bytes.CutPrefix(line, []byte("RssAnon:")); ok {
				if v := bytes.Fields(rest); len(v) > 0 {
					n, _ := strconv.ParseInt(string(v[0]), 10, 64)
					sum += n << 10
				}
			}
		}
	}
	return sum
}
