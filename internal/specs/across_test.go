package specs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
)

// laundry is a set of specifications in two languages and several formats.
var laundry = map[string]string{
	"rules/BR-1-calor.md":    spec("id: BR-1\nkind: business-rule", "# BR-1 Temperatura de la lana\n\n## Declaración\n\nLa lana no se lava a más de treinta grados. Si la etiqueta falta, se lava en frío.\n"),
	"rules/BR-2-lost.md":     spec("id: BR-2\nkind: business-rule", "# BR-2 Unclaimed garments\n\n## Declaration\n\nGarments that nobody collects are kept for ninety days. After that they are given to a charity.\n"),
	"rules/BR-3-recibo.md":   spec("id: BR-3\nkind: business-rule", "# BR-3 Recibo\n\n## Declaración\n\nSin recibo no se entrega ninguna prenda salvo que el cliente firme una declaración.\n"),
	"uc/UC-1-drop.md":        spec("id: UC-1\nkind: use-case", "# UC-1 Drop off\n\n## Main flow\n\n1. The clerk weighs the bag.\n2. The customer pays a deposit.\n"),
	"uc/UC-2-reclamar.md":    spec("id: UC-2\nkind: use-case", "# UC-2 Reclamar un daño\n\n## Flujo principal\n\n1. El cliente enseña la mancha.\n2. La encargada ofrece una indemnización.\n"),
	"features/dryer.feature": "Feature: Dryer safety\n\n  @BR-1\n  Scenario: Door opens while it spins\n    Given a running dryer\n    When the door opens\n    Then the drum stops within a second\n",
	"reqs/boiler.sdoc":       "[DOCUMENT]\nTITLE: Boiler\n\n[REQUIREMENT]\nUID: BOIL-1\nTITLE: Steam pressure\nSTATEMENT: The valve shall release steam above four bars.\nRELATIONS:\n- TYPE: Parent\n  VALUE: BR-1\n",
	"reqs/route.rst":         "Collection route\n================\n\n.. req:: Van leaves late\n   :id: ROUTE_1\n   :links: BOIL-1\n\n   The van shall wait at most ten minutes at each hotel.\n",
	"src/wash.go":            "package wash\n\n// Degrees keeps BR-1.\nfunc Degrees() int { return 30 }\n",
	"src/wash_test.go":       "package wash\n\n// BR-1: wool.\nfunc TestWool() {}\n",
}

func openLaundry(t *testing.T) *app.App {
	s := producttest.NewSite(t)
	for p, text := range laundry {
		s.Write("p/"+p, text)
	}
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "wool"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	return a
}

// TestOtherLanguageAlone: a question finds what is written in the other
// language where its own is not written at all.
func TestOtherLanguageAlone(t *testing.T) {
	s := producttest.NewSite(t)
	for p, text := range laundry {
		if !strings.Contains(text, "Declaración") && !strings.Contains(text, "Flujo") {
			s.Write("p/"+p, text)
		}
	}
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "wool"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	for query, path := range map[string]string{
		"¿qué se hace con la ropa que nadie recoge?":  "BR-2-lost.md",
		"¿quién pesa la bolsa?":                       "UC-1-drop.md",
		"¿cuánto espera la furgoneta en cada hotel?":  "route.rst",
		"¿cuándo suelta vapor la válvula de presión?": "boiler.sdoc",
	} {
		r, err := specs.Search(t.Context(), a, specs.SearchQuery{Query: query, Scope: specs.Scope{Waiting: person}})
		if err != nil || len(r.Results) == 0 || !strings.Contains(r.Results[0].URL, path) {
			t.Errorf("%s: %+v, %v", query, r.Results, err)
		}
	}
}

// TestEitherLanguage: questions find what is written in the other language,
// and say it in a sentence of it.
func TestEitherLanguage(t *testing.T) {
	a := openLaundry(t)
	for _, x := range []struct{ query, path, snippet string }{
		{"¿qué se hace con la ropa que nadie recoge?", "BR-2-lost.md", "nobody collects"},
		{"does the customer need the receipt to get the clothes back?", "BR-3-recibo.md", "recibo"},
		{"how hot may the water be for wool", "BR-1-calor.md", "lana"},
		{"compensation for a stain", "UC-2-reclamar.md", ""},
		{"¿quién pesa la bolsa?", "UC-1-drop.md", "weighs the bag"},
		{"¿cuánto espera la furgoneta en cada hotel?", "route.rst", "at most ten minutes"},
		{"presión del vapor de la caldera", "boiler.sdoc", "release steam"},
		{"¿qué pasa si se abre la puerta de la secadora?", "dryer.feature", ""},
		{"what does BR-3 say of signatures", "BR-3-recibo.md", ""},
	} {
		r, err := specs.Search(t.Context(), a, specs.SearchQuery{Query: x.query, Scope: specs.Scope{Waiting: person}})
		if err != nil || len(r.Results) == 0 {
			t.Errorf("%s: %+v, %v", x.query, r, err)
			continue
		}
		first := r.Results[0]
		if !strings.Contains(first.URL, x.path) || !strings.Contains(first.Snippet, x.snippet) || strings.Contains(first.Snippet, "kind:") {
			t.Errorf("%s: %s %q", x.query, first.URL, first.Snippet)
		}
		for i, y := range r.Results {
			if y.Score < 0 || y.Score > 1 || i > 0 && y.Score > r.Results[i-1].Score {
				t.Errorf("%s: score %v at %d", x.query, y.Score, i)
			}
		}
	}
}

// TestImpactOfRule: a rule shows the code that names it and the tests that
// prove it; a file of code, the rules that it serves; needs of other formats relate.
func TestImpactOfRule(t *testing.T) {
	a := openLaundry(t)
	scope := specs.Scope{Waiting: person}
	r, err := specs.Impact(t.Context(), a, specs.RelatedQuery{Entity: "BR-1", Scope: scope})
	if err != nil || len(r.Code) != 1 || !strings.HasPrefix(r.Code[0].At, "src/wash.go:") {
		t.Fatalf("%+v, %v", r.Code, err)
	}
	var tests []string
	for _, x := range r.Tests {
		p, _, _ := strings.Cut(x.At, ":")
		tests = append(tests, p)
	}
	if len(tests) != 2 || !strings.Contains(strings.Join(tests, " "), "features/dryer.feature") || !strings.Contains(strings.Join(tests, " "), "src/wash_test.go") {
		t.Errorf("tests %v", tests)
	}
	if r, err = specs.Impact(t.Context(), a, specs.RelatedQuery{Entity: "src/wash.go", Scope: scope}); err != nil || len(r.Serves) != 1 || !strings.Contains(r.Serves[0].URL, "BR-1-calor.md") {
		t.Errorf("%+v, %v", r, err)
	}
	rel, err := specs.Related(t.Context(), a, specs.RelatedQuery{Entity: "BOIL-1", Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range rel.Related {
		got = append(got, x.Relation+" "+x.Direction+" "+x.Name)
	}
	for _, want := range []string{"IMPLEMENTS outgoing BR-1", "RELATED_TO incoming ROUTE_1"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("BOIL-1: no %q in %q", want, got)
		}
	}
}
