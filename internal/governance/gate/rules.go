package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	yaml "github.com/oasdiff/yaml3"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/gitignore"
)

// RulesFile is where a project has rules of its own for the gate:
//
//	evidence: optional        # required checks may do without .ai_evidence.json
//	reports: ["build/*.sarif"] # read as if they were imported
//	max_age: {PRE_PUSH: 10m}  # no longer than the stage's own
//	required:
//	  - {check: golangci-lint, age: 2h, stages: [PRE_PUSH, CI]}
//	findings:
//	  - {severity: ERROR, paths: ["src/**"], rules: ["sql*"], most: 0, stages: [CI]}
//
// Stages that are left out are all of them, paths and rules any. It counts once
// a person has vouched for it, like every file of a project that decides something.
const RulesFile = ".knowledge/gate.yaml"

// Codes of violations of a project's own rules.
const (
	RulesUntrusted = "RULES_UNTRUSTED"
	RulesInvalid   = "RULES_INVALID"
	CheckMissing   = "CHECK_MISSING"
	CheckStale     = "CHECK_STALE"
	TooManyFound   = "FINDINGS_ABOVE_LIMIT"
)

// Rules are a project's own.
type Rules struct {
	Evidence string           `yaml:"evidence"`
	Reports  []string         `yaml:"reports"`
	MaxAge   map[string]span  `yaml:"max_age"`
	Required []RequiredCheck  `yaml:"required"`
	Findings []FindingsAtMost `yaml:"findings"`
}

// RequiredCheck is a checker whose report has to be there.
type RequiredCheck struct {
	Check  string   `yaml:"check"` // its name, any case
	Age    span     `yaml:"age"`   // of the report; 0 is any
	Stages []string `yaml:"stages"`
}

// FindingsAtMost bounds what was found.
type FindingsAtMost struct {
	Severity string   `yaml:"severity"` // this one and worse: CRITICAL, ERROR, WARN, INFO
	Paths    []string `yaml:"paths"`
	Names    []string `yaml:"rules"`
	Most     int      `yaml:"most"`
	Stages   []string `yaml:"stages"`

	paths, names []gitignore.Glob
}

// span is a time as "90s", "15m", "2h" or "3d" say it.
type span time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *span) UnmarshalYAML(n *yaml.Node) error {
	text := n.Value
	if days, ok := strings.CutSuffix(text, "d"); ok {
		text = days + "h"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("line %d: %q is no span of time such as 15m, 2h or 3d", n.Line, n.Value)
	}
	if text != n.Value {
		d *= 24
	}
	*s = span(d)
	return nil
}

// severities from the worst.
var severities = []string{"CRITICAL", severityError, severityWarn, severityInfo}

// ParseRules reads the rules of a project.
func ParseRules(raw []byte) (*Rules, error) {
	r := &Rules{}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(r); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if r.Evidence != "" && r.Evidence != "optional" && r.Evidence != "required" {
		return nil, fmt.Errorf("evidence is optional or required, not %q", r.Evidence)
	}
	for stage := range r.MaxAge {
		if err := knownStages([]string{stage}); err != nil {
			return nil, err
		}
	}
	for i := range r.Required {
		if strings.TrimSpace(r.Required[i].Check) == "" {
			return nil, errors.New("a required check has no name: check: golangci-lint")
		}
		if err := knownStages(r.Required[i].Stages); err != nil {
			return nil, err
		}
	}
	for i := range r.Findings {
		if err := r.Findings[i].complete(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (f *FindingsAtMost) complete() error {
	if f.Severity == "" {
		f.Severity = severityError
	}
	if f.Severity = strings.ToUpper(f.Severity); !slices.Contains(severities, f.Severity) {
		return fmt.Errorf("%q is no severity: CRITICAL, ERROR, WARN or INFO", f.Severity)
	}
	if f.Most < 0 {
		return fmt.Errorf("most must be at least 0, not %d", f.Most)
	}
	for _, p := range f.Paths {
		f.paths = append(f.paths, gitignore.Compile(strings.TrimPrefix(p, "./"), true))
	}
	for _, n := range f.Names {
		f.names = append(f.names, gitignore.Compile(n, false))
	}
	return knownStages(f.Stages)
}

func knownStages(names []string) error {
	for _, n := range names {
		if _, ok := Known(n); !ok || n == "" {
			return fmt.Errorf("there is no stage %q: PRE_WRITE, PRE_COMMIT, PRE_PUSH and CI", n)
		}
	}
	return nil
}

// Found is one thing that a checker found.
type Found struct{ Severity, Rule, File string }

// Ran is a report of a checker.
type Ran struct {
	Check   string
	Written time.Time
}

// Own are a project's rules with what they look at.
type Own struct {
	Rules *Rules // nil where there are none
	// Why says why the file that is there does not count, by a code; "" when it does.
	Code, Why string
	Found     []Found
	Ran       []Ran
}

func at(stages []string, stage Stage) bool {
	return len(stages) == 0 || slices.Contains(stages, string(stage))
}

// mayLack reports whether the evidence may be missing at a stage: a person has
// said so, and other checks are asked for in its place.
func (o *Own) mayLack(stage Stage) bool {
	return o.Rules != nil && o.Rules.Evidence == "optional" &&
		slices.ContainsFunc(o.Rules.Required, func(c RequiredCheck) bool { return at(c.Stages, stage) })
}

// maxAge returns how old evidence may be, in seconds: a project can only ask
// for less.
func (o *Own) maxAge(stage Stage) int64 {
	most := maxAge[stage]
	if o.Rules != nil {
		if s, ok := o.Rules.MaxAge[string(stage)]; ok {
			most = min(most, int64(time.Duration(s)/time.Second))
		}
	}
	return most
}

// check applies a project's own rules.
func (o *Own) check(stage Stage, now time.Time, violate func(code, format string, args ...any)) {
	if o.Code != "" {
		violate(o.Code, "%s", o.Why)
	}
	if o.Rules == nil {
		return
	}
	for _, c := range o.Rules.Required {
		if at(c.Stages, stage) {
			o.ran(c, now, violate)
		}
	}
	for _, f := range o.Rules.Findings {
		if !at(f.Stages, stage) {
			continue
		}
		n, first := 0, Found{}
		for _, x := range o.Found {
			if f.holds(x) {
				if n++; n == 1 {
					first = x
				}
			}
		}
		if n > f.Most {
			violate(TooManyFound, "%d findings of %s or worse, more than the %d of %s; the first: %s in %s.",
				n, f.Severity, f.Most, RulesFile, first.Rule, kb.Clip(first.File, 200))
		}
	}
}

// ran looks for the newest report of a required check.
func (o *Own) ran(c RequiredCheck, now time.Time, violate func(code, format string, args ...any)) {
	var newest time.Time
	there := false
	for _, r := range o.Ran {
		if strings.EqualFold(r.Check, strings.TrimSpace(c.Check)) && (!there || r.Written.After(newest)) {
			newest, there = r.Written, true
		}
	}
	age := now.Sub(newest)
	switch {
	case !there:
		violate(CheckMissing, "There is no report of %s, which %s requires.", c.Check, RulesFile)
	case age < -ahead:
		violate(CheckStale, "The report of %s is dated in the future.", c.Check)
	case c.Age > 0 && age > time.Duration(c.Age):
		violate(CheckStale, "The report of %s is %s old, more than %s.", c.Check, age.Truncate(time.Second), time.Duration(c.Age))
	}
}

// holds reports whether a finding is one of those that are bounded.
func (f *FindingsAtMost) holds(x Found) bool {
	at := slices.Index(severities, strings.ToUpper(x.Severity))
	if at < 0 || at > slices.Index(severities, f.Severity) {
		return false
	}
	matches := func(list []gitignore.Glob, s string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(g gitignore.Glob) bool { return g.Match(s) })
	}
	return matches(f.paths, x.File) && matches(f.names, x.Rule)
}
