package governance

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/governance/repostate"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// repo returns a reader of the project's work tree, and whether there is one.
func repo(a *app.App) (*repostate.Reader, bool, error) {
	p, err := a.Where()
	if err != nil {
		return nil, false, err
	}
	return repostate.Of(p.Root, a.Config.Env), p.Git, nil
}

// state reads the state of the work tree; there is none outside a repository.
// A .git that leads to none is a repository that cannot be read.
func state(ctx context.Context, a *app.App) (repostate.State, error) {
	p, err := a.Where()
	if err != nil {
		return repostate.State{}, err
	}
	stop := ""
	if p.Git {
		stop = p.Root
	}
	if lost := repostate.Lost(p.Dir, stop); lost.Unreadable || !p.Git {
		return lost, nil
	}
	r, _, err := repo(a)
	if err != nil {
		return repostate.State{}, err
	}
	return r.State(ctx)
}

// Gitflow returns the state of the work tree.
func Gitflow(ctx context.Context, a *app.App) (gate.Gitflow, error) {
	s, err := state(ctx, a)
	if err == nil && !s.Available && s.Note == "" {
		s.Note = "this is not a git repository"
	}
	return gate.GitflowOf(s), err
}

// facts gathers what a gate looks at.
func facts(ctx context.Context, a *app.App) (gate.Facts, error) {
	r, there, err := repo(a)
	if err != nil {
		return gate.Facts{}, err
	}
	f := gate.Facts{Root: r.Root}
	if f.Evidence, err = Evidence(ctx, a); err != nil {
		return f, err
	}
	if f.State, err = state(ctx, a); err != nil {
		return f, err
	}
	if there {
		if f.Life, err = r.Lifecycle(); err != nil {
			return f, err
		}
	}
	f.Hard, f.HardPath = hardMode(a, r.Root)
	f.Now = time.Now()
	f.Own, err = ownRules(ctx, a, r.Root, f.Evidence)
	return f, err
}

// hardMode reads the stricter policy: the environment before the file.
func hardMode(a *app.App, root string) (gate.HardMode, string) {
	const name = ".pumuki/hard-mode.json"
	var h gate.HardMode
	path := ""
	full := filepath.Join(root, filepath.FromSlash(name))
	if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Size() <= app.MaxTrusted {
		if raw, err := os.ReadFile(full); err == nil && json.Unmarshal(raw, &h) == nil {
			path = name
		}
	}
	switch strings.ToLower(a.Config.Env("PUMUKI_HARD_MODE")) {
	case "1", "true", "yes", "on":
		h.Enabled = true
	case "0", "false", "no", "off":
		h.Enabled = false
	}
	if p := a.Config.Env("PUMUKI_HARD_MODE_PROFILE"); p != "" {
		h.Profile = p
	}
	return h, path
}

// GateCheck says whether the evidence allows a stage.
func GateCheck(ctx context.Context, a *app.App, stage gate.Stage) (gate.Result, error) {
	f, err := facts(ctx, a)
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
func sdd(ctx context.Context, a *app.App) (*gate.SDD, error) {
	r, there, err := repo(a)
	if err != nil || !there {
		return nil, err
	}
	p := &gate.OpenSpecProgram{Root: r.Root, Path: a.Config.Env("PATH"), Trusted: func(path string) bool {
		c, err := a.Open(ctx)
		if err != nil {
			return false
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() > app.MaxTrusted {
			return false
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		ok, err := c.Trusts(ctx, path, raw)
		return err == nil && ok
	}}
	for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "TMPDIR", "LANG",
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "NVM_DIR", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR"} {
		if v := a.Config.Env(name); v != "" {
			p.Env = append(p.Env, name+"="+v)
		}
	}
	return &gate.SDD{Root: r.Root, Repo: r, Program: cachedProgram{p, app.State(a, func() *versions { return &versions{} })}, Env: a.Config.Env, Now: time.Now}, nil
}

// mustSDD is sdd, and an error outside a repository.
func mustSDD(ctx context.Context, a *app.App) (*gate.SDD, error) {
	s, err := sdd(ctx, a)
	if err == nil && s == nil {
		err = noRepository()
	}
	return s, err
}

func noRepository() error {
	return kb.Errorf(kb.NotFound, "this is not a git repository").WithHint("name one with --project")
}

// SDDStatus returns the state of specification driven development; nil outside a repository.
func SDDStatus(ctx context.Context, a *app.App) (*gate.SDDStatus, error) {
	s, err := sdd(ctx, a)
	if err != nil || s == nil {
		return nil, err
	}
	st := s.Status(ctx)
	return &st, nil
}

// ActiveChange returns the change that is being worked on. It runs nothing.
func ActiveChange(ctx context.Context, a *app.App) (gate.ActiveChange, error) {
	s, err := sdd(ctx, a)
	if err != nil || s == nil {
		return gate.ActiveChange{}, err
	}
	return gate.ActiveChangeOf(&gate.SDDStatus{Session: s.Session()}), nil
}

// SDDEvaluate decides whether a stage may go on. Outside a repository that is unknown.
func SDDEvaluate(ctx context.Context, a *app.App, stage gate.Stage) (gate.Evaluation, error) {
	s, err := sdd(ctx, a)
	if err != nil {
		return gate.Evaluation{}, err
	}
	if s == nil {
		return gate.Evaluation{Stage: stage, Decision: gate.Decision{Code: gate.ValidationError, Message: "This is not a git repository."}}, nil
	}
	return s.Evaluate(ctx, stage), nil
}

// SDDOpen makes a change the one that is worked on, for ttl minutes; 0 is 45.
func SDDOpen(ctx context.Context, a *app.App, change string, ttl int) (gate.SessionStatus, error) {
	s, err := mustSDD(ctx, a)
	if err != nil {
		return gate.SessionStatus{}, err
	}
	return s.Open(change, ttl)
}

// SDDRefresh lets the change that is worked on last longer.
func SDDRefresh(ctx context.Context, a *app.App, ttl int) (gate.SessionStatus, error) {
	s, err := mustSDD(ctx, a)
	if err != nil {
		return gate.SessionStatus{}, err
	}
	return s.Refresh(ttl)
}

// SDDClose ends the work on a change.
func SDDClose(ctx context.Context, a *app.App) (gate.SessionStatus, error) {
	s, err := mustSDD(ctx, a)
	if err != nil {
		return gate.SessionStatus{}, err
	}
	return s.Close()
}

// RepoLifecycle returns what of a governance tool is installed; nil outside a repository.
func RepoLifecycle(_ context.Context, a *app.App) (*gate.LifecycleStatus, error) {
	r, there, err := repo(a)
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

// RepoContext returns all of it in one.
func RepoContext(ctx context.Context, a *app.App) (gate.Context, error) {
	p, err := a.Where()
	if err != nil {
		return gate.Context{}, err
	}
	c := gate.Context{Root: p.Root}
	if c.Gitflow, err = Gitflow(ctx, a); err != nil {
		return c, err
	}
	if c.Lifecycle, err = RepoLifecycle(ctx, a); err != nil {
		return c, err
	}
	c.SDD, err = SDDStatus(ctx, a)
	return c, err
}

// SyncPlan says what would bring the branch and its upstream together.
func SyncPlan(ctx context.Context, a *app.App) (gate.SyncPlan, error) {
	s, err := state(ctx, a)
	switch {
	case err == nil && s.Unreadable:
		err = kb.Errorf(kb.Unsupported, "the state of the repository cannot be read: %s", s.Note).WithHint("see: git status")
	case err == nil && !s.Available:
		err = noRepository()
	}
	return gate.SyncPlanOf(s), err
}

// CleanupPlan says which branches are merged and could go.
func CleanupPlan(ctx context.Context, a *app.App) (gate.CleanupPlan, error) {
	r, there, err := repo(a)
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
func ValidatePlan(ctx context.Context, a *app.App, stage gate.Stage) (gate.ValidatePlan, error) {
	e, err := SDDEvaluate(ctx, a, stage)
	return gate.ValidatePlanOf(e), err
}
