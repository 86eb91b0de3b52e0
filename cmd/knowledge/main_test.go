// The tests of this package drive the built program as its users do: as a
// server over standard input and output, over HTTP, and from the command
// line. They need no network but loopback, no home directory and no settings
// of git. What needs something that this machine may lack (the sources of Go,
// git's HTTP backend, another user, a mount) is skipped, and says so.
//
// Two tests can also be pointed at material of one's own: KNOWLEDGE_E2E_REPO
// is the URL or path of a git repository, KNOWLEDGE_E2E_FOLDER a folder.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// program is the path of the built program, goroot that of Go's own tree.
var program, goroot string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "knowledge-program-")
		if err == nil {
			defer os.RemoveAll(dir)
			err = build(dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "the program cannot be built:", err)
			return 1
		}
		return m.Run()
	}())
}

func build(dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil { // another user runs it too
		return err
	}
	program = filepath.Join(dir, "knowledge")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program)
	if raceFlag != "" {
		build.Args = append(build.Args, raceFlag)
	} else {
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	}
	build.Args = append(build.Args, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	goroot = strings.TrimSpace(string(out))
	return err
}

// patience is how long a test waits for what must happen; it is no measure of
// speed, only of when to give up.
const patience = 3 * time.Minute

// world is one user on one machine: a data directory, a home directory and
// what the user makes.
type world struct {
	t    testing.TB
	root string
	home string
	data string
	env  []string // further variables
	// What the user lets agents reach: hosts, and paths outside of projects: the
	// folders of all tests, unless one is about them.
	opened, vouched []string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	root, err := os.MkdirTemp("", "knowledge-test-")
	if err != nil {
		t.Fatal(err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root, data: filepath.Join(root, "data"), vouched: []string{os.TempDir()}}
	w.home = w.dir("home")
	t.Cleanup(w.end)
	return w
}

// end waits for the workers, which outlive who started them, checks that none
// met a defect, and removes everything.
func (w *world) end() {
	if _, err := os.Stat(filepath.Join(w.data, "knowledge.db")); err == nil {
		for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
			var list app.JobList
			r := w.run(w.root, "jobs", "--all", "--activeOnly", "--json")
			if r.status != 0 || json.Unmarshal([]byte(r.out), &list) != nil || len(list.Jobs) == 0 {
				break
			}
			if w.t.Failed() {
				for _, j := range list.Jobs {
					w.run(w.root, "job:cancel", j.ID)
				}
			}
		}
	}
	w.workersEnd()
	if log, err := os.ReadFile(filepath.Join(w.data, "worker.log")); err == nil && defect.Match(log) {
		w.t.Errorf("a worker met a defect:\n%s", log)
	}
	var err error
	for range 50 {
		if err = os.RemoveAll(w.root); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Error(err)
}

// workersEnd waits for the processes that run jobs, which end when there is
// nothing left to do; where processes cannot be listed it just returns.
func (w *world) workersEnd() {
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		left := slices.DeleteFunc(names, func(name string) bool {
			line, err := os.ReadFile(name)
			return err != nil || !bytes.Contains(line, []byte(w.root+string(filepath.Separator)))
		})
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			w.t.Errorf("%d processes do not end: %v", len(left), left)
			return
		}
	}
}

// defect finds what only a defect of the program makes it say.
var defect = regexp.MustCompile(`DATA RACE|panic:|goroutine \d|fatal error`)

// dir makes a folder.
func (w *world) dir(name string) string {
	w.t.Helper()
	d := filepath.Join(w.root, filepath.FromSlash(name))
	if err := os.MkdirAll(d, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return d
}

// other is a second machine of the same user: the same files, no data yet.
func (w *world) other(data string) *world {
	o := &world{t: w.t, root: w.root, home: w.home, data: filepath.Join(w.root, data), env: w.env, vouched: w.vouched, opened: w.opened}
	w.t.Cleanup(func() {
		// The folders are removed with those of w, after its workers have ended.
		x := *o
		x.waitIdle()
	})
	return o
}

func (w *world) waitIdle() {
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if r := w.run(w.root, "jobs", "--all", "--activeOnly"); strings.TrimSpace(r.out) == "" {
			return
		}
	}
}

func (w *world) with(env ...string) *world {
	c := *w
	c.env = append(append([]string{}, w.env...), env...)
	return &c
}

// vouch does what "knowledge trust" does when a person has said yes.
func (w *world) vouch(dir, path string) {
	w.t.Helper()
	a, err := product.New(app.Config{DataDir: w.data, Dir: dir, Env: func(string) string { return "" }})
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = a.Trust(w.t.Context(), path, false)
	if err := errors.Join(err, a.Close()); err != nil {
		w.t.Fatal(err)
	}
}

// opens lets the host of a URL be reached.
func (w *world) opens(address string) {
	w.t.Helper()
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		w.opened = append(w.opened, u.Host)
	}
}

// config is the configuration of the world's user, who lets some hosts be reached.
func (w *world) config() string {
	w.t.Helper()
	path := filepath.Join(w.root, "opened.yaml")
	if err := os.WriteFile(path, []byte("web: {allow: [\""+strings.Join(w.opened, "\", \"")+"\"]}\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// command prepares a run of the program in a working directory.
func (w *world) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"KNOWLEDGE_DATA_DIR=" + w.data, "HOME=" + w.home, "USERPROFILE=" + w.home,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C.UTF-8",
		"GORACE=atexit_sleep_ms=0", // else every process built with -race sleeps a second before it ends
	}
	for _, name := range []string{"PATH", "TMPDIR", "TMP", "TEMP", "SystemRoot"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	if len(w.vouched) > 0 {
		cmd.Env = append(cmd.Env, "KNOWLEDGE_TRUST_PATHS="+strings.Join(w.vouched, string(os.PathListSeparator)))
	}
	if len(w.opened) > 0 {
		cmd.Env = append(cmd.Env, "KNOWLEDGE_CONFIG="+w.config())
	}
	cmd.Env = append(cmd.Env, w.env...)
	return cmd
}

// result is one run of the program.
type result struct {
	out, err string
	status   int
}

// run runs the program to its end. A defect that it shows fails the test.
func (w *world) run(dir string, args ...string) result {
	w.t.Helper()
	return w.finish(w.command(dir, args...))
}

func (w *world) finish(cmd *exec.Cmd) result {
	w.t.Helper()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		w.t.Error(err)
		return result{status: -1}
	}
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if !late.Stop() {
		w.t.Errorf("%.200q does not end", cmd.Args[1:])
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		w.t.Error(err)
	}
	if defect.Match(said.Bytes()) {
		w.t.Errorf("%.200q met a defect:\n%s", cmd.Args[1:], said.String())
	}
	return result{out.String(), said.String(), cmd.ProcessState.ExitCode()}
}

// must runs the program, which must succeed, and returns what it prints.
func (w *world) must(dir string, args ...string) string {
	w.t.Helper()
	r := w.run(dir, args...)
	if r.status != 0 {
		w.t.Fatalf("%.200q ends with status %d: %s", args, r.status, r.err)
	}
	return r.out
}

// decode runs the program with --json and reads what it prints into v.
func (w *world) decode(v any, dir string, args ...string) {
	w.t.Helper()
	out := w.must(dir, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		w.t.Fatalf("%.200q prints no JSON: %v\n%s", args, err, out)
	}
}

// write writes a file and the folders that lead to it.
func write(t testing.TB, dir, name string, text []byte) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// diskUse is the sum of the sizes of all files below folders.
func diskUse(t testing.TB, dirs ...string) (n int64) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				n += info.Size()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}
