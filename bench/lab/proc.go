package lab

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Usage is what a command took, together with every process of the same
// program that ran meanwhile (its workers), until the last of them ended.
type Usage struct {
	Wall      time.Duration // until the command itself ended
	User, Sys time.Duration // of all processes
	// PeakRSS is the sum of the peaks of all processes in bytes, so it errs upwards.
	PeakRSS int64
	// Together is the most that all processes had at one moment, as far as looks every
	// 20 ms tell; 0 where the system does not.
	Together int64
	// Written is what the kernel took for writing in bytes, 0 where it does not tell.
	Written   int64
	Processes int
	Out       string
}

// Run runs a program of ours, bin, and watches it. On Linux, workers are seen
// every 20 ms through /proc; elsewhere only the process itself is counted.
func Run(dir string, env []string, bin string, args ...string) (Usage, error) {
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Env = dir, env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Usage{}, err
	}
	stop, seen := make(chan struct{}), make(chan map[int]sample, 1)
	var together int64
	go watch(bin, stop, seen, &together)
	err := cmd.Wait()
	u := Usage{Wall: time.Since(start), Out: out.String()}
	close(stop)
	samples := <-seen
	u.Together = together
	for _, s := range samples {
		u.User += s.user
		u.Sys += s.sys
		u.PeakRSS += s.rss
		u.Written += s.written
	}
	u.Processes = max(len(samples), 1)
	// What the kernel tells of the command at its end is exact, and holds the
	// workers that it waited for; but not those that it left behind. Its peak
	// begins at that of the process which forked it, ours: /proc knows better.
	own := usageOf(cmd.ProcessState)
	if own.user+own.sys > u.User+u.Sys {
		u.User, u.Sys = own.user, own.sys
	}
	u.Written = max(u.Written, own.written)
	if u.PeakRSS == 0 {
		u.PeakRSS = own.rss
	}
	if err != nil {
		return u, fmt.Errorf("%s %s: %w: %s", filepath.Base(bin), strings.Join(args, " "), err, tail(errs.String()))
	}
	return u, nil
}

// sample is what one process has taken so far.
type sample struct {
	user, sys    time.Duration
	rss, written int64
}

// watch samples the processes that run bin until stop is closed and none of
// them is left (for at most 30 s), and sends what each had taken at last; together
// becomes the most that all had at once.
func watch(bin string, stop <-chan struct{}, done chan<- map[int]sample, together *int64) {
	seen := map[int]sample{}
	var deadline <-chan time.Time
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		left, now := sampleAll(bin, seen)
		*together = max(*together, now)
		if deadline != nil && left == 0 {
			tick.Stop()
			done <- seen
			return
		}
		select {
		case <-tick.C:
		case <-stop:
			stop, deadline = nil, time.After(30*time.Second)
		case <-deadline:
			tick.Stop()
			done <- seen
			return
		}
	}
}

// WrittenBy notes in seen how many bytes each process whose executable is bin has had
// written to disk so far, where the system tells.
func WrittenBy(bin string, seen map[int]int64) {
	now := map[int]sample{}
	sampleAll(bin, now)
	for pid, s := range now {
		seen[pid] = s.written
	}
}

// DirSize returns the bytes of all files below dir.
func DirSize(dir string) (int64, error) {
	files, err := List(dir)
	var n int64
	for _, f := range files {
		n += f.Size
	}
	return n, err
}

// File is one regular file of a List.
type File struct {
	Size  int64
	Mtime time.Time
}

// List returns the regular files below dir by slash-separated relative path.
func List(dir string) (map[string]File, error) {
	out := map[string]File{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = File{Size: info.Size(), Mtime: info.ModTime()}
		return err
	})
	return out, err
}

// Written returns the whole sizes of the files that are new or changed between two lists.
func Written(before, after map[string]File) int64 {
	var n int64
	for p, f := range after {
		if b, ok := before[p]; !ok || b.Size != f.Size || !b.Mtime.Equal(f.Mtime) {
			n += f.Size
		}
	}
	return n
}
