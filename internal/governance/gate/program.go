package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// Program is the program openspec, which is not ours. It is run only when it lies on
// the PATH outside the repository, or when a person has vouched for the copy in the
// repository's own node_modules: a repository's files are not executed.
type Program interface {
	// Version returns what --version prints; an error when there is no program
	// that may be run.
	Version(ctx context.Context) (string, error)
	// Run returns what the program prints and its exit status; an error when it
	// could not be run to its end.
	Run(ctx context.Context, args ...string) (out string, status int, err error)
	// Why returns why an existing program is not run; "" without one.
	Why() string
}

// OpenSpecProgram is the program as this machine has it.
type OpenSpecProgram struct {
	Root    string // of the work tree
	Path    string // the variable PATH
	Trusted func(path string) bool
	Env     []string // the rest of the environment

	once sync.Once
	path string
	why  string
}

const (
	versionTime  = 10 * time.Second
	validateTime = 60 * time.Second
	maxSaid      = 1 << 20 // bytes of output that are kept
)

// find looks in node_modules/.bin, then in the directories of PATH.
func (p *OpenSpecProgram) find() string {
	p.once.Do(func() {
		root := project.RealPath(p.Root)
		for _, name := range names() {
			own := filepath.Join(p.Root, "node_modules", ".bin", name)
			info, err := os.Stat(own)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if p.Trusted != nil && p.Trusted(project.RealPath(own)) {
				p.path = own
				return
			}
			p.why = fmt.Sprintf("node_modules/.bin/%s came with somebody's repository and is not run until a person vouches for that file", name)
		}
		for _, dir := range p.outside() {
			for _, name := range names() {
				path := filepath.Join(dir, name)
				info, err := os.Stat(path)
				if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
					continue
				}
				if project.Within(root, project.RealPath(path)) {
					continue // a link that leads back inside
				}
				p.path, p.why = path, ""
				return
			}
		}
	})
	return p.path
}

// names are how the program may be called on this system.
func names() []string {
	if runtime.GOOS == "windows" {
		return []string{"openspec.exe", "openspec.cmd", "openspec.bat"}
	}
	return []string{"openspec"}
}

// outside returns the directories of PATH that are absolute and do not lie in
// the repository: the program's own interpreter is looked up there too.
func (p *OpenSpecProgram) outside() []string {
	root := project.RealPath(p.Root)
	var dirs []string
	for _, d := range filepath.SplitList(p.Path) {
		if filepath.IsAbs(d) && !project.Within(root, project.RealPath(d)) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

var errNoProgram = errors.New("there is no program openspec that may be run")

// Why implements Program.
func (p *OpenSpecProgram) Why() string { p.find(); return p.why }

// Stamp identifies the program's file as it is now; "" when there is none.
func (p *OpenSpecProgram) Stamp() string {
	info, err := os.Stat(p.find())
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", p.path, info.Size(), info.ModTime().UnixNano())
}

// Version implements Program.
func (p *OpenSpecProgram) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	out, status, err := p.Run(ctx, "--version")
	if err != nil {
		return "", err
	}
	if status != 0 {
		return "", fmt.Errorf("openspec --version ended with status %d", status)
	}
	said, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return kb.Clip(strings.TrimSpace(said), 100), nil
}

// Run implements Program.
func (p *OpenSpecProgram) Run(ctx context.Context, args ...string) (string, int, error) {
	path := p.find()
	if path == "" {
		return "", 0, errNoProgram
	}
	ctx, cancel := context.WithTimeout(ctx, validateTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = p.Root
	cmd.WaitDelay = time.Second
	cmd.Env = append(append([]string{}, p.Env...), "PATH="+strings.Join(p.outside(), string(os.PathListSeparator)),
		"OPENSPEC_TELEMETRY=0", "DO_NOT_TRACK=1", "NO_COLOR=1", "CI=1")
	out := &bounded{}
	cmd.Stdout, cmd.Stderr = out, &bounded{}
	err := cmd.Run()
	switch e, exited := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		return "", 0, errors.New("it did not end in time")
	case exited && e.ExitCode() >= 0:
		return out.String(), e.ExitCode(), nil
	case err != nil:
		return "", 0, err
	}
	return out.String(), 0, nil
}

// bounded keeps the first bytes of an output.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if left := maxSaid - b.Len(); left > 0 {
		b.Buffer.Write(p[:min(left, len(p))])
	}
	return len(p), nil
}
