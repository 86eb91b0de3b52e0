// Command wine builds the tests of packages as Windows programs and runs them
// under Wine:
//
//	wine [-out DIR] ./internal/data/lockfile ./internal/job …
//
// First it starts the program, by itself and by the plugin's launcher; see
// launcher.go. A report of all goes to DIR. Where Wine is missing it says so and
// ends with status 0. Every program of Go 1.26 asks for a library that Wine 8
// lacks, and ends there with "bcryptprimitives.dll not found"; package forwarder
// makes it, and the report says whether it was needed. A test fails there
// for one reason that is not ours: os.RemoveAll of Go 1.26 asks Windows to
// delete files in a way (FileDispositionInformationEx) that Wine 8 does not
// know, so that the folder of t.TempDir stays. Such tests count as passed, and
// are counted.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/bench/wine/forwarder"
)

func main() {
	out := flag.String("out", "", "folder for the report; none is written without")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "wine:", err)
		os.Exit(1)
	}
}

func run(reports string, packages []string) error {
	wine, err := exec.LookPath("wine")
	if err != nil {
		if wine, err = exec.LookPath("wine64"); err != nil {
			fmt.Println("skipped: no program wine on the PATH")
			return nil
		}
	}
	tmp, err := os.MkdirTemp("", "wine")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	prefix := filepath.Join(tmp, "prefix")
	env := append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all")
	boot := exec.Command(wine, "wineboot", "-i")
	boot.Env = env
	if out, err := boot.CombinedOutput(); err != nil {
		return fmt.Errorf("wineboot: %w: %s", err, out)
	}
	system := filepath.Join(prefix, "drive_c", "windows", "system32")
	number, err := exec.Command(wine, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w", wine, err)
	}
	lacks := "has"
	if _, err := os.Stat(filepath.Join(system, forwarder.Library)); errors.Is(err, os.ErrNotExist) {
		lacks = "lacks"
		if err := os.WriteFile(filepath.Join(system, forwarder.Library), forwarder.Bytes(), 0o600); err != nil {
			return err
		}
	}
	var report lab.Report
	report.Printf("# Windows programs under Wine, %s\n\n%s, %s.\n", time.Now().Format(time.DateOnly), lab.Machine(), bytes.TrimSpace(number))
	report.Printf("This Wine %s %s, without which no program of Go 1.26 starts; where it is lacking, ours forwards the one call to advapi32.dll.\n", lacks, forwarder.Library)
	report.Printf("Wine has none of curl, tar, certutil and Go: stand-ins take their place, and what Windows itself does stays untried.\n\n")
	steps, failed, err := launcher(wine, tmp, prefix, env)
	if err != nil {
		return err
	}
	report.Table(append([][]string{{"program and launcher", "as expected", "fetched", "said"}}, steps...)...)
	rows := [][]string{{"tests of", "passed", "of them but for the removal of their folder", "skipped", "failed"}}
	for _, p := range packages {
		exe := filepath.Join(tmp, filepath.Base(p)+".exe")
		build := exec.Command("go", "test", "-c", "-o", exe, p)
		build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", p, err, out)
		}
		cmd := exec.Command(wine, exe, "-test.v")
		cmd.Dir, cmd.Env, cmd.WaitDelay = p, env, time.Minute
		out, err := cmd.CombinedOutput()
		t := read(out)
		fmt.Printf("%-24s %3d passed, %d of them but for the removal of their folder; %d skipped; %d failed\n", p, t.passed, t.unremoved, t.skipped, len(t.failed))
		rows = append(rows, []string{p, strconv.Itoa(t.passed), strconv.Itoa(t.unremoved), strconv.Itoa(t.skipped), strconv.Itoa(len(t.failed))})
		for _, f := range t.failed {
			fmt.Printf("    %s\n", strings.ReplaceAll(strings.TrimSpace(f), "\n", "\n    "))
		}
		if failed += len(t.failed); t.passed == 0 || err != nil && len(t.failed) == 0 && t.unremoved == 0 {
			failed++
			fmt.Printf("    %v: %s\n", err, last(out, 2000))
		}
	}
	report.Table(rows...)
	report.Printf("Failures: %d.\n", failed)
	if reports != "" {
		path, err := report.Write(reports, "wine")
		if err != nil {
			return err
		}
		fmt.Println("report:", path)
	}
	if failed > 0 {
		return fmt.Errorf("%d failures", failed)
	}
	return nil
}

func last(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// tally is how the tests of a package went.
type tally struct {
	passed, unremoved, skipped int
	failed                     []string // with what they said
}

var ended = regexp.MustCompile(`^--- (PASS|FAIL|SKIP): (\S+)`)

// read reads the output of a test program.
func read(out []byte) (t tally) {
	var said []string
	sc := bufio.NewScanner(bytes.NewReader(bytes.ReplaceAll(out, []byte("\r"), nil)))
	sc.Buffer(nil, 4<<20)
	for sc.Scan() {
		line := sc.Text()
		m := ended.FindStringSubmatch(line)
		switch {
		case m == nil && strings.HasPrefix(strings.TrimSpace(line), "=== "):
		case m == nil:
			said = append(said, line)
		case m[1] == "PASS":
			t.passed, said = t.passed+1, nil
		case m[1] == "SKIP":
			t.skipped, said = t.skipped+1, nil
		default:
			ours := false
			for _, s := range said {
				s = strings.TrimSpace(s)
				// What a test says that skips itself looks like what one says that fails.
				ours = ours || s != "" && !strings.Contains(s, "TempDir RemoveAll cleanup: ") && !strings.HasPrefix(s, "--- ") &&
					!strings.HasSuffix(s, "this user may write anywhere") && !strings.HasSuffix(s, "cannot be deleted there")
			}
			if ours {
				t.failed = append(t.failed, line+"\n"+strings.Join(said, "\n"))
			} else {
				t.passed, t.unremoved = t.passed+1, t.unremoved+1
			}
			said = nil
		}
	}
	// A program that ends before its last test says neither.
	if end := strings.TrimSpace(string(last(out, 8))); !strings.HasSuffix(end, "PASS") && !strings.HasSuffix(end, "FAIL") {
		t.failed = append(t.failed, "it ended before its end:\n"+string(last(out, 2000)))
	}
	if i := bytes.Index(out, []byte("\npanic: ")); i >= 0 {
		t.failed = append(t.failed, string(out[i:min(len(out), i+2000)]))
	}
	return t
}
