package specs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
)

// traceable are requirements, rules, code and tests that name one another.
var traceable = map[string]string{
	"req/REQ-1-total.md":   spec("id: REQ-1\nkind: requirement", "# REQ-1 Totals are right\n\nSee [[BR-1]].\n"),
	"req/REQ-2-way.md":     spec("id: REQ-2\nkind: requirement", "# REQ-2 Orders are placed\n\nSee [[UC-1]].\n"),
	"req/REQ-3-open.md":    spec("id: REQ-3\nkind: requirement", "# REQ-3 Nothing has to do with this\n"),
	"req/REQ-4-draft.md":   spec("id: REQ-4\nkind: requirement\nstatus: draft", "# REQ-4 Later\n"),
	"rules/BR-1.md":        spec("id: BR-1\nkind: business-rule", "# BR-1 | Sum of lines\n\nKept by `src/total.go`.\n"),
	"rules/BR-2.md":        spec("id: BR-2\nkind: business-rule", "# BR-2 Stock\n"),
	"rules/BR-3.md":        spec("id: BR-3\nkind: business-rule", "# BR-3 Alone\n"),
	"uc/UC-1.md":           spec("id: UC-1\nkind: use-case", "# UC-1 Place\n\nApplies [[BR-2]].\n"),
	"docs/plan.md":         spec("id: TC-9\nkind: test-plan\nverifies: [BR-3]", "# TC-9 Plan\n"),
	"src/total.go":         "package shop\n",
	"src/stock.go":         "package shop\n\n// BR-2 and REQ-2\nfunc stock() {}\n",
	"src/total_test.go":    "package shop\n\n// BR-1\n",
	"src/unrelated.go":     "package shop\n\n// BR-10, XBR-1 and BR-1X are others\n",
	"features/buy.feature": "Feature: buy\n  @REQ-2\n  Scenario: one\n    Given x\n",
}

func TestMatrix(t *testing.T) {
	s := producttest.NewSite(t)
	for p, text := range traceable {
		s.Write("p/"+p, text)
	}
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "total"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	scope := specs.Scope{Waiting: person}
	r, err := specs.Matrix(t.Context(), a, specs.MatrixQuery{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range r.Rows {
		got = append(got, strings.Join([]string{x.Requirement, x.Rule, strings.Join(x.Code, " "), strings.Join(x.Tests, " "), x.Status}, "|"))
		if x.URL == "" {
			t.Errorf("%+v", x)
		}
	}
	want := []string{
		"REQ-1|BR-1|src/total.go|src/total_test.go:3|tested",
		"REQ-2|BR-2|src/stock.go:3|features/buy.feature:2|tested",
		"REQ-3||||open",
		"|BR-3||TC-9|tested",
	}
	if d := cmp.Diff(want, got); d != "" || r.Total != 4 || r.Totals["tested"] != 3 || r.Totals["open"] != 1 {
		t.Errorf("%v %s", r.Totals, d)
	}
	for format, holds := range map[string]string{
		"csv": "requirement,rule,code,tests,status\nREQ-1,BR-1,src/total.go,src/total_test.go:3,tested\n", "markdown": "| REQ-3 |  |  |  | open |\n",
		"mermaid": "REQ-1", "dot": "REQ-2", "svg": "<svg",
	} {
		if r, err := specs.Matrix(t.Context(), a, specs.MatrixQuery{Format: format, Scope: scope}); err != nil || !strings.Contains(r.Text, holds) || len(r.Rows) != 0 {
			t.Errorf("%s: %v %s", format, err, r.Text)
		}
	}
	if r, err = specs.Matrix(t.Context(), a, specs.MatrixQuery{Open: true, Scope: scope}); err != nil || r.Total != 1 || r.Rows[0].Requirement != "REQ-3" {
		t.Errorf("%+v %v", r, err)
	}
	if r, err = specs.Matrix(t.Context(), a, specs.MatrixQuery{Limit: 3, Scope: scope}); err != nil || len(r.Rows) != 3 || r.Next != 3 {
		t.Errorf("%+v %v", r, err)
	}
	if r, err = specs.Matrix(t.Context(), a, specs.MatrixQuery{Limit: 3, Offset: 3, Scope: scope}); err != nil || len(r.Rows) != 1 || r.Next != 0 {
		t.Errorf("%+v %v", r, err)
	}
	for _, q := range []specs.MatrixQuery{{Format: "pdf"}, {Offset: -1}, {Limit: -1}} {
		if _, err := specs.Matrix(t.Context(), a, q); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// TestMatrixSuspect: what changed before the thing that it keeps did is
// suspect, in every form.
func TestMatrixSuspect(t *testing.T) {
	s := producttest.NewSite(t)
	for p, text := range traceable {
		s.Write("p/"+p, text)
	}
	committed(t, s, 1)
	s.Write("p/req/REQ-1-total.md", traceable["req/REQ-1-total.md"]+"\nRounded.\n")
	s.Write("p/rules/BR-2.md", traceable["rules/BR-2.md"]+"\nNever below none.\n")
	s.Write("p/src/stock.go", traceable["src/stock.go"]+"\n// never below none\n")
	committed(t, s, 2)
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "total"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	scope := specs.Scope{Waiting: person}
	r, err := specs.Matrix(t.Context(), a, specs.MatrixQuery{Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range r.Rows {
		got[x.Requirement+"|"+x.Rule] = strings.Join(x.Suspect, " ")
	}
	// The scenario of REQ-2 is as old as REQ-2.
	if d := cmp.Diff(map[string]string{"REQ-1|BR-1": "BR-1", "REQ-2|BR-2": "", "REQ-3|": "", "|BR-3": ""}, got); d != "" {
		t.Error(d)
	}
	for format, holds := range map[string]string{
		"csv": "status,suspect\nREQ-1,BR-1,src/total.go,src/total_test.go:3,tested,BR-1\n", "markdown": "| tested | BR-1 |\n", "mermaid": "rule, suspect",
	} {
		if r, err := specs.Matrix(t.Context(), a, specs.MatrixQuery{Format: format, Scope: scope}); err != nil || !strings.Contains(r.Text, holds) {
			t.Errorf("%s: %v %s", format, err, r.Text)
		}
	}
}

// TestMatrixFollowsCode: the code that has to do with specifications is looked
// at again when it changes, though they did not.
func TestMatrixFollowsCode(t *testing.T) {
	s := producttest.NewSite(t)
	for p, text := range traceable {
		s.Write("p/"+p, text)
	}
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "total"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	open := func() int {
		t.Helper()
		r, err := specs.Matrix(t.Context(), a, specs.MatrixQuery{Scope: specs.Scope{Waiting: person}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Totals["open"]
	}
	if n := open(); n != 1 {
		t.Fatalf("%d rows are open", n)
	}
	s.Write("p/src/open.go", "package shop\n\n// REQ-3\nfunc open() {}\n")
	if n := open(); n != 0 {
		t.Errorf("%d rows are open after code named the last", n)
	}
	s.Write("p/req/REQ-5.md", spec("id: REQ-5\nkind: requirement", "# REQ-5 More\n"))
	if n := open(); n != 1 {
		t.Errorf("%d rows are open after a requirement more", n)
	}
}
