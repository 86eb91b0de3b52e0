package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
)

// openFindings shows what a governance tool found in the file of a place.
func (s *session) openFindings(c app.Context) {
	if len(c.Findings) > 0 {
		s.line("")
	}
	for _, f := range c.Findings {
		at := ""
		if len(f.Lines) > 0 {
			at = "  " + strings.ReplaceAll(strings.Trim(fmt.Sprint(f.Lines), "[]"), " ", ",")
		}
		s.line(fmt.Sprintf("finding %s  %s%s  %s", f.Severity, field(f.Rule), at, field(f.Message)))
	}
	if c.MoreFindings > 0 {
		s.line(fmt.Sprintf("and %s: knowledge evidence:findings --file %s", plural(c.MoreFindings, "more finding"), c.Path))
	}
}

// verdict prints what gates decide, and reports whether it knew the result.
func (s *session) verdict(result any) bool {
	switch r := result.(type) {
	case evidence.Status:
		s.line(r.Line())
	case evidence.Findings:
		s.findings(r)
	case gate.Gitflow:
		s.gitflow(r)
	case gate.Result:
		s.line(fmt.Sprintf("%s  %s", r.Status, r.Stage))
		for _, v := range r.Violations {
			s.line(v.Code + "  " + v.Message)
		}
	case gate.Evaluation:
		s.decision(r)
	case gate.ValidatePlan:
		s.decision(r.Evaluation)
		for _, x := range r.Actions {
			s.line(x)
		}
	case gate.SyncPlan:
		for _, x := range r.Plan {
			s.line(x)
		}
	case gate.CleanupPlan:
		for _, x := range r.Plan {
			s.line(x)
		}
		s.nothing(len(r.Plan), "", "no merged branch is left over")
	case gate.SessionStatus:
		switch {
		case !r.Active:
			s.line("no change is open")
		case !r.Valid:
			s.line(fmt.Sprintf("change %s was open until %s", r.Change, r.Expires))
		default:
			s.line(fmt.Sprintf("change %s is open until %s", r.Change, r.Expires))
		}
	default:
		return false
	}
	return true
}

func (s *session) findings(r evidence.Findings) {
	t := s.table("severity", "rule", "file", "lines", "message").none("no findings")
	for _, raw := range r.Findings {
		var f struct {
			Severity, RuleID, File, Message string
			Lines                           json.RawMessage
		}
		_ = json.Unmarshal(raw, &f) // rows are objects; a member of another type stays empty
		t.row(f.Severity, f.RuleID, name(f.File), strings.Trim(string(f.Lines), `[]"`), f.Message)
	}
	t.flush()
	if more := r.Pagination.More; more != nil && *more {
		s.remark(fmt.Sprintf("%d of %d findings; the next with --offset %d", r.Count, r.Total, r.Pagination.Offset+r.Count))
	}
}

func (s *session) gitflow(r gate.Gitflow) {
	if !r.Available {
		s.line("no repository: " + r.Note)
		return
	}
	at := r.Branch
	switch {
	case r.Upstream == "":
		at += ", no upstream"
	default:
		at += fmt.Sprintf(", %d ahead of and %d behind %s", r.Ahead, r.Behind, r.Upstream)
	}
	s.line(fmt.Sprintf("%s; %d staged, %d unstaged, %d untracked", at, r.Staged, r.Unstaged, r.Untracked))
	if r.Conflicts > 0 {
		s.line(plural(r.Conflicts, "conflict"))
	}
	if r.Note != "" {
		s.remark(r.Note)
	}
}

func (s *session) decision(e gate.Evaluation) {
	s.line(fmt.Sprintf("%s  %s  %s", e.Decision.Code, e.Stage, e.Decision.Message))
	if hint, ok := e.Decision.Details["hint"].(string); ok {
		s.line(s.forTerminal(hint))
	}
	if e.Validation != nil {
		for _, m := range e.Validation.Messages {
			s.line("  " + m)
		}
	}
}
