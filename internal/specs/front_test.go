package specs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
)

// A snippet is prose that shows why the section was found: a line of front
// matter, which often holds the best word, shows a reader nothing.
func TestSnippetsAreNotFrontMatter(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/specs/ENT-LOAN.md", "---\nid: ENT-LOAN\nkind: entity\ndomain: lending\n---\n\n# Loan\n\n## Description\n\nWhat a member owes.\n")
	s.Write("p/specs/BR-LIMIT.md", "# Limit of loans\n\n---\nid: BR-LIMIT\nkind: business-rule\n---\n\nSeven at most, per member.\n")
	s.Write("p/specs/BR-FEE.md", "---\nid: BR-FEE\nkind: business-rule\n---\n\nid: of a fee is its date.\n\n# Fee\n\nA day costs ten cents.\n")
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "loan"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	for query, want := range map[string]string{
		"ENT-LOAN": "What a member owes.", "lending": "What a member owes.", "BR-LIMIT": "Seven at most, per member.",
		"BR-FEE": "id: of a fee is its date.", // below the front matter: prose
	} {
		r := specSearch(s, a, specs.SearchQuery{Query: query})
		if len(r.Results) == 0 || !strings.HasPrefix(r.Results[0].Snippet, want) {
			t.Errorf("%s: %+v", query, r.Results)
		}
	}
}

// A document that is not read as it was meant is reported, with the reason.
func TestCheckNamesProblems(t *testing.T) {
	s := producttest.NewSite(t)
	rule := func(name, front string) {
		s.Write("p/specs/"+name+".md", "---\n"+front+"\n---\n\n# About "+name+"\n\nText.\n")
	}
	rule("good", "id: BR-001\nkind: business-rule\nstatus: accepted")
	rule("twin", "id: BR-001\nkind: business-rule\nstatus: approoved")
	rule("one", "id: BR-002\nkind: business-rule\ndepends_on: [BR-003]")
	rule("two", "id: BR-003\nkind: business-rule\ndepends_on: [BR-004]")
	rule("three", "id: BR-004\nkind: business-rule\ndepends_on: [BR-002]")
	rule("leaf", "id: BR-005\nkind: business-rule\ndepends_on: [BR-002]")
	rule("typo", "id: X-1\nkind: busines-rule")
	rule("post", "kind: recipe") // of another kind: no mistake
	rule("list", "- id: BR-006\n- kind: business-rule")
	s.Write("p/specs/open.md", "---\nid: BR-007\nkind: business-rule\n\n# Open\n\nText.\n")
	s.Write("p/specs/ruled.md", "---\n\nText between rules.\n\n---\n\n# Ruled\n")
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "about"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	c, err := specs.Check(t.Context(), a, specs.CheckQuery{Severity: []string{"incomplete=off"}, Scope: specs.Scope{Waiting: person}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, p := range c.Findings {
		name := strings.TrimSuffix(strings.TrimPrefix(p.File, "specs/"), ".md")
		got[name] = append(got[name], p.Message+": "+p.Mend)
	}
	want := map[string][]string{
		"good": {"its id BR-001 is also that of specs/twin.md: give one of them another"},
		"twin": {"its id BR-001 is also that of specs/good.md: give one of them another", `its status "approoved" is none, and counts as approved: there are draft, proposed, review, approved, superseded, deprecated`},
		"one":  {"depends on itself in a circle: BR-002 → BR-003 → BR-004 → BR-002: take one of these relations out"},
		"typo": {`its kind "busines-rule" is none: did you mean business-rule?`},
		"list": {"its front matter is a list, of which nothing is read: write its keys without dashes"},
		"open": {"its front matter is never closed: write --- below the last key"},
	}
	if d := cmp.Diff(want, got); d != "" || c.Totals["error"] != 7 {
		t.Errorf("%v: %s", c.Totals, d)
	}
	if c, err = specs.Check(t.Context(), a, specs.CheckQuery{Kind: "entity", Scope: specs.Scope{Waiting: person}}); err != nil || c.Findings != nil {
		t.Errorf("of another kind: %+v %v", c.Findings, err)
	}
}

// A decision whose title alone is found is opened at what was decided, not at
// a heading with nothing below it.
func TestTitlesOpenWhatIsSettled(t *testing.T) {
	s := producttest.NewSite(t)
	const sections = "\n## Contexto\n\nLlamadas.\n\n## Decisión\n\nImplementamos un servidor.\n"
	s.Write("p/specs/0001-agentes.md", "# ADR-0001: Integración con agentes\n\n---\nid: ADR-0001\nstatus: accepted\n---\n"+sections)
	s.Write("p/specs/0002-facturas.md", "# ADR-0002: Numeración de facturas\n\nLas facturas se numeran por año.\n"+sections)
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "agentes"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	for query, want := range map[string][2]string{
		"cómo se integra con agentes": {"Decisión", "Implementamos un servidor."},
		"numeración de facturas":      {"ADR-0002: Numeración de facturas", "Las facturas se numeran por año."},
	} {
		r := specSearch(s, a, specs.SearchQuery{Query: query})
		if len(r.Results) == 0 || r.Results[0].Section != want[0] || r.Results[0].Snippet != want[1] {
			t.Errorf("%s: %+v", query, r.Results)
		}
	}
}
