package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// project is a public repository with a suite that is run, and what it depends
// on that is changed too.
type project struct {
	Name     string
	Language string // python, go, javascript
	Repo     string // OWNER/NAME
	Commit   string
	Own      []string // folders of its code
	Tests    []string // what the runner is given
	Path     string   // where Python finds its code
	Seed     uint64
	// Dependencies are the folders of packages that are changed too, by name: of
	// Python and Node as they are installed, of Go module paths with versions.
	Dependencies map[string]string
	Packages     []string // that are installed, of Debian or npm
	Tries        int      // how many mutants are run at most

	root   string // below the work folder
	said   said   // of the mutant that was tried last
	server *server
}

func (p *project) dir() string { return filepath.Join(p.root, "project") }

// installed is where a dependency lies that the tests run.
func (p *project) installed(dep string) string {
	switch p.Language {
	case "python":
		return filepath.Join(p.root, "site-packages", p.Dependencies[dep])
	case "go":
		return filepath.Join(p.root, "mod", filepath.FromSlash(dep)+"@"+p.Dependencies[dep])
	}
	return filepath.Join(p.dir(), "node_modules", p.Dependencies[dep])
}

// store is where the copy of a dependency lies that is indexed: its folder in a
// checkout of its own.
func (p *project) store(dep string) string {
	base := filepath.Join(p.root, "stores", strings.NewReplacer("/", "-", "@", "-").Replace(dep))
	if p.Language == "python" {
		return filepath.Join(base, "src", p.Dependencies[dep])
	}
	return base
}

func command(dir string, limit time.Duration, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env, c.WaitDelay = dir, append(os.Environ(), env...), time.Second
	out, err := c.CombinedOutput()
	return string(out), err
}

// prepare puts a project with what it depends on into the work folder.
func (p *project) prepare(repos, work string) error {
	p.root = filepath.Join(work, p.Name)
	done := filepath.Join(p.root, "prepared")
	if _, err := os.Stat(done); err == nil {
		return p.mend()
	}
	repo, hash, err := lab.Repository(repos, p.Repo, p.Commit)
	if err != nil {
		return err
	}
	if err := lab.Export(repo, hash, p.dir(), func(string) bool { return true }); err != nil {
		return err
	}
	switch p.Language {
	case "python":
		if err := p.debian(); err != nil {
			return err
		}
	case "go":
		for dep, version := range p.Dependencies {
			out, err := command(p.dir(), 5*time.Minute, nil, "go", "mod", "download", "-json", dep+"@"+version)
			var got struct{ Dir string }
			if err != nil || json.Unmarshal([]byte(out), &got) != nil {
				return fmt.Errorf("go mod download %s: %w\n%s", dep, err, out)
			}
			if err := os.CopyFS(p.installed(dep), os.DirFS(got.Dir)); err != nil {
				return err
			}
			_ = filepath.WalkDir(p.installed(dep), func(path string, _ os.DirEntry, _ error) error { return os.Chmod(path, 0o755) })
			if out, err := command(p.dir(), time.Minute, nil, "go", "mod", "edit", "-replace", dep+"="+p.installed(dep)); err != nil {
				return fmt.Errorf("go mod edit: %w\n%s", err, out)
			}
		}
		if out, err := command(p.dir(), 5*time.Minute, []string{"GOFLAGS=-mod=mod"}, "go", "mod", "tidy"); err != nil {
			return fmt.Errorf("go mod tidy: %w\n%s", err, out)
		}
	case "javascript":
		flags := []string{"install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts", "--no-save", "--omit=dev"}
		if out, err := command(p.dir(), 10*time.Minute, nil, "npm", flags...); err != nil {
			return fmt.Errorf("npm: %w\n%s", err, out)
		}
		// The tools of the tests lie above, where Node looks too.
		if out, err := command(p.root, 10*time.Minute, nil, "npm", append(append(flags, "--prefix", p.root), p.Packages...)...); err != nil {
			return fmt.Errorf("npm: %w\n%s", err, out)
		}
	}
	for dep := range p.Dependencies {
		if err := os.CopyFS(p.store(dep), os.DirFS(p.installed(dep))); err != nil {
			return err
		}
	}
	return os.WriteFile(done, nil, 0o644)
}

// debian unpacks packages of Debian below the project's site-packages.
func (p *project) debian() error {
	dir := filepath.Join(p.root, "debian")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if out, err := command(dir, 10*time.Minute, nil, "apt-get", append([]string{"download", "-q"}, p.Packages...)...); err != nil {
		return fmt.Errorf("apt-get download: %w\n%s", err, out)
	}
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, d := range debs {
		if out, err := command(dir, time.Minute, nil, "dpkg", "-x", d, dir); err != nil {
			return fmt.Errorf("dpkg: %w\n%s", err, out)
		}
	}
	return os.Rename(filepath.Join(dir, "usr", "lib", "python3", "dist-packages"), filepath.Join(p.root, "site-packages"))
}

// fact is what one failed test raised.
type fact struct {
	Test, Error, Text string
	Frames            []frame // the outermost first
}

type frame struct {
	path string
	line int
	name string
}

func (f *frame) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&f.path, &f.line, &f.name})
}

// outcome is what a run of the suite printed, and what failed in it.
type outcome struct {
	log    string
	failed []fact
	broken bool // it does not compile, or took too long
}

// run runs the suite. Style is how Python prints a trace.
func (p *project) run(style string, at place, cover bool) (outcome, error) {
	switch p.Language {
	case "python":
		if cover {
			var err error
			if p.server == nil {
				p.server, err = p.serve()
			}
			return outcome{}, err
		}
		return p.runPython(style, at)
	case "go":
		return p.runGo(cover)
	}
	return p.runNode(cover)
}

const longest = 100 * time.Second // a run of a suite

// runPython asks the server of the project's tests, which is started at first use,
// about the file that is changed.
func (p *project) runPython(style string, at place) (out outcome, err error) {
	if p.server == nil {
		if p.server, err = p.serve(); err != nil {
			return out, err
		}
	}
	job, err := json.Marshal(map[string]any{"style": style, "file": at.path, "line": at.line})
	if err != nil {
		return out, err
	}
	if _, err := p.server.jobs.Write(append(job, '\n')); err != nil {
		return out, err
	}
	line, err := p.server.answers.ReadBytes('\n')
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(line, &out.failed); err != nil {
		return out, err
	}
	out.broken = strings.TrimSpace(string(line)) == "null"
	var b, names strings.Builder
	for _, f := range out.failed {
		b.WriteString(f.Text)
		fmt.Fprintf(&names, "FAILED %s - %s\n", f.Test, f.Error)
	}
	out.log = "=========== FAILURES ===========\n" + b.String() + "=========================== short test summary info ============================\n" + names.String()
	return out, nil
}

// place is a line of a file.
type place struct {
	path string
	line int
}

// server is a run of pytest that is asked again and again.
type server struct {
	jobs    *os.File
	answers *bufio.Reader
}

func (p *project) serve() (*server, error) {
	plugin := filepath.Join(p.root, "plugin")
	if err := os.MkdirAll(plugin, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(plugin, "trace_facts.py"), factsPlugin, 0o644); err != nil {
		return nil, err
	}
	args := append([]string{"-m", "pytest", "-p", "trace_facts", "-p", "no:cacheprovider", "-p", "no:randomly", "-q", "-s", "--color=no"}, p.Tests...)
	c := exec.Command("python3", args...)
	c.Dir = p.dir()
	c.Env = append(os.Environ(), "TRACE_COVERED="+filepath.Join(p.root, "coverage.json"), "TRACE_SOURCES="+strings.Join(p.sources(), ":"),
		"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0",
		"PYTHONPATH="+strings.Join([]string{filepath.Join(p.dir(), p.Path), filepath.Join(p.root, "site-packages"), plugin}, ":"))
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.ExtraFiles = []*os.File{r} // 3 there
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	r.Close()
	s := &server{jobs: w, answers: bufio.NewReaderSize(out, 1<<16)}
	for {
		line, err := s.answers.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("the tests of %s cannot be run: %w", p.Name, err)
		}
		if line == "ready\n" || strings.HasSuffix(line, "ready\n") {
			return s, nil
		}
	}
}

// sources are the folders whose code may be changed.
func (p *project) sources() []string {
	var out []string
	for _, o := range p.Own {
		out = append(out, filepath.Join(p.dir(), o))
	}
	for _, d := range lab.Keys(p.Dependencies) {
		out = append(out, p.installed(d))
	}
	return out
}

var (
	goFailRE  = regexp.MustCompile(`(?m)^--- FAIL: (\S+) \(`)
	goFrameRE = regexp.MustCompile(`(?m)^(\S+?)\([^\n]*\)\n\t(\S+\.go):(\d+)`)
)

// packagesOf are the patterns of all packages of modules.
func packagesOf(modules []string) []string {
	var out []string
	for _, m := range modules {
		out = append(out, m+"/...")
	}
	return out
}

func (p *project) runGo(cover bool) (out outcome, err error) {
	args := []string{"test", "-vet=off", "-count=1", "-timeout=60s"}
	if cover {
		args = append(args, "-coverpkg=./...,"+strings.Join(packagesOf(lab.Keys(p.Dependencies)), ","), "-coverprofile="+filepath.Join(p.root, "coverage.out"))
	}
	out.log, err = command(p.dir(), longest, []string{"GOFLAGS=-mod=mod"}, "go", append(args, p.Tests...)...)
	if err == nil || cover {
		return out, nil
	}
	if strings.Contains(out.log, "[build failed]") || strings.Contains(out.log, "panic: test timed out") || strings.Contains(out.log, "[setup failed]") {
		out.broken = true
		return out, nil
	}
	at := goFailRE.FindAllStringSubmatchIndex(out.log, -1)
	for i, m := range at {
		end := len(out.log)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		x := fact{Test: out.log[m[2]:m[3]], Error: "assertion", Text: out.log[m[0]:end]}
		if k := strings.Index(x.Text, "\npanic: "); k >= 0 {
			x.Error = "panic"
			first, _, _ := strings.Cut(x.Text[k:], "\n\ngoroutine ")
			rest := x.Text[k+len(first):]
			body, _, _ := strings.Cut(strings.TrimPrefix(rest, "\n\n"), "\n\n")
			for _, f := range goFrameRE.FindAllStringSubmatch(body, -1) {
				line, _ := strconv.Atoi(f[3])
				x.Frames = append(x.Frames, frame{f[2], line, f[1]})
			}
			slices.Reverse(x.Frames)
		}
		out.failed = append(out.failed, x)
	}
	return out, nil
}

var (
	nodeItemRE  = regexp.MustCompile(`(?m)^  \d+\) `)
	nodeFrameRE = regexp.MustCompile(`(?m)^\s+at (?:(.+?) \()?(?:file://)?(/[^\s():]+):(\d+):\d+\)?$`)
	nodeErrorRE = regexp.MustCompile(`(?m)^\s+(?:Uncaught )?(\w*Error)\b`)
)

func (p *project) runNode(cover bool) (out outcome, err error) {
	env := []string{"FORCE_COLOR=0", "NODE_ENV=test"}
	if cover {
		dir := filepath.Join(p.root, "coverage")
		_ = os.RemoveAll(dir)
		env = append(env, "NODE_V8_COVERAGE="+dir)
	}
	out.log, err = command(p.dir(), longest, env, "node", p.Tests...)
	if err == nil || cover {
		return out, nil
	}
	if !strings.Contains(out.log, " failing") {
		out.broken = true
		return out, nil
	}
	_, tail, _ := strings.Cut(out.log, " failing")
	at := nodeItemRE.FindAllStringIndex(tail, -1)
	for i, m := range at {
		end := len(tail)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		x := fact{Text: tail[m[0]:end], Error: "Error"}
		x.Test, _, _ = strings.Cut(strings.TrimSpace(x.Text), "\n")
		if e := nodeErrorRE.FindStringSubmatch(x.Text); e != nil {
			x.Error = e[1]
		}
		for _, f := range nodeFrameRE.FindAllStringSubmatch(x.Text, -1) {
			line, _ := strconv.Atoi(f[3])
			if !strings.Contains(f[2], "/node_modules/mocha/") {
				x.Frames = append(x.Frames, frame{f[2], line, f[1]})
			}
		}
		slices.Reverse(x.Frames)
		out.failed = append(out.failed, x)
	}
	return out, nil
}
