package governance

import (
	"context"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

type findingsIn struct {
	Severity string `json:"severity,omitempty" enum:"CRITICAL|ERROR|WARN|INFO" help:"only of this severity"`
	RuleID   string `json:"ruleId,omitempty" help:"only of this rule"`
	Platform string `json:"platform,omitempty" help:"only in files of this platform: ios, android, backend, frontend or generic"`
	File     string `json:"file,omitempty" help:"only in this file"`
	Limit    int    `json:"limit,omitempty" default:"100" help:"at most this many, up to 100 (default 100)"`
	Offset   int    `json:"offset,omitempty" help:"leave out this many at the beginning"`
}

type rulesetsIn struct {
	Platform string `json:"platform,omitempty" help:"only of this platform"`
	Bundle   string `json:"bundle,omitempty" help:"only of this bundle"`
	Limit    int    `json:"limit,omitempty" default:"100" help:"at most this many, up to 100 (default 100)"`
	Offset   int    `json:"offset,omitempty" help:"leave out this many at the beginning"`
}

type platformsIn struct {
	All        bool   `json:"all,omitempty" help:"also those that were not detected"`
	Confidence string `json:"confidence,omitempty" enum:"HIGH|MEDIUM|LOW" help:"only with this confidence"`
	Limit      int    `json:"limit,omitempty" default:"100" help:"at most this many, up to 100 (default 100)"`
	Offset     int    `json:"offset,omitempty" help:"leave out this many at the beginning"`
}

type ledgerIn struct {
	LastSeenAfter  string `json:"lastSeenAfter,omitempty" help:"only seen at this time or later, 2026-02-01T10:00:00.000Z"`
	LastSeenBefore string `json:"lastSeenBefore,omitempty" help:"only seen at this time or before"`
	Limit          int    `json:"limit,omitempty" default:"100" help:"at most this many, up to 100 (default 100)"`
	Offset         int    `json:"offset,omitempty" help:"leave out this many at the beginning"`
}

type importIn struct {
	File   string `json:"file" arg:"1" help:"a report that a checker wrote"`
	Forget bool   `json:"forget,omitempty" help:"let what it said go"`
}

type importsIn struct {
	File string `json:"file,omitempty" help:"also what they say of this file of the project"`
}

type exportIn struct {
	Format string `json:"format,omitempty" enum:"sarif" help:"how to write it (default sarif)"`
}

type stageIn struct {
	Stage string `json:"stage,omitempty" arg:"1" enum:"PRE_WRITE|PRE_COMMIT|PRE_PUSH|CI" help:"what is about to be done (default PRE_COMMIT)"`
}

type hookIn struct {
	Remove bool `json:"remove,omitempty" help:"take the hooks out, and put back what was there"`
}

type openIn struct {
	Change     string `json:"change" arg:"1" help:"name of a folder below openspec/changes"`
	TTLMinutes int    `json:"ttlMinutes,omitempty" help:"how many minutes it stays open (default 45)"`
}

type refreshIn struct {
	TTLMinutes int `json:"ttlMinutes,omitempty" help:"how many minutes more (default: as many as before)"`
}

// pageOf checks a page as commands ask for it.
func pageOf(limit, offset int) (evidence.Page, error) {
	if limit < 0 || limit > evidence.MaxPage {
		return evidence.Page{}, kb.Errorf(kb.Invalid, "argument %q must be from 0 to %d, not %d", "limit", evidence.MaxPage, limit).WithHint("go on with offset")
	}
	if offset < 0 {
		return evidence.Page{}, kb.Errorf(kb.Invalid, "argument %q must be at least 0, not %d", "offset", offset).WithHint("leave it out to begin at the beginning")
	}
	return evidence.Page{Limit: &limit, Offset: offset}, nil
}

// ofEvidence makes a function on valid evidence one on the app.
func ofEvidence[In, Out any](view func(*evidence.File, In) (Out, error)) func(context.Context, *app.App, In) (Out, error) {
	return func(ctx context.Context, a *app.App, in In) (out Out, err error) {
		f, err := ValidEvidence(ctx, a)
		if err != nil {
			return out, err
		}
		return view(f, in)
	}
}

// atStage makes a function of a stage one of the inputs of a command.
func atStage[Out any](do func(context.Context, *app.App, gate.Stage) (Out, error)) func(context.Context, *app.App, stageIn) (Out, error) {
	return func(ctx context.Context, a *app.App, in stageIn) (out Out, err error) {
		stage, err := gate.ParseStage(in.Stage)
		if err != nil {
			return out, err
		}
		return do(ctx, a, stage)
	}
}

func addCommands(t *command.Table) {
	addEvidence(t)
	addImports(t)
	addGate(t)
	addRepo(t)
}

// addEvidence adds the commands about evidence.
func addEvidence(t *command.Table) {
	c := t.Add("evidence", command.New("evidence:status", "Whether a governance tool has left evidence about this project, and what it counts", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (evidence.Status, error) {
			return evidenceStatus(ctx, a)
		}).Prints(printer.Of(printStatus)).Agent(), `{}`)
	c.Help = "The file is .ai_evidence.json at the root of the project. Other programs write it, never this one; without it nothing is blocked."
	t.Add("evidence", command.New("evidence:summary", "What the evidence counts, by severity, platform and rule set", command.Reads, ofEvidence(summary)).Agent(), `{}`)
	t.Add("evidence", command.New("evidence:snapshot", "Every finding of the evidence", command.Reads, ofEvidence(snapshot)).Agent(), `{}`)
	t.Add("evidence", command.New("evidence:findings", "Findings of the evidence, by severity, rule, platform or file", command.Reads,
		ofEvidence(func(f *evidence.File, in findingsIn) (evidence.Findings, error) {
			p, err := pageOf(in.Limit, in.Offset)
			return f.Findings(evidence.FindingsQuery{Severity: in.Severity, Rule: in.RuleID, Platform: in.Platform, File: in.File, Page: p}), err
		})).Prints(printer.Of(printFindings)).Agent(), `{"severity":"ERROR","limit":20}`, `{"file":"apps/backend/src/a.ts"}`)
	t.Add("evidence", command.New("evidence:rulesets", "Which rules the evidence was made with", command.Reads,
		ofEvidence(func(f *evidence.File, in rulesetsIn) (evidence.Rulesets, error) {
			p, err := pageOf(in.Limit, in.Offset)
			return f.Rulesets(evidence.RulesetsQuery{Platform: in.Platform, Bundle: in.Bundle, Page: p}), err
		})).Agent(), `{}`)
	t.Add("evidence", command.New("evidence:platforms", "Which platforms the evidence found in the project", command.Reads,
		ofEvidence(func(f *evidence.File, in platformsIn) (evidence.Platforms, error) {
			p, err := pageOf(in.Limit, in.Offset)
			return f.Platforms(evidence.PlatformsQuery{Detected: !in.All, Confidence: in.Confidence, Page: p}), err
		})).Agent(), `{}`)
	t.Add("evidence", command.New("evidence:ledger", "Open findings with when they were first and last seen", command.Reads,
		ofEvidence(func(f *evidence.File, in ledgerIn) (evidence.Ledger, error) {
			p, err := pageOf(in.Limit, in.Offset)
			return f.Ledger(evidence.LedgerQuery{After: in.LastSeenAfter, Before: in.LastSeenBefore, Page: p}), err
		})).Agent(), `{"lastSeenAfter":"2026-01-01T00:00:00.000Z"}`)
}

// addImports adds the commands about reports of other checkers.
func addImports(t *command.Table) {
	c := t.Add("evidence", command.New("evidence:import", "Keep what a report of a checker says of the files of this project", command.Writes,
		func(ctx context.Context, a *app.App, in importIn) (ImportReply, error) {
			return Import(ctx, a, in.File, in.Forget)
		}).
		Prints(printer.Of(printImport)), `{"file":"eslint.sarif"}`)
	c.Help = "SARIF 2.1.0, Checkstyle, JUnit, ESLint JSON, golangci-lint JSON, and coverage as lcov, Cobertura and Go have it; the content tells which. " +
		"It is kept with its provenance outside of the project, and read again when the file changes. Hits and what is shown of a file then say what is known of it; the gate does not look at it."
	t.Add("evidence", command.New("evidence:imports", "Which reports of checkers were imported, and what they say of a file", command.Reads,
		func(ctx context.Context, a *app.App, in importsIn) (ImportsReply, error) {
			return Imports(ctx, a, in.File)
		}).
		Prints(printer.Of(printImports)).Agent(), `{}`, `{"file":"src/shop.go"}`)
	c = t.Add("evidence", command.New("evidence:export", "The evidence and all imported findings as one SARIF log", command.Reads,
		func(ctx context.Context, a *app.App, _ exportIn) (ExportReply, error) { return Export(ctx, a) }).
		Prints(printer.Of(func(p *printer.Printer, r ExportReply) { p.Content(r.Text) })).Agent(), `{"format":"sarif"}`)
	c.Help = "A run for each origin, which it names as its tool."
}

// addGate adds the commands about the gate and the open change.
func addGate(t *command.Table) {
	c := t.Add("gate", command.New("gate:check", "May I write, commit or push, by the evidence and the branch?", command.Reads,
		atStage(GateCheck)).Prints(printer.Of(printResult)).Agent(), `{"stage":"PRE_COMMIT"}`)
	c.Aliases = []string{"gate", "ai_gate_check"}
	c.Help = "BLOCKED with the codes of what is wrong; without an evidence file that is EVIDENCE_MISSING, which says that nobody checked. " +
		"On the command line the exit status is 1 when BLOCKED, so that it can stand in a hook. It enforces nothing by itself. A project's own rules stand in " + gate.RulesFile + ", once you vouch for it."
	c = t.Add("gate", command.New("gate:hook", "Let git ask the gate before each commit and push", command.Writes,
		func(_ context.Context, a *app.App, in hookIn) (HookReply, error) { return Hooks(a, in.Remove) }).
		Prints(printer.Of(printHooks)), `{}`, `{"remove":true}`)
	c.Help = "A hook that is there is kept beside it and asked first; remove puts it back, to the byte. Where there is no knowledge on the PATH nothing is allowed. " +
		"Hooks that lie outside of the repository, for many, are left alone."
	c = t.Add("sdd", command.New("sdd:status", "Whether a specified change is open, and work on it may go on", command.Reads,
		atStage(SDDEvaluate)).Prints(printer.Of(printDecision)).Agent(), `{"stage":"PRE_WRITE"}`)
	c.Aliases = []string{"check_sdd_status"}
	c.Help = "Asks the program openspec where one is installed outside the repository; the one in node_modules is run after a person has vouched for that file. " +
		"Stages other than PRE_WRITE validate all changes."
	c = t.Add("sdd", command.New("sdd:open", "Say which specified change is being worked on", command.Writes,
		func(ctx context.Context, a *app.App, in openIn) (gate.SessionStatus, error) {
			return SDDOpen(ctx, a, in.Change, in.TTLMinutes)
		}).Prints(printer.Of(printChange)).Agent(), `{"change":"add-login"}`)
	c.Help = "Writes pumuki.sdd.session into the local git configuration of the repository, and nothing else."
	t.Add("sdd", command.New("sdd:refresh", "Let the open change stay open for longer", command.Writes,
		func(ctx context.Context, a *app.App, in refreshIn) (gate.SessionStatus, error) {
			return SDDRefresh(ctx, a, in.TTLMinutes)
		}).Agent(), `{}`)
	t.Add("sdd", command.New("sdd:close", "End the work on the open change", command.Writes,
		func(ctx context.Context, a *app.App, _ struct{}) (gate.SessionStatus, error) { return SDDClose(ctx, a) }).Agent(), `{}`)
}

// addRepo adds the commands about the state of the repository.
func addRepo(t *command.Table) {
	c := t.Add("repo", command.New("repo:state", "Branch, upstream, and what is staged, changed and untracked", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (gate.Gitflow, error) { return Gitflow(ctx, a) }).Prints(printer.Of(printGitflow)).Agent(), `{}`)
	c.Help = "Counts paths as git status --porcelain=v2 does. An untracked folder is one."
	t.Add("repo", command.New("repo:context", "State of the repository, of a governance tool and of the open change in one", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (gate.Context, error) { return RepoContext(ctx, a) }).Agent(), `{}`)
	c = t.Add("repo", command.New("repo:validate", "What to do so that work on the open change may go on", command.Reads,
		atStage(ValidatePlan)).Prints(printer.Of(printPlan)).Agent(), `{"stage":"PRE_COMMIT"}`)
	c.Aliases = []string{"validate_and_fix"}
	c = t.Add("repo", command.New("repo:sync-plan", "What would bring the branch and its upstream together; does nothing of it", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (gate.SyncPlan, error) { return SyncPlan(ctx, a) }).Prints(printer.Of(printSyncPlan)).Agent(), `{}`)
	c.Aliases = []string{"sync_branches"}
	c = t.Add("repo", command.New("repo:cleanup-plan", "Which merged branches could go; deletes none", command.Reads,
		func(ctx context.Context, a *app.App, _ struct{}) (gate.CleanupPlan, error) {
			return CleanupPlan(ctx, a)
		}).Prints(printer.Of(printCleanupPlan)).Agent(), `{}`)
	c.Aliases = []string{"cleanup_stale_branches"}
}

func summary(f *evidence.File, _ struct{}) (evidence.Summary, error)   { return f.Summary(), nil }
func snapshot(f *evidence.File, _ struct{}) (evidence.Snapshot, error) { return f.Snapshot(), nil }
func findingList(f *evidence.File, _ struct{}) (evidence.Findings, error) {
	return f.Findings(evidence.FindingsQuery{}), nil
}

func evidenceStatus(ctx context.Context, a *app.App) (evidence.Status, error) {
	f, err := Evidence(ctx, a)
	if err != nil {
		return evidence.Status{}, err
	}
	return f.Status(evidence.DefaultRoute), nil
}

// none is what a resource holds outside a repository.
var none = map[string]bool{"available": false}

func evidenceResources() []command.Resource {
	view := func(read func(context.Context, *app.App) (any, error)) func(context.Context, *app.App, string) (any, error) {
		return func(ctx context.Context, a *app.App, _ string) (any, error) { return read(ctx, a) }
	}
	return []command.Resource{
		{URI: "evidence://status", Name: "evidence status", Description: "Whether there is evidence about this project, and what it counts",
			Read: view(func(ctx context.Context, a *app.App) (any, error) { return evidenceStatus(ctx, a) })},
		{URI: "evidence://summary", Name: "evidence summary", Description: "What the evidence counts",
			Read: view(func(ctx context.Context, a *app.App) (any, error) { return ofEvidence(summary)(ctx, a, struct{}{}) })},
		{URI: "evidence://snapshot", Name: "evidence snapshot", Description: "Every finding of the evidence",
			Read: view(func(ctx context.Context, a *app.App) (any, error) { return ofEvidence(snapshot)(ctx, a, struct{}{}) })},
		{URI: "evidence://findings", Name: "evidence findings", Description: "The findings as a list that evidence:findings filters",
			Read: view(func(ctx context.Context, a *app.App) (any, error) { return ofEvidence(findingList)(ctx, a, struct{}{}) })},
		{URI: "gitflow://state", Name: "repository state", Description: "Branch, upstream, and what is staged, changed and untracked",
			Read: view(func(ctx context.Context, a *app.App) (any, error) { return Gitflow(ctx, a) })},
		{URI: "context://active", Name: "repository context", Description: "State of the repository, of a governance tool and of the open change",
			Read: view(func(ctx context.Context, a *app.App) (any, error) { return RepoContext(ctx, a) })},
		{URI: "sdd://status", Name: "specified changes", Description: "Whether OpenSpec is there and which change is open",
			Read: view(func(ctx context.Context, a *app.App) (any, error) {
				s, err := SDDStatus(ctx, a)
				if err == nil && s == nil {
					return none, nil
				}
				return s, err
			})},
		{URI: "sdd://active-change", Name: "open change", Description: "The specified change that is being worked on",
			Read: view(func(ctx context.Context, a *app.App) (any, error) { return ActiveChange(ctx, a) })},
	}
}
