package specdoc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// facts are what a document says, a line each, for comparing.
func facts(d *kb.SpecDoc) []string {
	if d == nil {
		return nil
	}
	out := []string{fmt.Sprintf("%s %q id=%s status=%s", d.Kind, d.Title, d.ID, d.Status)}
	for _, s := range d.Sections {
		if s.Level > 0 {
			out = append(out, fmt.Sprintf("%d-%d %s", s.Start, s.End, strings.Join(s.Path, "/")))
		}
	}
	for _, e := range d.Edges {
		if e.Label == "" {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s :%d", e.From, e.Type, e.Target, e.Line)))
		}
	}
	return out
}

// TestFormats has a small text of each format of others with all that is read of it.
func TestFormats(t *testing.T) {
	for _, x := range []struct {
		language, body string
		want           []string
	}{
		{"gherkin", `# language: es
@REQ-7 @rapido
Característica: Préstamo de libros
  Como lectora quiero llevarme un libro

  Antecedentes:
    Dado un carné al día

  Regla: Tres libros como mucho
    @UC-2
    Escenario: SCN-LOAN-001 — El cuarto se rechaza
      Dado que llevo "BR-9" y 'UC-8'
      Cuando pido otro
      Entonces se aplica BR-LOAN-001
      """
      [[Nada]]
      """
`, []string{
			`feature "Préstamo de libros" id= status=`,
			"3-5 Préstamo de libros", "6-8 Préstamo de libros/Antecedentes", "9-10 Préstamo de libros/Tres libros como mucho",
			"11-17 Préstamo de libros/Tres libros como mucho/SCN-LOAN-001 — El cuarto se rechaza",
			"CONTAINS SCN-LOAN-001 :11", "VALIDATES REQ-7 :2", "VALIDATES UC-2 :10", "MENTIONS BR-LOAN-001 :14",
		}},
		{"strictdoc", `[DOCUMENT]
TITLE: Kiln control
UID: KILN

[[SECTION]]
TITLE: Heat

[REQUIREMENT]
UID: KILN-12
STATUS: Active
TITLE: Overheating
STATEMENT: >>>
The kiln shall open the flue above 1300 degrees.
See [LINK: KILN-13].
<<<
RELATIONS:
- TYPE: Parent
  VALUE: SYS-3
- TYPE: Parent
  VALUE: SYS-4
  ROLE: Verifies
- TYPE: File
  VALUE: src/kiln.c

[[/SECTION]]

[REQUIREMENT]
UID: KILN-13
STATEMENT: The flue shall close within 2 s.
REFS:
- TYPE: Child
  VALUE: LOW-1
`, []string{
			`requirement "Kiln control" id=KILN status=`,
			"1-4 Kiln control", "5-7 Kiln control/Heat", "8-26 Kiln control/Heat/Overheating", "27-32 Kiln control/KILN-13",
			"CONTAINS KILN-12 :8", "KILN-12 IMPLEMENTS SYS-3 :18", "KILN-12 VALIDATES SYS-4 :20", "CONTAINS KILN-13 :27", "LOW-1 IMPLEMENTS KILN-13 :32", "REFERENCES KILN-13 :14", "MENTIONS KILN-13 :14",
		}},
		{"rst", `.. _signal_rules:

Signals
=======

.. req:: Red stops
   :id: SIG_1
   :status: open
   :tags: safety
   :links: SYS_2; SYS_3
   :satisfies: goal__stop[version==1]
   :weight: 3

   A train shall stop at red. See :need:` + "`SIG_2`" + `.

Notes
-----

.. code-block:: rst

   .. req:: No need
      :id: NO_1

.. test:: Red is seen
   :id: T_1
   :tests: SIG_1

See :doc:` + "`the yard <yard>`" + ` and :ref:` + "`Order <order_rules>`" + `.
`, []string{
			`requirement "Signals" id= status=`,
			"3-5 Signals", "6-15 Signals/Red stops", "16-23 Signals/Notes", "24-28 Signals/Notes/Red is seen",
			"CONTAINS SIG_1 :6", "SIG_1 RELATED_TO SYS_2 :10", "SIG_1 RELATED_TO SYS_3 :10", "SIG_1 IMPLEMENTS goal__stop :11", "CONTAINS T_1 :24", "T_1 VALIDATES SIG_1 :26",
			"REFERENCES SIG_2 :14", "REFERENCES yard.rst :28", "REFERENCES order_rules :28",
		}},
		{"rst", "Page\n====\n\nText with ``code`` and *stress*.\n", []string{`  "Page" id= status=`, "1-4 Page"}},
		{"markdown", "# 9. Keep a ledger\n\n## Status\n\nAccepted\n\nSupersedes [1. Spreadsheet](0001-spreadsheet.md)\n\n## Context\n\n## Decision\n\n## Consequences\n", []string{
			`adr "9. Keep a ledger" id= status=accepted`,
			"1-2 9. Keep a ledger", "3-8 9. Keep a ledger/Status", "9-10 9. Keep a ledger/Context", "11-12 9. Keep a ledger/Decision", "13-13 9. Keep a ledger/Consequences",
			"SUPERSEDES 0001-spreadsheet.md :7",
		}},
		{"markdown", "# Barcode reader\n\n## Context and Problem Statement\n\n## Considered Options\n\n## Decision Outcome\n", []string{
			`adr "Barcode reader" id= status=`,
			"1-2 Barcode reader", "3-4 Barcode reader/Context and Problem Statement", "5-6 Barcode reader/Considered Options", "7-7 Barcode reader/Decision Outcome",
		}},
		{"markdown", "# Ferry\n\n## 1. Introduction and Goals\n\n## 3. Context and Scope\n\n## 5. Building Block View\n", []string{
			`architecture "Ferry" id= status=`,
			"1-2 Ferry", "3-4 Ferry/1. Introduction and Goals", "5-6 Ferry/3. Context and Scope", "7-7 Ferry/5. Building Block View",
		}},
		{"markdown", "# Fares\n\n## Requirements\n\n### Requirement: Daily cap\n\nThe system SHALL stop charging.\n\n#### Scenario: Third ride\n", []string{
			`requirement "Fares" id= status=`,
			"1-2 Fares", "3-4 Fares/Requirements", "5-8 Fares/Requirements/Requirement: Daily cap", "9-9 Fares/Requirements/Requirement: Daily cap/Scenario: Third ride",
		}},
		{"markdown", "# Doors\n\nWHEN the train stops, the system SHALL unlock. See [[Platform|the platform]] and [[Order#States]].\n", []string{
			`"Doors" id= status=`, "1-3 Doors", "MENTIONS Platform :3", "MENTIONS Order :3", "REFERENCES Platform :3", "REFERENCES Order :3",
		}},
	} {
		got := facts(ParseAs(x.language, x.body))
		want := slices.Clone(x.want)
		for i := range want {
			want[i] = strings.TrimSpace(want[i])
		}
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %q: (-want +got)\n%s", x.language, x.body[:min(30, len(x.body))], diff)
		}
	}
}

// FuzzFormats: whatever the text, the facts lie within it.
func FuzzFormats(f *testing.F) {
	for _, s := range []string{"Feature: x\n@A-1\nScenario: y\n", "[DOCUMENT]\nTITLE: x\n[REQUIREMENT]\nUID: A-1\n", "A\n=\n\n.. req:: x\n   :id: A_1\n", "[[/X]]\n[/SECTION]", ".. x::\n", "\"\"\"\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		n := strings.Count(body, "\n") + 1
		for language := range formats {
			d := ParseAs(language, body)
			Prose(language, body)
			Below(language, body, 1)
			if d == nil {
				continue
			}
			last := 0
			for _, s := range d.Sections {
				if s.Start <= last || s.End < s.Start || s.End > n {
					t.Fatalf("%s: section %+v of %d lines", language, s, n)
				}
				last = s.Start
			}
			for _, e := range d.Edges {
				if e.Line < 1 || e.Line > n || e.From == e.Target {
					t.Fatalf("%s: edge %+v of %d lines", language, e, n)
				}
			}
		}
	})
}

// TestStrictDocExamples: what a text shows as an example, in the format itself,
// states nothing, and does not end the text.
func TestStrictDocExamples(t *testing.T) {
	d := ParseAs("strictdoc", "[DOCUMENT]\nTITLE: Guide\n\n[REQUIREMENT]\nUID: REQ-1\nSTATEMENT: >>>\nAs in [[COMPOSITE_NODE]]:\n\n.. code::\n\n    [REQUIREMENT]\n    UID: REQ-DEEP-9\n    STATEMENT: >>>\n    ...\n    <<<\n    RELATIONS:\n    - TYPE: Parent\n      VALUE: PARENT-9\n\nIt follows REQ-2.\n<<<\n\n[REQUIREMENT]\nUID: REQ-2\n")
	for _, e := range d.Edges {
		if strings.HasSuffix(e.Target, "-9") || e.Target == "COMPOSITE_NODE" {
			t.Errorf("%+v", e)
		}
	}
	if !slices.ContainsFunc(d.Edges, func(e kb.SpecEdge) bool { return e.Target == "REQ-2" }) {
		t.Errorf("%+v", d.Edges)
	}
}
