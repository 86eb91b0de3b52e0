// Command upgrades measures what deps:upgrade finds on pairs of versions from the
// registries, against compilers: the lines of projects in Go that go build refuses
// with another version of a dependency, those of TypeScript that tsc does, and the
// difference of 20 modules' APIs as the program apidiff prints it.
//
//	upgrades [-aside] [-only api,go,npm] [-first N] [-work DIR] [-kept] [-ask] [-lists DIR] [-out DIR]
//
// What cannot be got or does not compile as it is, is skipped and named. Modules
// lie in the module cache of the go command; projects are copied to DIR.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func main() {
	aside := flag.Bool("aside", false, "the pairs that are kept aside, instead of the others")
	only := flag.String("only", "api,go,npm", "which of the parts")
	first := flag.Int("first", 1<<20, "at most this many pairs of each part")
	work := flag.String("work", "", "folder of the projects, kept; a temporary one if not given")
	lists := flag.String("lists", "bench/upgrades", "folder of the lists")
	out := flag.String("out", "bench/runs", "folder of the report")
	flag.BoolVar(&keptOnly, "kept", false, "only pairs whose compilers have been asked before, in the folder of -work")
	flag.BoolVar(&askOnly, "ask", false, "only ask the compilers, and keep what they say in the folder of -work")
	flag.Parse()
	if err := run(*aside, strings.Split(*only, ","), *first, *work, *lists, *out); err != nil {
		fmt.Fprintln(os.Stderr, "upgrades:", err)
		os.Exit(1)
	}
}

// keptOnly is -kept: compilers take minutes, and are not asked anew. askOnly is -ask.
var keptOnly, askOnly bool

var errNotAsked = errors.New("the compiler was not asked in this run, which was cut short")

func run(aside bool, only []string, first int, work, lists, out string) error {
	if work == "" {
		scratch, err := lab.Scratch("upgrades")
		if err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
		work = scratch
	}
	work, err := filepath.Abs(work)
	if err != nil {
		return err
	}
	name := "upgrades"
	list := lists
	if aside {
		list, name = filepath.Join(lists, "aside"), "upgrades-aside"
	}
	var r lab.Report
	r.Printf("# Upgrades of dependencies, %s\n\n%s, load %s\n\nWritten by `.ci/extra upgrades`; the lists and how they came to be: bench/upgrades/README.md.\n\n",
		time.Now().Format(time.DateOnly), lab.Machine(), lab.Load())
	for _, part := range []struct {
		name, file string
		run        func(r *lab.Report, work string, rows [][]string) error
	}{
		{"api", filepath.Join(lists, "apis.txt"), apis}, {"go", filepath.Join(list, "pairs.txt"), goPairs}, {"npm", filepath.Join(list, "pairs-npm.txt"), npmPairs},
	} {
		if !slices.Contains(only, part.name) || aside && part.name == "api" {
			continue
		}
		rows, err := read(part.file)
		if err != nil {
			return err
		}
		if err := part.run(&r, work, rows[:min(first, len(rows))]); err != nil {
			return err
		}
	}
	if askOnly {
		return nil
	}
	p, err := r.Write(out, name)
	if err != nil {
		return err
	}
	fmt.Print(r.String())
	fmt.Println("report:", p)
	return nil
}

// read returns the words of the lines of a list.
func read(path string) ([][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		if w := strings.Fields(line); len(w) > 0 {
			rows = append(rows, w)
		}
	}
	return rows, nil
}

// program runs one with a limit and returns everything that it printed.
func program(dir string, limit time.Duration, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOWORK=off", "PWD="+dir)
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// env is what our side sees of the environment of program.
func env(name string) string {
	if name == "CGO_ENABLED" {
		return "0"
	}
	return os.Getenv(name)
}

// download returns the folder of a module in the module cache.
func download(id string) (dir string, err error) {
	out, _ := program(os.TempDir(), 3*time.Minute, "go", "mod", "download", "-json", id)
	var m struct{ Dir, Error string }
	if json.Unmarshal([]byte(out), &m) != nil || m.Dir == "" {
		return "", fmt.Errorf("%s cannot be got: %s", id, kept(cmp.Or(m.Error, out)))
	}
	return m.Dir, nil
}

// kept is the first line of what a program said.
func kept(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(addressRE.ReplaceAllString(s, "the registry")), "\n")
	return fmt.Sprintf("%.140s", line)
}

var addressRE = regexp.MustCompile(`https?://\S+`)

// copied copies a module out of the cache, so that it can be changed.
func copied(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(p, map[bool]os.FileMode{true: 0o755, false: 0o644}[d.IsDir()])
	})
}

// caches is the module cache of the go command.
func caches() ([]string, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	return []string{strings.TrimSpace(string(out))}, err
}

var errorRE = regexp.MustCompile(`(?m)^(?:\./)?([^\s:]+\.go):(\d+):(?:\d+:)? (.*)$`)

// score compares two sets of lines.
type score struct{ ours, theirs, both int }

func (s *score) add(o score) {
	s.ours, s.theirs, s.both = s.ours+o.ours, s.theirs+o.theirs, s.both+o.both
}

func compare(ours, theirs map[string]bool) (s score) {
	s.ours, s.theirs = len(ours), len(theirs)
	for l := range ours {
		if theirs[l] {
			s.both++
		}
	}
	return s
}

func (s score) precision() string { return share(s.both, s.ours) }
func (s score) recall() string    { return share(s.both, s.theirs) }

func share(a, b int) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", float64(a)/float64(b))
}

// differences lists a few lines that only one side has.
func differences(a, b map[string]bool) (out []string) {
	for _, l := range lab.Keys(a) {
		if !b[l] && len(out) < 6 {
			out = append(out, l)
		}
	}
	return out
}
