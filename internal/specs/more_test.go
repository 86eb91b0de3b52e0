package specs_test

import (
	"encoding/xml"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

func TestSpecSection(t *testing.T) {
	s, a := newSpecs(t)
	scope := specs.Scope{Waiting: person}
	root := filepath.ToSlash(filepath.Join(s.Root, "p"))
	file := "file://" + (&url.URL{Path: root}).EscapedPath()
	rule := "specs/01-domain/rules/BR-PEDIDO-001.md"
	for _, c := range []struct{ file, anchor, section, begins, ends string }{
		{rule, "declaracion", "Declaración", "## Declaración\n", "`shop/total.go`.\n\n"},
		{rule, "declaración", "Declaración", "## Declaración\n", ""},
		{rule, "#Declaración", "Declaración", "## Declaración\n", ""},
		{rule, "declaraci%C3%B3n", "Declaración", "## Declaración\n", ""},
		{rule, "¿Qué pasa si se incumple?", "¿Qué pasa si se incumple?", "## ¿Qué pasa si se incumple?\n", "se rechaza.\n\n"},
		{rule + "#que-pasa-si-se-incumple", "", "¿Qué pasa si se incumple?", "## ¿Qué", ""},
		{rule, "ejemplos", "Ejemplos", "## Ejemplos\n", "vale cero.\n"}, // over the fence
		{file + "/" + rule + "#declaracion", "", "Declaración", "## Declaración\n", ""},
		{root + "/" + rule, "declaracion", "Declaración", "## Declaración\n", ""},
		{"./" + rule, "declaracion", "Declaración", "## Declaración\n", ""},
		{"rules/BR-PEDIDO-001.md", "ejemplos", "Ejemplos", "## Ejemplos\n", ""},
		{"BR-PEDIDO-001", "ejemplos", "Ejemplos", "## Ejemplos\n", ""},
		{rule, "", "", "---\nid: BR-PEDIDO-001", "vale cero.\n"},
		{file + "/docs/adr/ADR-0001%20decisi%C3%B3n.md#consecuencias", "", "Consecuencias", "## Consecuencias\n\n### Riesgos", "dañar.\n\n"},
		{"docs/adr/ADR-0001 decisión.md", "consecuencias-1", "Consecuencias", "## Consecuencias\n\nSegunda", "encabezado.\n"},
		{"docs/仕様.md", "注文", "注文", "## 注文\n", "集まり。\n"},
		{"specs/04-verification/REQ-001.md", "checkout-latency", "Checkout latency", "# Checkout latency", ""}, // who names a draft means it
	} {
		r, err := specs.Section(t.Context(), a, c.file, c.anchor, scope)
		if err != nil {
			t.Errorf("%s %s: %v", c.file, c.anchor, err)
			continue
		}
		if r.Section != c.section || !strings.HasPrefix(r.Content, c.begins) || !strings.HasSuffix(r.Content, c.ends) {
			t.Errorf("%s %s: %+v", c.file, c.anchor, r)
		}
		if r.Section != "" {
			opens(s, r.URL, r.Section)
		}
	}
	s.Write("secret.md", "# Secret\n")
	for _, c := range []struct {
		file, anchor string
		code         kb.Code
	}{
		{"../secret.md", "", kb.NotFound},
		{"specs/../../secret.md", "", kb.NotFound},
		{file + "/../secret.md", "", kb.NotFound},
		{filepath.Join(s.Root, "secret.md"), "", kb.NotFound},
		{"file:///etc/passwd", "", kb.NotFound},
		{"https://example.org/x.md", "", kb.NotFound},
		{"package.json", "", kb.NotFound},
		{rule, "nothing-of-the-kind", kb.NotFound},
		{"", "", kb.Invalid},
		{strings.Repeat("x", 9000), "", kb.TooLarge},
	} {
		if r, err := specs.Section(t.Context(), a, c.file, c.anchor, scope); kb.CodeOf(err) != c.code || kb.HintOf(err) == "" {
			t.Errorf("%.60s %s: %v (%s), %+v", c.file, c.anchor, err, kb.HintOf(err), r)
		}
	}
	_, err := specs.Section(t.Context(), a, rule, "nothing", scope)
	if !strings.Contains(kb.HintOf(err), "declaracion") {
		t.Errorf("the hint %q names no heading", kb.HintOf(err))
	}
}

func TestSpecImpact(t *testing.T) {
	s, a := newSpecs(t)
	s.Write("p/specs/04-verification/buy.feature", "Feature: buy (UC-001)\n\n  Scenario: an empty order\n    Given a Pedido without lines\n\n  Scenario: pay\n    Then BR-PEDIDO-001 holds\n\nFeature: other\n")
	r, err := specs.Impact(t.Context(), a, specs.RelatedQuery{Entity: "BR-PEDIDO-001", Scope: specs.Scope{Waiting: person}})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]int{}
	for _, d := range r.Direct {
		ids[d.NodeID]++
		if d.EdgeType == "" || d.Description == "" || d.URL == "" {
			t.Errorf("got %+v", d)
		}
	}
	for _, x := range r.Transitive {
		ids[x.NodeID]++
		if x.Path[0] != "BR:BR-PEDIDO-001" || x.Path[len(x.Path)-1] != x.NodeID || len(x.EdgeTypes) != len(x.Path)-1 || len(x.Path) < 3 {
			t.Errorf("got %+v", x)
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%s is counted %d times", id, n)
		}
	}
	if ids["UC:UC-001"] != 1 || ids["Entity:Pedido"] != 1 || r.TotalDirect != len(r.Direct) || r.Analyzed == nil || r.Analyzed.ID != "BR:BR-PEDIDO-001" {
		t.Errorf("got %+v", r)
	}
	if len(r.Scenarios) != 2 || r.Scenarios[1].Scenario != "pay" || !strings.HasPrefix(r.Scenarios[1].Reason, "names ") {
		t.Errorf("scenarios: %+v", r.Scenarios)
	}
	r, err = specs.Impact(t.Context(), a, specs.RelatedQuery{Entity: "nothing at all", Scope: specs.Scope{Waiting: person}})
	if err != nil || r.Analyzed != nil || r.Message == "" || r.Direct == nil || r.Scenarios == nil {
		t.Errorf("unknown: %+v, %v", r, err)
	}
}

func TestSpecContext(t *testing.T) {
	_, a := newSpecs(t)
	ask := func(q specs.ContextQuery) specs.ContextReply {
		t.Helper()
		q.Waiting = person
		r, err := specs.ContextOf(t.Context(), a, q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := ask(specs.ContextQuery{Hints: []string{"Pedido.ts", "qqqq zzzz"}})
	if len(r.Resolved) == 0 || r.Resolved[0] != (specs.ResolvedHint{"Entity:Pedido", "Pedido.ts", "basename"}) {
		t.Errorf("resolved: %+v", r.Resolved)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, `"qqqq zzzz"`) }) {
		t.Errorf("warnings: %q", r.Warnings)
	}
	if len(r.Constraints) < 2 || r.Constraints[0].Kind != "business-rule" || !strings.HasPrefix(r.Constraints[0].Content, "El total de un Pedido nunca es negativo") || !strings.Contains(r.Constraints[0].ReachedVia, "Entity:Pedido") || !strings.HasSuffix(r.Constraints[0].URL, "#declaracion") {
		t.Errorf("constraints: %+v", r.Constraints)
	}
	if len(r.Behavior) != 1 || r.Behavior[0].NodeID != "UC:UC-001" {
		t.Errorf("behaviour: %+v", r.Behavior)
	}
	if r.TotalItems != len(r.Constraints)+len(r.Behavior) || r.TotalTokens == 0 {
		t.Errorf("totals: %+v", r)
	}
	for _, x := range append(r.Constraints, r.Behavior...) {
		if utf8.RuneCountInString(x.Content) > 300 {
			t.Errorf("%s: %d runes", x.NodeID, utf8.RuneCountInString(x.Content))
		}
	}
	for hint, method := range map[string]string{"BR-PEDIDO-001": "exact", "order": "exact", "shop/total.go": "mention", "pago con tarjeta del banco card": "text_search"} {
		if r := ask(specs.ContextQuery{Hints: []string{hint}}); len(r.Resolved) == 0 || r.Resolved[0].MatchMethod != method {
			t.Errorf("%s: %+v %v", hint, r.Resolved, r.Warnings)
		}
	}
	small := ask(specs.ContextQuery{Hints: []string{"Pedido"}, MaxTokens: 150})
	if small.TotalTokens > 150 || small.TotalItems >= r.TotalItems || !strings.Contains(strings.Join(small.Warnings, " "), "do not fit") {
		t.Errorf("budget: %+v", small)
	}
	for _, q := range []specs.ContextQuery{{}, {Hints: []string{" "}}, {Hints: []string{"x"}, MaxTokens: 1}, {Hints: []string{"x"}, Depth: -1}} {
		if _, err := specs.ContextOf(t.Context(), a, q); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestSpecFindStatsCheckGraph(t *testing.T) {
	_, a := newSpecs(t)
	scope := specs.Scope{Waiting: person}
	f, err := specs.Find(t.Context(), a, "BR-", "", 0, scope)
	if err != nil || f.Count != 1 || f.Matches[0].ID != "BR:BR-PEDIDO-001" || f.Matches[0].Kind != "business-rule" || f.Matches[0].URL == "" {
		t.Errorf("find: %+v, %v", f, err)
	}
	f, err = specs.Find(t.Context(), a, "REQ-001", "", 0, scope)
	if err != nil || f.Count != 0 && f.Matches[0].Status == "" || f.Count == 0 && !strings.Contains(strings.Join(f.Warnings, " "), "draft") {
		t.Errorf("find a draft: %+v, %v", f, err)
	}
	st, err := specs.Stats(t.Context(), a, scope)
	if err != nil || st.Specifications != 9 || st.Lifecycles["draft"] != 1 || st.Edges == 0 || len(st.Stores) != 1 || st.Stores[0].Specifications != 9 {
		t.Errorf("stats: %+v, %v", st, err)
	}
	c, err := specs.Check(t.Context(), a, specs.CheckQuery{Scope: scope})
	if err != nil || c.Documents == 0 || c.Incomplete == nil || c.Violations == nil || c.Orphans == nil || c.References == 0 {
		t.Errorf("check: %+v, %v", c, err)
	}
	for _, o := range c.Orphans {
		if o.Target == "NoExiste" || o.Reason == "" || o.Line == 0 || o.URL == "" {
			t.Errorf("orphan %+v", o)
		}
	}
	// What people keep finding badly answered is a gap of the specifications.
	for range 2 {
		if _, err := answers.AddFeedback(t.Context(), a, answers.FeedbackRequest{Query: "how is a refund paid out?", Rating: "negative", Owner: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	if c, err = specs.Check(t.Context(), a, specs.CheckQuery{Scope: scope}); err != nil || len(c.Gaps) != 1 || c.Gaps[0].Negative != 2 {
		t.Errorf("gaps: %+v, %v", c.Gaps, err)
	}
	one, err := specs.Check(t.Context(), a, specs.CheckQuery{Entity: "Pedido", Scope: scope})
	if err != nil || one.Documents != 1 {
		t.Errorf("check one: %+v, %v", one, err)
	}
	for _, format := range []string{"", "mermaid", "dot", "svg"} {
		p, err := specs.Picture(t.Context(), a, specs.RelatedQuery{Entity: "Pedido", Depth: 2, Scope: scope}, format)
		if err != nil || p.Nodes < 3 || p.Edges < 3 || !strings.Contains(p.Text, "BR-PEDIDO-001") || p.Entity != "Pedido" {
			t.Errorf("%s: %+v, %v", format, p, err)
		}
		if format == "svg" {
			d := xml.NewDecoder(strings.NewReader(p.Text))
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := specs.Picture(t.Context(), a, specs.RelatedQuery{Entity: "Pedido", Scope: scope}, "png"); kb.CodeOf(err) != kb.Invalid {
		t.Error(err)
	}
	if p, err := specs.Picture(t.Context(), a, specs.RelatedQuery{Entity: "Pedidoo", Scope: scope}, ""); err != nil || p.Message == "" || len(p.Suggestions) == 0 {
		t.Errorf("unknown: %+v, %v", p, err)
	}
}

// Code shows the specifications that name it, a specification the code.
func TestSpecsBesideCode(t *testing.T) {
	s, a := newSpecs(t)
	show := func(query, path string) find.Context {
		t.Helper()
		for _, h := range s.Search(a, search.Request{Query: query, Limit: 50}, app.Scope{}).Hits {
			if strings.HasPrefix(h.At, path+":") {
				c, err := find.ByID(t.Context(), a, h.ID)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
		}
		t.Fatalf("%s does not find %s", query, path)
		return find.Context{}
	}
	c := show("Total sum of lines", "shop/total.go")
	if len(refs(c)) != 1 || refs(c)[0].Title != "Total del pedido" || !strings.HasPrefix(refs(c)[0].URL, "file://") || refs(c)[0].Why == "" || c.Extras.Value("mentionedBy") != nil {
		t.Errorf("code: %+v %+v", refs(c), by(c))
	}
	if c := show("Checkout pays an order by card", "shop/checkout.go"); c.Extras.Value("specs") != nil || c.Extras.Value("mentionedBy") != nil {
		t.Errorf("code that nothing names: %+v %+v", refs(c), by(c))
	}
	c = show("total de un pedido nunca es negativo declaración", "specs/01-domain/rules/BR-PEDIDO-001.md")
	if len(by(c)) != 1 || !strings.HasPrefix(by(c)[0].At, "shop/total.go:") || by(c)[0].ID == "" || c.Extras.Value("specs") != nil {
		t.Errorf("specification: %+v %+v", refs(c), by(c))
	}
}

func TestNoSpecifications(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/main.go", producttest.Parser)
	a := s.In("p", true)
	r := specSearch(s, a, specs.SearchQuery{Query: "anything"})
	if len(r.Results) != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "no specification in scope") {
		t.Errorf("got %+v", r)
	}
	rel, err := specs.Related(t.Context(), a, specs.RelatedQuery{Entity: "x", Scope: specs.Scope{Waiting: person}})
	if err != nil || rel.Message == "" || len(rel.Warnings) != 1 {
		t.Errorf("got %+v, %v", rel, err)
	}
	if d := kdd.MaxDepth; d != 3 {
		t.Errorf("the greatest depth is %d", d)
	}
}

// A question before anything is indexed has an empty reply that says why.
func TestSpecsNotIndexedYet(t *testing.T) {
	s := producttest.NewSite(t)
	for p, body := range libraryOfSpecs {
		s.Write("p/"+p, body)
	}
	a := s.In("p", true)
	r, err := specs.Search(t.Context(), a, specs.SearchQuery{Query: "pedido", Scope: specs.Scope{Waiting: app.Waiting{Wait: 1}}})
	if err != nil || r.Results == nil || len(r.Results) == 0 && len(r.Warnings) == 0 {
		t.Errorf("search: %+v, %v", r, err)
	}
	empty := s.In("nothing", false)
	if _, err := specs.Search(t.Context(), empty, specs.SearchQuery{Query: "x", Scope: specs.Scope{Waiting: app.Waiting{Wait: 1}}}); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
		t.Errorf("nothing in scope: %v", err)
	}
}

func refs(c search.Context) []specs.SpecRef {
	list, _ := c.Extras.Value("specs").([]specs.SpecRef)
	return list
}

func by(c search.Context) []search.Related {
	list, _ := c.Extras.Value("mentionedBy").([]search.Related)
	return list
}
