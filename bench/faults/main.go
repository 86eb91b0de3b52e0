// Command faults runs the tests of internal/checks/crash in full, whatever they take a
// sample of otherwise, and writes its report to bench/runs: which tests passed,
// and what became of each call to the file system that failed.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "", "the report; none when only some tests are run")
	run := flag.String("run", ".", "the tests, as go test -run takes them")
	flag.Parse()
	if err := faults(*out, *run); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// outcome is how one test ended: "--- PASS: TestX (1.20s)".
var outcome = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (Test\w+) \(([0-9.]+)s\)`)

func faults(out, run string) error {
	began := time.Now()
	commit, _ := exec.Command("git", "describe", "--always", "--dirty").Output() // what is built now
	dir, err := os.MkdirTemp("", "faults-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	calls := filepath.Join(dir, "calls")
	cmd := exec.Command("go", "test", "-count=1", "-v", "-timeout", "2h", "-run", run, "./internal/checks/crash")
	cmd.Env = append(os.Environ(), "KNOWLEDGE_CRASH=full", "KNOWLEDGE_CRASH_REPORT="+calls)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &said), os.Stderr
	failed := cmd.Run()
	if out != "" {
		if err := report(out, calls, said.String(), run, strings.TrimSpace(string(commit)), began); err != nil {
			return err
		}
		fmt.Println(out)
	}
	return failed
}

func report(out, calls, said, run, commit string, began time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Faults: the whole program on a file system that fails. %s\n\n", began.UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "%s/%s, %d processors, %s, commit %s; tests of internal/checks/crash in full (`-run %s`), %s.\nThe promises stand in docs/design/008-faults.md.\n\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), commit, run, time.Since(began).Round(time.Second))
	b.WriteString("| test | outcome | seconds |\n| --- | --- | --- |\n")
	for _, m := range outcome.FindAllStringSubmatch(said, -1) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m[2], map[string]string{"PASS": "passed", "FAIL": "**failed**", "SKIP": "skipped"}[m[1]], m[3])
	}
	table, err := callTable(calls)
	if err != nil {
		return err
	}
	b.WriteString(table)
	return os.WriteFile(out, []byte(b.String()), 0o644)
}

// callTable counts the calls that failed, by what they were. A line of the file
// is a number, a call, and what steps said of it, or nothing where it was made
// good without anybody noticing.
func callTable(path string) (string, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	type row struct{ calls, full, internal int }
	rows := map[string]*row{}
	total := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		part := strings.SplitN(lines.Text(), "\t", 3)
		if len(part) < 3 {
			continue
		}
		total++
		r := rows[part[1]]
		if r == nil {
			r = &row{}
			rows[part[1]] = r
		}
		r.calls++
		switch {
		case strings.Contains(part[2], ": disk_full: "):
			r.full++
		case part[2] != "":
			r.internal++
		}
	}
	if total == 0 {
		return "", lines.Err()
	}
	names := make([]string, 0, len(rows))
	for n := range rows {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(rows[b].calls-rows[a].calls, strings.Compare(a, b)) })
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d calls of a life of the program (open a new data directory, index, search, edit, delete, tidy up, end, open again, index) failed, one in\neach of as many lives: every second for want of space, else as an error of the device.\n\n", total)
	b.WriteString("| call | failed | told as \"no space left\" | told as a failing disk | made good unseen |\n| --- | --- | --- | --- | --- |\n")
	for _, n := range names {
		r := rows[n]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", n, r.calls, r.full, r.internal, r.calls-r.full-r.internal)
	}
	return b.String(), lines.Err()
}
