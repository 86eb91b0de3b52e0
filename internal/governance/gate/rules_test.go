package gate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
)

// TestOwnRules: what a project asks for beyond the evidence.
func TestOwnRules(t *testing.T) {
	root := t.TempDir()
	ran := []Ran{{"golangci-lint", now.Add(-time.Hour)}, {"golangci-lint", now.Add(-30 * time.Minute)}, {"Tests", now.Add(time.Hour)}}
	found := []Found{{"ERROR", "SA1", "src/a.go"}, {"WARN", "ST1", "src/b.go"}, {"CRITICAL", "sql-1", "lib/c.go"}, {"odd", "x", "src/d.go"}}
	for text, want := range map[string][]string{
		"": nil,
		"required: [{check: Golangci-Lint, age: 45m}]":                    nil,
		"required: [{check: golangci-lint, age: 20m}]":                    {CheckStale},
		"required: [{check: tests}]":                                      {CheckStale},
		"required: [{check: eslint}]":                                     {CheckMissing},
		"required: [{check: eslint, stages: [CI]}]":                       nil,
		"findings: [{severity: ERROR, paths: ['src/**']}]":                {TooManyFound},
		"findings: [{severity: ERROR, paths: ['src/**'], most: 1}]":       nil,
		"findings: [{severity: WARN, paths: ['src/**'], most: 1}]":        {TooManyFound},
		"findings: [{severity: WARN, paths: ['docs/**']}]":                nil,
		"findings: [{severity: WARN, rules: ['sql*']}]":                   {TooManyFound},
		"findings: [{severity: INFO, rules: ['py*']}]":                    nil,
		"findings: [{severity: ERROR, stages: [PRE_PUSH, CI], most: 0}]":  nil,
		"findings: [{severity: critical, most: 0}, {severity: CRITICAL}]": {TooManyFound, TooManyFound},
		"max_age: {PRE_COMMIT: 1m}":                                       {Stale},
		"max_age: {PRE_COMMIT: 3d}":                                       nil,
	} {
		rules, err := ParseRules([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		f := facts(t, root, allowed(root, PreCommit))
		f.Now = now.Add(5 * time.Minute)
		f.Own = Own{Rules: rules, Ran: ran, Found: found}
		r := Check(PreCommit, f)
		if diff := cmp.Diff(want, codesOf(r)); diff != "" || r.Allowed != (len(want) == 0) {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func codesOf(r Result) (out []string) {
	for _, v := range r.Violations {
		out = append(out, v.Code)
	}
	return out
}

// TestOwnRulesFailClosed: a file of rules that does not count, or that lets
// evidence be missing without asking for anything else, allows nothing.
func TestOwnRulesFailClosed(t *testing.T) {
	root := t.TempDir()
	f := facts(t, root, allowed(root, PreCommit))
	f.Own = Own{Code: RulesUntrusted, Why: "nobody"}
	if r := Check(PreCommit, f); r.Allowed || !slices.Contains(codesOf(r), RulesUntrusted) {
		t.Errorf("%+v", r)
	}
	f = facts(t, root, nil)
	for text, allowed := range map[string]bool{
		"evidence: optional": false,
		"evidence: optional\nrequired: [{check: a, stages: [CI]}]":       false,
		"evidence: optional\nrequired: [{check: a}]":                     true,
		"evidence: required\nrequired: [{check: a}]":                     false,
		"evidence: optional\nrequired: [{check: b}]":                     false,
		"evidence: optional\nrequired: [{check: a}]\nmax_age: {CI: 10m}": true,
	} {
		rules, err := ParseRules([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		f.Own = Own{Rules: rules, Ran: []Ran{{"a", now}}}
		if r := Check(PreCommit, f); r.Allowed != allowed {
			t.Errorf("%s: %+v", text, r.Violations)
		}
	}
	f.Evidence = &evidence.File{Kind: evidence.Invalid, Why: "broken"}
	rules, _ := ParseRules([]byte("evidence: optional\nrequired: [{check: a}]"))
	f.Own = Own{Rules: rules, Ran: []Ran{{"a", now}}}
	if r := Check(PreCommit, f); r.Allowed {
		t.Error("evidence that cannot be used is passed over")
	}
}

// TestRulesRefused: what makes no sense is said.
func TestRulesRefused(t *testing.T) {
	for text, says := range map[string]string{
		"evidence: no": "optional", "max_age: {PRE_PUSH: soon}": "span", "max_age: {NEVER: 1m}": "stage", "required: [{age: 1m}]": "name", "required: [{check: a, stages: [X]}]": "stage",
		"findings: [{severity: HIGH}]": "severity", "findings: [{most: -1}]": "most", "rules: []": "rules", "- a": "line 1", "max_age: {CI: -1m}": "span",
	} {
		if _, err := ParseRules([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
