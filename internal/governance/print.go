package governance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func printStatus(p *printer.Printer, r evidence.Status) {
	p.Line(r.Line())
}

func printResult(p *printer.Printer, r gate.Result) {
	p.Parts("", "  ", verdict(r.Status), printer.Plain.Text(string(r.Stage)))
	for _, v := range r.Violations {
		p.Parts("", "  ", printer.Symbol.Text(v.Code), printer.Plain.Text(v.Message))
	}
}

func printHooks(p *printer.Printer, r HookReply) {
	for _, h := range r.Hooks {
		p.Line(h.Hook + ": " + h.State)
	}
}

// verdict is what a gate says.
func verdict[S ~string](status S) printer.Part {
	if status == "BLOCKED" || status == "BLOCK" {
		return printer.Bad.Text(string(status))
	}
	return printer.Good.Text(string(status))
}

func printPlan(p *printer.Printer, r gate.ValidatePlan) {
	printDecision(p, r.Evaluation)
	for _, x := range r.Actions {
		p.Line(x)
	}
}

func printSyncPlan(p *printer.Printer, r gate.SyncPlan) {
	for _, x := range r.Plan {
		p.Line(x)
	}
}

func printCleanupPlan(p *printer.Printer, r gate.CleanupPlan) {
	for _, x := range r.Plan {
		p.Line(x)
	}
	p.Nothing(len(r.Plan), "", "no merged branch is left over")
}

func printChange(p *printer.Printer, r gate.SessionStatus) {
	switch {
	case !r.Active:
		p.Line("no change is open")
	case !r.Valid:
		p.Line(fmt.Sprintf("change %s was open until %s", r.Change, r.Expires))
	default:
		p.Line(fmt.Sprintf("change %s is open until %s", r.Change, r.Expires))
	}
}

func printFindings(p *printer.Printer, r evidence.Findings) {
	t := p.Table("severity", "rule", "file", "lines", "message").None("no findings")
	for _, raw := range r.Findings {
		var f struct {
			Severity, RuleID, File, Message string
			Lines                           json.RawMessage
		}
		_ = json.Unmarshal(raw, &f) // rows are objects; a member of another type stays empty
		t.Row(f.Severity, f.RuleID, printer.Name(f.File), strings.Trim(string(f.Lines), `[]"`), f.Message)
	}
	t.Flush()
	if more := r.Pagination.More; more != nil && *more {
		p.Remark(fmt.Sprintf("%d of %d findings; the next with --offset %d", r.Count, r.Total, r.Pagination.Offset+r.Count))
	}
}

func printGitflow(p *printer.Printer, r gate.Gitflow) {
	if !r.Available {
		p.Line("not available: " + r.Note)
		return
	}
	at := r.Branch
	switch {
	case r.Upstream == "":
		at += ", no upstream"
	default:
		at += fmt.Sprintf(", %d ahead of and %d behind %s", r.Ahead, r.Behind, r.Upstream)
	}
	p.Line(fmt.Sprintf("%s; %d staged, %d unstaged, %d untracked", at, r.Staged, r.Unstaged, r.Untracked))
	if r.Conflicts > 0 {
		p.Line(kb.Count(r.Conflicts, "conflict"))
	}
	if r.Note != "" {
		p.Remark(r.Note)
	}
}

func printDecision(p *printer.Printer, e gate.Evaluation) {
	p.Line(fmt.Sprintf("%s  %s  %s", e.Decision.Code, e.Stage, e.Decision.Message))
	if hint, ok := e.Decision.Details["hint"].(string); ok {
		p.Line(p.Words(hint))
	}
	if e.Validation != nil {
		for _, m := range e.Validation.Messages {
			p.Line("  " + m)
		}
	}
}

func printImport(p *printer.Printer, r ImportReply) {
	if r.Forgotten {
		p.Line(fmt.Sprintf("forgot %s", printer.Name(r.Source)))
		return
	}
	p.Line(fmt.Sprintf("%s, %s: %s, coverage of %s", printer.Name(r.Source), strings.TrimSpace(r.Tool+" "+r.Version), kb.Count(r.Findings, "finding"), kb.Count(r.Covered, "file")))
	if r.Left > 0 {
		p.Remark(kb.Count(r.Left, "row") + " about no file of the project left out")
	}
}

func printImports(p *printer.Printer, r ImportsReply) {
	t := p.Table("report", "format", "tool", "findings", "coverage", "written", "imported").None("nothing was imported")
	for _, x := range r.Imports {
		t.Row(printer.Name(x.Source), x.Format, strings.TrimSpace(x.Tool+" "+x.Version), x.Findings, x.Covered, x.Written.Format(time.DateTime), x.Imported.Format(time.DateTime))
	}
	t.Flush()
	for _, f := range r.Findings {
		p.Line(fmt.Sprintf("%s  %s  %s  %s  (%s)", f.Severity, printer.Field(f.Rule), strings.Trim(fmt.Sprint(f.Lines), "[]"), printer.Field(f.Message), printer.Field(f.Source)))
	}
	for _, c := range r.Coverage {
		p.Line(fmt.Sprintf("tests run %d of %s  (%s)", c.Lines, kb.Count(c.Of, "line"), printer.Field(c.Source)))
	}
}
