// Command release builds a release of the last commit with GoReleaser, as a
// snapshot, and tries every channel that it is published through: installed
// from stand-ins on the loopback device, as far as a first true answer. What
// is missing on the machine is skipped, and it is said why.
//
//	release -out FILE [-dist DIR] [-schemas DIR] [-goreleaser FILE] [-only NAME,…]
//
// -dist takes a snapshot that was built before. -schemas names a folder with
// published schemas that no package has: scoop.schema.json. RELEASE_CLIENTS
// keeps what npm installed for the next time.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/face/packaging"
)

func main() {
	var l trial
	var out, only string
	flag.StringVar(&out, "out", "", "the report")
	flag.StringVar(&l.dist, "dist", "", "a snapshot that was built before, from the last commit")
	flag.StringVar(&l.schemas, "schemas", "", "folder with scoop.schema.json")
	flag.StringVar(&l.goreleaser, "goreleaser", "", "the program goreleaser (default: that on the PATH, else fetched as a Go module)")
	flag.StringVar(&only, "only", "", "channels to try, separated by commas; the report is printed")
	flag.Parse()
	if err := l.run(out, only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// goreleaserModule is the last version that Go 1.26 builds from public modules.
const goreleaserModule = "github.com/goreleaser/goreleaser/v2@v2.14.0"

// trial is one run.
type trial struct {
	dist, schemas, goreleaser string

	scratch string // removed at the end
	source  string // a clone of the last commit
	docs    string // the folder that is searched
	host    packaging.Platform
	clients string // what npm installed
	noNpm   string // or why nothing
	base    string // of the stand-in
	rows    []row
}

// row is what became of one channel.
type row struct {
	channel, built, installed, answer, note string
	took                                    time.Duration // from nothing to the answer
}

// skipped is an error that says what is missing.
type skipped struct{ why string }

func (s skipped) Error() string { return "skipped: " + s.why }

func skip(format string, args ...any) error { return skipped{fmt.Sprintf(format, args...)} }

// channel is tried by a function that fills its row. An error that is no
// skipped one fails the run.
type channel struct {
	name string
	try  func(*trial, *row) error
}

var channels = []channel{
	{"archive", (*trial).archive},
	{"install.sh", (*trial).installScript},
	{"install.sh in an empty root", (*trial).emptyRoot},
	{"npm", (*trial).npm},
	{"Go", (*trial).goInstall},
	{"image", (*trial).image},
	{"MCP bundle", (*trial).bundle},
	{"Gemini CLI", (*trial).gemini},
	{"Codex", (*trial).codex},
	{"MCP registry", (*trial).registry},
	{"Homebrew", (*trial).homebrew},
	{"Scoop", (*trial).scoop},
	{"install.ps1", (*trial).powershell},
}

func (l *trial) run(out, only string) (err error) {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if l.scratch, err = lab.Scratch("release"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(l.scratch)) }()
	// Programs of other users look into it.
	if err := os.Chmod(l.scratch, 0o755); err != nil {
		return err
	}
	if err := l.corpus(); err != nil {
		return err
	}
	i := slices.IndexFunc(packaging.Platforms, func(p packaging.Platform) bool { return p.OS == runtime.GOOS && p.Arch == runtime.GOARCH })
	if i < 0 {
		fmt.Println("skipped: releases have no program for this machine")
		return nil
	}
	l.host = packaging.Platforms[i]
	l.source = filepath.Join(l.scratch, "source")
	if _, err := lab.Command(root, nil, "git", "clone", "-q", root, l.source); err != nil {
		return err
	}
	commit, err := lab.Command(l.source, nil, "git", "rev-parse", "--short", "HEAD")
	if err != nil {
		return err
	}
	began, given := time.Now(), l.dist != ""
	if err := l.snapshot(); err != nil {
		if s := (skipped{}); errors.As(err, &s) {
			fmt.Println(s.Error())
			return nil
		}
		return err
	}
	built := "took " + time.Since(began).Round(time.Second).String()
	if given {
		built = "was there"
	}
	if l.clients = os.Getenv("RELEASE_CLIENTS"); l.clients == "" {
		l.clients = filepath.Join(l.scratch, "clients")
	}
	if _, err := os.Stat(filepath.Join(l.clients, "node_modules")); err != nil {
		l.noNpm = lab.Npm(l.clients, "@anthropic-ai/mcpb@2.1.2", "@google/gemini-cli@0.61.0", "@openai/codex@0.169.0")
	}
	stop, err := l.serve()
	if err != nil {
		return err
	}
	defer stop()

	failed := 0
	for _, c := range channels {
		if only != "" && !slices.Contains(strings.Split(only, ","), c.name) {
			continue
		}
		r := row{channel: c.name, built: "yes", installed: "yes", answer: "yes"}
		began := time.Now()
		err := c.try(l, &r)
		if r.answer == "yes" && r.took == 0 {
			r.took = time.Since(began)
		}
		var s skipped
		switch {
		case errors.As(err, &s):
			r.installed, r.answer, r.note, r.took = "–", "–", s.Error(), 0
		case err != nil:
			failed++
			r.answer, r.note = "FAILED", err.Error()
		}
		fmt.Printf("%-28s built %s, installed %s, answered %s  %s  %s\n", r.channel, r.built, r.installed, r.answer, took(r.took), r.note)
		l.rows = append(l.rows, r)
	}
	if only != "" {
		out = ""
	}
	if err := l.report(out, strings.TrimSpace(commit), built); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d channels failed", failed)
	}
	return nil
}

func took(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func (l *trial) report(out, commit, built string) error {
	var r lab.Report
	r.Printf("# Release channels, %s\n\n", time.Now().UTC().Format(time.DateOnly))
	r.Printf("Commit %s, %s; load %s. The snapshot of six platforms %s. Every channel takes its files from a stand-in on the loopback device.\n\n",
		commit, lab.Machine(), lab.Load(), built)
	rows := [][]string{{"channel", "built", "installed", "first true answer", "from nothing to there", "remarks"}}
	for _, x := range l.rows {
		rows = append(rows, []string{x.channel, x.built, x.installed, x.answer, took(x.took), strings.ReplaceAll(x.note, l.scratch, "…")})
	}
	r.Table(rows...)
	sizes := [][]string{{"platform", "program", "archive", "MCP bundle"}}
	for _, p := range packaging.Platforms {
		program := ""
		for _, f := range glob(filepath.Join(l.dist, "knowledge_"+p.OS+"_"+p.Arch+"*"), p.Binary()) {
			program = size(f)
		}
		sizes = append(sizes, []string{p.OS + "/" + p.Arch, program, size(filepath.Join(l.dist, p.Archive(command.Version))), size(filepath.Join(l.dist, "bundles", p.Bundle(command.Version)))})
	}
	r.Table(sizes...)
	if out == "" { // some channels are no report
		fmt.Print(r.String())
		return nil
	}
	return os.WriteFile(out, []byte(strings.TrimRight(r.String(), "\n")+"\n"), 0o644)
}

func glob(pattern, below string) []string {
	found, _ := filepath.Glob(filepath.Join(pattern, below)) // the pattern is sound
	return found
}

func size(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return "?"
	}
	return lab.MB(st.Size())
}

// The question and its answer: nothing else in the folder is about it.
const (
	question = "what colour is the lighthouse"
	answer   = "harbour.md"
)

func (l *trial) corpus() error {
	l.docs = filepath.Join(l.scratch, "my notes")
	if err := os.MkdirAll(l.docs, 0o755); err != nil {
		return err
	}
	for n, text := range map[string]string{
		"harbour.md": "# The harbour\n\nThe lighthouse at the end of the pier has the colour red, and is painted again every third year.\n",
		"kitchen.md": "# The kitchen\n\nBread rises for two hours beside the stove before it is baked.\n",
		"retry.py":   "def fetch(url):\n    \"\"\"Fetches a page; tries three times with a growing delay.\"\"\"\n    return None\n",
	} {
		if err := os.WriteFile(filepath.Join(l.docs, n), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// env is the environment of somebody who has nothing yet: a home that is
// empty and the programs of the system, without Go.
func (l *trial) env(name string, more ...string) (home string, env []string, err error) {
	home = filepath.Join(l.scratch, name, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", nil, err
	}
	env = append([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb"}, more...)
	return home, env, nil
}

// ask searches with a program and checks the first hit.
func (l *trial) ask(env []string, program string, args ...string) error {
	out, err := lab.Command(l.docs, env, program, append(args, "search", question)...)
	if err != nil {
		return err
	}
	return firstIs(out)
}

// firstIs checks the first line of hits.
func firstIs(out string) error {
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if !strings.Contains(first, answer) {
		return fmt.Errorf("the first hit is not in %s: %q", answer, out)
	}
	return nil
}

// snapshot makes dist, or takes the one that is there, and the channels in it.
func (l *trial) snapshot() error {
	env := append(os.Environ(), "CGO_ENABLED=0", "GORELEASER_CURRENT_TAG=v"+command.Version)
	if l.dist != "" {
		var err error
		if l.dist, err = filepath.Abs(l.dist); err != nil {
			return err
		}
	} else {
		if l.goreleaser == "" {
			if found, err := exec.LookPath("goreleaser"); err == nil {
				l.goreleaser = found
			} else {
				bin := filepath.Join(l.scratch, "bin")
				if _, err := lab.Command(l.scratch, append(env, "GOBIN="+bin, "GOFLAGS=-trimpath"), "go", "install", goreleaserModule); err != nil {
					return skip("goreleaser is not on the PATH and cannot be had: %v", err)
				}
				l.goreleaser = filepath.Join(bin, "goreleaser")
			}
		}
		for _, args := range [][]string{{"check"}, {"release", "--snapshot", "--clean", "--skip=sign", "--parallelism=2"}} {
			if _, err := lab.Command(l.source, env, l.goreleaser, args...); err != nil {
				return err
			}
		}
		l.dist = filepath.Join(l.source, "dist")
	}
	tool := filepath.Join(l.scratch, "releasefiles")
	if err := lab.Build(l.source, tool, "./cmd/releasefiles"); err != nil {
		return err
	}
	if _, err := lab.Command(l.source, env, tool, "channels", l.dist); err != nil {
		return err
	}
	return nil
}

// channel is the path of what cmd/releasefiles made.
func (l *trial) channel(parts ...string) string {
	return filepath.Join(append([]string{l.dist, "channels"}, parts...)...)
}

// removeAll removes what a build may have left without write permission.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// on returns an error that says which program is missing.
func on(programs ...string) error {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return skip("no program %s on the PATH", p)
		}
	}
	return nil
}

// asRoot says why what only root may do cannot be done here.
func asRoot() error {
	if os.Geteuid() != 0 {
		return skip("only root may change the root of a process")
	}
	return on("unshare", "chroot")
}
