package gate

import (
	"math/rand"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/governance/repostate"
)

// choice is one of a few values, of which the first does no harm.
func choice[T any](r *rand.Rand, values ...T) T {
	if r.Intn(3) > 0 {
		return values[0]
	}
	return values[r.Intn(len(values))]
}

// situation is what a check looks at, in the words of the model.
type situation struct {
	stage     Stage
	evidence  string // "good", "none", "garbage", "old version"
	age       time.Duration
	undated   bool
	gate      string // ai_gate.status
	metric    string // severity_metrics.gate_status
	outcome   string
	coverage  string // "whole", "none", "of another stage", "in part"
	otherRoot bool
	said      string // the branch that the evidence is about
	repo      string // "read", "none", "unreadable", "mute"
	branch    string
	detached  bool
}

func random(r *rand.Rand) situation {
	return situation{
		stage:    Stages[r.Intn(len(Stages))],
		evidence: choice(r, "good", "none", "garbage", "old version"),
		age: choice(r, 0, time.Second, 300*time.Second, 301*time.Second, 900*time.Second, 901*time.Second, 1800*time.Second,
			1801*time.Second, 7200*time.Second, 7201*time.Second, -time.Millisecond, -time.Minute, -61*time.Second, -90*365*24*time.Hour),
		undated:   choice(r, false, true),
		gate:      choice(r, "ALLOWED", "BLOCKED"),
		metric:    choice(r, "ALLOWED", "BLOCKED"),
		outcome:   choice(r, "PASS", "BLOCK", "WARN"),
		coverage:  choice(r, "whole", "none", "of another stage", "in part"),
		otherRoot: choice(r, false, true),
		said:      choice(r, "", "feature/x", "main"),
		repo:      choice(r, "read", "none", "unreadable", "mute"),
		branch:    choice(r, "feature/x", "main", "master", "develop", "dev", "maintenance"),
		detached:  choice(r, false, true),
	}
}

// allows is the model: what must hold so that a stage is allowed.
func (x situation) allows() bool {
	most := map[Stage]time.Duration{PreWrite: 300, PreCommit: 900, PrePush: 1800, CI: 7200}[x.stage] * time.Second
	earliest := -time.Minute
	if x.stage == PreWrite {
		earliest = 0
	}
	usable := x.evidence == "good" && !x.undated && x.age >= earliest && x.age < most+time.Second && x.gate == "ALLOWED"
	known := x.repo == "none" || x.repo == "read"
	free := x.repo == "none" || x.detached || x.branch == "feature/x" || x.branch == "maintenance"
	if x.stage != PreWrite {
		return usable && known && free
	}
	at := x.branch
	if x.detached {
		at = "HEAD"
	}
	fits := x.metric == x.gate && x.coverage == "whole" && !x.otherRoot && (x.said == "" || x.repo == "none" || x.said == at)
	return usable && known && free && fits
}

// facts makes the situation one that Check looks at.
func (x situation) facts(t *testing.T, root string) Facts {
	d := allowed(root, x.stage)
	d["timestamp"] = now.Add(-x.age).Format(time.RFC3339Nano)
	if x.undated {
		delete(d, "timestamp")
	}
	d.in("ai_gate")["status"], d.in("severity_metrics")["gate_status"], d.in("snapshot")["outcome"] = x.gate, x.metric, x.outcome
	switch x.coverage {
	case "none":
		delete(d.in("snapshot"), "rules_coverage")
	case "of another stage":
		d.in("snapshot", "rules_coverage")["stage"] = "STAGED"
	case "in part":
		d.in("snapshot", "rules_coverage")["coverage_ratio"] = 0.5
	}
	if x.otherRoot {
		d.in("repo_state")["repo_root"] = "/elsewhere"
	}
	d.in("repo_state", "git")["branch"] = x.said
	var file any = d
	switch x.evidence {
	case "none":
		file = nil
	case "garbage":
		file = "{"
	case "old version":
		d["version"] = "2.0"
	}
	f := facts(t, root, file)
	branch := x.branch
	if x.detached {
		branch = "HEAD"
	}
	f.State = map[string]repostate.State{
		"read":       {Available: true, Branch: branch, Detached: x.detached},
		"unreadable": {Unreadable: true, Branch: branch, Detached: x.detached, Note: "a reason"},
		"mute":       {Available: true},
	}[x.repo]
	return f
}

// TestAgainstModel: thousands of situations are allowed exactly where the model
// allows them, and what is not says why.
func TestAgainstModel(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewSource(27))
	allowed := 0
	for range 4000 {
		x := random(r)
		got := Check(x.stage, x.facts(t, root))
		if got.Allowed != x.allows() || got.Allowed != (len(got.Violations) == 0) || (got.Status == "ALLOWED") != got.Allowed {
			t.Fatalf("%+v: %+v", x, got)
		}
		if x.repo == "unreadable" && !slices.Contains(codes(got), StateUnreadable) {
			t.Fatalf("%+v: no word of what cannot be read: %+v", x, got.Violations)
		}
		if refused := got.Refused(`"LATER"`); refused.Allowed || refused.Status != "BLOCKED" || len(refused.Violations) != len(got.Violations)+1 {
			t.Fatalf("%+v: %+v", x, refused)
		}
		if got.Allowed {
			allowed++
		}
	}
	if allowed < 40 {
		t.Errorf("only %d situations were allowed: the test says little", allowed)
	}
}
