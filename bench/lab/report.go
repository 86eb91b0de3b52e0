package lab

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Report is a Markdown file that grows.
type Report struct{ b strings.Builder }

// Printf adds text.
func (r *Report) Printf(format string, args ...any) { fmt.Fprintf(&r.b, format, args...) }

// Table adds a table; the first row is its head.
func (r *Report) Table(rows ...[]string) {
	for i, row := range rows {
		for j, c := range row {
			row[j] = strings.ReplaceAll(c, "|", `\|`)
		}
		r.Printf("| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			r.Printf("|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
	r.Printf("\n")
}

// Write writes the report to DIR/DATE-NAME.md and returns the path.
func (r *Report) Write(dir, name string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	p := filepath.Join(dir, time.Now().Format(time.DateOnly)+"-"+name+".md")
	return p, os.WriteFile(p, []byte(strings.TrimRight(r.b.String(), "\n")+"\n"), 0o644)
}

// Load returns the load averages of the machine over 1, 5 and 15 minutes, or "unknown".
func Load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(b)); err == nil && len(f) > 2 {
		return strings.Join(f[:3], " ")
	}
	return "unknown"
}

// WaitQuiet returns when the processors of the machine were at most a tenth busy over a
// second, or when limit has passed, and reports which. Where the system does not
// tell (not Linux) it returns true at once.
func WaitQuiet(limit time.Duration) bool {
	for until := time.Now().Add(limit); ; {
		busy, total, ok := processorTime()
		if !ok {
			return true
		}
		time.Sleep(time.Second)
		busy2, total2, _ := processorTime()
		if 10*(busy2-busy) <= total2-total {
			return true
		}
		if time.Now().After(until) {
			return false
		}
	}
}

// processorTime returns the busy and the whole time of all processors so far, in ticks.
func processorTime() (busy, total int64, ok bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	for i, f := range strings.Fields(line) {
		if i == 0 || i > 8 { // the name; guest time is in user time already
			continue
		}
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		total += n
		if i != 4 && i != 5 { // idle, and waiting for a disk
			busy += n
		}
	}
	return busy, total, total > 0
}

// Machine tells what the figures depend on.
func Machine() string {
	model, memory, kernel := runtime.GOARCH, "", ""
	if m, ok := lineOf("/proc/cpuinfo", "model name"); ok {
		model = m
	}
	if m, ok := lineOf("/proc/meminfo", "MemTotal"); ok {
		var kb int64
		if _, err := fmt.Sscan(m, &kb); err == nil {
			memory = fmt.Sprintf(", %.0f GB memory", float64(kb)*1024/1e9)
		}
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel = " " + strings.TrimSpace(string(b))
	}
	return fmt.Sprintf("%s, %d cores%s, %s%s, %s", model, runtime.NumCPU(), memory, runtime.GOOS, kernel, runtime.Version())
}

func lineOf(file, key string) (string, bool) {
	f, err := os.Open(file)
	if err != nil {
		return "", false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// String returns what was added so far.
func (r *Report) String() string { return r.b.String() }
