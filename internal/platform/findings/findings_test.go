package findings

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func report() Report {
	return Report{
		Tool: "checker", Version: "1.2.3", Address: "https://example.org/checker",
		Rules: []Rule{{"dangling-link", "a link that leads nowhere", Error}, {"quiet", "never found", Warning}, {"hint", "worth a look", Note}},
		Findings: []Finding{
			{"dangling-link", Error, "a b/c,d:100%.md", 3, "leads to \"nothing\"\nat all", "mend it"},
			{"hint", Note, "x.md", 0, "an odd \x1b[31m thing", ""},
			{"dangling-link", Warning, "x.md", 9, "leads nowhere", "mend it"},
		},
	}
}

func TestFormats(t *testing.T) {
	got := map[string]string{}
	for _, format := range Formats {
		text, err := report().Write(format)
		if err != nil {
			t.Fatal(format, err)
		}
		got[format] = text
	}
	want := "::error file=a b/c%2Cd%3A100%25.md,line=3,title=dangling-link::leads to \"nothing\"%0Aat all: mend it\n" +
		"::notice file=x.md,line=1,title=hint::an odd \x1b[31m thing\n" +
		"::warning file=x.md,line=9,title=dangling-link::leads nowhere: mend it\n"
	if d := cmp.Diff(want, got["github"]); d != "" {
		t.Error(d)
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(got["sarif"]), &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%v %s", err, got["sarif"])
	}
	run := log.Runs[0]
	if run.Tool.Driver.Name != "checker" || len(run.Tool.Driver.Rules) != 3 || len(run.Results) != 3 {
		t.Errorf("%+v", run)
	}
	first := run.Results[0]
	at := first.Locations[0].Physical
	if first.Level != "error" || *first.Index != 0 || at.Artifact.URI != "a%20b/c,d:100%25.md" || at.Region.Start != 3 || run.Results[1].Locations[0].Physical.Region != nil {
		t.Errorf("%+v %+v", first, at)
	}
	d := xml.NewDecoder(strings.NewReader(got["junit"]))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v: %s", err, got["junit"])
		}
	}
	var suites junitSuites
	if err := xml.Unmarshal([]byte(got["junit"]), &suites); err != nil || suites.Tests != 4 || suites.Failures != 2 || len(suites.Suites) != 3 {
		t.Errorf("%v %+v", err, suites)
	}
	if _, err := report().Write("pdf"); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
		t.Error(err)
	}
}

// TestBaseline: what is known is left out, wherever its line has gone; a second of the same is new.
func TestBaseline(t *testing.T) {
	text, err := report().Write("baseline")
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadBaseline([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	now := report().Findings
	now[0].Line, now[0].Severity = 300, Warning
	now = append(now, now[0], Finding{"dangling-link", Error, "x.md", 9, "leads to another", "mend it"})
	rest, known := b.Without(now)
	if known != 3 || len(rest) != 2 || rest[1].Message != "leads to another" {
		t.Errorf("%d %+v", known, rest)
	}
	for _, raw := range []string{"", "{}", "[]", `{"version":2,"findings":[]}`, "{"} {
		if _, err := ReadBaseline([]byte(raw)); kb.CodeOf(err) != kb.Invalid {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestParseSeverity(t *testing.T) {
	for in, want := range map[string]Severity{"error": Error, " Warning ": Warning, "NOTE": Note, "off": Off, "fatal": "", "": ""} {
		if got, err := ParseSeverity(in); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
}
