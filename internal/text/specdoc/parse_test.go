package specdoc

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// said shows what a document says about others, one a line, sorted.
func said(d *kb.SpecDoc) []string {
	var out []string
	for _, e := range d.Edges {
		from, to := e.From, e.Target
		if from == "" {
			from = "."
		}
		if to == "" {
			to = "."
		}
		out = append(out, fmt.Sprintf("%d %s %s %s %s %.2f", e.Line, from, e.Type, to, e.Method, e.Confidence))
	}
	for _, n := range d.Nodes {
		out = append(out, fmt.Sprintf("%d node %s %s", n.Line, n.Type, n.Name))
	}
	slices.SortFunc(out, func(a, b string) int {
		var x, y int
		fmt.Sscan(a, &x)
		fmt.Sscan(b, &y)
		if x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	return out
}

func text(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func TestFrontMatter(t *testing.T) {
	for _, x := range []struct {
		name string
		body string
		want kb.SpecDoc
	}{
		{"top", text("---", "id: BR-1", "kind: Regla de negocio", `title: "Total: positive"`, "status: Draft # not yet", "version: 2", "domain: sales",
			"aliases: [Total, 'a, b']", "tags:", "  - core", "- money", "---", "", "# BR-1 — Other"),
			kb.SpecDoc{ID: "BR-1", Kind: "business-rule", Title: "Total: positive", Status: "draft", Version: "2", Domain: "sales", Aliases: []string{"Total", "a", "b"}, Tags: []string{"core", "money"}}},
		{"below the title", text("# ADR-0004: MCP", "", "---", "id: ADR-0004", "status: superseded", "deciders: [a, b]", "---", "", "## Contexto"),
			kb.SpecDoc{ID: "ADR-0004", Kind: "adr", Title: "ADR-0004: MCP", Status: "superseded"}},
		{"right below the title", text("# T", "---", "kind: uc", "---"), kb.SpecDoc{Kind: "use-case", Title: "T"}},
		{"below a setext title", text("T", "=", "", "---", "kind: evento", "---"), kb.SpecDoc{Kind: "event", Title: "T"}},
		{"toml", text("+++", `title = "X"`, `kind = "process"`, "+++", "text"), kb.SpecDoc{Kind: "process", Title: "X"}},
		{"windows and byte order mark", "\ufeff---\r\nkind: entity\r\n---\r\n# X\r\n", kb.SpecDoc{Kind: "entity", Title: "X"}},
		{"broken lines", text("---", "kind: entity", "  : what", "tags: [a, b", "title: 'open", "status: [draft", "id: X-1", "---", "# T"),
			kb.SpecDoc{ID: "X-1", Kind: "entity", Title: "open", Status: "draft", Tags: []string{"a", "b"}}},
		{"no end", text("---", "kind: entity", "", "# T"), kb.SpecDoc{Title: "T"}},
		{"rules, not front matter", text("# T", "", "---", "Some text: with a colon.", "More text.", "", "---", "kind: entity"), kb.SpecDoc{Title: "T"}},
		{"template", text("---", "id: ADR-XXXX", "kind: adr", "status: proposed | accepted", "---", "# ADR-XXXX: Title"), kb.SpecDoc{Kind: "adr", Title: "ADR-XXXX: Title"}},
		{"other kinds", text("---", "kind: Release Note", "---", "# T"), kb.SpecDoc{Kind: "release-note", Title: "T"}},
		{"type is only a kind when it names one", text("---", "type: page", "---", "# T"), kb.SpecDoc{Title: "T"}},
		{"block scalar and nested", text("---", "title: >-", "  long", "  title", "meta:", "  kind: prd", "null_one: null", "---"), kb.SpecDoc{Kind: "prd", Title: "long title"}},
		{"title with an id", text("# [UC-12] Buy a thing"), kb.SpecDoc{ID: "UC-12", Kind: "use-case", Title: "UC-12 Buy a thing"}},
		{"title with a kind", text("# Entity: User"), kb.SpecDoc{Kind: "entity", Title: "Entity: User"}},
		{"no id", text("# UTF-8 everywhere"), kb.SpecDoc{Title: "UTF-8 everywhere"}},
		{"status section", text("# 7. Use files", "", "Date: 2016-02-12", "", "## Status", "", "Superseded by [9. Use rows](0009-rows.md)"), kb.SpecDoc{Title: "7. Use files", Status: "superseded"}},
		{"status line", text("# Use files", "", "* Status: proposed", "* Deciders: all"), kb.SpecDoc{Title: "Use files", Status: "proposed"}},
		{"bold status", text("# Use files", "", "**Estado:** Aceptado (2024)"), kb.SpecDoc{Title: "Use files", Status: "aceptado"}},
		{"no status", text("# Use files", "", "Status: 200 is returned", "", "## Status codes", "", "Draft"), kb.SpecDoc{Title: "Use files"}},
		{"comment", text("# <!-- short title --> Use files"), kb.SpecDoc{Title: "Use files"}},
		{"marks", text("# The `Foo` [*bar*](x.md) <b>baz</b> {#id}"), kb.SpecDoc{Title: "The Foo bar baz"}},
	} {
		got := Parse(x.body)
		if got == nil {
			t.Errorf("%s: nothing", x.name)
			continue
		}
		got.Sections, got.Nodes, got.Edges, got.Mentions = nil, nil, nil, nil
		if d := cmp.Diff(&x.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, d)
		}
	}
	if d := Parse("just text\n"); d != nil {
		t.Errorf("a text that says nothing: %+v", d)
	}
	if d := Parse(""); d != nil {
		t.Errorf("no text: %+v", d)
	}
}

func TestSections(t *testing.T) {
	d := Parse(text("intro", "", "# A {#x}", "```", "# no", "```", "    # no", "B *b*", "---", "## C", "", "<!-- # no", "## no -->", "<h3>D</h3>", "", "## C", "text ##", "---", "~~~", "## no"))
	var got []string
	for _, s := range d.Sections {
		got = append(got, fmt.Sprintf("%d-%d %d %s %s", s.Start, s.End, s.Level, s.Anchor, strings.Join(s.Path, "/")))
	}
	want := []string{"1-2 0  ", "3-7 1 a A", "8-9 2 b-b A/B b", "10-13 2 c A/C", "14-15 3 d A/C/D", "16-16 2 c A/C", "17-20 2 text A/text ##"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestEdges(t *testing.T) {
	body := text(
		"---", "id: UC-1", "kind: use-case", "actor: Developer", "related: [UC-2 (later), '[[Order|orders]]', null]", "depends_on:", "  - id: CMD-1", "  - EVT-A-B", "superseded_by: UC-9", "source: PRD-X-1", "code: src/buy.go", "---", // 1-12
		"# UC-1 — Buy", "", "See [[UC-1]] and [[domain::Cart#lines|the cart]], `[[Example]]`, ![[x.png]], [[...]], [[{Entity}]]. ISO-8601.", // 13-15
		"[the rules](../rules/BR-1%20x.md#a), [out](https://x.org/a.md) and [code](../src/a.go). RUL-7@v2. UC-XXX, https://x.org/UC-5", // 16
		"```", "[[Code]] BR-66", "```", "<!-- [[Comment]] -->", "", "    [[Indented]]", "", // 17-23
		"## Reglas Aplicadas", "", "- [[BR-2]] — text", "## Comandos", "- [[CMD-2]]", // 24-28
		"## Postcondiciones", "", "- Se emite [[EVT-X-Y]].", // 29-31
		"## Actores", "", "- **Git Hook**: runs", "- Developer", // 32-35
		"## Dependencias", "- [[Lib]]", // 36-37
	)
	want := []string{
		"4 Developer PERFORMS . frontmatter 1.00", "4 node actor Developer",
		"5 . RELATED_TO Order frontmatter 1.00", "5 . RELATED_TO UC-2 frontmatter 1.00",
		"6 . DEPENDS_ON CMD-1 frontmatter 1.00", "6 . DEPENDS_ON EVT-A-B frontmatter 1.00",
		"9 UC-9 SUPERSEDES . frontmatter 1.00", "10 . REFERENCES PRD-X-1 frontmatter 1.00",
		"15 . MENTIONS ISO-8601 id 0.90", "15 . MENTIONS domain::Cart wiki_link 0.90", "15 . REFERENCES domain::Cart pattern 0.70",
		"16 . MENTIONS RUL-7 id 0.90", "16 . REFERENCES ../rules/BR-1 x.md link 0.90",
		"26 . INVOKES BR-2 wiki_link 0.90", "28 . MENTIONS CMD-2 wiki_link 0.90",
		"31 . EMITS EVT-X-Y wiki_link 0.90",
		"34 Git Hook PERFORMS . table 0.85", "34 node actor Git Hook",
		"37 . DEPENDS_ON Lib wiki_link 0.90",
	}
	d := Parse(body)
	if diff := cmp.Diff(want, said(d)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]kb.SpecMention{{Text: "src/buy.go", Line: 11}, {Text: "../src/a.go", Line: 16}}, d.Mentions); diff != "" {
		t.Errorf("mentions (-want +got):\n%s", diff)
	}
}

func TestSuperseding(t *testing.T) {
	for body, want := range map[string]string{
		"# 7\n\n## Status\n\nSuperseded by [9](0009-rows.md)\n":   "5 0009-rows.md SUPERSEDES . link 0.90",
		"# 7\n\n* Status: supersedes ADR-0003\n":                  "3 . SUPERSEDES ADR-0003 id 0.90",
		"# 7\n\n## Estado\n\nReemplazado por [[ADR-9]]\n":         "5 ADR-9 SUPERSEDES . wiki_link 0.90",
		"# 7\n\n## Status\n\nMarked (\"superseded by ADR-9\").\n": "5 . MENTIONS ADR-9 id 0.90",
		"# 7\n\n## Status\n\nAccepted, see [9](0009-rows.md)\n":   "5 . REFERENCES 0009-rows.md link 0.90",
	} {
		if got := said(Parse(body)); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

func TestTables(t *testing.T) {
	d := Parse(text(
		"---", "kind: entity", "---", "# Order", // 1-4
		"## Attributes", "| Name | Type | About |", "|---|:--|---|", "| `total` | `int` | a \\| b, [[Money|cash]] |", "| lines | [[Line\\|lines]] | |", // 5-9
		"## Relaciones", "| Relación | Cardinalidad | Destino |", "|---|---|---|", "| paid by | 1:N | [[Payment]] |", "| held in | N:1 | `Warehouse` |", "| none | | - |", // 10-15
		"## States", "| State | Meaning |", "|---|---|", "| open | at first |", // 16-19
		"## Events", "- Emits: OrderPlaced", "- consumes `PaymentDone`", "- [[EVT-Order-Shipped]]: when it leaves", // 20-23
		"## Other", "| Name | Destino |", "|---|---|", "| x | [[Z]] |", // 24-27
	))
	want := []string{
		"8 . CONTAINS Order.total table 0.95", "8 . MENTIONS Money wiki_link 0.90", "8 node concept Order.total",
		"9 . CONTAINS Order.lines table 0.95", "9 . REFERENCES Line table 0.90", "9 node concept Order.lines",
		"13 . REFERENCES Payment table 0.95",
		"14 . REFERENCES Warehouse table 0.95", "14 node entity Warehouse",
		"19 . CONTAINS Order::open table 0.95", "19 node concept Order::open",
		"21 . PRODUCES OrderPlaced table 0.90", "21 node event OrderPlaced",
		"22 . CONSUMES PaymentDone table 0.90", "22 node event PaymentDone",
		"23 . PRODUCES EVT-Order-Shipped table 0.90",
		"27 . MENTIONS Z wiki_link 0.90",
	}
	if diff := cmp.Diff(want, said(d)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, e := range d.Edges {
		if e.Target == "Payment" && e.Label != "paid by 1:N" {
			t.Errorf("label %q", e.Label)
		}
	}
}

func TestPatterns(t *testing.T) {
	for line, want := range map[string]string{
		"AuthService depends on the TokenValidator and `UserStore`.": "AuthService DEPENDS_ON TokenValidator, AuthService DEPENDS_ON UserStore",
		"El AuthService depende de [[TokenValidator]].":              "AuthService DEPENDS_ON TokenValidator",
		"**Order** usa el servicio [[Cart]]":                         "Order USES Cart",
		"- Depends on [[Cart]], [[Price]]":                           ". DEPENDS_ON Cart, . DEPENDS_ON Price",
		"Se emite [[EVT-A-B]] al final.":                             ". EMITS EVT-A-B",
		"First. The system triggers [[X]].":                          ". TRIGGERS X",
		"OrderService implements RF-AUTH-001.":                       "OrderService IMPLEMENTS RF-AUTH-001",
		"AuthService does not depend on TokenValidator.":             "",
		"AuthService never uses TokenValidator.":                     "",
		"Does AuthService, or the rest, use TokenValidator?":         "",
		"AuthService is fast. TokenValidator is not.":                "",
		"AuthService, which nobody likes, uses TokenValidator":       "",
		"`a uses b`":                                "",
		"Actor: Customer, Shop Owner":               "Customer PERFORMS ., Shop Owner PERFORMS .",
		"**Sistema:** Stripe y SAP":                 ". USES SAP, . USES Stripe",
		"Actor: somebody who does things. And more": "",
		"Entity: everything that matters here":      "",
	} {
		var got []string
		if d := Parse("# T\n\n" + line + "\n"); d != nil {
			for _, e := range d.Edges {
				if e.Method != "pattern" {
					continue
				}
				from, to := e.From, e.Target
				if from == "" {
					from = "."
				}
				if to == "" {
					to = "."
				}
				got = append(got, from+" "+e.Type+" "+to)
			}
		}
		slices.Sort(got)
		if g := strings.Join(got, ", "); g != want {
			t.Errorf("%s\n got %s\nwant %s", line, g, want)
		}
	}
}

func TestSectionTypes(t *testing.T) {
	for body, want := range map[string]string{
		"## Entity: User\n": "ENTITY", "## Entidades\n": "ENTITY", "## Atributos\n": "ENTITY",
		"## User\nA user represents a person who buys.\n":                          "ENTITY",
		"## User\nAttributes:\n- id\n":                                             "ENTITY",
		"## User\n- **email**: where\n- **name**: who\n- **age** (int): how old\n": "ENTITY",
		"## Features\n- **Fast**: very\n- **Small**: too\n- **Safe**: yes\n":       "DEFAULT",
		"## CU-12 Comprar\n": "USE_CASE",
		"## Story\nAs a user, I want to buy things, so that I have them.\n":                            "USE_CASE",
		"## Historia\n**Como** cliente **quiero** comprar\n":                                           "DEFAULT",
		"## Historia\nComo cliente quiero comprar algo.\n":                                             "USE_CASE",
		"## Buy\nGiven a cart\nWhen it is paid\nThen it ships\n":                                       "USE_CASE",
		"## Buying\n**Preconditions**: a cart\n":                                                       "USE_CASE",
		"## Regla de descuento\n":                                                                      "RULE",
		"## Reglas de validación\n":                                                                    "RULE",
		"## BR-7 Totals\n":                                                                             "RULE",
		"## Totals\nThe total must be positive.\nA refund must not exceed the total.\n":                "RULE",
		"## Totals\nEl total debe ser positivo.\n":                                                     "RULE",
		"## Install\nYou must have Go. Then run the program. It prints a line. Read it. Enjoy it all.": "DEFAULT",
		"## Authentication Flow\ntext\n":                                                               "PROCESS",
		"## Proceso de alta\n":                                                                         "PROCESS",
		"## Process isolation\nEach one runs alone.\n":                                                 "DEFAULT",
		"## Flujo de compra\n":                                                                         "PROCESS",
		"## Do\n1. Take it\n2. Turn it\n3. Push it\n":                                                  "PROCESS",
		"## Contents\n1. [A](#a)\n2. [B](#b)\n3. [C](#c)\n":                                            "DEFAULT",
		"## Two\n1. Take it\n2. Turn it\n":                                                             "DEFAULT",
		"## Chart\n```mermaid\nflowchart TD\n```\n":                                                    "PROCESS",
		"## When to use\nWhen you need speed, use this. First try the other. Then this.\n":             "DEFAULT",
		"## Steps to nowhere\nA step is a step.\n":                                                     "DEFAULT",
		"## Required reading\nThis is required by nobody and mandatory for none of them at all.\n":     "DEFAULT",
	} {
		d := Parse(body)
		if got := d.Sections[0].Type; got != want {
			t.Errorf("%q is %s, want %s", body, got, want)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, x := range []struct{ kind, path, want string }{
		{"adr", "x.md", "adr"}, {"", "docs/adr/0001-use-go.md", "adr"}, {"", "docs/decisions/x.md", "adr"}, {"", "docs/adr/README.md", ""}, {"", "docs/adr/_TEMPLATE.md", ""},
		{"", "specs/02-behavior/use-cases/buy.md", "use-case"}, {"", "src/components/button.md", ""}, {"", "specs/components/button.md", "ui-component"}, {"", "docs/commands/run.md", ""}, {"", "01-domain/rules/x.md", "business-rule"}, {"", "a/UC-001-Buy.md", "use-case"},
		{"", "docs/event-loop.md", ""}, {"", "docs/ui-guide.md", ""}, {"", "docs/adr/adr-template.md", ""}, {"", "docs/adr-0007-files.md", "adr"}, {"", "x/UI-Cart.md", "ui-view"}, {"", "glosario.md", "glossary"}, {"", "a/b.md", ""}, {"", "view/flow.md", ""},
	} {
		if got := KindOf(x.kind, x.path); got != x.want {
			t.Errorf("KindOf(%q, %q) = %q, want %q", x.kind, x.path, got, x.want)
		}
	}
	for word, want := range map[string]string{"Caso de uso": "use-case", "UseCase": "use-case", "use_case": "use-case", "UC": "use-case", "Política": "business-policy", "XP": "cross-policy", "UI View": "ui-view", "Requisitos": "requirement", "": "", "page": ""} {
		k, _ := KindNamed(word)
		if k.Name != want {
			t.Errorf("KindNamed(%q) = %q, want %q", word, k.Name, want)
		}
	}
	if got := NodeID("business-rule", "", "x/BR-1.md"); got != "BR:BR-1" {
		t.Error(got)
	}
}

// TestLongLines: a line that is data takes no time, and the lines below it count.
func TestLongLines(t *testing.T) {
	for _, unit := range []string{"UC-1 ", "[[a]] uses ", "[[", "x `y", "**a ", "é", "[x](y.md) "} {
		d := Parse("# T\n\n" + strings.Repeat(unit, 1<<20/len(unit)) + "\n\n[[Below]]\n")
		last := d.Edges[len(d.Edges)-1]
		if last.Target != "Below" || last.Line != 5 || len(d.Edges) > 4 {
			t.Errorf("%q: %+v", unit, d.Edges)
		}
	}
}

// FuzzParse: whatever the text, a document's facts lie within it and within bounds.
func FuzzParse(f *testing.F) {
	f.Add("---\nid: X\n---\n# A\n[[b]] UC-1 `c.go`\n| a | b |\n|--|--|\n")
	f.Add("# T\n\n---\nkind: entity\ntags: [a, [[b]]]\n---\n## Atributos\n| Atributo |\n|---|\n| `x\\|y` |\n")
	f.Add("## Actores\n- **A**: b\n## Events\n- Emits: Ab\n<!-- x\n--> `` ` [[ [a](b.md ![x](y.md)\n")
	if b, err := os.ReadFile("../../../README.md"); err == nil {
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, body string) {
		d := Parse(body)
		if d == nil {
			return
		}
		n := strings.Count(body, "\n") + 1
		last := 0
		for i, s := range d.Sections {
			if s.Start <= last || s.End < s.Start || s.End > n || s.Level > 6 || (s.Level == 0) != (len(s.Path) == 0) || s.Level == 0 && i > 0 {
				t.Fatalf("section %d: %+v of %d lines", i, s, n)
			}
			if s.Anchor != "" && Find([]string{s.Anchor}, s.Path[len(s.Path)-1]) != 0 {
				t.Fatalf("the heading %q does not find its anchor %q", s.Path[len(s.Path)-1], s.Anchor)
			}
			last = s.Start
		}
		for _, e := range d.Edges {
			if e.Line < 1 || e.Line > n || e.Type == "" || e.From == e.Target || e.Confidence <= 0 || e.Confidence > 1 {
				t.Fatalf("edge %+v of %d lines", e, n)
			}
		}
		for _, x := range d.Nodes {
			if x.Line < 1 || x.Line > n || x.Name == "" || len(x.Name) > maxName {
				t.Fatalf("node %+v of %d lines", x, n)
			}
		}
		if len(d.Edges) > maxEdges || len(d.Nodes) > maxNodes || len(d.Mentions) > maxMentions || len(d.Sections) > maxSections+1 {
			t.Fatal("over the bounds")
		}
	})
}

func BenchmarkParse(b *testing.B) {
	body, err := os.ReadFile("../../../README.md")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Parse(string(body))
	}
}
