package findings

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// eslint reads what ESLint's formatter json writes.
func (r *reader) eslint(text []byte) error {
	var files []struct {
		FilePath string
		Messages []struct {
			RuleID   *string
			Severity int
			Message  string
			Line     int
		}
	}
	r.Format, r.Tool = "eslint", "eslint"
	if err := json.Unmarshal(text, &files); err != nil {
		return err
	}
	for _, f := range files {
		for _, m := range f.Messages {
			x := Finding{Rule: "parse-error", Severity: Warning, File: f.FilePath, Line: m.Line, Message: m.Message}
			if m.RuleID != nil {
				x.Rule = *m.RuleID
			}
			if m.Severity == 2 {
				x.Severity = Error
			}
			r.add(x)
		}
	}
	return nil
}

// golangci reads what golangci-lint writes as JSON.
func (r *reader) golangci(text []byte) error {
	var all struct {
		Issues []struct {
			FromLinter, Text, Severity string
			Pos                        struct {
				Filename string
				Line     int
			}
		}
	}
	r.Format, r.Tool = "golangci-lint", "golangci-lint"
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, i := range all.Issues {
		r.add(Finding{Rule: i.FromLinter, Severity: severityOf(i.Severity), File: i.Pos.Filename, Line: i.Pos.Line, Message: i.Text})
	}
	return nil
}

// The parts of a SARIF log that are read.
type (
	readLog struct {
		Version string
		Runs    []readRun
	}
	readRun struct {
		Tool struct {
			Driver     readDriver
			Extensions []readDriver
		}
		Bases     map[string]struct{ URI, URIBaseID string } `json:"originalUriBaseIds"`
		Artifacts []struct{ Location readArtifact }
		Results   []readResult
	}
	readDriver struct {
		Name, Version, SemanticVersion string
		Rules                          []readRule
	}
	readRule struct {
		ID       string
		Default  struct{ Level string } `json:"defaultConfiguration"`
		Messages map[string]readMessage `json:"messageStrings"`
	}
	readMessage struct {
		Text, ID  string
		Arguments []string
	}
	readArtifact struct {
		URI, URIBaseID string
		Index          *int
	}
	readResult struct {
		RuleID    string
		RuleIndex *int
		Rule      struct {
			ID    string
			Index *int
		}
		Kind, Level  string
		Message      readMessage
		Suppressions []struct{ Status string }
		Locations    []struct {
			PhysicalLocation struct {
				ArtifactLocation readArtifact
				Region           struct{ StartLine int }
			}
		}
	}
)

// sarif reads the results of every run of a SARIF log.
func (r *reader) sarif(text []byte) error {
	var log readLog
	r.Format = "sarif"
	if err := json.Unmarshal(text, &log); err != nil {
		return err
	}
	if log.Version != sarifVersion {
		return fmt.Errorf("its version is %q, not %s", log.Version, sarifVersion)
	}
	var tools []string
	for i := range log.Runs {
		run := &log.Runs[i]
		d := run.Tool.Driver
		tools = append(tools, d.Name)
		if r.Version == "" {
			if r.Version = d.SemanticVersion; r.Version == "" {
				r.Version = d.Version
			}
		}
		for k := range run.Results {
			r.result(run, &run.Results[k])
		}
	}
	r.Tool, r.Version = strings.Join(tools, ", "), strings.TrimSpace(r.Version)
	return nil
}

// result reads one result of a run. What passed, does not apply or was
// suppressed is no finding.
func (r *reader) result(run *readRun, x *readResult) {
	switch x.Kind {
	case "", "fail", "open", "review", "informational":
	default:
		return
	}
	for _, s := range x.Suppressions {
		if s.Status == "" || s.Status == "accepted" {
			return
		}
	}
	rule := run.rule(x)
	f := Finding{Rule: x.RuleID, Severity: Warning}
	if f.Rule == "" {
		f.Rule = x.Rule.ID
	}
	level := x.Level
	if rule != nil {
		if f.Rule == "" {
			f.Rule = rule.ID
		}
		if level == "" {
			level = rule.Default.Level
		}
	}
	if level != "" {
		f.Severity = severityOf(level)
	}
	if x.Kind == "informational" {
		f.Severity = Note
	}
	f.Message = x.Message.text(rule)
	if len(x.Locations) > 0 {
		at := x.Locations[0].PhysicalLocation
		f.File, f.Line = run.path(at.ArtifactLocation, 0), at.Region.StartLine
	}
	r.add(f)
}

// rule returns the rule of a result, nil where the run has none.
func (run *readRun) rule(x *readResult) *readRule {
	rules := run.Tool.Driver.Rules
	for _, i := range []*int{x.RuleIndex, x.Rule.Index} {
		if i != nil && *i >= 0 && *i < len(rules) && (x.RuleID == "" || rules[*i].ID == x.RuleID) {
			return &rules[*i]
		}
	}
	for _, d := range append([]readDriver{run.Tool.Driver}, run.Tool.Extensions...) {
		for i := range d.Rules {
			if id := x.RuleID + x.Rule.ID; id != "" && (d.Rules[i].ID == x.RuleID || d.Rules[i].ID == x.Rule.ID) {
				return &d.Rules[i]
			}
		}
	}
	return nil
}

// text returns what a message says: its own text, or that of its rule, with
// its arguments in place.
func (m readMessage) text(rule *readRule) string {
	text := m.Text
	if text == "" && rule != nil {
		text = rule.Messages[m.ID].Text
	}
	for i, a := range m.Arguments {
		if i == 20 || len(text) > 4*maxMessage {
			break
		}
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), a)
	}
	return text
}

// path returns the path of an artifact. Names of folders that stand for others
// are resolved a few times, since a log may have them name one another.
func (run *readRun) path(a readArtifact, depth int) string {
	if a.URI == "" && a.Index != nil && *a.Index >= 0 && *a.Index < len(run.Artifacts) && depth < 4 {
		return run.path(run.Artifacts[*a.Index].Location, depth+1)
	}
	uri := a.URI
	for base := a.URIBaseID; base != "" && depth < 4 && !strings.Contains(uri, "://"); depth++ {
		b := run.Bases[base]
		if b.URI != "" {
			uri = strings.TrimSuffix(b.URI, "/") + "/" + uri
		}
		base = b.URIBaseID
	}
	if strings.HasPrefix(uri, "file:") {
		return "file://" + strings.TrimPrefix(strings.TrimPrefix(uri, "file:"), "//")
	}
	if u, err := url.PathUnescape(uri); err == nil {
		return u
	}
	return uri
}
