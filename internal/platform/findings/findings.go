// Package findings writes what a checker found in files in the forms that
// other programs read: SARIF 2.1.0, JUnit, and the annotations of a forge's
// workflow. It also keeps baselines: lists of old findings that are left out.
//
// It reads what other checkers wrote (Read): SARIF, Checkstyle, JUnit, ESLint,
// golangci-lint, and coverage as lcov, Cobertura and Go have it. Such a file is
// a stranger's: it is bounded, never trusted to name anything that is opened,
// and what it says of files outside of the project is left out.
package findings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Severity says how bad a finding is.
type Severity string

// The severities; what is off is not reported.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
	Off     Severity = "off"
)

// Severities from the worst.
var Severities = []Severity{Error, Warning, Note, Off}

// ParseSeverity reads a severity.
func ParseSeverity(s string) (Severity, error) {
	if v := Severity(strings.ToLower(strings.TrimSpace(s))); slices.Contains(Severities, v) {
		return v, nil
	}
	return "", kb.Errorf(kb.Invalid, "there is no severity %q", kb.Clip(s, 40)).WithHint("choose one of error, warning, note, off")
}

// Finding is one thing that a checker found in a file.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`           // relative to the root of the project, with slashes
	Line     int      `json:"line,omitempty"` // 1-based; 0 for the file as a whole
	Message  string   `json:"message"`        // one clause, which does not name the file
	Mend     string   `json:"mend,omitempty"` // a way to mend it; "" without one
}

// Text is the message with the way to mend it.
func (f Finding) Text() string {
	if f.Mend == "" {
		return f.Message
	}
	return f.Message + ": " + f.Mend
}

// Rule is what a checker looks for.
type Rule struct {
	Name     string
	Text     string // what it finds, one clause
	Severity Severity
}

// Report is the outcome of one run of a checker.
type Report struct {
	Tool     string
	Version  string
	Address  string // of its documentation; "" without one
	Rules    []Rule // that were looked at
	Findings []Finding
}

// Formats are the forms that Write knows.
var Formats = []string{"sarif", "junit", "github", "baseline"}

// Write returns the report in one of Formats.
func (r Report) Write(format string) (string, error) {
	switch format {
	case "sarif":
		return r.sarif()
	case "junit":
		return r.junit()
	case "github":
		return r.github(), nil
	case "baseline":
		return r.baseline()
	}
	return "", kb.Errorf(kb.Invalid, "%q is no format of findings", kb.Clip(format, 40)).WithHint("choose one of %s", strings.Join(Formats, ", "))
}

// Sort orders findings by file, line, rule and message.
func Sort(list []Finding) {
	kb.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
}

// github writes a command of a workflow for each finding, which shows it at
// its line: https://docs.github.com/actions/reference/workflow-commands.
func (r Report) github() string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	commands := map[Severity]string{Error: "error", Warning: "warning"}
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "::%s file=%s,line=%d,title=%s::%s\n", cmp.Or(commands[f.Severity], "notice"), property.Replace(f.File), max(f.Line, 1),
			property.Replace(f.Rule), data.Replace(f.Text()))
	}
	return b.String()
}

// old is a finding as a baseline has it: without its line, which moves, and
// without its severity, which is configured.
type old struct {
	Rule    string `json:"rule"`
	File    string `json:"file"`
	Message string `json:"message"`
}

// Baseline is a list of findings that are known and left out.
type Baseline struct {
	Version  int   `json:"version"`
	Findings []old `json:"findings"`
}

const baselineVersion = 1

// baseline writes the findings as a baseline.
func (r Report) baseline() (string, error) {
	b := Baseline{Version: baselineVersion, Findings: []old{}}
	for _, f := range r.Findings {
		b.Findings = append(b.Findings, old{f.Rule, f.File, f.Message})
	}
	raw, err := json.MarshalIndent(b, "", "  ")
	return string(raw) + "\n", err
}

// ReadBaseline reads a baseline.
func ReadBaseline(raw []byte) (Baseline, error) {
	var b Baseline
	if err := json.Unmarshal(raw, &b); err != nil || b.Version != baselineVersion {
		return Baseline{}, kb.Errorf(kb.Invalid, "the baseline is not one of version %d", baselineVersion).
			WithHint("make one: knowledge kdd:check --format baseline > FILE")
	}
	return b, nil
}

// Without returns the findings that are not in the baseline, and how many are.
// A finding of the baseline stands for one, so that a second of the same words
// is new.
func (b Baseline) Without(list []Finding) (rest []Finding, known int) {
	left := map[old]int{}
	for _, o := range b.Findings {
		left[o]++
	}
	for _, f := range list {
		if o := (old{f.Rule, f.File, f.Message}); left[o] > 0 {
			left[o]--
			known++
			continue
		}
		rest = append(rest, f)
	}
	return rest, known
}
