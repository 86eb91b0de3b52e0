package governance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/governance"
	"github.com/seed-4f2d999b/knowledge/internal/governance/gate"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// lintSARIF is what a checker wrote about one file.
const lintSARIF = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"tidy","version":"3"}},"results":[
{"ruleId":"T1","level":"error","message":{"text":"untidy"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/a.go"},"region":{"startLine":2}}}]}]}]}`

// TestRulesOfAProject: rules count once a person has vouched for the file as
// it is, and are a reason to stop until then.
func TestRulesOfAProject(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/.git/HEAD", "ref: refs/heads/feature/x\n")
	s.Write("p/.git/refs/heads/x", "")
	s.Write("p/.git/objects/x", "")
	s.Write("p/src/a.go", "package a\n\n")
	file := filepath.Join(s.Root, "p", filepath.FromSlash(gate.RulesFile))
	codes := func(rules string, trusted bool) string {
		t.Helper()
		s.Write("p/"+gate.RulesFile, rules)
		env := map[string]string{}
		if trusted {
			env["KNOWLEDGE_TRUST_PATHS"] = file
		}
		r, err := governance.GateCheck(t.Context(), s.Configured("p", "", env), gate.PreCommit)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, v := range r.Violations {
			out = append(out, v.Code)
		}
		return strings.Join(out, " ")
	}
	const rules = "evidence: optional\nreports: ['build/*.sarif']\nrequired: [{check: tidy, age: 1h}]\n"
	if got := codes(rules, false); !strings.Contains(got, gate.RulesUntrusted) || !strings.Contains(got, gate.Missing) {
		t.Errorf("untrusted: %s", got)
	}
	if got := codes(rules, true); !strings.Contains(got, gate.CheckMissing) || strings.Contains(got, gate.RulesUntrusted) {
		t.Errorf("no report: %s", got)
	}
	s.Write("p/build/tidy.sarif", lintSARIF)
	if got := codes(rules, true); strings.Contains(got, "CHECK") || strings.Contains(got, gate.Missing) || strings.Contains(got, "RULES") {
		t.Errorf("a fresh report: %s", got)
	}
	if got := codes(rules+"findings: [{severity: ERROR, paths: ['src/**']}]\n", true); !strings.Contains(got, gate.TooManyFound) {
		t.Errorf("an error in it: %s", got)
	}
	s.Write("p/build/odd.sarif", "{}")
	if got := codes(rules, true); !strings.Contains(got, gate.RulesInvalid) {
		t.Errorf("a report that cannot be read: %s", got)
	}
	if got := codes("required: 7\n", true); !strings.Contains(got, gate.RulesInvalid) {
		t.Errorf("rules that cannot be read: %s", got)
	}
	os.Remove(file)
	if err := os.Symlink(filepath.Join(s.Root, "config.yaml"), file); err == nil {
		r, err := governance.GateCheck(t.Context(), s.Configured("p", "", nil), gate.PreCommit)
		if err != nil || r.Allowed {
			t.Errorf("a link: %+v, %v", r, err)
		}
	}
}
