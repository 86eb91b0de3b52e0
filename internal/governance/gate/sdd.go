package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/governance/repostate"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/lazyregexp"
	"github.com/seed-4f2d999b/knowledge/internal/platform/secret"
)

// Codes of decisions about specification driven development, in the order in
// which they are looked for.
const (
	Allowed              = "ALLOWED"
	OpenSpecMissing      = "OPENSPEC_MISSING"
	OpenSpecVersion      = "OPENSPEC_VERSION_UNSUPPORTED"
	OpenSpecProject      = "OPENSPEC_PROJECT_MISSING"
	SessionMissing       = "SDD_SESSION_MISSING"
	SessionInvalid       = "SDD_SESSION_INVALID"
	ChangeArchived       = "SDD_CHANGE_ARCHIVED"
	ChangeMissing        = "SDD_CHANGE_MISSING"
	ValidationFailed     = "SDD_VALIDATION_FAILED"
	ValidationError      = "SDD_VALIDATION_ERROR"
	minimumOpenSpec      = "1.1.1"
	bypassVariable       = "PUMUKI_SDD_BYPASS"
	notDetected          = "OpenSpec is required but was not detected. Install OpenSpec before continuing."
	bypassed             = "SDD bypass is active via PUMUKI_SDD_BYPASS=1. Enforcement skipped by emergency override."
	DefaultTTL           = 45 // minutes
	maxTTL               = 60 * 24 * 7
	openspecFolder       = "openspec"
	archive              = "archive"
	changes              = "changes"
	maxValidationTrouble = 5 // messages that a validation shows
)

// SDDStatus is the state of specification driven development.
type SDDStatus struct {
	Root     string        `json:"repoRoot"`
	OpenSpec OpenSpec      `json:"openspec"`
	Session  SessionStatus `json:"session"`
}

// OpenSpec describes its program and its use in the repository.
type OpenSpec struct {
	Installed   bool   `json:"installed"`
	Version     string `json:"version,omitempty"` // as the program says it
	Project     bool   `json:"projectInitialized"`
	Minimum     string `json:"minimumVersion"`
	Recommended string `json:"recommendedVersion"`
	Compatible  bool   `json:"compatible"`
	Parsed      string `json:"parsedVersion,omitempty"`
}

// SessionStatus is the change that is being worked on.
type SessionStatus struct {
	Root      string `json:"repoRoot"`
	Active    bool   `json:"active"`
	Change    string `json:"changeId,omitempty"`
	Updated   string `json:"updatedAt,omitempty"`
	Expires   string `json:"expiresAt,omitempty"`
	TTL       int    `json:"ttlMinutes,omitempty"`
	Valid     bool   `json:"valid"`
	Remaining *int64 `json:"remainingSeconds,omitempty"`
}

// Decision allows or forbids to continue.
type Decision struct {
	Allowed bool           `json:"allowed"`
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// Evaluation is a decision and what it rests on.
type Evaluation struct {
	Stage      Stage       `json:"stage"`
	Status     *SDDStatus  `json:"status"` // null outside a repository
	Decision   Decision    `json:"decision"`
	Validation *Validation `json:"validation,omitempty"`
}

// Refused returns the evaluation for a stage that there is not: nothing is allowed at it.
func (e Evaluation) Refused(stage string) Evaluation {
	if e.Decision.Allowed {
		e.Decision = Decision{Code: ValidationError, Message: noStage(stage)}
	}
	return e
}

// Validation is the program's verdict on the changes.
type Validation struct {
	OK       bool     `json:"ok"`
	ExitCode int      `json:"exitCode"`
	Items    int      `json:"items"`
	Failed   int      `json:"failed"`
	Messages []string `json:"messages,omitempty"`
}

// SDD looks at one repository. Its fields are not changed once it is in use.
type SDD struct {
	Root    string // of the work tree
	Repo    *repostate.Reader
	Program Program
	Env     func(string) string
	Now     func() time.Time
}

// Status reads the state. It runs `openspec --version`, if a program may be run.
func (s *SDD) Status(ctx context.Context) SDDStatus {
	st := SDDStatus{Root: s.Root, Session: s.Session()}
	st.OpenSpec = OpenSpec{Minimum: minimumOpenSpec, Recommended: minimumOpenSpec, Project: isDir(filepath.Join(s.Root, openspecFolder))}
	if said, err := s.Program.Version(ctx); err == nil {
		o := &st.OpenSpec
		o.Installed, o.Version, o.Parsed = true, said, semver.FindString(said)
		o.Compatible = o.Parsed != "" && !older(o.Parsed, minimumOpenSpec)
	}
	return st
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

var semver = lazyregexp.New(`\d+\.\d+\.\d+`)

// older compares versions of three numbers.
func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m < n
		}
	}
	return false
}

// Session reads the change that is being worked on. It runs nothing. Secrets in
// what the repository says of it are masked.
func (s *SDD) Session() SessionStatus {
	have := s.Repo.Session()
	for _, t := range []*string{&have.Change, &have.Updated, &have.Expires} {
		*t, _ = secret.Mask("", *t)
	}
	st := SessionStatus{Root: s.Root, Active: have.Active, Change: have.Change, Updated: have.Updated, Expires: have.Expires, TTL: have.TTL}
	if !have.Active {
		return st
	}
	if ends, err := time.Parse(time.RFC3339Nano, have.Expires); err == nil {
		left := max(int64(ends.Sub(s.Now())/time.Second), 0)
		st.Remaining = &left
		st.Valid = have.Change != "" && s.Now().Before(ends)
	}
	return st
}

// Evaluate decides for a stage.
func (s *SDD) Evaluate(ctx context.Context, stage Stage) Evaluation {
	st := s.Status(ctx)
	e := Evaluation{Stage: stage, Status: &st}
	deny := func(code, format string, args ...any) Evaluation {
		e.Decision = Decision{Code: code, Message: fmt.Sprintf(format, args...)}
		return e
	}
	id, shown := s.Repo.Session().Change, st.Session.Change
	switch {
	case s.Env(bypassVariable) == "1":
		e.Decision = Decision{true, Allowed, bypassed, map[string]any{"bypass": true, "env": bypassVariable}}
		return e
	case !st.OpenSpec.Installed:
		deny(OpenSpecMissing, notDetected)
		if why := s.Program.Why(); why != "" {
			e.Decision.Details = map[string]any{"hint": why}
		}
		return e
	case !st.OpenSpec.Compatible:
		return deny(OpenSpecVersion, "OpenSpec %s is older than %s, the oldest that is supported.", st.OpenSpec.Version, minimumOpenSpec)
	case !st.OpenSpec.Project:
		return deny(OpenSpecProject, "This repository has no folder %s.", openspecFolder)
	case !st.Session.Active:
		return deny(SessionMissing, "No change is open. Open one with sdd:open.")
	case !st.Session.Valid:
		return deny(SessionInvalid, "The open change has expired or has no name. Open one with sdd:open, or go on with sdd:refresh.")
	case s.archived(id):
		return deny(ChangeArchived, "Change %q is archived. Open another.", shown)
	case !ValidChange(id) || !isDir(s.changePath(id)):
		return deny(ChangeMissing, "There is no change %q below %s/%s.", shown, openspecFolder, changes)
	}
	if stage != PreWrite {
		v, err := s.validate(ctx)
		e.Validation = v
		switch {
		case err != nil:
			return deny(ValidationError, "OpenSpec could not validate the changes: %v.", err)
		case !v.OK:
			return deny(ValidationFailed, "OpenSpec found %d of %d changes invalid.", v.Failed, v.Items)
		}
	}
	e.Decision = Decision{Allowed: true, Code: Allowed, Message: fmt.Sprintf("Change %q is open and valid.", shown)}
	return e
}

func (s *SDD) changePath(names ...string) string {
	return filepath.Join(append([]string{s.Root, openspecFolder, changes}, names...)...)
}

// archived reports whether a change lies in the archive, under its name or,
// when it is not worked on any more, behind the day on which it was put there.
func (s *SDD) archived(id string) bool {
	if !ValidChange(id) {
		return false
	}
	if isDir(s.changePath(archive, id)) {
		return true
	}
	if isDir(s.changePath(id)) {
		return false
	}
	entries, err := os.ReadDir(s.changePath(archive))
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		day, name, ok := strings.Cut(e.Name(), "-"+id)
		_, err := time.Parse(time.DateOnly, day)
		return ok && name == "" && err == nil
	})
}

var changeName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// ValidChange reports whether a name can be that of a change: one element of
// a path that leads nowhere else.
func ValidChange(name string) bool { return changeName.MatchString(name) && name != archive }

// validate has the program validate all changes.
func (s *SDD) validate(ctx context.Context) (*Validation, error) {
	out, status, err := s.Program.Run(ctx, "validate", "--changes", "--json", "--no-interactive")
	if err != nil {
		return nil, err
	}
	v := &Validation{OK: status == 0, ExitCode: status}
	var said struct {
		Items []struct {
			ID     string
			Valid  *bool
			Issues []struct{ Message string }
		}
	}
	// The answer is the last thing it prints: notices may come before.
	if i := strings.IndexByte(out, '{'); i >= 0 {
		err = json.Unmarshal([]byte(out[i:]), &said)
	} else {
		err = fmt.Errorf("it did not answer in JSON")
	}
	if err != nil {
		if status != 0 {
			v.Messages = []string{kb.Clip(strings.TrimSpace(out), 300)}
			return v, nil
		}
		return v, fmt.Errorf("its answer cannot be read")
	}
	v.Items = len(said.Items)
	for _, it := range said.Items {
		if it.Valid == nil || *it.Valid {
			continue
		}
		v.Failed++
		for _, issue := range it.Issues {
			if len(v.Messages) < maxValidationTrouble {
				v.Messages = append(v.Messages, kb.Clip(it.ID+": "+issue.Message, 300))
			}
		}
	}
	v.OK = v.OK && v.Failed == 0
	return v, nil
}

// Open makes a change the one that is worked on, for ttl minutes (0: 45).
func (s *SDD) Open(change string, ttl int) (SessionStatus, error) {
	if !ValidChange(change) {
		return SessionStatus{}, kb.Errorf(kb.Invalid, "%q cannot be the name of a change", change).
			WithHint("name a folder below openspec/changes")
	}
	if s.archived(change) {
		return SessionStatus{}, kb.Errorf(kb.Invalid, "change %q is archived", change).WithHint("%s", s.others())
	}
	if !isDir(s.changePath(change)) {
		return SessionStatus{}, kb.Errorf(kb.NotFound, "there is no change %q below openspec/changes", change).
			WithHint("%s", s.others())
	}
	return s.set(change, ttl)
}

// others lists the existing changes.
func (s *SDD) others() string {
	entries, err := os.ReadDir(s.changePath())
	var names []string
	for _, e := range entries {
		if err == nil && e.IsDir() && ValidChange(e.Name()) && len(names) < 10 {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return "there is none yet: make one with the program openspec"
	}
	return "there are: " + strings.Join(names, ", ")
}

// Refresh lets the open change last for another ttl minutes (0: as long as before).
func (s *SDD) Refresh(ttl int) (SessionStatus, error) {
	have := s.Repo.Session()
	if !have.Active || !ValidChange(have.Change) {
		return SessionStatus{}, kb.Errorf(kb.NotFound, "no change is open").WithHint("open one with sdd:open")
	}
	if ttl == 0 {
		ttl = have.TTL
	}
	return s.set(have.Change, ttl)
}

func (s *SDD) set(change string, ttl int) (SessionStatus, error) {
	if ttl == 0 {
		ttl = DefaultTTL
	}
	if ttl < 1 || ttl > maxTTL {
		return SessionStatus{}, kb.Errorf(kb.Invalid, "a change cannot stay open for %d minutes", ttl).
			WithHint("from 1 to %d; leave it out for %d", maxTTL, DefaultTTL)
	}
	now := s.Now().UTC()
	err := s.Repo.SetSession(&repostate.Session{Active: true, Change: change, TTL: ttl,
		Updated: now.Format(repostate.Time), Expires: now.Add(time.Duration(ttl) * time.Minute).Format(repostate.Time)})
	if err != nil {
		return SessionStatus{}, err
	}
	return s.Session(), nil
}

// Close ends the work on a change.
func (s *SDD) Close() (SessionStatus, error) {
	if s.Repo.Session() == (repostate.Session{}) {
		return s.Session(), nil
	}
	if err := s.Repo.SetSession(nil); err != nil {
		return SessionStatus{}, err
	}
	return s.Session(), nil
}
