package specs

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

const (
	maxSpecRefs = 5  // specifications that get_full_context names
	maxSpecIDs  = 40 // in a text that are looked up
)

// specID is what an id of a specification looks like in code.
var specID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b[A-Z][A-Za-z]{1,9}-[A-Z0-9][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*\b`)
})

// linkSpecs adds to a place what specifications have to do with it: of code,
// those that name its file or declaration, or that its text names; of a
// specification, the code that names it. The stores asked are those in scope.
// A failure is said in the note.
func linkSpecs(ctx context.Context, _ *app.App, s *app.Shelves, inScope func(kb.StoreID) bool, found *search.Context) {
	var targets []search.Target
	var store kb.StoreID // that the place is in
	for _, t := range s.Targets {
		if inScope(t.Store.ID) {
			targets = append(targets, t)
		}
		if t.Label == found.Store && store == "" {
			store = t.Store.ID
		}
	}
	if len(targets) == 0 || found.Path == "" {
		return
	}
	graph, err := specGraphsOf(s.Core).of(ctx, targets)
	if err == nil && len(graph.Docs()) > 0 {
		one := &specs{Shelves: &app.Shelves{Core: s.Core, Targets: targets}, graph: graph}
		if d := graph.Doc(store, found.Path); d != nil {
			if isSpec(d) {
				var by served
				if by, err = one.servedBy(ctx, targets, d); len(by.code)+len(by.tests) > 0 {
					found.Extras = append(found.Extras, by.extra())
				}
			}
		} else {
			if refs := one.specsOf(found); len(refs) > 0 {
				found.Extras = append(found.Extras, referencesOf(refs))
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		found.Note = strings.TrimPrefix(found.Note+fmt.Sprintf("; specifications could not be asked: %v", err), "; ")
	}
}

// specsOf returns the specifications that have to do with code.
func (s *specs) specsOf(c *search.Context) []SpecRef {
	var out []SpecRef
	add := func(d *kdd.Doc, section int, why string) {
		if d == nil || !isSpec(d) || len(out) == maxSpecRefs || slices.ContainsFunc(out, func(r SpecRef) bool { return r.Path == d.Path && r.Store == d.Label }) {
			return
		}
		out = append(out, SpecRef{Title: app.ClipRunes(d.Title, 100), Section: app.ClipRunes(heading(d, section), 100), URL: s.urlOf(d, section), Why: why, Status: s.standing(d), Store: d.Label, Path: d.Path})
	}
	var symbols []string
	if c.Symbol != "" {
		symbols = []string{c.Symbol}
		if i := strings.LastIndexByte(c.Symbol, '.'); i >= 0 {
			symbols = append(symbols, c.Symbol[i+1:])
		}
	}
	ids := specID().FindAllString(c.Code, -1)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ids[:min(maxSpecIDs, len(ids))] {
		if nodes, _ := s.graph.Find(id, kdd.Filter{Limit: 1, Seen: s.seen}); len(nodes) > 0 && nodes[0].Doc != nil && isCalled(nodes[0], id) {
			add(nodes[0].Doc, -1, "its text names "+id)
		}
	}
	for _, m := range s.graph.Mentions(c.Path, symbols, s.seen) {
		add(m.Doc, m.Doc.SectionAt(m.Line), fmt.Sprintf("names %s, line %d", app.ClipRunes(m.Text, 80), m.Line))
	}
	return out
}

func hooks() app.Room {
	return app.Room{Hits: setStatus, Place: linkSpecs}
}

// setStatus lets targets say which of their specifications are not in force.
func setStatus(_ *app.App, targets []search.Target) {
	for i := range targets {
		index := targets[i].Index
		targets[i].Status = func(path string) string {
			if !specdoc.MayRead(path) {
				return ""
			}
			// A status that cannot be read now is left out; what reads the text says why.
			list, err := index.Outlines(context.Background(), []string{path})
			if err != nil || list[0].Facts.Spec == nil {
				return ""
			}
			return inForce(list[0].Facts.Spec)
		}
	}
}

// inForce says what a specification that is not in force is, and what it says
// replaces it; "" for one that is.
func inForce(d *kb.SpecDoc) string {
	by := kdd.Successors(d)
	state := kdd.Lifecycle(d.Status)
	if state == "approved" {
		if len(by) == 0 {
			return ""
		}
		state = "superseded"
	}
	if len(by) == 0 {
		return state
	}
	return state + ", replaced by " + app.ClipRunes(strings.Join(by, ", "), 100)
}

// SpecRef points at a section of a specification.
type SpecRef struct {
	Title   string `json:"title"`
	Section string `json:"section,omitempty"`
	URL     string `json:"url"`
	Why     string `json:"why"`                  // "names app.go, line 12"
	Status  string `json:"kdd_status,omitempty"` // unless approved
	Store   string `json:"-"`
	Path    string `json:"-"`
}

// referencesOf is what a place in code shows of specifications.
func referencesOf(refs []SpecRef) kb.Extra {
	x := kb.Extra{Members: []kb.Member{{Name: "specs", Value: refs}}}
	for _, r := range refs {
		title := r.Title
		if r.Status != "" {
			title += " (" + r.Status + ")"
		}
		x.Lines = append(x.Lines, fmt.Sprintf("specification %s  %s  (%s)", title, r.URL, r.Why))
	}
	return x
}
