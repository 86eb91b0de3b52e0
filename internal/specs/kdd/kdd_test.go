package kdd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// shop is a small set of specifications, by path.
var shop = map[string]string{
	"specs/01-domain/entities/Order.md": `---
kind: entity
aliases: [Pedido]
domain: sales
tags: [core]
---
# Order

An order of a customer, see [[BR-ORDER-001]].

## Atributos

| Atributo | Tipo |
|---|---|
| total | ` + "`Money`" + ` |
| lines | [[OrderLine]] |

## Relaciones

| Relación | Cardinalidad | Destino |
|---|---|---|
| paid by | 1:N | [[Payment]] |
`,
	"specs/01-domain/entities/Payment.md":              "---\nkind: entity\nstatus: draft\ndomain: billing\n---\n# Payment\n\n## Descripción\n\nBelongs to [[Order]].\n",
	"specs/01-domain/entities/OrderLine.md":            "---\nkind: entity\nstatus: active\n---\n# OrderLine\n\nPart of an [[Order]]; see [[CMD-001]].\n",
	"specs/01-domain/rules/BR-ORDER-001.md":            "---\nid: BR-ORDER-001\nkind: business-rule\ntitle: Total of an order\n---\n# BR-ORDER-001 — Total\n\n## Declaración\n\nThe total of an [[Order]] must be positive.\n",
	"specs/02-behavior/commands/CMD-001-PlaceOrder.md": "---\nid: CMD-001\nkind: command\ntitle: PlaceOrder\ndepends_on: [Order]\n---\n# CMD-001 — PlaceOrder\n\n## Purpose\n\nPlaces an [[Pedido]]. Code: `internal/shop/place.go`, `Shop.Place`.\n\n## Postconditions\n\n- Se emite [[EVT-Order-Placed]].\n",
	"specs/01-domain/events/EVT-Order-Placed.md":       "---\nid: EVT-Order-Placed\nkind: event\n---\n# EVT-Order-Placed\n\n## Consumidores\n\n- [[Billing]]: charges\n",
	"specs/02-behavior/use-cases/UC-001-Buy.md":        "---\nid: UC-001\nkind: use-case\nactor: Customer\n---\n# UC-001 — Buy\n\n## Reglas Aplicadas\n\n- [[BR-ORDER-001]]\n\n## Comandos Ejecutados\n\n- [[CMD-001-PlaceOrder]]\n- [[CMD-002-Nothing]]\n",
	"docs/adr/0001-old.md":                             "# ADR-0001: Old\n\n---\nid: ADR-0001\nstatus: superseded\nsuperseded_by: ADR-0002\n---\n\n## Decisión\n\nWe keep orders in files.\n",
	"docs/adr/0002-new.md":                             "# ADR-0002: New\n\nStatus stands nowhere. See [the old one](0001-old.md) and [gone](0003.md).\n",
	"README.md":                                        "# The shop\n\nRead [the rule](specs/01-domain/rules/BR-ORDER-001.md). ISO-8601 and UTF-8 are no ids. `[[Example]]`\n",
}

func parsed(t testing.TB, name string, files map[string]string) Source {
	t.Helper()
	var list []kb.SpecEntry
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if d := specdoc.Parse(files[p]); d != nil {
			list = append(list, kb.SpecEntry{Path: p, Chunks: 1, Spec: d})
		}
	}
	return source(name, list...)
}

func join(t testing.TB, sources ...Source) *Graph {
	t.Helper()
	g, err := Join(context.Background(), sources)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// lines shows related nodes one a line.
func lines(r Reply) []string {
	var out []string
	for _, x := range r.Related {
		arrow := "<-"
		if x.Outgoing {
			arrow = "->"
		}
		out = append(out, fmt.Sprintf("%d %s %s %s", x.Distance, arrow, x.Edge.Type, x.Node.ID))
	}
	return out
}

func TestRelated(t *testing.T) {
	g := join(t, parsed(t, "shop", shop))
	r := g.Related(Query{Entity: "order"})
	want := []string{
		"1 <- DEPENDS_ON CMD:CMD-001",
		"1 <- VALIDATES BR:BR-ORDER-001",
		"1 -> REFERENCES Entity:OrderLine",
		"1 -> CONTAINS Concept:Order.total",
		"1 -> CONTAINS Concept:Order.lines",
		"1 -> RELATED_TO Concept:core",
		"1 -> RELATED_TO Concept:sales",
	}
	got := lines(r)
	slices.Sort(got[3:])
	slices.Sort(want[3:])
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"draft": 1}, r.Hidden); d != "" {
		t.Errorf("hidden: %s", d)
	}
	if at := r.Related[0].Edge.At; at.Line != 5 || at.Doc.Path != "specs/02-behavior/commands/CMD-001-PlaceOrder.md" {
		t.Errorf("stated at %s:%d", at.Doc.Path, at.Line)
	}
	if r = g.Related(Query{Entity: "Order", Seen: Seen{Statuses: []string{"borrador"}}}); r.Total != 8 || len(r.Hidden) != 0 {
		t.Errorf("with drafts: %d, hidden %v", r.Total, r.Hidden)
	}
	// A hidden document can be asked about by its name.
	if r = g.Related(Query{Entity: "Payment"}); r.Node == nil || r.Total != 2 {
		t.Errorf("of a draft: %v", lines(r))
	}
	if r = g.Related(Query{Entity: "Order", Types: []string{"depends-on", "VALIDATES"}, Limit: 1}); r.Total != 2 || len(r.Related) != 1 {
		t.Errorf("limit after filter: %d of %d", len(r.Related), r.Total)
	}
	if r = g.Related(Query{Entity: "Order", Depth: 9}); r.Depth != MaxDepth {
		t.Errorf("depth %d", r.Depth)
	}
	deep := strings.Join(lines(g.Related(Query{Entity: "Order", Depth: 2})), "\n")
	for _, want := range []string{"2 -> EMITS Event:EVT-Order-Placed", "2 <- INVOKES UC:UC-001"} {
		if !strings.Contains(deep, want) {
			t.Errorf("depth 2 lacks %q:\n%s", want, deep)
		}
	}
}

func TestNames(t *testing.T) {
	g := join(t, parsed(t, "shop", shop))
	for name, want := range map[string]string{
		"CMD-001": "CMD:CMD-001", "cmd-001": "CMD:CMD-001", "CMD:CMD-001": "CMD:CMD-001", "CMD-001-PlaceOrder": "CMD:CMD-001", "CMD-001-Renamed": "CMD:CMD-001",
		"PlaceOrder": "CMD:CMD-001", "Pedido": "Entity:Order", "pedido": "Entity:Order", "[[Order]]": "Entity:Order", "Old": "ADR:ADR-0001", "ADR-1": "ADR:ADR-0001", "ADR-0002": "ADR:ADR-0002", "ADR-02": "",
		"0001-old": "ADR:ADR-0001", "docs/adr/0001-old.md": "ADR:ADR-0001", "0001-old.md": "ADR:ADR-0001", "Total of an order": "BR:BR-ORDER-001",
		"Customer": "Actor:Customer", "Concept:core": "Concept:core", "sales::Order": "Entity:Order", "Order@v2": "Entity:Order", "BR-ORD": "BR:BR-ORDER-001",
		"Positive": "", "laceOrd": "CMD:CMD-001", "Order.total": "Concept:Order.total",
	} {
		found, near := g.Find(name, Filter{Seen: Seen{All: true}})
		got := ""
		if len(found) > 0 {
			got = found[0].ID
		}
		if got != want {
			t.Errorf("%q is %q (near %v), want %q", name, got, near, want)
		}
	}
	for name, want := range map[string]string{"Oder": "Order", "UC-011": "UC-001", "Costumer": "Customer", "PlcaeOrder": "PlaceOrder"} {
		r := g.Related(Query{Entity: name})
		if r.Node != nil || len(r.Suggestions) == 0 || r.Suggestions[0].Name != want {
			t.Errorf("%q: %v, suggestions %v", name, r.Node, r.Suggestions)
		}
	}
	if r := g.Related(Query{Entity: " "}); r.Node != nil {
		t.Errorf("a blank name is %v", r.Node)
	}
}

func TestOrphansAndLayers(t *testing.T) {
	g := join(t, parsed(t, "shop", shop))
	r := g.Check(Filter{Seen: Seen{All: true}})
	var got []string
	for _, o := range r.Orphans {
		got = append(got, fmt.Sprintf("%s:%d %s", o.At.Doc.Path, o.At.Line, o.Target))
	}
	want := []string{
		"docs/adr/0002-new.md:3 0003.md",
		"specs/01-domain/events/EVT-Order-Placed.md:9 Billing",
		"specs/02-behavior/use-cases/UC-001-Buy.md:15 CMD-002-Nothing",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("orphans (-want +got):\n%s", d)
	}
	if len(r.Violations) != 1 || r.Violations[0].From.ID != "Entity:OrderLine" || r.Violations[0].To.ID != "CMD:CMD-001" {
		t.Errorf("violations: %+v", r.Violations)
	}
	if r.References == 0 || r.OrphanRate <= 0 || r.OrphanRate >= 1 {
		t.Errorf("%d of %d: %v", len(r.Orphans), r.References, r.OrphanRate)
	}
	// Drafts are neither held against the lists nor their links looked at.
	if r := g.Check(Filter{}); r.Hidden["draft"] != 1 {
		t.Errorf("hidden: %v", r.Hidden)
	}
	node, _ := g.Find("ADR-0001", Filter{})
	if one := g.CheckNode(node[0]); one.Percent != 33 || len(one.Coverage[0].Missing) != 2 {
		t.Errorf("ADR-0001: %+v", one)
	}
}

func TestLifecycle(t *testing.T) {
	for status, want := range map[string]string{
		"": "approved", "active": "approved", "Accepted": "approved", "whatever": "approved", "Superseded by ADR-7": "superseded", "superseded": "superseded",
		"draft": "draft", "Borrador": "draft", "en revisión": "review", "Proposed": "proposed", "obsoleto": "deprecated", "rejected": "deprecated",
	} {
		if got := Lifecycle(status); got != want {
			t.Errorf("Lifecycle(%q) = %s, want %s", status, got, want)
		}
	}
}

func TestList(t *testing.T) {
	g := join(t, parsed(t, "shop", shop))
	l := g.List(Filter{Kind: "entidad", Limit: 1})
	if l.Total != 2 || len(l.Docs) != 1 || l.Hidden["draft"] != 1 {
		t.Errorf("%d of %d, hidden %v", len(l.Docs), l.Total, l.Hidden)
	}
	l = g.List(Filter{Kind: "adr", Limit: 10})
	if len(l.Docs) != 2 || l.Docs[0].Lifecycle != "superseded" || l.Docs[0].Title != "ADR-0001: Old" {
		t.Errorf("%+v", l)
	}
	if l = g.List(Filter{Status: "draft"}); l.Total != 1 || l.Docs[0].NodeID != "Entity:Payment" {
		t.Errorf("%+v", l)
	}
	if l = g.List(Filter{Domain: "Sales"}); l.Total != 1 {
		t.Errorf("%+v", l)
	}
	if l = g.List(Filter{Tag: "core"}); l.Total != 1 {
		t.Errorf("%+v", l)
	}
	if s := g.Stats(); s.Documents != 10 || s.Kinds["entity"] != 3 || s.Kinds[""] != 1 || s.Layers["01-domain"] != 5 {
		t.Errorf("%+v", s)
	}
}

func TestImpact(t *testing.T) {
	g := join(t, parsed(t, "shop", shop))
	r := g.Impact(Query{Entity: "Order", Seen: Seen{All: true}})
	var direct, further []string
	for _, x := range r.Direct {
		direct = append(direct, x.Node.ID)
	}
	for _, x := range r.Transitive {
		way := x.Node.ID
		for _, e := range x.Path {
			way += " " + e.Type + " " + e.To.ID
		}
		further = append(further, way)
	}
	slices.Sort(direct)
	slices.Sort(further)
	if d := cmp.Diff([]string{"BR:BR-ORDER-001", "CMD:CMD-001", "Entity:OrderLine", "Entity:Payment"}, direct); d != "" {
		t.Errorf("direct (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{
		"Actor:Customer PERFORMS UC:UC-001 INVOKES BR:BR-ORDER-001 VALIDATES Entity:Order",
		"Doc:README REFERENCES BR:BR-ORDER-001 VALIDATES Entity:Order",
		"UC:UC-001 INVOKES BR:BR-ORDER-001 VALIDATES Entity:Order",
	}, further); d != "" {
		t.Errorf("transitive (-want +got):\n%s", d)
	}
}

func TestMentions(t *testing.T) {
	g := join(t, parsed(t, "shop", shop))
	got := func(file string, symbols ...string) string {
		var out []string
		for _, m := range g.Mentions(file, symbols, Seen{}) {
			out = append(out, fmt.Sprintf("%s:%d %s %v", m.Doc.NodeID, m.Line, m.Text, m.Exact))
		}
		return strings.Join(out, "; ")
	}
	for _, x := range []struct{ got, want string }{
		{got("internal/shop/place.go"), "CMD:CMD-001:11 internal/shop/place.go true"},
		{got("src/internal/shop/place.go"), "CMD:CMD-001:11 internal/shop/place.go true"},
		{got("other/place.go"), ""},
		{got("x.go", "Shop.Place", "Other"), "CMD:CMD-001:11 Shop.Place false"},
		{got("x.go", "Place"), ""},
	} {
		if x.got != x.want {
			t.Errorf("%q, want %q", x.got, x.want)
		}
	}
}

func TestTwoStores(t *testing.T) {
	a := parsed(t, "a", map[string]string{"x.md": "---\nkind: entity\nid: Order\n---\n# Order\n\n[[User]] and [[Cart]]\n", "user.md": "---\nkind: entity\nid: User\n---\n# User\n"})
	b := parsed(t, "b", map[string]string{"user.md": "---\nkind: entity\nid: User\n---\n# User\n\n[[Order]]\n", "cart.md": "---\nkind: entity\nid: Cart\n---\n# Cart\n"})
	g := join(t, a, b)
	node, _ := g.Find("Order", Filter{})
	out, in := g.Edges(node[0])
	if len(out) != 2 || out[0].To.Doc.Label != "a" || out[1].To.Doc.Label != "b" {
		t.Errorf("out: %+v", out)
	}
	if len(in) != 1 || in[0].From.Doc.Label != "b" {
		t.Errorf("in: %+v", in)
	}
	if d := g.Doc("b", "cart.md"); d == nil || g.Node(d).ID != "Entity:Cart" || g.Doc("a", "cart.md") != nil {
		t.Error("documents by store and path")
	}
}

func TestSections(t *testing.T) {
	g := join(t, parsed(t, "s", map[string]string{"a.md": "intro\n\n# T\n\n## Descripción\n\ntext\n\n### Deeper\n\n## Flow\n\n## Flow\nlast\n"}))
	d := g.Docs()[0]
	for anchor, want := range map[string][2]int{"descripcion": {5, 10}, "#Descripción": {5, 10}, "deeper": {9, 10}, "flow": {11, 12}, "flow-1": {13, 14}, "t": {3, 14}} {
		i := d.Section(anchor, false)
		if i < 0 || d.Sections[i].Start != want[0] || d.Until(i) != want[1] {
			t.Errorf("%q is %d, lines %v", anchor, i, want)
		}
	}
	if d.Section("nope", false) != -1 || d.SectionAt(1) != 0 || d.SectionAt(7) != 2 || d.SectionAt(99) != 5 {
		t.Error("sections by line")
	}
}
