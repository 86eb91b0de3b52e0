package findings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// place makes a project with some empty files.
func place(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, n := range names {
		p := filepath.Join(root, filepath.FromSlash(n))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestRead has a report in each form; %s is the root of the project.
func TestRead(t *testing.T) {
	root := place(t, "src/a.go", "src/b c.ts", "tests/test_a.py")
	for _, tc := range []struct {
		name, text, format, tool string
		findings                 []Finding
		coverage                 []Coverage
		left                     int
	}{
		{"SARIF", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"lint","semanticVersion":"1.2.3","rules":[
			{"id":"R1","defaultConfiguration":{"level":"error"},"messageStrings":{"m":{"text":"{0} is not {1}"}}},{"id":"R2"}]}},
			"originalUriBaseIds":{"SRC":{"uri":"file://%s/"}},
			"artifacts":[{"location":{"uri":"src/a.go"}}],
			"results":[
			{"ruleId":"R1","ruleIndex":0,"message":{"id":"m","arguments":["this","that"]},"locations":[{"physicalLocation":{"artifactLocation":{"index":0},"region":{"startLine":4}}}]},
			{"ruleId":"R2","level":"note","message":{"text":"spaces"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/b%%20c.ts","uriBaseId":"SRC"}}}]},
			{"ruleId":"R2","message":{"text":"a warning unless it says otherwise"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///home/runner/work/x/src/a.go"},"region":{"startLine":9}}}]},
			{"ruleId":"R2","kind":"pass","message":{"text":"passed"},"locations":[]},
			{"ruleId":"R2","suppressions":[{"kind":"inSource"}],"message":{"text":"suppressed"}},
			{"ruleId":"R2","message":{"text":"elsewhere"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///etc/passwd"}}}]}]}]}`,
			"sarif", "lint", []Finding{
				{Rule: "R1", Severity: Error, File: "src/a.go", Line: 4, Message: "this is not that"},
				{Rule: "R2", Severity: Warning, File: "src/a.go", Line: 9, Message: "a warning unless it says otherwise"},
				{Rule: "R2", Severity: Note, File: "src/b c.ts", Message: "spaces"},
			}, nil, 1},
		{"Checkstyle", `<?xml version="1.0"?><checkstyle version="8"><file name="%s/src/a.go"><error line="3" column="1" severity="error" message="bad &lt;x&gt;" source="Some.Check"/><error line="4" severity="ignore" message="no"/></file></checkstyle>`,
			"checkstyle", "checkstyle", []Finding{{Rule: "Some.Check", Severity: Error, File: "src/a.go", Line: 3, Message: "bad <x>"}}, nil, 1},
		{"JUnit", `<testsuites><testsuite name="s"><testcase classname="tests.test_a.TestA" name="test_x"><failure message="1 != 2">trace</failure></testcase>
			<testcase classname="tests.test_a" name="test_y"/><testcase classname="a" name="z" file="src/a.go" line="7"><error>boom
more</error></testcase></testsuite></testsuites>`,
			"junit", "tests", []Finding{
				{Rule: "test", Severity: Error, File: "src/a.go", Line: 7, Message: "a z: boom"},
				{Rule: "test", Severity: Error, File: "tests/test_a.py", Message: "tests.test_a.TestA test_x: 1 != 2"},
			}, nil, 0},
		{"ESLint", `[{"filePath":"%s/src/b c.ts","messages":[{"ruleId":"no-undef","severity":2,"message":"x is not defined","line":2},{"ruleId":null,"fatal":true,"severity":1,"message":"odd","line":1}]},{"filePath":"/elsewhere/x.ts","messages":[{"ruleId":"r","severity":1,"message":"m"}]}]`,
			"eslint", "eslint", []Finding{
				{Rule: "parse-error", Severity: Warning, File: "src/b c.ts", Line: 1, Message: "odd"},
				{Rule: "no-undef", Severity: Error, File: "src/b c.ts", Line: 2, Message: "x is not defined"},
			}, nil, 1},
		{"golangci-lint", `{"Issues":[{"FromLinter":"errcheck","Text":"not checked","Severity":"","Pos":{"Filename":"src/a.go","Line":5,"Column":2}}],"Report":{}}`,
			"golangci-lint", "golangci-lint", []Finding{{Rule: "errcheck", Severity: Warning, File: "src/a.go", Line: 5, Message: "not checked"}}, nil, 0},
		{"lcov", "TN:\nSF:src/b c.ts\nDA:1,1\nDA:2,0\nDA:2,3\nDA:4,0\nend_of_record\nSF:/nowhere/else.ts\nDA:1,1\nend_of_record\n",
			"lcov", "coverage", nil, []Coverage{{"src/b c.ts", 2, 3}}, 1},
		{"Cobertura", `<?xml version="1.0"?><!DOCTYPE coverage SYSTEM "http://x/y.dtd"><coverage><packages><package><classes><class filename="src/a.go"><methods><method><lines><line number="1" hits="1"/></lines></method></methods><lines><line number="1" hits="1"/><line number="2" hits="0"/></lines></class></classes></package></packages></coverage>`,
			"cobertura", "coverage", nil, []Coverage{{"src/a.go", 1, 2}}, 0},
		{"Go", "mode: set\nexample.org/m/src/a.go:1.1,3.2 2 1\nexample.org/m/src/a.go:5.1,6.2 3 0\nexample.org/m/src/a.go:1.1,3.2 2 0\nexample.org/m/src/gone.go:1.1,2.2 1 1\n",
			"go-cover", "go test", nil, []Coverage{{"src/a.go", 2, 5}}, 1},
	} {
		text := tc.text
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, filepath.ToSlash(root))
		}
		got, err := Read([]byte(text), root)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if d := cmp.Diff(tc.findings, got.Findings); d != "" || got.Format != tc.format || got.Tool != tc.tool || got.Left != tc.left {
			t.Errorf("%s: %+v %s", tc.name, got, d)
		}
		if d := cmp.Diff(tc.coverage, got.Coverage); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
	}
}

// TestRoundTrip: what is written as SARIF reads as it was.
func TestRoundTrip(t *testing.T) {
	root := place(t, "x.md", "a b/c,d:100%.md")
	r := report()
	r.Findings[1].Message = "an odd thing"
	text, err := r.Write("sarif")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read([]byte(text), root)
	if err != nil || got.Tool != r.Tool || got.Version != r.Version {
		t.Fatalf("%+v %v", got, err)
	}
	want := r.Findings
	for i := range want {
		want[i].Message, want[i].Mend = want[i].Text(), ""
	}
	if d := cmp.Diff(want, got.Findings); d != "" {
		t.Error(d)
	}
}

// TestHostileReports: what is no report, or wants too much, is refused with a
// sentence or left out; nothing outside of the project is named.
func TestHostileReports(t *testing.T) {
	root := place(t, "a.go")
	if err := os.Symlink("/etc/hostname", filepath.Join(root, "link")); err != nil {
		t.Log(err)
	}
	billion := `<?xml version="1.0"?><!DOCTYPE checkstyle [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><checkstyle><file name="a.go"><error line="1" message="&b;"/></file></checkstyle>`
	for name, text := range map[string]string{
		"empty": "", "text": "hello", "html": "<html></html>", "null": "null", "a number": "5", "other JSON": `{"a":1}`, "an array": "[1,2]",
		"cut SARIF": `{"version":"2.1.0","runs":[{`, "SARIF of 1.0": `{"version":"1.0.0","runs":[]}`, "runs as text": `{"version":"2.1.0","runs":"x"}`,
		"entities": billion, "cut XML": "<checkstyle><file name=", "deep JSON": `{"version":"2.1.0","runs":` + strings.Repeat("[", 100_000), "broken cover": "mode: set\nnonsense\n",
	} {
		got, err := Read([]byte(text), root)
		if kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	for _, file := range []string{"../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "https://example.org/x", "", ".", "..", "a\x00b", `..\..\x`, "C:/Windows/x", strings.Repeat("a/", 5000)} {
		got, err := Read(fmt.Appendf(nil, `[{"filePath":%q,"messages":[{"ruleId":"r","severity":2,"message":"m","line":-5}]}]`, file), root)
		if err == nil && len(got.Findings) > 0 {
			t.Errorf("%.40q: %+v", file, got.Findings)
		}
	}
	// References in a circle, indexes out of range, and more than is kept.
	text := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"originalUriBaseIds":{"A":{"uri":"a/","uriBaseId":"B"},"B":{"uri":"b/","uriBaseId":"A"}},
		"results":[{"ruleIndex":99,"message":{"text":"` + strings.Repeat("long ", 2000) + `"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go","uriBaseId":"A","index":-3}}}]}` +
		strings.Repeat(`,{"ruleId":"r","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.go"}}}]}`, MaxFindings+10) + `]}]}`
	got, err := Read([]byte(text), root)
	if err != nil || len(got.Findings) != MaxFindings || got.Left != 11 {
		t.Fatalf("%d findings, %d left out, %v", len(got.Findings), got.Left, err)
	}
	for _, f := range got.Findings {
		if len(f.Message) > 4*maxMessage || f.File != "a.go" && !strings.HasSuffix(f.File, "/a.go") {
			t.Fatalf("%+v", f)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"version":"2.1.0","runs":[]}`, "<checkstyle/>", "mode: set\n", "SF:a\nDA:1,1\n", `[{"filePath":"a"}]`, `{"Issues":[]}`, "<testsuite><testcase/></testsuite>", "<coverage/>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Read(raw, "/nowhere")
		if err != nil {
			return
		}
		for _, x := range got.Findings {
			if !filepath.IsLocal(filepath.FromSlash(x.File)) {
				t.Errorf("%q is not within the project", x.File)
			}
		}
		if _, err := SARIF([]Report{{Findings: got.Findings}}); err != nil {
			t.Error(err)
		}
	})
}
