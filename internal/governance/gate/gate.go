// Package gate decides, before code is written, committed or pushed, whether
// the evidence about a repository allows it, and whether a specification
// driven change is under way. It only informs: the caller decides whether to stop.
//
// Rules, codes, ages and policy are those of the seed that fixed them; a
// verdict is BLOCKED when any violation is an error, and all of them are.
package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/governance/repostate"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/project"
)

// Stage is the moment of a check.
type Stage string

// The stages.
const (
	PreWrite  Stage = "PRE_WRITE"
	PreCommit Stage = "PRE_COMMIT"
	PrePush   Stage = "PRE_PUSH"
	CI        Stage = "CI"
)

// Stages in the order in which a change passes them.
var Stages = []Stage{PreWrite, PreCommit, PrePush, CI}

// maxAge is how old evidence may be, in seconds.
var maxAge = map[Stage]int64{PreWrite: 300, PreCommit: 900, PrePush: 1800, CI: 7200}

// Known returns the stage of that name, and whether there is one; "" is PRE_COMMIT.
func Known(name string) (Stage, bool) {
	if name == "" {
		return PreCommit, true
	}
	return Stage(name), slices.Contains(Stages, Stage(name))
}

// Severity of violations and thresholds.
const (
	severityError = "ERROR"
	severityWarn  = "WARN"
	severityInfo  = "INFO"
)

// protected are the branches that forbid direct work.
var protected = []string{"main", "master", "develop", "dev"}

// Codes of violations, in the order in which they are checked.
const (
	Missing            = "EVIDENCE_MISSING"
	Invalid            = "EVIDENCE_INVALID"
	TimestampInvalid   = "EVIDENCE_TIMESTAMP_INVALID"
	TimestampFuture    = "EVIDENCE_TIMESTAMP_FUTURE"
	Stale              = "EVIDENCE_STALE"
	GateBlocked        = "EVIDENCE_GATE_BLOCKED"
	RepoMismatch       = "EVIDENCE_REPO_ROOT_MISMATCH"
	BranchMismatch     = "EVIDENCE_BRANCH_MISMATCH"
	StatusIncoherent   = "EVIDENCE_GATE_STATUS_INCOHERENT"
	OutcomeIncoherent  = "EVIDENCE_OUTCOME_INCOHERENT"
	CoverageMissing    = "EVIDENCE_RULES_COVERAGE_MISSING"
	CoverageStage      = "EVIDENCE_RULES_COVERAGE_STAGE_MISMATCH"
	CoverageIncomplete = "EVIDENCE_RULES_COVERAGE_INCOMPLETE"
	UnsupportedAuto    = "EVIDENCE_UNSUPPORTED_AUTO_RULES"
	StateUnreadable    = "GITFLOW_STATE_UNREADABLE"
	ProtectedBranch    = "GITFLOW_PROTECTED_BRANCH"
	StageUnknown       = "STAGE_UNKNOWN"
)

// Result is the answer of a check.
type Result struct {
	Allowed    bool        `json:"allowed"`
	Status     string      `json:"status"` // ALLOWED or BLOCKED
	Stage      Stage       `json:"stage"`
	Policy     Policy      `json:"policy"`
	Violations []Violation `json:"violations"`
	Evidence   Age         `json:"evidence"`
	Repo       RepoState   `json:"repo_state"`
}

// ExitStatus is that of a command line, so that a hook can run a check.
func (r Result) ExitStatus() int {
	if r.Allowed {
		return 0
	}
	return 1
}

// Violation is one rule that is not kept.
type Violation struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// Age is the kind of the evidence, and its age.
type Age struct {
	Kind evidence.Kind `json:"kind"`
	Max  int64         `json:"max_age_seconds"`
	Age  *int64        `json:"age_seconds"` // null where it is not known
}

// Policy holds the thresholds by which findings block. It is reported; the verdict
// does not depend on it.
type Policy struct {
	Stage    Stage  `json:"stage"`
	Resolved Stage  `json:"resolved_stage"` // PRE_WRITE has the policy of PRE_COMMIT
	BlockOn  string `json:"block_on_or_above"`
	WarnOn   string `json:"warn_on_or_above"`
	Trace    Trace  `json:"trace"`
}

// Trace is the origin of a policy.
type Trace struct {
	Source string `json:"source"` // default or hard-mode
	Bundle string `json:"bundle"`
	Hash   string `json:"hash"` // hex SHA-256 of the policy as JSON; see hash
}

// HardMode is a stricter policy, by .pumuki/hard-mode.json or the environment.
type HardMode struct {
	Enabled bool   `json:"enabled"`
	Profile string `json:"profile"` // "", critical-high, all-severities
}

// RepoState is the state of the repository.
type RepoState struct {
	Root      string    `json:"repo_root"`
	Git       Git       `json:"git"`
	Lifecycle Installed `json:"lifecycle"`
}

// Git is the state of the work tree, with null for what there is not.
type Git struct {
	Available bool    `json:"available"`
	Branch    *string `json:"branch"`
	Upstream  *string `json:"upstream"`
	Ahead     int     `json:"ahead"`
	Behind    int     `json:"behind"`
	Dirty     bool    `json:"dirty"`
	Staged    int     `json:"staged"`
	Unstaged  int     `json:"unstaged"`
	Untracked int     `json:"untracked"` // the original counts them as unstaged
}

// Installed describes an installed governance tool.
type Installed struct {
	Installed bool    `json:"installed"`
	Package   *string `json:"package_version"`
	Version   *string `json:"lifecycle_version"`
	Hooks     struct {
		PreCommit string `json:"pre_commit"` // managed, missing or unmanaged
		PrePush   string `json:"pre_push"`
	} `json:"hooks"`
	HardMode *HardModeState `json:"hard_mode,omitempty"`
}

// HardModeState is hard_mode as evidence has it.
type HardModeState struct {
	Enabled bool    `json:"enabled"`
	Profile *string `json:"profile"`
	Path    string  `json:"config_path"`
}

// Facts are what a check looks at.
type Facts struct {
	Now      time.Time
	Root     string // of the work tree
	Evidence *evidence.File
	State    repostate.State
	Life     repostate.Lifecycle
	Hard     HardMode
	HardPath string // of its file; "" when there is none
	Own      Own    // the project's own rules
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Describe returns the state of the repository as results show it.
func (f Facts) Describe() RepoState {
	r := RepoState{Root: f.Root}
	s := f.State
	r.Git = Git{Available: s.Available, Ahead: s.Ahead, Behind: s.Behind, Dirty: s.Dirty(), Staged: s.Staged, Unstaged: s.Unstaged, Untracked: s.Untracked,
		Branch: orNull(s.Branch), Upstream: orNull(s.Upstream)}
	r.Lifecycle.Installed = f.Life.Installed == "true"
	r.Lifecycle.Package, r.Lifecycle.Version = orNull(f.Life.Package), orNull(f.Life.Version)
	r.Lifecycle.Hooks.PreCommit, r.Lifecycle.Hooks.PrePush = managed(f.Life.PreCommit), managed(f.Life.PrePush)
	if f.HardPath != "" {
		r.Lifecycle.HardMode = &HardModeState{f.Hard.Enabled, orNull(f.Hard.Profile), f.HardPath}
	}
	return r
}

func managed(h repostate.Hook) string {
	switch {
	case h.Managed:
		return "managed"
	case h.Exists:
		return "unmanaged"
	}
	return "missing"
}

// policyOf returns the policy of a stage.
func policyOf(stage Stage, hard HardMode) Policy {
	p := Policy{Stage: stage, Resolved: stage, BlockOn: severityError, WarnOn: severityWarn}
	if stage == PreWrite {
		p.Resolved = PreCommit
	}
	p.Trace.Source = "default"
	if hard.Enabled {
		p.Trace.Source = "hard-mode"
		switch hard.Profile {
		case "critical-high":
		case "all-severities":
			p.BlockOn, p.WarnOn = severityInfo, severityInfo
		default:
			p.BlockOn, p.WarnOn = severityWarn, severityInfo
		}
	}
	p.Trace.Bundle = "gate-policy." + p.Trace.Source + "." + string(p.Resolved)
	p.Trace.Hash = hash(p)
	return p
}

// hash identifies a policy: SHA-256 of this JSON, compact and in this order.
func hash(p Policy) string {
	raw, err := json.Marshal(struct {
		Stage      Stage   `json:"stage"`
		Source     string  `json:"source"`
		BlockOn    string  `json:"blockOnOrAbove"`
		WarnOn     string  `json:"warnOnOrAbove"`
		SourceHash *string `json:"sourcePolicyHash"`
	}{p.Resolved, p.Trace.Source, p.BlockOn, p.WarnOn, nil})
	if err != nil {
		return "" // not reached: five strings
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Check applies the rules of a stage.
func Check(stage Stage, f Facts) Result {
	r := Result{Stage: stage, Policy: policyOf(stage, f.Hard), Violations: []Violation{}, Repo: f.Describe()}
	r.Evidence = Age{Kind: f.Evidence.Kind, Max: f.Own.maxAge(stage)}
	violate := func(code, format string, args ...any) {
		r.Violations = append(r.Violations, Violation{code, severityError, fmt.Sprintf(format, args...)})
	}
	checkEvidence(stage, f, &r, violate)
	checkBranch(f.State, violate)
	f.Own.check(stage, f.Now, violate)
	r.Allowed = !slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Severity == severityError })
	r.Status = "ALLOWED"
	if !r.Allowed {
		r.Status = "BLOCKED"
	}
	return r
}

// checkBranch applies the rules about the repository, which are those of every
// stage. What cannot be read is no reason to go on; outside of a repository
// there is nothing to read.
func checkBranch(s repostate.State, violate func(code, format string, args ...any)) {
	switch {
	case s.Unreadable:
		violate(StateUnreadable, "The state of the repository cannot be read: %s.", strings.TrimSuffix(s.Note, "."))
	case s.Available && s.Branch == "":
		violate(StateUnreadable, "The state of the repository cannot be read: nothing says what is checked out.")
	}
	if slices.Contains(protected, s.Branch) && !s.Detached {
		violate(ProtectedBranch, "Direct work on protected branch %q is not allowed.", s.Branch)
	}
}

// Refused returns the result for a stage that there is not: nothing is allowed at it.
func (r Result) Refused(stage string) Result {
	r.Violations = append(slices.Clone(r.Violations), Violation{StageUnknown, severityError, noStage(stage)})
	r.Allowed, r.Status = false, "BLOCKED"
	return r
}

func noStage(stage string) string { return fmt.Sprintf("There is no stage %s.", stage) }

// ahead is how far the clocks of two machines may differ: evidence that is
// dated later than that would stay fresh for as long as its author likes.
const ahead = time.Minute

func checkEvidence(stage Stage, f Facts, r *Result, violate func(code, format string, args ...any)) {
	e := f.Evidence
	switch e.Kind {
	case evidence.Missing:
		if f.Own.mayLack(stage) {
			return
		}
		violate(Missing, "There is no %s: no program has checked this repository.", evidence.Name)
		return
	case evidence.Invalid:
		violate(Invalid, "%s cannot be used: %s.", evidence.Name, e.Why)
		return
	}
	made, ok := parseTime(e.Timestamp())
	if !ok {
		violate(TimestampInvalid, "The timestamp of the evidence is not a time.")
		return
	}
	age := f.Now.Sub(made)
	seconds := max(int64(age/time.Second), 0)
	r.Evidence.Age = &seconds
	if stage == PreWrite && age < 0 || age < -ahead {
		violate(TimestampFuture, "The timestamp of the evidence lies in the future.")
	}
	if seconds > r.Evidence.Max {
		violate(Stale, "Evidence is stale (%ds > %ds for %s).", seconds, r.Evidence.Max, stage)
	}
	blocked := e.GateStatus() != nil && *e.GateStatus() == "BLOCKED"
	if blocked {
		violate(GateBlocked, "The evidence itself says that the gate is BLOCKED.")
	}
	if stage != PreWrite {
		return
	}
	if m := e.MetricStatus(); m != nil && e.GateStatus() != nil && *m != *e.GateStatus() {
		violate(StatusIncoherent, "The evidence contradicts itself: severity_metrics says %s and ai_gate says %s.", *m, *e.GateStatus())
	}
	if blocked && (e.Outcome() == nil || *e.Outcome() != "BLOCK") {
		violate(OutcomeIncoherent, "The evidence contradicts itself: ai_gate is BLOCKED and the outcome is not BLOCK.")
	}
	if repo := e.Repo(); repo != nil {
		if repo.Root != "" && !samePath(repo.Root, f.Root) {
			violate(RepoMismatch, "The evidence is about another repository: %s.", repo.Root)
		}
		if repo.Branch != "" && f.State.Branch != "" && repo.Branch != f.State.Branch {
			violate(BranchMismatch, "The evidence is about branch %q, and %q is checked out.", repo.Branch, f.State.Branch)
		}
	}
	checkCoverage(stage, e.Coverage(), violate)
}

func checkCoverage(stage Stage, c *evidence.Coverage, violate func(code, format string, args ...any)) {
	if c == nil {
		violate(CoverageMissing, "Evidence rules_coverage is missing for %s validation.", stage)
		return
	}
	if c.Stage != string(stage) {
		violate(CoverageStage, "Evidence rules_coverage is of stage %q, not %s.", c.Stage, stage)
	}
	if c.Unevaluated > 0 || c.Ratio == nil || *c.Ratio < 1 {
		violate(CoverageIncomplete, "Evidence rules_coverage is incomplete: %d rules were not evaluated.", c.Unevaluated)
	}
	if c.UnsupportedAuto > 0 {
		violate(UnsupportedAuto, "%d automatic rules could not be evaluated.", c.UnsupportedAuto)
	}
}

// parseTime reads a time as the file has it.
func parseTime(s *string) (time.Time, bool) {
	if s == nil {
		return time.Time{}, false
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999", "2006-01-02 15:04:05Z07:00", time.DateOnly} {
		if t, err := time.Parse(layout, strings.TrimSpace(*s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// samePath compares real paths, upper and lower case alike.
func samePath(a, b string) bool {
	return strings.EqualFold(project.RealPath(a), project.RealPath(b))
}

// ParseStage reads a stage, in any case and with - for _.
func ParseStage(name string) (Stage, error) {
	s, ok := Known(strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	if !ok {
		return "", kb.Errorf(kb.Invalid, "there is no stage %q", name).
			WithHint("the stages are PRE_WRITE, PRE_COMMIT, PRE_PUSH and CI")
	}
	return s, nil
}
