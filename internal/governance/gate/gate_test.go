package gate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/governance/repostate"
)

var now = time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC)

// doc is an evidence file with which every stage is allowed.
type doc map[string]any

func allowed(root string, stage Stage) doc {
	return doc{
		"version": "2.1", "timestamp": now.Format(time.RFC3339Nano),
		"snapshot": doc{"stage": "PRE_COMMIT", "outcome": "PASS", "findings": []any{},
			"rules_coverage": doc{"stage": string(stage), "counts": doc{"active": 3, "evaluated": 3, "matched": 0, "unevaluated": 0, "unsupported_auto": 0}, "coverage_ratio": 1}},
		"ai_gate": doc{"status": "ALLOWED"}, "severity_metrics": doc{"gate_status": "ALLOWED"},
		"repo_state": doc{"repo_root": root, "git": doc{"branch": "feature/x"}},
	}
}

func (d doc) in(path ...string) doc {
	for _, p := range path {
		d = d[p].(doc)
	}
	return d
}

func facts(t *testing.T, root string, d any) Facts {
	t.Helper()
	path := filepath.Join(root, evidence.Name)
	os.Remove(path)
	if d != nil {
		text, ok := d.(string)
		if !ok {
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Facts{Now: now, Root: root, Evidence: evidence.Read(root), State: repostate.State{Available: true, Branch: "feature/x"}}
}

func codes(r Result) []string {
	out := []string{}
	for _, v := range r.Violations {
		if v.Severity != "ERROR" || v.Message == "" {
			out = append(out, "odd:"+v.Code)
		}
		out = append(out, v.Code)
	}
	return out
}

// TestCodes has each code alone, at the stages that know it and at no other.
func TestCodes(t *testing.T) {
	everywhere, preWrite := Stages, []Stage{PreWrite}
	for _, tc := range []struct {
		code   string
		stages []Stage
		change func(d doc, f *Facts) any // what stands in the file instead
	}{
		{"", nil, func(d doc, _ *Facts) any { return d }},
		{Missing, everywhere, func(doc, *Facts) any { return nil }},
		{Invalid, everywhere, func(d doc, _ *Facts) any { d["version"] = "2.0"; return d }},
		{Invalid, everywhere, func(doc, *Facts) any { return "{bad" }},
		{TimestampInvalid, everywhere, func(d doc, _ *Facts) any { d["timestamp"] = "yesterday"; return d }},
		{TimestampInvalid, everywhere, func(d doc, _ *Facts) any { delete(d, "timestamp"); return d }},
		{TimestampFuture, preWrite, func(d doc, _ *Facts) any { d["timestamp"] = "2026-02-01T10:00:00.001Z"; return d }},
		{Stale, everywhere, func(d doc, _ *Facts) any { d["timestamp"] = "2026-01-31T10:00:00Z"; return d }},
		{GateBlocked, everywhere, func(d doc, _ *Facts) any {
			d.in("ai_gate")["status"], d.in("severity_metrics")["gate_status"], d.in("snapshot")["outcome"] = "BLOCKED", "BLOCKED", "BLOCK"
			return d
		}},
		{ProtectedBranch, everywhere, func(d doc, f *Facts) any {
			d.in("repo_state", "git")["branch"] = "main"
			f.State.Branch = "main"
			return d
		}},
		{RepoMismatch, preWrite, func(d doc, _ *Facts) any { d.in("repo_state")["repo_root"] = "/elsewhere"; return d }},
		{BranchMismatch, preWrite, func(d doc, _ *Facts) any { d.in("repo_state", "git")["branch"] = "feature/y"; return d }},
		{StatusIncoherent, preWrite, func(d doc, _ *Facts) any { d.in("severity_metrics")["gate_status"] = "BLOCKED"; return d }},
		{CoverageMissing, preWrite, func(d doc, _ *Facts) any { delete(d.in("snapshot"), "rules_coverage"); return d }},
		{CoverageStage, preWrite, func(d doc, _ *Facts) any { d.in("snapshot", "rules_coverage")["stage"] = "STAGED"; return d }},
		{CoverageIncomplete, preWrite, func(d doc, _ *Facts) any { d.in("snapshot", "rules_coverage", "counts")["unevaluated"] = 1; return d }},
		{CoverageIncomplete, preWrite, func(d doc, _ *Facts) any { d.in("snapshot", "rules_coverage")["coverage_ratio"] = 0.99; return d }},
		{UnsupportedAuto, preWrite, func(d doc, _ *Facts) any {
			d.in("snapshot", "rules_coverage", "counts")["unsupported_auto"] = 1
			return d
		}},
		{BranchMismatch, preWrite, func(d doc, _ *Facts) any { d.in("repo_state", "git")["branch"] = "Feature/X"; return d }},
		// Paths are compared as they really are, upper and lower case alike.
		{"", nil, func(d doc, f *Facts) any { d.in("repo_state")["repo_root"] = strings.ToUpper(f.Root); return d }},
		{"", nil, func(d doc, _ *Facts) any { delete(d, "repo_state"); return d }},
		{"", nil, func(d doc, f *Facts) any { f.State = repostate.State{}; return d }},
		{"", nil, func(d doc, f *Facts) any {
			f.State.Branch, f.State.Detached = "HEAD", true
			d.in("repo_state", "git")["branch"] = "HEAD"
			return d
		}},
	} {
		for _, stage := range Stages {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			f := facts(t, root, nil)
			what := tc.change(allowed(root, stage), &f)
			f.Evidence = facts(t, root, what).Evidence
			got := Check(stage, f)
			want := []string{}
			if slices.Contains(tc.stages, stage) {
				want = append(want, tc.code)
			}
			if d := cmp.Diff(want, codes(got)); d != "" || got.Allowed != (len(want) == 0) || (got.Status == "ALLOWED") != got.Allowed || got.ExitStatus() != len(want) {
				t.Errorf("%s at %s: %s %+v", tc.code, stage, d, got)
			}
		}
	}
	// An outcome that does not fit comes with the gate that it does not fit.
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range Stages {
		d := allowed(root, stage)
		d.in("ai_gate")["status"], d.in("severity_metrics")["gate_status"] = "BLOCKED", "BLOCKED"
		want := []string{GateBlocked}
		if stage == PreWrite {
			want = append(want, OutcomeIncoherent)
		}
		if d := cmp.Diff(want, codes(Check(stage, facts(t, root, d)))); d != "" {
			t.Errorf("%s: %s", stage, d)
		}
	}
	for _, branch := range []string{"main", "master", "develop", "dev"} {
		f := facts(t, root, nil)
		f.State.Branch = branch
		if got := codes(Check(CI, f)); !slices.Contains(got, ProtectedBranch) {
			t.Errorf("%s: %v", branch, got)
		}
	}
}

// TestAges: evidence is fresh at its greatest age and stale a second later.
func TestAges(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for stage, most := range map[Stage]int64{PreWrite: 300, PreCommit: 900, PrePush: 1800, CI: 7200} {
		for age, want := range map[time.Duration]bool{
			0: true, time.Duration(most) * time.Second: true, time.Duration(most)*time.Second + 999*time.Millisecond: true, time.Duration(most+1) * time.Second: false,
		} {
			f := facts(t, root, allowed(root, stage))
			f.Now = now.Add(age)
			r := Check(stage, f)
			if r.Allowed != want || *r.Evidence.Age != int64(age/time.Second) || r.Evidence.Max != most || !want && codes(r)[0] != Stale {
				t.Errorf("%s after %s: %+v", stage, age, r)
			}
		}
		// Clocks differ by a little; evidence that is further ahead would never be stale.
		for before, want := range map[time.Duration]bool{time.Millisecond: stage != PreWrite, time.Minute: stage != PreWrite, time.Minute + time.Second: false, 200 * 365 * 24 * time.Hour: false} {
			f := facts(t, root, allowed(root, stage))
			f.Now = now.Add(-before)
			if r := Check(stage, f); *r.Evidence.Age != 0 || r.Allowed != want || !want && codes(r)[0] != TimestampFuture {
				t.Errorf("%s, %s before: %+v", stage, before, r)
			}
		}
	}
}

func TestPolicy(t *testing.T) {
	for _, tc := range []struct {
		stage               Stage
		hard                HardMode
		source, block, warn string
		hash                string // "" is not pinned
	}{
		{PreCommit, HardMode{}, "default", "ERROR", "WARN", "d631d917a245c3a1db60dddcefded0dcc6e043e89c3eec29a878c3a216eea41a"},
		{PreWrite, HardMode{}, "default", "ERROR", "WARN", "d631d917a245c3a1db60dddcefded0dcc6e043e89c3eec29a878c3a216eea41a"},
		{CI, HardMode{}, "default", "ERROR", "WARN", "e9e89eaa2f5a3d9e810f77f2d6331a967404b6ed5cacbfe1601c1074efde9084"},
		{CI, HardMode{Profile: "all-severities"}, "default", "ERROR", "WARN", "e9e89eaa2f5a3d9e810f77f2d6331a967404b6ed5cacbfe1601c1074efde9084"},
		{PrePush, HardMode{Enabled: true}, "hard-mode", "WARN", "INFO", ""},
		{PrePush, HardMode{Enabled: true, Profile: "critical-high"}, "hard-mode", "ERROR", "WARN", ""},
		{PrePush, HardMode{Enabled: true, Profile: "all-severities"}, "hard-mode", "INFO", "INFO", ""},
	} {
		p := policyOf(tc.stage, tc.hard)
		if p.Trace.Source != tc.source || p.BlockOn != tc.block || p.WarnOn != tc.warn || tc.hash != "" && p.Trace.Hash != tc.hash ||
			p.Trace.Bundle != "gate-policy."+tc.source+"."+string(p.Resolved) {
			t.Errorf("%s %+v: %+v", tc.stage, tc.hard, p)
		}
	}
}

// TestThresholdsAreReportedOnly: they do not change the verdict.
func TestThresholdsAreReportedOnly(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := facts(t, root, allowed(root, CI))
	f.Hard, f.HardPath = HardMode{Enabled: true, Profile: "all-severities"}, ".pumuki/hard-mode.json"
	if r := Check(CI, f); !r.Allowed || r.Repo.Lifecycle.HardMode == nil || !r.Repo.Lifecycle.HardMode.Enabled {
		t.Errorf("%+v", r)
	}
}

func TestParseStage(t *testing.T) {
	for in, want := range map[string]Stage{"": PreCommit, "CI": CI, "pre-push": PrePush, "PRE_WRITE": PreWrite, "later": ""} {
		if got, err := ParseStage(in); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
}

func TestPlans(t *testing.T) {
	clean := repostate.State{Available: true, Branch: "x", Upstream: "origin/x"}
	with := func(change func(*repostate.State)) repostate.State { s := clean; change(&s); return s }
	for i, tc := range []struct {
		s    repostate.State
		want []string
	}{
		{clean, []string{"Branch is already synchronized with upstream."}},
		{with(func(s *repostate.State) { s.Upstream = "" }), []string{"No upstream configured for current branch."}},
		{with(func(s *repostate.State) { s.Behind = 1 }), []string{"git pull --rebase"}},
		{with(func(s *repostate.State) { s.Ahead = 1 }), []string{"git push"}},
		{with(func(s *repostate.State) { s.Ahead, s.Behind = 1, 1 }), []string{"git pull --rebase", "git push"}},
		{with(func(s *repostate.State) { s.Behind, s.Untracked = 1, 1 }), []string{"Working tree is dirty; sync should run only from clean state."}},
	} {
		if d := cmp.Diff(tc.want, SyncPlanOf(tc.s).Plan); d != "" {
			t.Errorf("%d: %s", i, d)
		}
	}
	p := CleanupPlanOf([]string{"old/x", "main", "a;rm -rf $HOME", "it's", "staging"})
	if d := cmp.Diff([]string{"git branch -d old/x", "git branch -d 'a;rm -rf $HOME'", `git branch -d 'it'\''s'`}, p.Plan); d != "" {
		t.Error(d)
	}
	if b, err := json.Marshal(GitflowOf(repostate.State{})); err != nil || string(b) != `{"available":false}` {
		t.Errorf("%s %v", b, err)
	}
	if got := fmt.Sprint(ActiveChangeOf(nil)); !strings.HasPrefix(got, "{false false false") {
		t.Error(got)
	}
}
