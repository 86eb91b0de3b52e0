package specs_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// library is a small set of specifications in Spanish and English.
var libraryOfSpecs = map[string]string{
	"specs/01-domain/entities/Pedido.md": `---
kind: entity
aliases: [Orden, Order]
domain: ventas
tags: [core]
---

# Pedido

## Descripción

Un pedido reúne las líneas que un [[Cliente]] compra de una vez. Su total se cobra al confirmarlo.

## Atributos

| Atributo | Tipo | Descripción |
|---|---|---|
| total | decimal | suma de las líneas |
| cliente | [[Cliente]] | quien compra |

## Invariantes

- El total nunca es negativo ([[BR-PEDIDO-001]]).
`,
	"specs/01-domain/entities/Cliente.md": `---
kind: entity
domain: ventas
---

# Cliente

## Descripción

Persona que compra. Tiene uno o más [[Pedido|pedidos]].
`,
	"specs/01-domain/rules/BR-PEDIDO-001.md": `---
id: BR-PEDIDO-001
kind: business-rule
title: Total del pedido
domain: ventas
tags: [core, precios]
---

# BR-PEDIDO-001

## Declaración

El total de un [[Pedido]] nunca es negativo y se redondea a dos decimales. Lo calcula ` + "`shop/total.go`" + `.

## ¿Qué pasa si se incumple?

La compra se rechaza.

## Ejemplos

` + "```markdown\n# esto no es un encabezado\n[[NoExiste]]\n```" + `

Un pedido vacío vale cero.
`,
	"specs/02-behavior/use-cases/UC-001-Comprar.md": `---
id: UC-001
kind: use-case
title: Comprar
domain: ventas
depends_on: [BR-PEDIDO-001]
---

# UC-001 — Comprar

## Flujo principal

1. El cliente confirma el [[Pedido]].
2. Se aplica [[BR-PEDIDO-001]].
3. Se paga según el [[PROC-001]].
`,
	"specs/02-behavior/processes/PROC-001-Payment.md": `---
id: PROC-001
kind: process
title: Card payment
domain: billing
tags: [money]
status: approved
---

# PROC-001 — Card payment

## Steps

1. The card is authorised by the bank.
2. The amount is captured when the goods leave.

## Refunds

Refunds go back to the same card within ten days.
`,
	"specs/02-behavior/processes/PROC-002-Old payment.md": `---
id: PROC-002
kind: process
title: Payment by cheque
domain: billing
status: deprecated
---

# PROC-002

Cheques are cleared by the bank within five days.
`,
	"specs/04-verification/REQ-001.md": `---
id: REQ-001
kind: requirement
status: draft
title: Checkout latency
---

# Checkout latency

Checkout answers within 300 ms. See [[UC-001]].
`,
	"docs/adr/ADR-0001 decisión.md": `# ADR-0001: Guardar los pedidos en SQLite

---
id: ADR-0001
status: superseded
---

## Contexto

Hace falta guardar los pedidos sin servidor.

## Decisión

Los pedidos se guardan en SQLite, un fichero por tienda.

## Consecuencias

### Riesgos

Un fichero se puede dañar.

## Consecuencias

Segunda vez el mismo encabezado.
`,
	"docs/仕様.md": `---
kind: glossary
title: 用語集
---

# 用語集

## 注文

注文は顧客が一度に購入する商品の集まり。
`,
	"shop/total.go":    "package shop\n\n// Total follows BR-PEDIDO-001.\nfunc Total(lines []int) int {\n\tsum := 0\n\tfor _, l := range lines {\n\t\tsum += l\n\t}\n\treturn sum\n}\n",
	"shop/checkout.go": "package shop\n\n// Checkout pays an order by card.\nfunc Checkout() {}\n",
	"README.md":        "# Shop\n\nA shop that sells things. No front matter: this is no specification of an order.\n",
}

func newSpecs(t *testing.T) (*producttest.Site, *app.App) {
	s := producttest.NewSite(t)
	for p, body := range libraryOfSpecs {
		s.Write("p/"+p, body)
	}
	return s, s.In("p", true)
}

var person = app.Waiting{Wait: time.Minute, Person: true}

func specSearch(s *producttest.Site, a *app.App, r specs.SearchQuery) specs.SearchReply {
	s.Helper()
	r.Waiting = person
	out, err := specs.Search(s.Context(), a, r)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// keys returns the names of a JSON object.
func keys(v any) []string {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func titles(r specs.SearchReply) []string {
	var out []string
	for _, x := range r.Results {
		if !slices.Contains(out, x.Title) {
			out = append(out, x.Title)
		}
	}
	return out
}

func TestSpecSearchReplies(t *testing.T) {
	s, a := newSpecs(t)
	all := []string{"all"}
	for _, q := range []string{"total del pedido", "refund to the card", "dónde se guardan los pedidos", "注文", "checkout latency", "qué pasa si se incumple la regla"} {
		r := specSearch(s, a, specs.SearchQuery{Query: q, Scope: specs.Scope{Statuses: all}})
		if len(r.Results) == 0 {
			t.Errorf("%s: nothing found: %v", q, r.Warnings)
			continue
		}
		for _, x := range r.Results {
			if d := cmp.Diff([]string{"domain", "score", "section", "snippet", "title", "type", "url"}, keys(x)); d != "" {
				t.Errorf("%s (-want +got):\n%s", q, d)
			}
			if utf8.RuneCountInString(x.Snippet) > 150 {
				t.Errorf("%s: a snippet of %d runes", q, utf8.RuneCountInString(x.Snippet))
			}
			if !slices.Contains(specdoc.Types, x.Type) {
				t.Errorf("%s: type %q", q, x.Type)
			}
			opens(s, x.URL, x.Section)
		}
		if raw, _ := json.Marshal(r); len(raw) > 4096 {
			t.Errorf("%s: %d bytes", q, len(raw))
		}
		if r.Count != len(r.Results) {
			t.Errorf("%s: count %d of %d", q, r.Count, len(r.Results))
		}
	}
	r := specSearch(s, a, specs.SearchQuery{Query: "total del pedido", Domains: []string{"ventas"}})
	if d := cmp.Diff([]string{"count", "results", "time_ms"}, keys(r)); d != "" {
		t.Errorf("nothing is hidden or wrong (-want +got):\n%s", d)
	}
}

// opens checks that an address names a file that has the heading.
func opens(s *producttest.Site, address, section string) {
	s.Helper()
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		s.Errorf("the address %q: %v", address, err)
		return
	}
	file := u.Path
	if len(file) > 2 && file[2] == ':' { // a drive of Windows
		file = file[1:]
	}
	body, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		s.Errorf("%s opens nothing: %v", address, err)
		return
	}
	times := map[string]int{} // of equal headings the second ends in -1
	for l := range strings.Lines(string(body)) {
		if !strings.HasPrefix(l, "#") {
			continue
		}
		anchor := specdoc.Anchor(strings.TrimLeft(l, "# "))
		n := times[anchor]
		if times[anchor]++; n > 0 {
			anchor += fmt.Sprintf("-%d", n)
		}
		if anchor == u.Fragment && strings.TrimSpace(strings.TrimLeft(l, "#")) == section {
			return
		}
	}
	s.Errorf("%s has no heading %q", address, section)
}

func TestSpecSearchFilters(t *testing.T) {
	s, a := newSpecs(t)
	all := specs.Scope{Statuses: []string{"all"}}
	for _, c := range []struct {
		name  string
		r     specs.SearchQuery
		right func(specs.Result) bool
		some  string // a title that must be there
	}{
		{"type", specs.SearchQuery{Query: "pedido", ChunkTypes: []string{"RULE"}, Scope: all}, func(x specs.Result) bool { return x.Type == "RULE" }, "Total del pedido"},
		{"type in lower case", specs.SearchQuery{Query: "pedido", ChunkTypes: []string{"use_case", "process"}, Scope: all}, func(x specs.Result) bool { return x.Type == "USE_CASE" || x.Type == "PROCESS" }, "Comprar"},
		{"domain", specs.SearchQuery{Query: "pedido", Domains: []string{"Ventas"}, Scope: all}, func(x specs.Result) bool { return x.Domain == "ventas" }, "Pedido"},
		{"tag", specs.SearchQuery{Query: "pedido", Tags: []string{"precios"}, Scope: all}, func(x specs.Result) bool { return x.Title == "Total del pedido" }, "Total del pedido"},
		{"all", specs.SearchQuery{Query: "pedido", ChunkTypes: []string{"ENTITY", "RULE"}, Domains: []string{"ventas", "billing"}, Tags: []string{"core"}, Scope: all}, func(x specs.Result) bool { return x.Title == "Pedido" || x.Title == "Total del pedido" }, "Pedido"},
	} {
		c.r.Limit = 20
		r := specSearch(s, a, c.r)
		for _, x := range r.Results {
			if !c.right(x) {
				t.Errorf("%s lets %+v through", c.name, x)
			}
		}
		if !slices.Contains(titles(r), c.some) {
			t.Errorf("%s: %s is not among %v %v", c.name, c.some, titles(r), r.Warnings)
		}
	}
	// A filter comes before the limit: what it keeps out takes no place.
	if r := specSearch(s, a, specs.SearchQuery{Query: "total del pedido card", Limit: 1, Domains: []string{"billing"}, Scope: all}); len(r.Results) != 1 || r.Results[0].Domain != "billing" {
		t.Errorf("got %+v", r)
	}
	high := 0.99
	few, many := specSearch(s, a, specs.SearchQuery{Query: "total del pedido", Limit: 20, ScoreThreshold: &high}), specSearch(s, a, specs.SearchQuery{Query: "total del pedido", Limit: 20})
	if len(few.Results) >= len(many.Results) {
		t.Errorf("a threshold leaves %d of %d", len(few.Results), len(many.Results))
	}
	bad := 1.5
	for _, c := range []struct {
		r          specs.SearchQuery
		said, hint string
	}{
		{specs.SearchQuery{Query: "x", ChunkTypes: []string{"REQUIREMENT"}}, `"REQUIREMENT" is no chunk type`, "ENTITY, USE_CASE, RULE, PROCESS, DEFAULT"},
		{specs.SearchQuery{Query: "x", ScoreThreshold: &bad}, "score_threshold must lie between 0 and 1", "leave it out"},
		{specs.SearchQuery{Query: "x", Limit: -1}, "limit must lie between 1 and 100", "leave it out for 5"},
		{specs.SearchQuery{Query: " "}, "empty", "say what to look for"},
		{specs.SearchQuery{Query: "x", Scope: specs.Scope{Statuses: []string{"drafted"}}}, `"drafted" is no status`, "approved, draft, proposed"},
	} {
		_, err := specs.Search(t.Context(), a, c.r)
		if kb.CodeOf(err) != kb.Invalid || !strings.Contains(fmt.Sprint(err), c.said) || !strings.Contains(kb.HintOf(err), c.hint) {
			t.Errorf("%+v: %v (%s)", c.r, err, kb.HintOf(err))
		}
	}
	if r := specSearch(s, a, specs.SearchQuery{Query: "pedido", Domains: []string{"verkauf"}}); len(r.Results) != 0 || !strings.Contains(strings.Join(r.Warnings, " "), "billing, ventas") {
		t.Errorf("got %+v", r)
	}
}

func TestSpecLifecycle(t *testing.T) {
	s, a := newSpecs(t)
	for _, q := range []string{"checkout latency", "cheques cleared by the bank"} {
		r := specSearch(s, a, specs.SearchQuery{Query: q, Limit: 20})
		if got := titles(r); slices.Contains(got, "Checkout latency") || slices.Contains(got, "Payment by cheque") {
			t.Errorf("%s: shows %v", q, got)
		}
		if d := cmp.Diff(map[string]int{"draft": 1, "deprecated": 1}, r.Hidden); d != "" {
			t.Errorf("%s: hidden (-want +got):\n%s", q, d)
		}
		if w := strings.Join(r.Warnings, " "); !strings.Contains(w, "1 draft, 1 deprecated specifications") || !strings.Contains(w, "include_statuses") {
			t.Errorf("%s: %s", q, w)
		}
	}
	r := specSearch(s, a, specs.SearchQuery{Query: "checkout latency", Scope: specs.Scope{Statuses: []string{"draft"}}})
	if len(r.Results) == 0 || r.Results[0].Title != "Checkout latency" || r.Hidden["draft"] != 0 || r.Hidden["deprecated"] != 1 {
		t.Errorf("with drafts: %+v", r)
	}
	r = specSearch(s, a, specs.SearchQuery{Query: "pedidos guardan SQLite fichero por tienda"})
	if len(r.Results) == 0 || r.Results[0].Section != "Decisión" || !strings.Contains(strings.Join(r.Warnings, " "), "superseded: ADR-0001") {
		t.Errorf("superseded: %+v", r)
	}
	// What search finds has no lifecycle.
	hits := s.Search(a, search.Request{Query: "cheques cleared by the bank"}, app.Scope{})
	if len(hits.Hits) == 0 || !strings.Contains(hits.Hits[0].At, "PROC-002") {
		t.Errorf("search: %+v", hits.Hits)
	}
}

func TestSpecRelated(t *testing.T) {
	s, a := newSpecs(t)
	ask := func(q specs.RelatedQuery) specs.RelatedReply {
		t.Helper()
		q.Waiting = person
		r, err := specs.Related(t.Context(), a, q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	has := func(r specs.RelatedReply, name, relation, direction string) bool {
		return slices.ContainsFunc(r.Related, func(x specs.RelatedEntity) bool {
			return x.Name == name && (relation == "" || x.Relation == relation) && x.Direction == direction
		})
	}
	r := ask(specs.RelatedQuery{Entity: "BR-PEDIDO-001"})
	if d := cmp.Diff([]string{"direction", "name", "relation", "source_url", "type"}, keys(r.Related[0])); d != "" {
		t.Errorf("an entity (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"count", "entity", "related", "type"}, keys(r)); d != "" {
		t.Errorf("the reply (-want +got):\n%s", d)
	}
	if r.Entity != "BR-PEDIDO-001" || r.Type != "RULE" || r.Count != len(r.Related) || !has(r, "Pedido", "", "outgoing") || !has(r, "UC-001", "DEPENDS_ON", "incoming") || has(r, "Cliente", "", "outgoing") {
		t.Errorf("got %+v", r)
	}
	for _, x := range r.Related {
		if !strings.HasPrefix(x.SourceURL, "file://") {
			t.Errorf("%s: %q", x.Name, x.SourceURL)
		}
	}
	for _, name := range []string{"br-pedido-001", "BR-PEDIDO", "Total del pedido", "BR:BR-PEDIDO-001"} {
		if got := ask(specs.RelatedQuery{Entity: name}); got.Entity != r.Entity {
			t.Errorf("%q is %q: %s", name, got.Entity, got.Message)
		}
	}
	if got := ask(specs.RelatedQuery{Entity: "Orden"}); got.Entity != "Pedido" {
		t.Errorf("an alias: %+v", got)
	}
	two, three, four := ask(specs.RelatedQuery{Entity: "BR-PEDIDO-001", Depth: 2}), ask(specs.RelatedQuery{Entity: "BR-PEDIDO-001", Depth: 3}), ask(specs.RelatedQuery{Entity: "BR-PEDIDO-001", Depth: 4})
	if len(two.Related) <= len(r.Related) || len(three.Related) < len(two.Related) {
		t.Errorf("depths 1, 2, 3: %d, %d, %d", len(r.Related), len(two.Related), len(three.Related))
	}
	for _, x := range []specs.RelatedReply{two, three} { // Pedido and Cliente name each other
		seen := map[string]bool{"BR-PEDIDO-001": true}
		for _, y := range x.Related {
			if seen[y.Name+y.Type] {
				t.Errorf("%s twice", y.Name)
			}
			seen[y.Name+y.Type] = true
		}
	}
	if d := cmp.Diff(three.Related, four.Related); d != "" || !strings.Contains(strings.Join(four.Warnings, " "), "depth 4 is more than 3") {
		t.Errorf("depth 4: %v %s", four.Warnings, d)
	}
	only := ask(specs.RelatedQuery{Entity: "BR-PEDIDO-001", EdgeTypes: []string{"depends_on"}})
	if only.Count != 1 || !has(only, "UC-001", "DEPENDS_ON", "incoming") {
		t.Errorf("by type: %+v", only)
	}
	if none := ask(specs.RelatedQuery{Entity: "BR-PEDIDO-001", EdgeTypes: []string{"TRIGGERS"}}); none.Count != 0 || !strings.Contains(strings.Join(none.Warnings, " "), "DEPENDS_ON") {
		t.Errorf("of no type: %+v", none)
	}
	if cut := ask(specs.RelatedQuery{Entity: "Pedido", Limit: 1}); cut.Count != 1 || !strings.Contains(strings.Join(cut.Warnings, " "), "the nearest 1 of ") {
		t.Errorf("limit: %+v", cut)
	}
	unknown := ask(specs.RelatedQuery{Entity: "Pedidoo"})
	if unknown.Related == nil || unknown.Count != 0 || unknown.Message != "No entity found matching 'Pedidoo'." || len(unknown.Suggestions) == 0 || unknown.Suggestions[0].Name != "Pedido" {
		t.Errorf("unknown: %+v", unknown)
	}
	// Hidden ones are counted.
	if r := ask(specs.RelatedQuery{Entity: "UC-001"}); has(r, "REQ-001", "", "incoming") || r.Hidden["draft"] != 1 {
		t.Errorf("got %+v", r)
	}
	if r := ask(specs.RelatedQuery{Entity: "UC-001", Scope: specs.Scope{Statuses: []string{"draft"}}}); !has(r, "REQ-001", "", "incoming") {
		t.Errorf("with drafts: %+v", r)
	}
	// No edge comes out of a fence.
	if r := ask(specs.RelatedQuery{Entity: "NoExiste"}); r.Type != "" {
		t.Errorf("from a fence: %+v", r)
	}
	for _, q := range []specs.RelatedQuery{{Entity: " "}, {Entity: "x", Depth: -1}, {Entity: "x", Limit: -1}, {Entity: strings.Repeat("x", 2000)}} {
		if _, err := specs.Related(t.Context(), a, q); err == nil || kb.HintOf(err) == "" {
			t.Errorf("%+v: %v", q, err)
		}
	}
	// Edits and deletions are followed.
	s.Write("p/specs/02-behavior/use-cases/UC-001-Comprar.md", "---\nid: UC-001\nkind: use-case\ntitle: Comprar\n---\n\n# UC-001\n\nSin regla.\n")
	if err := os.Remove(filepath.Join(s.Root, "p/specs/01-domain/entities/Cliente.md")); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		r = ask(specs.RelatedQuery{Entity: "BR-PEDIDO-001"})
		gone := ask(specs.RelatedQuery{Entity: "Cliente"})
		if !has(r, "UC-001", "", "incoming") && !slices.ContainsFunc(gone.Related, func(x specs.RelatedEntity) bool { return strings.Contains(x.SourceURL, "Cliente.md") }) {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("after an edit: %+v %+v", r, gone)
		}
	}
}

func TestSpecList(t *testing.T) {
	s, a := newSpecs(t)
	ask := func(q specs.ListQuery) specs.ListReply {
		t.Helper()
		q.Waiting = person
		r, err := specs.List(t.Context(), a, q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := ask(specs.ListQuery{Kind: "entity"})
	if d := cmp.Diff([]string{"chunks", "domain", "entities", "indexed_at", "kind", "path", "status", "title"}, keys(r.Documents[0])); d != "" {
		t.Errorf("a document (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"documents", "total"}, keys(r)); d != "" {
		t.Errorf("the reply (-want +got):\n%s", d)
	}
	if r.Total != 2 || r.Documents[1].Title != "Pedido" || r.Documents[1].Status != "INDEXED" || r.Documents[1].Chunks == 0 || r.Documents[1].Entities == 0 || r.Documents[1].IndexedAt.IsZero() {
		t.Errorf("entities: %+v", r)
	}
	if one := ask(specs.ListQuery{Domain: "ventas", Limit: 1}); len(one.Documents) != 1 || one.Total != 4 {
		t.Errorf("total is without the limit: %+v", one)
	}
	if both := ask(specs.ListQuery{Domain: "Ventas", Kind: "Regla de negocio"}); both.Total != 1 || both.Documents[0].Kind != "business-rule" {
		t.Errorf("both filters: %+v", both)
	}
	every := ask(specs.ListQuery{Limit: 100, Scope: specs.Scope{Statuses: []string{"all"}}})
	for _, d := range every.Documents {
		want := map[string]string{"ADR-0001 decisión.md": "superseded", "REQ-001.md": "draft", "PROC-002-Old payment.md": "deprecated"}[filepath.Base(d.Path)]
		if d.KDDStatus != want {
			t.Errorf("%s is %q, not %q", d.Path, d.KDDStatus, want)
		}
		if strings.HasSuffix(d.Path, "README.md") {
			t.Error("a page without front matter is listed")
		}
	}
	if every.Total != 9 {
		t.Errorf("%d of 9 specifications", every.Total)
	}
	adr := ask(specs.ListQuery{Kind: "adr"})
	if adr.Total != 1 || adr.Documents[0].Kind != "adr" || adr.Documents[0].Status != "INDEXED" || adr.Documents[0].KDDStatus != "superseded" || adr.Documents[0].Title != "ADR-0001: Guardar los pedidos en SQLite" {
		t.Errorf("front matter behind the heading: %+v", adr)
	}
	if h := ask(specs.ListQuery{}); h.Total != 7 || h.Hidden["draft"] != 1 || h.Hidden["deprecated"] != 1 {
		t.Errorf("by default: %+v", h)
	}
	if none := ask(specs.ListQuery{Kind: "ui-view"}); none.Documents == nil || none.Total != 0 || !strings.Contains(strings.Join(none.Warnings, " "), "kinds: adr, business-rule") {
		t.Errorf("nothing: %+v", none)
	}
	_, err := specs.List(t.Context(), a, specs.ListQuery{Status: "draft", Scope: specs.Scope{Waiting: person}})
	if kb.CodeOf(err) != kb.Invalid || !strings.Contains(kb.HintOf(err), "include_statuses") {
		t.Errorf("a lifecycle as status: %v (%s)", err, kb.HintOf(err))
	}
	// Later changes are reported where the folder is too large to look at every time.
	s.Write("other/a.md", "---\nid: ADR-0009\n---\n# ADR-0009: One\n\nText.\n")
	s.Write("other/b.md", "---\nid: ADR-0010\n---\n# ADR-0010: Two\n\nText.\n")
	s.Create(a, app.CreateStore{Name: "other", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "other")})
	s.Write("other/b.md", "---\nid: ADR-0010\n---\n# ADR-0010: Two, changed\n\nText.\n")
	producttest.MustOpen(t, a).Library.Saw(kb.StoreID(producttest.MustInfo(t, a, "other").ID), time.Now(), time.Minute)
	pending := ask(specs.ListQuery{Status: "pending", Limit: 1, Scope: specs.Scope{Stores: []string{"other"}}})
	if pending.Total != 1 || pending.Documents[0].Path != "b.md" || pending.Documents[0].Status != "PENDING" {
		t.Errorf("changed since: %+v", pending)
	}
	if two := ask(specs.ListQuery{Kind: "adr", Scope: specs.Scope{Stores: []string{"*"}}}); two.Total != 3 || two.Documents[0].Store == "" {
		t.Errorf("two stores: %+v", two)
	}
}
