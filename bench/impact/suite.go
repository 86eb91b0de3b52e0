package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// checkout makes a clone of a project at its commit, with its history.
func checkout(repos string, p *project, below string) (string, error) {
	dir := filepath.Join(below, strings.ReplaceAll(p.name, "/", "+"))
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		_, err := lab.Command(dir, os.Environ(), "git", "checkout", "-q", "-f", p.commit)
		return dir, err
	}
	from, _, err := lab.Repository(repos, p.name, p.commit)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(below, 0o755); err != nil {
		return "", err
	}
	if _, err := lab.Command(below, os.Environ(), "git", "clone", "-q", "-n", from, dir); err != nil {
		return "", err
	}
	_, err = lab.Command(dir, os.Environ(), "git", "checkout", "-q", p.commit)
	return dir, err
}

// verdict is what a suite said of one mutant. Tests are named "dir:TestName" in
// Go and "path::Class::name" in Python; "path::*" is a file that cannot even be
// loaded, "*" a suite that cannot.
type verdict struct {
	Mutant  mutant
	Failing []string
	Whole   bool // no test was left out because another ended the process
	Tests   int  // of the suite
	Seconds float64
}

const (
	testTime  = 20 * time.Second // of one package in Go, of one test in Python
	suiteTime = 4 * time.Minute
	aloneTime = 2 * time.Minute // for all tests that have to run alone
	oneTime   = 10 * time.Second
)

// suite runs the tests of a project and returns those that fail.
func (p *project) suite(dir, python string, known []string) (failing, ran []string, err error) {
	if p.lang == "python" {
		return p.pytest(dir, python)
	}
	return p.goTest(dir, known)
}

// goTest runs a module's tests. A test that ends its process takes with it those
// that had not run yet; of the known ones these are run again, each alone.
func (p *project) goTest(dir string, known []string) (failing, ran []string, err error) {
	failed, done := map[string]bool{}, map[string]bool{}
	if err := goRun(dir, "./...", "", failed, done); err != nil {
		return nil, nil, err
	}
	missing := map[string][]string{}
	for _, k := range known {
		if !done[k] && !failed[k] {
			pkg, name, _ := strings.Cut(k, ":")
			missing[pkg] = append(missing[pkg], name)
		}
	}
	for _, pkg := range lab.Keys(missing) {
		crashed := false
		for id := range failed { // else the package does not compile
			crashed = crashed || strings.HasPrefix(id, pkg+":")
		}
		if crashed {
			if err := alone(dir, pkg, missing[pkg], failed, done); err != nil {
				return nil, nil, err
			}
		}
	}
	return lab.Keys(failed), lab.Keys(done), nil
}

// alone runs tests of one package in a process each, as long as there is time.
func alone(dir, pkg string, names []string, failed, done map[string]bool) error {
	tmp, err := os.MkdirTemp("", "impact-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	program := filepath.Join(tmp, "x.test")
	if _, err := lab.Command(dir, os.Environ(), "go", "test", "-c", "-vet=off", "-o", program, "./"+pkg); err != nil {
		return err
	}
	for until := time.Now().Add(aloneTime); len(names) > 0 && time.Now().Before(until); names = names[1:] {
		ctx, cancel := context.WithTimeout(context.Background(), oneTime)
		c := exec.CommandContext(ctx, program, "-test.run", "^"+names[0]+"$", "-test.count=1")
		c.Dir = filepath.Join(dir, pkg)
		if c.Run() != nil {
			failed[pkg+":"+names[0]] = true
		} else {
			done[pkg+":"+names[0]] = true
		}
		cancel()
	}
	return nil
}

// goRun runs tests and notes those that failed and those that ended.
func goRun(dir, pattern, only string, failed, done map[string]bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), suiteTime)
	defer cancel()
	args := []string{"test", "-json", "-vet=off", "-count=1", "-timeout", testTime.String()}
	if only != "" {
		args = append(args, "-run", only)
	}
	c := exec.CommandContext(ctx, "go", append(args, pattern)...)
	c.Dir = dir
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	module, err := moduleOf(dir)
	if err != nil {
		return err
	}
	running := map[string]bool{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(s.Bytes(), &e) != nil || e.Test == "" || strings.Contains(e.Test, "/") {
			continue
		}
		pkg := strings.TrimPrefix(strings.TrimPrefix(e.Package, module), "/")
		id := path.Clean(pkg) + ":" + e.Test
		switch e.Action {
		case "run", "cont":
			running[id] = true
		case "pause":
			delete(running, id)
		case "fail":
			failed[id] = true
			delete(running, id)
		case "pass", "skip":
			done[id] = true
			delete(running, id)
		}
	}
	for id := range running { // its process ended with it
		failed[id] = true
	}
	return nil
}

func moduleOf(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^module\s+(\S+)`).FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("go.mod of %s names no module", dir)
	}
	return string(m[1]), nil
}

var pytestRE = regexp.MustCompile(`(?m)^(FAILED|ERROR|PASSED|XPASS|XFAIL|SKIPPED) ([^\s\[]+)`)

// pytest runs a project's tests with an interpreter that has pytest and
// pytest-timeout.
func (p *project) pytest(dir, python string) (failing, ran []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), suiteTime)
	defer cancel()
	args := []string{"-m", "pytest", "-q", "--tb=no", "-rA", "-p", "no:cacheprovider", "--continue-on-collection-errors",
		fmt.Sprintf("--timeout=%d", int(testTime.Seconds()))}
	for _, f := range p.ignore {
		args = append(args, "--ignore="+f)
	}
	c := exec.CommandContext(ctx, python, append(args, "tests")...)
	c.Dir = dir
	if err := p.metadata(dir); err != nil {
		return nil, nil, err
	}
	c.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(dir, filepath.Dir(strings.TrimSuffix(p.below, "/"))), "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, nil, err
	}
	for _, m := range pytestRE.FindAllStringSubmatch(string(out), -1) {
		id := m[2]
		if !strings.Contains(id, "::") {
			id += "::*"
		}
		if m[1] == "FAILED" || m[1] == "ERROR" {
			failing = append(failing, id)
		} else {
			ran = append(ran, id)
		}
	}
	if len(failing)+len(ran) == 0 && exit != nil {
		failing = []string{"*"}
	}
	slices.Sort(failing)
	slices.Sort(ran)
	return slices.Compact(failing), slices.Compact(ran), nil
}

// metadata makes a project that lies below src look installed, for tests that
// ask which version it is.
func (p *project) metadata(dir string) error {
	if !strings.HasPrefix(p.below, "src/") {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "pyproject.toml"))
	if err != nil {
		return err
	}
	version := "0"
	if m := regexp.MustCompile(`(?m)^version = "([^"]+)"`).FindSubmatch(text); m != nil {
		version = string(m[1])
	}
	at := filepath.Join(dir, "src", path.Base(p.name)+".egg-info")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at, "PKG-INFO"), []byte("Metadata-Version: 2.1\nName: "+path.Base(p.name)+"\nVersion: "+version+"\n"), 0o644)
}

// matrix runs the suite of a project on every mutant that kept has no verdict
// of, and appends to that file, one JSON value a line.
// With asFar those without a verdict are left out.
func (p *project) matrix(dir, python, kept string, list []mutant, asFar bool) ([]verdict, error) {
	have, err := lab.ReadLines[verdict](kept)
	slices.Reverse(have) // the last word counts
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(kept, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var base, known []string
	var out []verdict
	for _, m := range list {
		if i := slices.IndexFunc(have, func(v verdict) bool {
			return v.Mutant == m && (v.Whole || asFar || p.lang != "go" || len(v.Failing) == 0 || len(v.Failing) > 6)
		}); i >= 0 {
			out = append(out, have[i])
			continue
		}
		if asFar {
			continue
		}
		if known == nil { // what fails, or fails sometimes, without any change
			for range 2 {
				failing, ran, err := p.suite(dir, python, nil)
				if err != nil {
					return nil, err
				}
				base, known = append(base, failing...), append(ran, failing...)
			}
			slices.Sort(base)
			base = slices.Compact(base)
			fmt.Printf("%s: %d tests, %d of them fail as they are\n", p.name, len(known), len(base))
		}
		back, err := m.put(dir)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		failing, _, err := p.suite(dir, python, known)
		back()
		if err != nil {
			return nil, err
		}
		v := verdict{Mutant: m, Tests: len(known), Whole: true, Seconds: time.Since(start).Seconds()}
		for _, id := range failing {
			if !slices.Contains(base, id) {
				v.Failing = append(v.Failing, id)
			}
		}
		line, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(append(line, '\n')); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
