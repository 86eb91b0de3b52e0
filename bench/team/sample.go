package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// sample is what a process has at a moment, where /proc tells.
type sample struct {
	at             time.Duration
	rss, anon      int64
	files, threads int
}

func byAnon(a, b sample) int    { return cmp.Compare(a.anon, b.anon) }
func byFiles(a, b sample) int   { return cmp.Compare(a.files, b.files) }
func byThreads(a, b sample) int { return cmp.Compare(a.threads, b.threads) }

func look(pid int, at time.Duration) sample {
	s := sample{at: at}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // zeros elsewhere
	for line := range bytes.Lines(status) {
		f := bytes.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, err := strconv.ParseInt(string(f[1]), 10, 64)
		if err != nil {
			continue
		}
		switch string(f[0]) {
		case "VmRSS:":
			s.rss = n << 10
		case "RssAnon:":
			s.anon = n << 10
		case "Threads:":
			s.threads = int(n)
		}
	}
	open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	s.files = len(open)
	return s
}

// du returns how much lies below a folder.
func du(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is going just now
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}
