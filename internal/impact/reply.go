package impact

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/impact/reach"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Reply says what a change reaches.
type Reply struct {
	About       string    `json:"about"`   // what changes: "the work tree against 1a2b3c4d5e of 2026-11-01"
	Changed     []Changed `json:"changed"` // the declarations
	MoreChanged int       `json:"moreChanged,omitempty"`
	Callers     []Caller  `json:"callers,omitempty"` // the surest first
	MoreCallers int       `json:"moreCallers,omitempty"`
	Tests       []Test    `json:"tests,omitempty"` // the likeliest to notice first
	MoreTests   int       `json:"moreTests,omitempty"`
	Run         []string  `json:"run,omitempty"` // lines for a shell that run those tests
	API         []string  `json:"api,omitempty"` // what is public and changes
	Specs       []string  `json:"specs,omitempty"`
	Evidence    []string  `json:"evidence,omitempty"` // open findings and coverage of what changes
	Unknown     []string  `json:"unknown,omitempty"`  // what this does not know
	Notes       []string  `json:"notes,omitempty"`
}

// Changed is a declaration that changes, or a file outside of all of them.
type Changed struct {
	At     string `json:"at"` // path:Lfrom-Lto
	Symbol string `json:"symbol,omitempty"`
	Kind   string `json:"kind,omitempty"`
	What   string `json:"what,omitempty"`   // deleted
	Public bool   `json:"public,omitempty"` // by the customs of its language
	decl   reach.Decl
	target *search.Target
}

// Caller is a declaration that a change reaches by its references.
type Caller struct {
	At         string  `json:"at"` // path:Lline, of the use
	Symbol     string  `json:"symbol"`
	Depth      int     `json:"depth"`
	Confidence float64 `json:"confidence,omitempty"` // left out when it is 1
	Public     bool    `json:"public,omitempty"`
}

// Test is a test that may notice a change.
type Test struct {
	At     string        `json:"at"`               // path:Lline
	Symbol string        `json:"symbol,omitempty"` // "" where the whole file is one
	Why    string        `json:"why"`
	Ranked *reach.Ranked `json:"-"`
}

const (
	mostShownChanged = 12
	mostShownCallers = 15
	mostShownAPI     = 8
	mostShownSpecs   = 6
	mostEnriched     = 8
)

// describe describes a declaration that changes.
func describe(d reach.Decl, lines []line, language string, t *search.Target) Changed {
	from, to := lines[0].at, lines[0].at
	for _, l := range lines {
		from, to = min(from, l.at), max(to, l.at)
	}
	return Changed{At: span(d.Path, from, to), Symbol: d.Qualified, Kind: d.Kind, Public: d.Name != "" && public(d, language), decl: d, target: t}
}

func span(path string, from, to int) string {
	if from == to {
		return fmt.Sprintf("%s:L%d", path, from)
	}
	return fmt.Sprintf("%s:L%d-%d", path, from, to)
}

// callers adds what calls, as far as depth.
func (r *Reply) callers(web *reach.Web, depth int) {
	var all []*reach.Node
	for _, n := range web.Nodes {
		if n.Of != nil && !n.Test && !n.Loose && n.Depth <= depth && !reach.IsTest(n.Path) {
			all = append(all, n)
		}
	}
	kb.SortStableFunc(all, func(a, b *reach.Node) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Depth, b.Depth))
	})
	for _, n := range all {
		if len(r.Callers) == mostShownCallers {
			r.MoreCallers++
			continue
		}
		c := Caller{At: span(n.Path, n.At, n.At), Symbol: n.Qualified, Depth: n.Depth, Public: public(n.Decl, "")}
		if n.Confidence < 0.995 {
			c.Confidence = math.Round(n.Confidence*100) / 100
		}
		r.Callers = append(r.Callers, c)
	}
}

// tests adds the first of the ranked tests.
func (r *Reply) tests(all []reach.Ranked, limit int) {
	r.MoreTests = max(0, len(all)-limit)
	for i := range all[:min(limit, len(all))] {
		t := &all[i]
		r.Tests = append(r.Tests, Test{At: span(t.Path, t.Line, t.Line), Symbol: t.Symbol, Why: why(t), Ranked: t})
	}
	r.Run = runs(r.Tests)
}

// why says what speaks for a test.
func why(t *reach.Ranked) string {
	var out []string
	switch n := t.Node; {
	case n == nil:
	case n.Depth == 0:
		out = append(out, "changes itself")
	case n.Guessed:
		out = append(out, fmt.Sprintf("may reach it in %s", kb.Count(n.Depth, "step")))
	case n.Depth == 1:
		out = append(out, "uses it")
	default:
		out = append(out, fmt.Sprintf("reaches it in %s", kb.Count(n.Depth, "step")))
	}
	s := t.Signals
	for _, x := range []struct {
		signal int
		least  float64
		says   string
	}{
		{reach.Commit, 0.2, "made by the same commit"}, {reach.Named, 0.5, "named for it"}, {reach.File, 1, "in its file of tests"},
		{reach.Line, 0.5, "has the words of the lines"}, {reach.Together, 0.3, "its file changed with it"},
	} {
		if s[x.signal] >= x.least && len(out) < 3 {
			out = append(out, x.says)
		}
	}
	if len(out) == 0 {
		return "stands near"
	}
	return strings.Join(out, ", ")
}

// named adds what specifications, findings and coverage say of what changes.
func (q *query) named(ctx context.Context, a *app.App, r *Reply) error {
	entries, err := a.Scope(ctx, q.Core, false)
	if err != nil {
		return err
	}
	for i, c := range r.Changed {
		if i == mostEnriched {
			q.unknown = append(q.unknown, fmt.Sprintf("specifications and findings are of the first %d declarations", mostEnriched))
			break
		}
		if c.target == nil {
			continue
		}
		found := search.Context{}
		found.Store, found.Path, found.Symbol = c.target.Label, c.decl.Path, c.decl.Qualified
		found.Start, found.End = c.decl.Start, c.decl.End
		d, err := c.target.Index.Document(ctx, c.decl.Path)
		if err != nil {
			continue // it is gone
		}
		body := strings.Split(d.Body, "\n")
		found.Code = strings.Join(body[min(max(found.Start-1, 0), len(body)):min(found.End, len(body))], "\n")
		a.Enrich(ctx, q.Shelves, entries, &found)
		for _, x := range found.Extras {
			list := &r.Evidence
			if slices.ContainsFunc(x.Members, func(m kb.Member) bool { return m.Name == "specs" }) {
				list = &r.Specs
			}
			for _, l := range x.Lines {
				if !slices.Contains(*list, l) && len(*list) < mostShownSpecs {
					*list = append(*list, kb.Clip(l, 300))
				}
			}
		}
	}
	return nil
}

// public reports whether a declaration can be used from outside, as far as its
// name and place tell.
func public(d reach.Decl, language string) bool {
	if reach.IsTest(d.Path) {
		return false
	}
	parts := strings.Split(d.Qualified, ".")
	if path.Ext(d.Path) == ".go" || language == "go" {
		if slices.Contains(strings.Split(path.Dir(d.Path), "/"), "internal") {
			return false
		}
		return !slices.ContainsFunc(parts, func(p string) bool {
			return p == "" || strings.ToUpper(p[:1]) == strings.ToLower(p[:1]) || p[:1] != strings.ToUpper(p[:1])
		})
	}
	if d.Kind == "field" || d.Kind == "heading" {
		return false
	}
	return !slices.ContainsFunc(parts, func(p string) bool {
		return strings.HasPrefix(p, "#") || strings.HasPrefix(p, "_") && !strings.HasSuffix(p, "__")
	})
}
