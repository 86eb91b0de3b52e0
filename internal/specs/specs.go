package specs

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/specs/lint"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// Scope says which specifications a question is about, and how long it may wait.
type Scope struct {
	Stores []string // names or ids; empty is the default scope
	// Statuses are lifecycles that are seen beside what is approved or
	// superseded; "all" is every one.
	Statuses []string
	app.Waiting
}

// specs are the specifications that a question is answered from.
type specs struct {
	*app.Shelves
	graph   *kdd.Graph
	seen    kdd.Seen
	version string // of the program
}

// keptGraphs is how many joined graphs a process keeps: one of the default
// scope and one of a store that was named.
const keptGraphs = 2

// specGraphs keeps the graphs of the last scopes that were asked about. A
// graph is joined anew when what the documents of a store say as
// specifications has changed: not for an edit of code.
type specGraphs struct {
	mu   sync.Mutex
	kept []keptGraph // the last used one first
}

func specGraphsOf(c *app.Core) *specGraphs {
	return app.State(c, func() *specGraphs { return &specGraphs{} })
}

type keptGraph struct {
	key   string
	graph *kdd.Graph
	trace *lint.Trace // nil until it was asked for
	code  string      // what trace was made of
}

// keyOf names what the specifications of targets say; with code, everything
// in them.
func keyOf(targets []search.Target, code bool) string {
	var b strings.Builder
	for i := range targets {
		st := &targets[i].Store
		says := st.Head.Manifest
		if st.Head.SpecSum != 0 && !code {
			says = fmt.Sprintf("%x", st.Head.SpecSum)
		}
		fmt.Fprintf(&b, "%s/%s/%s\n", st.ID, targets[i].Label, says)
	}
	return b.String()
}

// of returns the graph of targets, joining it when there is none yet.
func (g *specGraphs) of(ctx context.Context, targets []search.Target) (*kdd.Graph, error) {
	key := keyOf(targets, false)
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.IndexFunc(g.kept, func(k keptGraph) bool { return k.key == key }); i >= 0 {
		k := g.kept[i]
		copy(g.kept[1:], g.kept[:i])
		g.kept[0] = k
		return k.graph, nil
	}
	sources := make([]kdd.Source, len(targets))
	for i := range targets {
		sources[i] = specSource(i, &targets[i])
	}
	graph, err := kdd.Join(ctx, sources)
	if err != nil {
		return nil, err
	}
	g.kept = slices.Insert(g.kept, 0, keptGraph{key: key, graph: graph})
	g.kept = g.kept[:min(len(g.kept), keptGraphs)]
	return graph, nil
}

// specBatch is how many specifications an index is asked for at a time.
const specBatch = 256

// specSource gives the specifications of a target to the join.
func specSource(number int, t *search.Target) kdd.Source {
	return kdd.Source{Store: t.Store, Label: t.Label, Docs: func(ctx context.Context, yield func(kb.SpecEntry) error) error {
		for after := ""; ; {
			list, err := t.Index.Specs(ctx, after, specBatch)
			if err != nil {
				return &search.TargetError{Target: number, Err: err}
			}
			for _, d := range list {
				if err := yield(d); err != nil {
					return &search.TargetError{Target: number, Err: err}
				}
			}
			if len(list) < specBatch {
				return nil
			}
			after = list[len(list)-1].Path
		}
	}}
}

// open opens the specifications of a scope.
func open(ctx context.Context, a *app.App, r Scope) (*specs, error) {
	seen, err := seenOf(r.Statuses)
	if err != nil {
		return nil, err
	}
	c, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	stores, notes, err := a.AsScope(ctx, c, app.Scope{Stores: r.Stores, Waiting: app.Waiting{Wait: r.Wait, Person: r.Person}})
	if err != nil {
		return nil, err
	}
	s, err := a.Opened(ctx, c, stores)
	if err != nil {
		return nil, err
	}
	if s.Notes = append(notes, s.Notes...); len(s.Targets)+len(s.Notes) == 0 {
		return nil, a.NothingInScope(ctx, c)
	}
	return &specs{Shelves: s, seen: seen, version: a.Version()}, nil
}

// ask answers from the graph, and again without what turns out to be damaged.
// Where nothing is indexed yet it does not ask: the notes say so.
func (s *specs) ask(ctx context.Context, f func(targets []search.Target) error) error {
	return s.Serve(ctx, func(targets []search.Target) (err error) {
		if s.graph, err = specGraphsOf(s.Core).of(ctx, targets); err != nil {
			return err
		}
		return f(targets)
	})
}

// lifecycles are the values of include_statuses.
var lifecycles = []string{"approved", "draft", "proposed", "review", "superseded", "deprecated", "all"}

func seenOf(statuses []string) (kdd.Seen, error) {
	var seen kdd.Seen
	for _, s := range statuses {
		s = strings.ToLower(strings.TrimSpace(s))
		switch {
		case s == "all" || s == "*":
			seen.All = true
		case s != "" && !kdd.KnownStatus(s):
			return seen, kb.Errorf(kb.Invalid, "%q is no status of a specification", app.ClipRunes(s, 40)).WithHint("include_statuses takes %s", strings.Join(lifecycles, ", "))
		case s != "":
			seen.Statuses = append(seen.Statuses, s)
		}
	}
	return seen, nil
}

// isSpec reports whether a document is a specification: it has a kind, says
// of itself what only specifications say, or is linked with one. Other Markdown is found by search.
func isSpec(d *kdd.Doc) bool {
	return d.Kind != "" || d.Linked || d.ID != "" || d.Status != "" || d.Domain != "" || len(d.Tags) > 0 || len(d.Aliases) > 0
}

// visible returns the documents that a question sees, in order, and counts the
// others by lifecycle. keep says which documents are asked about at all.
func (s *specs) visible(keep func(*kdd.Doc) bool) (docs []*kdd.Doc, hidden map[string]int) {
	for _, d := range s.graph.Docs() {
		switch {
		case !isSpec(d) || !keep(d):
		case s.seen.Sees(d):
			docs = append(docs, d)
		default:
			if hidden == nil {
				hidden = map[string]int{}
			}
			hidden[d.Lifecycle]++
		}
	}
	return docs, hidden
}

// hiddenNote says what is hidden, and how to see it; "" for nothing.
func hiddenNote(hidden map[string]int, what string) string {
	total := 0
	var parts, statuses []string
	for _, l := range lifecycles {
		if n := hidden[l]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%d %s", n, l))
			statuses = append(statuses, fmt.Sprintf("%q", l))
		}
	}
	if total == 0 {
		return ""
	}
	if total == 1 {
		what = strings.TrimSuffix(what, "s")
	}
	return fmt.Sprintf("hidden by status: %s %s; include_statuses [%s] shows them", strings.Join(parts, ", "), what, strings.Join(statuses, ","))
}

// noSpecs explains that a scope has no specification; "" when it has any.
func (s *specs) noSpecs() string {
	if s.graph == nil || slices.ContainsFunc(s.graph.Docs(), isSpec) {
		return ""
	}
	return "there is no specification in scope: Markdown counts as one when its front matter has kind, id, status, domain or tags, or its folder is one of a kind, such as 01-domain/rules"
}

// place returns how a reader opens a document.
func (s *specs) place(d *kdd.Doc) source.Place {
	t := &s.Targets[d.Source]
	if t.Page != nil {
		if p, ok := t.Page(d.Path); ok {
			return source.Place{URL: p.URL}
		}
	}
	return source.Cite(t.Store, d.Path)
}

// urlOf returns the address of section i of a document; of the document
// itself, which is its first heading, for -1.
func (s *specs) urlOf(d *kdd.Doc, i int) string {
	p := s.place(d)
	if i < 0 || d.Sections[i].Level == 0 {
		i = slices.IndexFunc(d.Sections, func(x kb.SpecSection) bool { return x.Level > 0 })
	}
	if i < 0 {
		return p.URL
	}
	return withAnchor(p, d.Sections, i)
}

// withAnchor adds the anchor of section i: folded, or as the forge has it.
func withAnchor(p source.Place, sections []kb.SpecSection, i int) string {
	anchor := specdoc.Anchors(sections[:i+1], p.Forge)[i]
	if anchor == "" {
		return p.URL
	}
	return p.URL + "#" + (&url.URL{Fragment: anchor}).EscapedFragment()
}

// heading returns the name of section i, "" for none.
func heading(d *kdd.Doc, i int) string {
	if i < 0 || len(d.Sections[i].Path) == 0 {
		return ""
	}
	return d.Sections[i].Path[len(d.Sections[i].Path)-1]
}

// spotURL returns the address of a place in a document.
func (s *specs) spotURL(at kdd.Spot) string {
	if at.Doc == nil {
		return ""
	}
	return s.urlOf(at.Doc, at.Doc.SectionAt(at.Line))
}

// nodeURL returns where a reader learns of a node: its document, else the
// first place that names it.
func (s *specs) nodeURL(n *kdd.Node) string {
	switch {
	case n.Doc != nil:
		return s.urlOf(n.Doc, -1)
	case len(n.In) > 0:
		return s.spotURL(n.In[0])
	}
	return ""
}

// statusOf returns a lifecycle that a reader must know of, "" for approved.
func statusOf(d *kdd.Doc) string {
	if d == nil || d.Lifecycle == "approved" {
		return ""
	}
	return d.Lifecycle
}

// replacedBy names the documents that replace one, "" for none.
func (s *specs) replacedBy(d *kdd.Doc) string {
	var by []string
	for _, x := range s.graph.ReplacedBy(d) {
		by = append(by, s.graph.NameOf(x))
	}
	return app.ClipRunes(strings.Join(by, ", "), 100)
}

// standing says of a document that is not in force what it is, and what
// replaces it; "" for one that is in force.
func (s *specs) standing(d *kdd.Doc) string {
	if d == nil {
		return ""
	}
	said, by := statusOf(d), s.replacedBy(d)
	switch {
	case by == "":
		return said
	case said == "":
		said = "superseded" // whatever it says of itself
	}
	return said + ", replaced by " + by
}
