package specs_test

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// lintRow is a document that breaks a rule in a line, or nearly does: line 0.
type lintRow struct {
	rule, path string
	line       int
	text       string
}

// spec is a document with front matter.
func spec(front, body string) string { return "---\n" + front + "\n---\n" + body }

// lintRows have for every rule a document that breaks it and some that nearly
// do. They lie in one project, so that each is also a near miss of all others.
var lintRows = []lintRow{
	{kdd.FrontOpen, "a/open.md", 1, "---\nid: FM-001\nkind: adr\n\n# Open\n\nNobody closed it.\n"},
	{kdd.FrontOpen, "a/ruled.md", 0, "---\n\nText between two rules.\n\n---\n\n# Ruled\n"},
	{kdd.FrontOpen, "a/dots.md", 0, "---\ntitle: closed by dots\n...\n\n# Dots\n"},

	{kdd.FrontList, "a/list.md", 1, "---\n- id: FL-001\n- kind: adr\n---\n# List\n"},
	{kdd.FrontList, "a/holds-a-list.md", 0, spec("kind: glossary\ntags:\n- one\n- two", "# Terms\n")},

	{kdd.UnknownKind, "a/kind.md", 3, spec("id: K-1\nkind: busines-rule", "# A rule, misspelt\n")},
	{kdd.UnknownKind, "a/recipe.md", 0, spec("kind: recipe", "# Soup of one pot\n")},
	{kdd.UnknownKind, "a/regla.md", 0, spec("id: RN-301\nkind: Regla de negocio", "# RN-301 En español\n")},

	{kdd.UnknownStatus, "a/status.md", 4, spec("id: ADR-0101\nkind: adr\nstatus: approoved", "# Queues\n")},
	{kdd.UnknownStatus, "a/superseded.md", 0, spec("id: ADR-0102\nkind: adr\nstatus: Superseded by ADR-0101", "# Older queues\n")},
	{kdd.UnknownStatus, "a/decided.md", 0, spec("id: ADR-0104\nkind: adr\nstatus: decided", "# Pipes\n")},
	{kdd.UnknownStatus, "a/held.md", 0, spec("id: ADR-0105\nkind: adr\nstatus: on hold", "# Hoses\n")},
	{kdd.UnknownStatus, "a/revision.md", 0, spec("id: ADR-0103\nkind: adr\nestado: En revisión", "# Colas\n")},

	{kdd.DuplicateID, "a/twin.md", 2, spec("id: ADR-0110\nkind: adr", "# One way to log\n")},
	{kdd.DuplicateID, "b/twin.md", 3, spec("kind: adr\nid: adr-0110", "# Another way to log\n")},
	{kdd.DuplicateID, "tests/input/twin.md", 0, spec("id: ADR-0111\nkind: adr\nstatus: approoved", "# A way to log\n")},
	{kdd.DuplicateID, "tests/output/twin.md", 0, spec("id: ADR-0111\nkind: adr", "# A way to log\n")},
	{kdd.DuplicateID, "a/untwinned.md", 0, spec("id: ADR-0111\nkind: adr", "# The way to log\n")},
	{kdd.DuplicateID, "b/sibling.md", 0, spec("id: ADR-01100\nkind: adr", "# One way to log\n")},

	{kdd.TitleNoID, "a/no-id.md", 5, spec("kind: requirement\ndomain: shop", "# The checkout is fast\n")},
	{kdd.TitleNoID, "a/Basket.md", 0, spec("kind: entity\ndomain: shop", "# Basket\n")},
	{kdd.TitleNoID, "a/policy.md", 0, spec("kind: business-policy", "# No team numbers these\n")},
	{kdd.TitleNoID, "docs/adr/0120-files.md", 0, "# Keep files\n\n## Decision\n\nWe keep files.\n"},
	{kdd.TitleNoID, "a/needs.rst", 0, "Brakes\n======\n\n.. req:: The car stops\n   :id: REQ_121\n   :status: open\n\n   It stops, see :need:`[[title]] <REQ_121>`.\n"},
	{kdd.TitleNoID, "a/_TEMPLATE.md", 0, spec("kind: requirement", "# What is required\n")},
	{kdd.TitleNoID, "a/REQ-120-later.md", 0, spec("kind: requirement", "# The checkout is kind\n")},

	{kdd.SelfReference, "a/self.md", 4, spec("id: ADR-0130\nkind: adr\ndepends_on: [ADR-0130]", "# Mirrors\n")},
	{kdd.SelfReference, "a/names-itself.md", 0, spec("id: ADR-0131\nkind: adr\nrelated: [ADR-0130]", "# ADR-0131 Windows\n\nADR-0131 is this one, see [[ADR-0131]].\n")},

	{kdd.Circular, "a/circle-1.md", 4, spec("id: ADR-0140\nkind: adr\ndepends_on: [ADR-0141]", "# Chicken\n")},
	{kdd.Circular, "a/circle-2.md", 0, spec("id: ADR-0141\nkind: adr\ndepends_on: [ADR-0140]", "# Egg\n")}, // the same circle, said once
	{kdd.Circular, "a/near-1.md", 0, spec("id: ADR-0142\nkind: adr\ndepends_on: [ADR-0143]", "# Soil\n")},
	{kdd.Circular, "a/near-2.md", 0, spec("id: ADR-0143\nkind: adr\nrelated: [ADR-0142]", "# Rain\n")},

	{kdd.LayerUpwards, "specs/01-domain/entities/Lamp.md", 6, spec("kind: entity", "# Lamp\n\nIt is lit by [[UC-150]].\n")},
	{kdd.LayerUpwards, "specs/02-behavior/use-cases/UC-150.md", 0, spec("id: UC-150\nkind: use-case", "# UC-150 Light\n\nLights a [[Lamp]].\n")},
	{kdd.LayerUpwards, "specs/00-requirements/OBJ-150.md", 0, spec("id: OBJ-150\nkind: objective", "# OBJ-150 Be seen\n\nServed by [[UC-150]].\n")},

	{kdd.DanglingLink, "a/dangling.md", 7, spec("id: ADR-0160\nkind: adr", "# Bridges\n\nSee [[A-Bridge-Nobody-Built]].\n")},
	{kdd.DanglingLink, "a/depends.md", 4, spec("id: ADR-0161\nkind: adr\ndepends_on: [ADR-9999]", "# Ferries\n")},
	{kdd.DanglingLink, "a/file.md", 7, spec("id: ADR-0162\nkind: adr", "# Tunnels\n\nSee [the other](gone.md).\n")},
	{kdd.DanglingLink, "a/no-link.md", 0, spec("id: ADR-0163\nkind: adr", "# Paths\n\nUTF-8 and ISO-8601. `[[Example]]`, [elsewhere](https://example.org/x.md), [[\"cpu\",\"ns\"]], ADR-0000, said[[2]](https://example.org)[[3]][three].\n\n```\n[[Nothing]]\n```\n")},

	{kdd.DanglingLink, "docs/adr/0000-first.md", 0, "# Record decisions\n\n## Decision\n\nWe do.\n"},

	{kdd.DanglingPlace, "a/place.md", 7, spec("id: ADR-0170\nkind: adr", "# Harbours\n\nSee [below](#no-such-heading).\n")},
	{kdd.DanglingPlace, "a/other-place.md", 7, spec("id: ADR-0171\nkind: adr", "# Ports\n\nSee [there](places.md#gone).\n")},
	{kdd.DanglingPlace, "a/places.md", 0, spec("id: ADR-0172\nkind: adr", "# Quays\n\n[1](#quays) [2](#descripción) [3](#descripcion) [4](#ejemplo-1) [5](#here) [6](#own) [12](#spaced)\n[7](holds-a-list.md) [8](#L10) `[9](#nothing)` [10](./places.md#ejemplo) [11](place.md#harbours)\n\n## Descripción\n\n## Ejemplo\n\n## Ejemplo\n\n<a id=\"here\"></a>\n\n## Named {#own}\n\n## Spaced out { #spaced }\n")},

	{kdd.Unverified, "a/unverified.md", 5, spec("id: REQ-180\nkind: requirement", "# REQ-180 Nothing tries this\n")},
	{kdd.Unverified, "a/tested.md", 0, spec("id: REQ-181\nkind: requirement", "# REQ-181 A test names this\n")},
	{kdd.Unverified, "a/scenario.md", 0, spec("id: REQ-182\nkind: requirement", "# REQ-182 A scenario names this\n")},
	{kdd.Unverified, "a/verified.md", 0, spec("id: REQ-183\nkind: requirement", "# REQ-183 A document verifies this\n")},
	{kdd.Unverified, "a/plan.md", 0, spec("id: ADR-0184\nkind: adr\nverifies: [REQ-183]", "# Test plan\n")},

	{kdd.Unnamed, "a/unnamed.md", 5, spec("id: BR-190\nkind: business-rule", "# BR-190 No code keeps this\n")},
	{kdd.Unnamed, "a/named.md", 0, spec("id: BR-191\nkind: business-rule", "# BR-191 Code names this\n")},
	{kdd.Unnamed, "a/names-code.md", 0, spec("id: BR-192\nkind: business-rule", "# BR-192 This names code\n\nKept by `src/shop.go`.\n")},
	{kdd.SuspectLink, "a/rests.md", 4, spec("id: ADR-0200\nkind: adr\ndepends_on: [ADR-0201]", "# Wheels\n")},
	{kdd.SuspectLink, "a/changed.md", 0, spec("id: ADR-0201\nkind: adr", "# Axles\n")},
	{kdd.SuspectLink, "a/kept-up.md", 0, spec("id: ADR-0202\nkind: adr\ndepends_on: [ADR-0201]", "# Hubs\n")},
	{kdd.SuspectLink, "a/looked-at.md", 0, spec("id: ADR-0203\nkind: adr\ndepends_on: [ADR-0201]\nreviewed: 2026-02-02", "# Tyres\n")},
	{kdd.SuspectLink, "a/looked-at-early.md", 4, spec("id: ADR-0204\nkind: adr\ndepends_on: [ADR-0201]\nreviewed: 2026-02-01", "# Rims\n")},
	{kdd.SuspectLink, "a/mentions.md", 0, spec("id: ADR-0205\nkind: adr\nrelated: [ADR-0201]", "# Spokes\n\nAs [[ADR-0201]] has it.\n")},
	{kdd.SuspectLink, "a/archive/2026/change.md", 0, spec("id: ADR-0207\nkind: adr\ndepends_on: [ADR-0201]", "# Bolts\n")},
	{kdd.SuspectLink, "a/past.md", 0, spec("id: ADR-0206\nkind: adr\nstatus: superseded\ndepends_on: [ADR-0201]", "# Hoops\n")},

	{kdd.Unnamed, "a/regla-2.md", 0, spec("id: RN-193\nkind: business-rule", "# RN-193 In a name of code\n")},
}

// lintCode is code and tests beside the documents.
var lintCode = map[string]string{
	"src/shop.go":           "package shop\n\n// Total keeps BR-191 and RN-301.\nfunc Total() {}\n",
	"src/shop_test.go":      "package shop\n\n// REQ-181, and not REQ-1800.\nfunc TestTotal_REQ_120(t *testing.T) {}\n",
	"src/rules.py":          "def keep_rn_193_always():\n    pass\n",
	"features/shop.feature": "Feature: shop\n\n  @REQ-182\n  Scenario: buying\n    Given a basket\n",
	"data/ids.json":         `{"REQ-180":"data names it","BR-190":1}`,
}

func linted(t *testing.T) (*producttest.Site, *app.App) {
	s := producttest.NewSite(t)
	for _, r := range lintRows {
		s.Write(path.Join("p", r.path), r.text)
	}
	for p, text := range lintCode {
		s.Write(path.Join("p", p), text)
	}
	committed(t, s, 1)
	s.Write("p/a/changed.md", lintText("a/changed.md")+"\nLonger now.\n")
	s.Write("p/a/kept-up.md", lintText("a/kept-up.md")+"\nAs well.\n")
	committed(t, s, 2)
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "shop"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	return s, a
}

// lintText is the document of a row.
func lintText(path string) string {
	return lintRows[slices.IndexFunc(lintRows, func(r lintRow) bool { return r.path == path })].text
}

// committed commits all files of the project p on a day of February 2026.
func committed(t *testing.T, s *producttest.Site, day int) {
	t.Helper()
	dir := filepath.Join(s.Root, "p")
	repo, err := git.PlainOpen(dir)
	if err != nil {
		repo, err = git.PlainInit(dir, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.AddGlob("."); err != nil {
		t.Fatal(err)
	}
	by := &object.Signature{Name: "a", Email: "a@example.org", When: time.Date(2026, 2, day, 12, 0, 0, 0, time.UTC)}
	if _, err := tree.Commit("a day", &git.CommitOptions{Author: by}); err != nil {
		t.Fatal(err)
	}
}

// TestLint: every rule finds the documents that break it, in their line, and no
// document that nearly does.
func TestLint(t *testing.T) {
	_, a := linted(t)
	c, err := specs.Check(t.Context(), a, specs.CheckQuery{Limit: 500, Severity: []string{"incomplete=off"}, Scope: specs.Scope{Waiting: person}})
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	broken, nearly := map[string]bool{}, map[string]bool{}
	for _, r := range lintRows {
		if nearly[r.rule] = nearly[r.rule] || r.line == 0; r.line > 0 {
			broken[r.rule] = true
			want = append(want, fmt.Sprintf("%s %s:%d", r.rule, r.path, r.line))
		}
	}
	for _, f := range c.Findings {
		got = append(got, fmt.Sprintf("%s %s:%d", f.Rule, f.File, f.Line))
		if f.Message == "" || f.Mend == "" || f.URL == "" {
			t.Errorf("%+v", f)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, r := range kdd.Rules {
		if r.Name != kdd.Incomplete && (!broken[r.Name] || !nearly[r.Name]) {
			t.Errorf("%s has no document that breaks it, or none that nearly does", r.Name)
		}
	}
	if c.ExitStatus() != 1 {
		t.Error("errors have no exit status")
	}
}

// TestLintIncomplete: what a kind asks for and a document lacks is a note.
func TestLintIncomplete(t *testing.T) {
	_, a := linted(t)
	c, err := specs.Check(t.Context(), a, specs.CheckQuery{Entity: "ADR-0160", Scope: specs.Scope{Waiting: person}})
	if err != nil || len(c.Findings) != 2 || c.Findings[1].Rule != kdd.Incomplete || c.Findings[1].Severity != "note" || !strings.Contains(c.Findings[1].Mend, "Decision") {
		t.Errorf("%+v %v", c.Findings, err)
	}
	if c, err = specs.Check(t.Context(), a, specs.CheckQuery{Entity: "docs/adr/0120-files.md", Scope: specs.Scope{Waiting: person}}); err != nil || c.ExitStatus() != 0 {
		t.Errorf("%+v %v", c.Findings, err)
	}
}

// TestLintPages: pages of findings join to the whole, the worst first.
func TestLintPages(t *testing.T) {
	_, a := linted(t)
	scope := specs.Scope{Waiting: person}
	all, err := specs.Check(t.Context(), a, specs.CheckQuery{Limit: 500, Scope: scope})
	if err != nil || all.Next != 0 {
		t.Fatalf("%d %v", all.Next, err)
	}
	var joined []specs.CheckFinding
	for at := 0; ; {
		c, err := specs.Check(t.Context(), a, specs.CheckQuery{Limit: 7, Offset: at, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		joined = append(joined, c.Findings...)
		if at = c.Next; at == 0 {
			break
		}
	}
	if d := cmp.Diff(all.Findings, joined); d != "" {
		t.Error(d)
	}
	if joined[0].Severity != "error" || joined[len(joined)-1].Severity != "note" {
		t.Error("the worst do not come first")
	}
}

// TestLintConfigured: a project sets severities and keeps a baseline.
func TestLintConfigured(t *testing.T) {
	s, a := linted(t)
	ask := func(q specs.CheckQuery) specs.CheckReply {
		t.Helper()
		q.Waiting, q.Limit = person, 500
		c, err := specs.Check(t.Context(), a, q)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := ask(specs.CheckQuery{})
	s.Write("p/.knowledge/check.yaml", "severity:\n  duplicate-id: off\n  dangling-link: note\n")
	c := ask(specs.CheckQuery{Severity: []string{"incomplete=off"}})
	for _, f := range c.Findings {
		if f.Rule == kdd.DuplicateID || f.Rule == kdd.Incomplete || f.Rule == kdd.DanglingLink && f.Severity != "note" {
			t.Errorf("%+v", f)
		}
	}
	if c.Totals["error"] != before.Totals["error"]-5 {
		t.Errorf("%v, before %v", c.Totals, before.Totals)
	}
	s.Write("p/known.json", ask(specs.CheckQuery{Format: "baseline"}).Report)
	s.Write("p/.knowledge/check.yaml", "baseline: known.json\nseverity: {duplicate-id: off}\n")
	if c = ask(specs.CheckQuery{}); len(c.Findings) != 0 || c.Known == 0 || c.ExitStatus() != 0 {
		t.Errorf("%+v", c.Findings)
	}
	var log struct {
		Runs []struct {
			Results []struct{ RuleID string }
			Tool    struct {
				Driver struct{ Rules []struct{ ID string } }
			}
		}
	}
	c = ask(specs.CheckQuery{Format: "sarif", Severity: []string{"duplicate-id=error"}})
	if err := json.Unmarshal([]byte(c.Report), &log); err != nil || len(log.Runs[0].Results) != 2 || len(log.Runs[0].Tool.Driver.Rules) != len(kdd.Rules) || c.ExitStatus() != 1 {
		t.Errorf("%v %s", err, c.Report)
	}
	for name, text := range map[string]string{
		"a rule": "severity: {no-such-rule: off}", "a severity": "severity: {duplicate-id: fatal}", "a key": "sverity: {}", "no map": "- a", "a baseline": "baseline: gone.json", "outside": "baseline: ../../../../etc/hostname",
	} {
		s.Write("p/.knowledge/check.yaml", text)
		if _, err := specs.Check(t.Context(), a, specs.CheckQuery{Scope: specs.Scope{Waiting: person}}); err == nil {
			t.Errorf("%s that there is not is taken", name)
		}
	}
}
