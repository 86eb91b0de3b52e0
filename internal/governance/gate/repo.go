package gate

import (
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/governance/repostate"
)

// Gitflow is the state of the work tree on its own: {"available":false} where
// there is none.
type Gitflow struct {
	Available bool `json:"available"`
	*gitflow
	Note string `json:"note,omitempty"`
}

type gitflow struct {
	Branch    string `json:"branch"`
	Upstream  string `json:"upstream,omitempty"`
	Ahead     int    `json:"ahead"`
	Behind    int    `json:"behind"`
	Dirty     bool   `json:"dirty"`
	Staged    int    `json:"staged"`
	Unstaged  int    `json:"unstaged"`
	Untracked int    `json:"untracked"` // the original counts them as unstaged
	Conflicts int    `json:"conflicts,omitempty"`
}

// GitflowOf shows a state.
func GitflowOf(s repostate.State) Gitflow {
	if !s.Available {
		return Gitflow{Note: s.Note}
	}
	return Gitflow{Available: true, gitflow: &gitflow{s.Branch, s.Upstream, s.Ahead, s.Behind, s.Dirty(), s.Staged, s.Unstaged, s.Untracked, s.Conflicts}, Note: s.Note}
}

// LifecycleStatus is what of a governance tool is installed; the fields of
// lifecycleState are as the repository's configuration has them.
type LifecycleStatus struct {
	Root    string  `json:"repoRoot"`
	Package *string `json:"packageVersion"`
	State   struct {
		Installed string `json:"installed,omitempty"`
		Version   string `json:"version,omitempty"`
		Hooks     string `json:"hooks,omitempty"`
		At        string `json:"installedAt,omitempty"`
	} `json:"lifecycleState"`
	Hooks struct {
		PreCommit repostate.Hook `json:"pre-commit"`
		PrePush   repostate.Hook `json:"pre-push"`
	} `json:"hookStatus"`
	Modules int `json:"trackedNodeModulesCount"`
}

// LifecycleOf shows what is installed.
func LifecycleOf(root string, l repostate.Lifecycle) LifecycleStatus {
	s := LifecycleStatus{Root: root, Package: orNull(l.Package), Modules: l.Modules}
	s.State.Installed, s.State.Version, s.State.Hooks, s.State.At = l.Installed, l.Version, l.Hooks, l.At
	s.Hooks.PreCommit, s.Hooks.PrePush = l.PreCommit, l.PrePush
	return s
}

// Context is all of it in one.
type Context struct {
	Root      string           `json:"repoRoot"`
	Gitflow   Gitflow          `json:"gitflow"`
	Lifecycle *LifecycleStatus `json:"lifecycle"` // null outside a repository
	SDD       *SDDStatus       `json:"sdd"`
}

// ActiveChange is the change that is being worked on.
type ActiveChange struct {
	Available bool    `json:"available"`
	Active    bool    `json:"active"`
	Valid     bool    `json:"valid"`
	Change    *string `json:"changeId"`
	Remaining *int64  `json:"remainingSeconds"`
}

// ActiveChangeOf shows a session; nil is outside a repository.
func ActiveChangeOf(s *SDDStatus) ActiveChange {
	if s == nil {
		return ActiveChange{}
	}
	return ActiveChange{true, s.Session.Active, s.Session.Valid, orNull(s.Session.Change), s.Session.Remaining}
}

// SyncPlan lists the steps that would bring a branch and its upstream together. None
// is done.
type SyncPlan struct {
	Gitflow Gitflow  `json:"gitflow"`
	Plan    []string `json:"plan"`
}

// SyncPlanOf plans. A dirty tree is to be made clean first, so no pull is
// planned for it.
func SyncPlanOf(s repostate.State) SyncPlan {
	p := SyncPlan{Gitflow: GitflowOf(s), Plan: []string{}}
	if s.Upstream == "" {
		p.Plan = append(p.Plan, "No upstream configured for current branch.")
	}
	if s.Behind > 0 && !s.Dirty() {
		p.Plan = append(p.Plan, "git pull --rebase")
	}
	if s.Ahead > 0 {
		p.Plan = append(p.Plan, "git push")
	}
	if s.Dirty() {
		p.Plan = append(p.Plan, "Working tree is dirty; sync should run only from clean state.")
	}
	if len(p.Plan) == 0 {
		p.Plan = append(p.Plan, "Branch is already synchronized with upstream.")
	}
	return p
}

// kept are the branches that no plan deletes.
var kept = []string{"main", "master", "develop", "dev", "production", "staging"}

// CleanupPlan lists the branches that could go. None is deleted.
type CleanupPlan struct {
	Candidates []string `json:"candidates"`
	Plan       []string `json:"plan"`
}

// CleanupPlanOf plans for branches that are merged.
func CleanupPlanOf(merged []string) CleanupPlan {
	p := CleanupPlan{Candidates: []string{}, Plan: []string{}}
	for _, name := range merged {
		if !slices.Contains(kept, name) {
			p.Candidates = append(p.Candidates, name)
			p.Plan = append(p.Plan, "git branch -d "+quoted(name))
		}
	}
	return p
}

// quoted puts quotes around a branch's name that a shell would not take as a
// word: git allows $, ; and & in names.
func quoted(name string) string {
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '/' || c == '-' || c == '_' || c == '.' || c >= 128) {
			out := "'"
			for _, c := range name {
				if c == '\'' {
					out += `'\''`
				} else {
					out += string(c)
				}
			}
			return out + "'"
		}
	}
	return name
}

// ValidatePlan lists what to do about a decision. Nothing of it is done.
type ValidatePlan struct {
	Evaluation Evaluation `json:"evaluation"`
	Actions    []string   `json:"suggestedActions"`
}

// ValidatePlanOf plans.
func ValidatePlanOf(e Evaluation) ValidatePlan {
	return ValidatePlan{e, []string{"Review SDD policy decision and fix issues manually.", "Use standard git/openSpec workflow in a reviewed branch."}}
}
