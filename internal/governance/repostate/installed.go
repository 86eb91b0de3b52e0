package repostate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// The output and the errors of a program that are read at most, in bytes.
const (
	maxOutput    = 64 << 20
	maxComplaint = 4 << 10
)

// run runs the installed git for the repository at d, with options that keep
// foreign configuration from starting anything.
func (r *Reader) run(ctx context.Context, d dirs, more []string, args ...string) ([]byte, error) {
	if r.Git == "" {
		return nil, errors.New("no git")
	}
	fixed := []string{"--git-dir=" + d.git, "--work-tree=" + d.root, "--no-optional-locks", "--literal-pathspecs",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
		"-c", "core.pager=cat", "-c", "submodule.recurse=false", "-c", "core.sshCommand=false", "-c", "core.askPass=",
		"-c", "credential.helper="}
	if d.bare {
		fixed = slices.Delete(fixed, 1, 2)
	}
	cmd := exec.CommandContext(ctx, r.Git, slices.Concat(fixed, more, args)...)
	cmd.Dir = d.root
	cmd.WaitDelay = time.Second
	cmd.Env = r.environment()
	out, said := &limited{max: maxOutput}, &limited{max: maxComplaint}
	cmd.Stdout, cmd.Stderr = out, said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	if out.over {
		return nil, kb.Errorf(kb.TooLarge, "git %s said more than %d MiB", args[0], maxOutput>>20)
	}
	return out.Bytes(), nil
}

// environment is that of git: the place of the user's own configuration and what
// any program needs, and nothing that could point it at another repository. No
// transport is allowed, so that a partial clone does not fetch what it lacks.
func (r *Reader) environment() []string {
	env := []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(r.Root), "LC_ALL=C"}
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "SystemRoot",
		"TEMP", "TMP", "TMPDIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"} {
		if v := r.env(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func (r *Reader) env(name string) string {
	if r.Env == nil {
		return os.Getenv(name)
	}
	return r.Env(name)
}

// limited keeps at most max bytes.
type limited struct {
	bytes.Buffer
	max  int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	l.over = l.over || l.Len()+len(p) > l.max
	l.Buffer.Write(p[:min(len(p), l.max-l.Len())])
	return len(p), nil
}

// disarmed returns options that empty every filter that the repository's own
// configuration defines: git would run them on files that may have changed.
func (r *Reader) disarmed(ctx context.Context, d dirs) ([]string, error) {
	out, err := r.run(ctx, d, nil, "config", "--show-scope", "--includes", "--list", "-z")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var options []string
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if s := fields[i]; s == "global" || s == "system" || s == "command" {
			continue // the user's own
		}
		key, _, _ := strings.Cut(fields[i+1], "\n")
		name, ok := strings.CutPrefix(key, "filter.")
		end := strings.LastIndexByte(name, '.')
		if !ok || end < 0 || seen[name[:end]] {
			continue
		}
		name = name[:end]
		if strings.ContainsAny(name, "=\n") {
			return nil, fmt.Errorf("the filter %q cannot be turned off", name)
		}
		seen[name] = true
		for _, part := range []string{"clean=", "smudge=", "process=", "required=false"} {
			options = append(options, "-c", "filter."+name+"."+part)
		}
	}
	return options, nil
}

// installed reads the state with the installed git.
func (r *Reader) installed(ctx context.Context, d dirs) (State, error) {
	if r.Git == "" || d.bare {
		return State{}, errors.New("not asked")
	}
	options, err := r.disarmed(ctx, d)
	if err != nil {
		return State{}, err
	}
	out, err := r.run(ctx, d, options, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal",
		"--ignored=no", "--ignore-submodules=dirty", "--find-renames=50%")
	if err != nil {
		return State{}, err
	}
	s := parseStatus(out)
	if s.Branch == "" {
		return State{}, errors.New("git does not say what is checked out")
	}
	idx, err := d.index()
	if err != nil {
		if _, err := os.Stat(filepath.Join(d.root, ".gitmodules")); err == nil {
			s.Note = "changes inside submodules are not counted: the index has a form that is not read here"
		}
		return s, nil
	}
	// Git asks submodules in processes of its own, which the options do not reach.
	n, err := r.submodules(ctx, d, idx)
	s.Unstaged += n
	return s, err
}

// parseStatus reads porcelain v2, without the work trees of submodules.
func parseStatus(out []byte) State {
	s := State{Available: true}
	records := strings.Split(string(out), "\x00")
	for i := 0; i < len(records); i++ {
		rec := records[i]
		if rec == "" {
			continue
		}
		f := strings.SplitN(rec, " ", 4)
		switch {
		case f[0] == "?":
			s.Untracked++
		case f[0] == "#" && len(f) > 2:
			header(&s, f[1], strings.Join(f[2:], " "))
		case (f[0] == "1" || f[0] == "2" || f[0] == "u") && len(f) == 4 && len(f[1]) == 2:
			if f[1][0] != '.' {
				s.Staged++
			}
			if f[1][1] != '.' && f[2][0] != 'S' {
				s.Unstaged++
			}
			switch f[0] {
			case "u":
				s.Conflicts++
			case "2":
				i++ // its former path
			}
		}
	}
	return s
}

func header(s *State, key, value string) {
	switch key {
	case "branch.oid":
		if value != "(initial)" {
			s.Commit = value
		}
	case "branch.head":
		s.Branch = value
		switch value {
		case "(detached)":
			s.Branch, s.Detached = "HEAD", true
		case "(unknown)": // HEAD leads nowhere
			s.Branch = ""
		}
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		a, b, _ := strings.Cut(value, " ")
		s.Ahead, _ = strconv.Atoi(strings.TrimPrefix(a, "+"))
		s.Behind, _ = strconv.Atoi(strings.TrimPrefix(b, "-"))
	}
}

// maxDepth bounds submodules within submodules.
const maxDepth = 8

type depthKey struct{}

// submodules counts the submodules whose work tree differs from the index.
func (r *Reader) submodules(ctx context.Context, d dirs, idx *index.Index) (int, error) {
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth >= maxDepth {
		return 0, nil
	}
	ctx = context.WithValue(ctx, depthKey{}, depth+1)
	ignore := ignoredSubmodules(d)
	n := 0
	for _, e := range idx.Entries {
		if e.Mode != filemode.Submodule || e.Stage != merged || e.SkipWorktree {
			continue
		}
		at := filepath.Join(d.root, filepath.FromSlash(e.Name))
		changed, err := r.submodule(ctx, at, e.Hash.String(), ignore(e.Name))
		if err != nil {
			return n, err
		}
		if changed {
			n++
		}
	}
	return n, nil
}

func (r *Reader) submodule(ctx context.Context, path, commit, ignore string) (bool, error) {
	if ignore == "all" {
		return false, nil
	}
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return true, nil // deleted, or something else now
	}
	if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil {
		return false, nil // not checked out
	}
	sub := &Reader{Root: path, Git: r.Git, Env: r.Env}
	d, err := sub.open()
	if err != nil {
		return false, nil
	}
	if _, head, err := d.head(); err == nil && !head.IsZero() && head.String() != commit {
		return true, nil
	}
	if ignore == "dirty" {
		return false, nil
	}
	s, err := sub.State(ctx)
	if err != nil {
		return false, err
	}
	return s.Staged+s.Unstaged+s.Conflicts > 0 || s.Untracked > 0 && ignore != "untracked", nil
}
