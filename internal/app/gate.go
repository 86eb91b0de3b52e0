package app

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/governance/repostate"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// repo returns a reader of the project's work tree, and whether there is one.
func (a *App) repo() (*repostate.Reader, bool, error) {
	p, err := a.where()
	if err != nil {
		return nil, false, err
	}
	r := &repostate.Reader{Root: p.Root, Env: a.cfg.Env}
	// A program of the repository itself is not asked how the repository is.
	if git, err := exec.LookPath("git"); err == nil && filepath.IsAbs(git) {
		if real, err := filepath.EvalSymlinks(git); err == nil {
			if rel, err := filepath.Rel(p.Root, real); err != nil || !filepath.IsLocal(rel) {
				r.Git = git
			}
		}
	}
	return r, p.Git, nil
}

// state reads how the work tree stands; it is not available outside a repository.
func (a *App) state(ctx context.Context) (repostate.State, error) {
	r, there, err := a.repo()
	if err != nil || !there {
		return repostate.State{}, err
	}
	return r.State(ctx)
}

// Gitflow returns how the work tree stands.
func (a *App) Gitflow(ctx context.Context) (gate.Gitflow, error) {
	s, err := a.state(ctx)
	if err == nil && !s.Available && s.Note == "" {
		s.Note = "this is not a git repository"
	}
	return gate.GitflowOf(s), err
}

// facts gathers what a gate looks at.
func (a *App) facts(ctx context.Context) (gate.Facts, error) {
	r, there, err := a.repo()
	if err != nil {
		return gate.Facts{}, err
	}
	f := gate.Facts{Root: r.Root}
	if f.Evidence, err = a.Evidence(ctx); err != nil {
		return f, err
	}
	if there {
		if f.State, err = r.State(ctx); err != nil {
			return f, err
		}
		if f.Life, err = r.Lifecycle(); err != nil {
			return f, err
		}
	}
	f.Hard, f.HardPath = a.hardMode(r.Root)
	f.Now = time.Now()
	return f, nil
}

// hardMode reads the stricter policy: the environment before the file.
func (a *App) hardMode(root string) (gate.HardMode, string) {
	const name = ".pumuki/hard-mode.json"
	var h gate.HardMode
	path := ""
	full := filepath.Join(root, filepath.FromSlash(name))
	if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Size() <= maxTrusted {
		if raw, err := os.ReadFile(full); err == nil && json.Unmarshal(raw, &h) == nil {
			path = name
		}
	}
	switch strings.ToLower(a.cfg.Env("PUMUKI_HARD_MODE")) {
	case "1", "true", "yes", "on":
		h.Enabled = true
	case "0", "false", "no", "off":
		h.Enabled = false
	}
	if p := a.cfg.Env("PUMUKI_HARD_MODE_PROFILE"); p != "" {
		h.Profile = p
	}
	return h, path
}

// GateCheck says whether the evidence allows a stage.
func (a *App) GateCheck(ctx context.Context, stage gate.Stage) (gate.Result, error) {
	f, err := a.facts(ctx)
	if err != nil {
		return gate.Result{}, err
	}
	return gate.Check(stage, f), nil
}

// versions keeps what a program said of its version, for a minute.
type versions struct {
	mu    sync.Mutex
	stamp string // of the program's file
	said  string
	err   error
	at    time.Time
}

// cachedProgram is a program that is asked for its version once a minute.
type cachedProgram struct {
	*gate.OpenSpecProgram
	cache *versions
}

// Version implements gate.Program.
func (p cachedProgram) Version(ctx context.Context) (string, error) {
	c := p.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if stamp := p.Stamp(); stamp == "" || stamp != c.stamp || time.Since(c.at) > time.Minute {
		said, err := p.OpenSpecProgram.Version(ctx)
		if ctx.Err() != nil {
			return said, err
		}
		c.stamp, c.said, c.err, c.at = stamp, said, err, time.Now()
	}
	return c.said, c.err
}

// sdd returns what looks at specification driven development; nil outside a repository.
func (a *App) sdd(ctx context.Context) (*gate.SDD, error) {
	r, there, err := a.repo()
	if err != nil || !there {
		return nil, err
	}
	p := &gate.OpenSpecProgram{Root: r.Root, Path: a.cfg.Env("PATH"), Trusted: func(path string) bool {
		c, err := a.open(ctx)
		if err != nil {
			return false
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() > maxTrusted {
			return false
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		ok, err := c.trusts(ctx, path, raw)
		return err == nil && ok
	}}
	for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "TMPDIR", "LANG",
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "NVM_DIR", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR"} {
		if v := a.cfg.Env(name); v != "" {
			p.Env = append(p.Env, name+"="+v)
		}
	}
	return &gate.SDD{Root: r.Root, Repo: r, Program: cachedProgram{p, State(a, func() *versions { return &versions{} })}, Env: a.cfg.Env, Now: time.Now}, nil
}

// mustSDD is sdd, and an error outside a repository.
func (a *App) mustSDD(ctx context.Context) (*gate.SDD, error) {
	s, err := a.sdd(ctx)
	if err == nil && s == nil {
		err = noRepository()
	}
	return s, err
}

func noRepository() error {
	return kb.Errorf(kb.NotFound, "this is not a git repository").WithHint("name one with --project")
}

// SDDStatus tells how specification driven development stands; nil outside a repository.
func (a *App) SDDStatus(ctx context.Context) (*gate.SDDStatus, error) {
	s, err := a.sdd(ctx)
	if err != nil || s == nil {
		return nil, err
	}
	st := s.Status(ctx)
	return &st, nil
}

// ActiveChange tells which change is being worked on. It runs nothing.
func (a *App) ActiveChange(ctx context.Context) (gate.ActiveChange, error) {
	s, err := a.sdd(ctx)
	if err != nil || s == nil {
		return gate.ActiveChange{}, err
	}
	return gate.ActiveChangeOf(&gate.SDDStatus{Session: s.Session()}), nil
}

// SDDEvaluate decides whether a stage may go on. Outside a repository nobody can tell.
func (a *App) SDDEvaluate(ctx context.Context, stage gate.Stage) (gate.Evaluation, error) {
	s, err := a.sdd(ctx)
	if err != nil {
		return gate.Evaluation{}, err
	}
	if s == nil {
		return gate.Evaluation{Stage: stage, Decision: gate.Decision{Code: gate.ValidationError, Message: "This is not a git repository."}}, nil
	}
	return s.Evaluate(ctx, stage), nil
}

// SDDOpen makes a change the one that is worked on, for ttl minutes; 0 is 45.
func (a *App) SDDOpen(ctx context.Context, change string, ttl int) (gate.SessionStatus, error) {
	s, err := a.mustSDD(ctx)
	if err != nil {
		return gate.SessionStatus{}, err
	}
	return s.Open(change, ttl)
}

// SDDRefresh lets the change that is worked on last longer.
func (a *App) SDDRefresh(ctx context.Context, ttl int) (gate.SessionStatus, error) {
	s, err := a.mustSDD(ctx)
	if err != nil {
		return gate.SessionStatus{}, err
	}
	return s.Refresh(ttl)
}

// SDDClose ends the work on a change.
func (a *App) SDDClose(ctx context.Context) (gate.SessionStatus, error) {
	s, err := a.mustSDD(ctx)
	if err != nil {
		return gate.SessionStatus{}, err
	}
	return s.Close()
}

// RepoLifecycle tells what of a governance tool is installed; nil outside a repository.
func (a *App) RepoLifecycle(context.Context) (*gate.LifecycleStatus, error) {
	r, there, err := a.repo()
	if err != nil || !there {
		return nil, err
	}
	l, err := r.Lifecycle()
	if err != nil {
		return nil, err
	}
	s := gate.LifecycleOf(r.Root, l)
	return &s, nil
}

// RepoContext tells all of it in one.
func (a *App) RepoContext(ctx context.Context) (gate.Context, error) {
	p, err := a.where()
	if err != nil {
		return gate.Context{}, err
	}
	c := gate.Context{Root: p.Root}
	if c.Gitflow, err = a.Gitflow(ctx); err != nil {
		return c, err
	}
	if c.Lifecycle, err = a.RepoLifecycle(ctx); err != nil {
		return c, err
	}
	c.SDD, err = a.SDDStatus(ctx)
	return c, err
}

// SyncPlan says what would bring the branch and its upstream together.
func (a *App) SyncPlan(ctx context.Context) (gate.SyncPlan, error) {
	s, err := a.state(ctx)
	if err == nil && !s.Available {
		err = noRepository()
	}
	return gate.SyncPlanOf(s), err
}

// CleanupPlan says which branches are merged and could go.
func (a *App) CleanupPlan(ctx context.Context) (gate.CleanupPlan, error) {
	r, there, err := a.repo()
	if err == nil && !there {
		err = noRepository()
	}
	if err != nil {
		return gate.CleanupPlan{}, err
	}
	merged, err := r.Merged(ctx)
	return gate.CleanupPlanOf(merged), err
}

// ValidatePlan says what to do about the decision on a stage.
func (a *App) ValidatePlan(ctx context.Context, stage gate.Stage) (gate.ValidatePlan, error) {
	e, err := a.SDDEvaluate(ctx, stage)
	return gate.ValidatePlanOf(e), err
}
