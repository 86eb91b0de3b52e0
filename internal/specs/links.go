package specs

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

const (
	maxSpecRefs  = 5  // specifications that get_full_context names
	maxMentioned = 5  // places in code that name a specification
	maxIDs       = 3  // of a specification that are looked for in code
	maxSpecIDs   = 40 // in a text that are looked up
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
				var by []search.Related
				if by, err = one.mentionedBy(ctx, d); len(by) > 0 {
					found.Extras = append(found.Extras, mentionsOf(by))
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

// mentionedBy returns the places in code whose text names a specification.
func (s *specs) mentionedBy(ctx context.Context, d *kdd.Doc) ([]search.Related, error) {
	var out []search.Related
	ids := d.IDs()
	for _, id := range ids[:min(maxIDs, len(ids))] {
		if len([]rune(id)) < 3 || strings.Contains(id, `"`) {
			continue
		}
		var found search.Reply
		err := s.Serve(ctx, func(targets []search.Target) (err error) {
			found, err = search.Run(ctx, targets, s.Core.Embedder, search.Request{Query: `"` + id + `"`, Mode: "fts", Limit: 4 * maxMentioned, Without: specWithout})
			return err
		})
		if err != nil && kb.CodeOf(err) != kb.Invalid { // no word to look for
			return out, err
		}
		for _, h := range found.Hits {
			t := s.Targets[h.Where.Target]
			if s.graph.Doc(t.Store.ID, h.Where.Path) != nil || slices.ContainsFunc(out, func(r search.Related) bool { return r.ID == h.ID }) {
				continue
			}
			if out = append(out, search.Related{ID: h.ID, At: h.At, Symbol: h.Symbol, Why: "names " + id}); len(out) == maxMentioned {
				return out, nil
			}
		}
	}
	return out, nil
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

// mentionsOf is what a place in a specification shows of code.
func mentionsOf(by []search.Related) kb.Extra {
	x := kb.Extra{Members: []kb.Member{{Name: "mentionedBy", Value: by}}}
	for _, r := range by {
		x.Lines = append(x.Lines, fmt.Sprintf("named by %s  %s  %s", printer.Name(r.At), r.Symbol, r.ID))
	}
	return x
}
