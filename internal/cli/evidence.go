package cli

import (
	"fmt"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/gate"
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
		s.line(fmt.Sprintf("finding %s  %s%s  %s", f.Severity, f.Rule, at, f.Message))
	}
	if c.MoreFindings > 0 {
		s.line(fmt.Sprintf("and %s: knowledge evidence:findings --file %s", plural(c.MoreFindings, "more finding"), c.Path))
	}
}

// verdict prints what gates decide, and reports whether it knew the result.
func (s *session) verdict(result any) bool {
	switch r := result.(type) {
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

func (s *session) decision(e gate.Evaluation) {
	s.line(fmt.Sprintf("%s  %s  %s", e.Decision.Code, e.Stage, e.Decision.Message))
	if hint, ok := e.Decision.Details["hint"].(string); ok {
		s.line(hint)
	}
	if e.Validation != nil {
		for _, m := range e.Validation.Messages {
			s.line("  " + m)
		}
	}
}
