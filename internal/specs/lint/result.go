package lint

import (
	"cmp"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/platform/findings"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// Finding is a problem as a project takes it.
type Finding struct {
	findings.Finding
	Doc *kdd.Doc
}

// Result is what is left of problems.
type Result struct {
	Findings []Finding      // the worst first, then by file and line
	Totals   map[string]int // by severity
	Known    int            // that the baseline leaves out
}

// Severities from the worst, as Result.Totals has them.
func Severities() []string {
	var out []string
	for _, s := range findings.Severities {
		out = append(out, string(s))
	}
	return out
}

// Apply makes findings of problems: with the severities that are configured,
// and without what the baseline knows. File says how a document's file is called.
func (c *Config) Apply(problems []kdd.Problem, file func(*kdd.Doc) string) Result {
	list := make([]findings.Finding, 0, len(problems))
	docs := map[string]*kdd.Doc{}
	for _, p := range problems {
		if sev := c.Severity(p.Rule); sev != findings.Off {
			f := findings.Finding{Rule: p.Rule, Severity: sev, File: file(p.Doc), Line: max(p.Line, 1), Message: p.Text, Mend: p.Mend}
			list = append(list, f)
			docs[f.File] = p.Doc
		}
	}
	findings.Sort(list)
	r := Result{Totals: map[string]int{}}
	list, r.Known = c.baseline.Without(list)
	for _, f := range list {
		r.Totals[string(f.Severity)]++
		r.Findings = append(r.Findings, Finding{f, docs[f.File]})
	}
	kb.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(findings.Severities, a.Severity), slices.Index(findings.Severities, b.Severity))
	})
	return r
}

// Write returns every finding in a form for other programs, with the version
// of this one: sarif, junit, github or baseline.
func (c *Config) Write(r Result, format, version string) (string, error) {
	report := findings.Report{Tool: "knowledge kdd:check", Version: version, Rules: c.Rules()}
	for _, f := range r.Findings {
		report.Findings = append(report.Findings, f.Finding)
	}
	findings.Sort(report.Findings)
	return report.Write(format)
}
