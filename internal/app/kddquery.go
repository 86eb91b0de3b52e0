package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/kdd"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specdoc"
)

// SpecRelated is the reply of kdd:related.
type SpecRelated struct {
	Entity      string           `json:"entity"`
	Type        string           `json:"type"`
	Related     []RelatedSpec    `json:"related"`
	Count       int              `json:"count"`
	Message     string           `json:"message,omitempty"` // when nothing has the name
	Suggestions []kdd.Suggestion `json:"suggestions,omitempty"`
	Hidden      map[string]int   `json:"hidden,omitempty"`
	Warnings    []string         `json:"warnings,omitempty"`
}

// RelatedSpec is one related entity.
type RelatedSpec struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Relation  string `json:"relation"`
	Direction string `json:"direction"` // outgoing, incoming
	SourceURL string `json:"source_url"`
}

const (
	defaultRelated = 20
	maxRelated     = 500
)

// RelatedQuery asks what is related to an entity.
type RelatedQuery struct {
	Entity    string
	Depth     int // default 1; more than kdd.MaxDepth is that, and said
	EdgeTypes []string
	Limit     int // default 20
	SpecScope
}

func (q *RelatedQuery) check(depth int) error {
	if q.Depth == 0 {
		q.Depth = depth
	}
	if q.Limit == 0 {
		q.Limit = defaultRelated
	}
	switch {
	case strings.TrimSpace(q.Entity) == "":
		return kb.Errorf(kb.Invalid, "no entity is named").WithHint("name one by id, title or alias; kdd:list shows what there is")
	case len(q.Entity) > 1000:
		return kb.Errorf(kb.TooLarge, "the name of the entity has %d bytes", len(q.Entity)).WithHint("name it by id, title or alias")
	case q.Depth < 0:
		return kb.Errorf(kb.Invalid, "depth must lie between 1 and %d, not %d", kdd.MaxDepth, q.Depth).WithHint("leave it out for %d", depth)
	case q.Limit < 0 || q.Limit > maxRelated:
		return kb.Errorf(kb.Invalid, "limit must lie between 1 and %d, not %d", maxRelated, q.Limit).WithHint("leave it out for %d", defaultRelated)
	}
	for i, t := range q.EdgeTypes {
		q.EdgeTypes[i] = strings.TrimSpace(t)
	}
	q.EdgeTypes = slices.DeleteFunc(q.EdgeTypes, func(t string) bool { return t == "" })
	return nil
}

// RelatedSpecs returns what is related to an entity, in both directions.
func (a *App) RelatedSpecs(ctx context.Context, q RelatedQuery) (SpecRelated, error) {
	asked := q.Depth
	if err := q.check(1); err != nil {
		return SpecRelated{}, err
	}
	s, err := a.specs(ctx, q.SpecScope)
	if err != nil {
		return SpecRelated{}, err
	}
	defer s.release()
	out := SpecRelated{Entity: q.Entity, Related: []RelatedSpec{}}
	err = s.ask(ctx, func([]search.Target) error {
		r := s.graph.Related(kdd.Query{Entity: q.Entity, Depth: q.Depth, Types: q.EdgeTypes, Limit: q.Limit, Seen: s.seen})
		out = SpecRelated{Entity: q.Entity, Related: []RelatedSpec{}, Hidden: r.Hidden}
		if r.Node == nil {
			out.Message = fmt.Sprintf("No entity found matching '%s'.", clipRunes(q.Entity, 80))
			out.Suggestions = r.Suggestions
			if why := s.noSpecs(); why != "" {
				out.Warnings = append(out.Warnings, why)
			}
			return nil
		}
		out.Entity, out.Type = r.Node.Name, r.Node.Type
		for _, x := range r.Related {
			out.Related = append(out.Related, RelatedSpec{Name: x.Node.Name, Type: x.Node.Type, Relation: x.Edge.Type, Direction: direction(x.Outgoing), SourceURL: s.nodeURL(x.Node)})
		}
		if asked > r.Depth {
			out.Warnings = append(out.Warnings, fmt.Sprintf("depth %d is more than %d, which is used", asked, r.Depth))
		}
		if r.Total > len(r.Related) {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the nearest %d of %d; raise limit or name edge_types", len(r.Related), r.Total))
		}
		if len(r.Related) == 0 && len(q.EdgeTypes) > 0 {
			out.Warnings = append(out.Warnings, s.otherTypes(r.Node))
		}
		if st := statusOf(r.Node.Doc); st != "" {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s is %s", r.Node.Name, st))
		}
		if len(r.Also) > 0 {
			out.Warnings = append(out.Warnings, "the name also means "+names(r.Also))
		}
		return nil
	})
	if err != nil {
		return SpecRelated{}, err
	}
	if note := hiddenNote(out.Hidden, "related specifications"); note != "" {
		out.Warnings = append(out.Warnings, note)
	}
	out.Warnings = append(out.Warnings, s.notes...)
	out.Count = len(out.Related)
	return out, nil
}

func direction(outgoing bool) string {
	if outgoing {
		return "outgoing"
	}
	return "incoming"
}

func names(nodes []*kdd.Node) string {
	var out []string
	for i, n := range nodes {
		if i == 5 {
			out = append(out, "…")
			break
		}
		out = append(out, n.ID)
	}
	return strings.Join(out, ", ")
}

// otherTypes says which edges a node has, when none is of those asked for.
func (s *specs) otherTypes(n *kdd.Node) string {
	there := map[string]bool{}
	out, in := s.graph.Edges(n)
	for _, e := range slices.Concat(out, in) {
		there[e.Type] = true
	}
	return fmt.Sprintf("no relation of these types; %s has: %s", n.Name, someOf(there))
}

// SpecList is the reply of kdd:list.
type SpecList struct {
	Documents []SpecRow      `json:"documents"`
	Total     int            `json:"total"` // without the limit
	Hidden    map[string]int `json:"hidden,omitempty"`
	Warnings  []string       `json:"warnings,omitempty"`
}

// SpecRow is one document of a SpecList.
type SpecRow struct {
	Path      string    `json:"path"`
	Title     string    `json:"title"`
	Kind      string    `json:"kind"`
	Domain    string    `json:"domain"`
	Status    string    `json:"status"` // INDEXED; PENDING: changed since; FAILED: could not be indexed
	Chunks    int       `json:"chunks"`
	Entities  int       `json:"entities"`
	IndexedAt time.Time `json:"indexed_at"`
	KDDStatus string    `json:"kdd_status,omitempty"` // unless approved
	Store     string    `json:"store,omitempty"`      // where several are in scope
}

// The states of a document in the index.
const (
	specIndexed = "INDEXED"
	specPending = "PENDING"
	specFailed  = "FAILED"
)

// ListQuery asks which specifications there are.
type ListQuery struct {
	Kind, Domain, Status string
	Limit                int
	SpecScope
}

// ListSpecs lists specifications.
func (a *App) ListSpecs(ctx context.Context, q ListQuery) (SpecList, error) {
	limit, err := checkLimit(q.Limit, defaultRelated)
	if err != nil {
		return SpecList{}, err
	}
	status := strings.ToUpper(strings.TrimSpace(q.Status))
	if status != "" && !slices.Contains([]string{specIndexed, specPending, specFailed}, status) {
		e := kb.Errorf(kb.Invalid, "%q is no status of the index", clipRunes(q.Status, 40))
		if slices.Contains(lifecycles, strings.ToLower(status)) {
			return SpecList{}, e.WithHint("that is a lifecycle: pass include_statuses [%q]; status takes INDEXED, PENDING, FAILED", strings.ToLower(status))
		}
		return SpecList{}, e.WithHint("status takes INDEXED, PENDING, FAILED")
	}
	s, err := a.specs(ctx, q.SpecScope)
	if err != nil {
		return SpecList{}, err
	}
	defer s.release()
	out := SpecList{Documents: []SpecRow{}}
	err = s.ask(ctx, func(targets []search.Target) error {
		out = SpecList{Documents: []SpecRow{}}
		var failed []SpecRow
		if q.Domain == "" && q.Kind == "" {
			failed = failures(targets)
		}
		docs, hidden := s.visible(func(d *kdd.Doc) bool {
			return (q.Kind == "" || kindIs(d, q.Kind)) && (q.Domain == "" || strings.EqualFold(strings.TrimSpace(q.Domain), d.Domain))
		})
		out.Hidden = hidden
		for _, d := range docs {
			state := ""
			if status != "" || len(out.Documents) < limit {
				state = s.stateOf(ctx, targets, d)
			}
			if status != "" && state != status {
				continue
			}
			if out.Total++; len(out.Documents) < limit {
				out.Documents = append(out.Documents, s.row(targets, d, state))
			}
		}
		for _, f := range failed {
			if status == "" || status == specFailed {
				if out.Total++; len(out.Documents) < limit {
					out.Documents = append(out.Documents, f)
				}
			}
		}
		if why := s.noSpecs(); why != "" {
			out.Warnings = append(out.Warnings, why)
		} else if out.Total == 0 && len(hidden) == 0 {
			out.Warnings = append(out.Warnings, s.nothingListed(q))
		}
		return nil
	})
	if err != nil {
		return SpecList{}, err
	}
	if note := hiddenNote(out.Hidden, "specifications"); note != "" {
		out.Warnings = append(out.Warnings, note)
	}
	out.Warnings = append(out.Warnings, s.notes...)
	return out, nil
}

// kindIs reports whether a document is of a kind, named by any of its words.
func kindIs(d *kdd.Doc, kind string) bool {
	if k, ok := specdoc.KindNamed(kind); ok {
		return d.Kind == k.Name
	}
	return strings.EqualFold(d.Kind, strings.TrimSpace(kind))
}

func (s *specs) row(targets []search.Target, d *kdd.Doc, state string) SpecRow {
	r := SpecRow{Path: d.Path, Title: d.Title, Kind: d.Kind, Domain: d.Domain, Status: state, Chunks: d.Chunks, Entities: d.Entities, KDDStatus: statusOf(d)}
	t := &targets[d.Source]
	r.IndexedAt = t.Store.Head.Indexed.UTC().Truncate(time.Second)
	if len(targets) > 1 {
		r.Store = t.Label
	}
	return r
}

// stateOf tells whether a document is indexed as it stands now.
func (s *specs) stateOf(ctx context.Context, targets []search.Target, d *kdd.Doc) string {
	t := &targets[d.Source]
	if t.Fresh == nil {
		return specIndexed
	}
	h, ok := t.Index.(*handle)
	if !ok {
		return specIndexed
	}
	if stamp, ok := h.Stamp(d.Path); ok && t.Fresh(d.Path, stamp) != "" {
		return specPending
	}
	return specIndexed
}

// failures are the Markdown documents that the last index of a store could not read.
func failures(targets []search.Target) []SpecRow {
	var out []SpecRow
	for i := range targets {
		t := &targets[i]
		for _, n := range t.Store.Head.Notes {
			rest, ok := strings.CutPrefix(n, "skipped: ")
			if !ok {
				continue
			}
			p, _, ok := strings.Cut(rest, ": ")
			if !ok || !strings.HasSuffix(strings.ToLower(p), ".md") && !strings.HasSuffix(strings.ToLower(p), ".markdown") {
				continue
			}
			r := SpecRow{Path: p, Title: specdoc.Stem(p), Kind: specdoc.KindOf("", p), Status: specFailed, IndexedAt: t.Store.Head.Indexed.UTC().Truncate(time.Second)}
			if len(targets) > 1 {
				r.Store = t.Label
			}
			out = append(out, r)
		}
	}
	return out
}

// nothingListed says what there is when the filters let nothing through.
func (s *specs) nothingListed(q ListQuery) string {
	kinds, domains := map[string]bool{}, map[string]bool{}
	for _, d := range s.graph.Docs() {
		if d.Kind != "" {
			kinds[d.Kind] = true
		}
		if d.Domain != "" {
			domains[d.Domain] = true
		}
	}
	said := "the filters let no specification through"
	if q.Kind != "" {
		said += "; kinds: " + someOf(kinds)
	}
	if q.Domain != "" {
		said += "; domains: " + someOf(domains)
	}
	return said
}

// SpecImpact is the reply of kdd:impact.
type SpecImpact struct {
	Analyzed        *ImpactNode      `json:"analyzedNode"` // null when nothing has the name
	Direct          []ImpactDirect   `json:"directlyAffected"`
	Transitive      []ImpactIndirect `json:"transitivelyAffected"`
	Scenarios       []ImpactScenario `json:"scenariosToRerun"`
	TotalDirect     int              `json:"totalDirectly"`
	TotalTransitive int              `json:"totalTransitively"`
	Message         string           `json:"message,omitempty"`
	Suggestions     []kdd.Suggestion `json:"suggestions,omitempty"`
	Hidden          map[string]int   `json:"hidden,omitempty"`
	Warnings        []string         `json:"warnings,omitempty"`
}

// ImpactNode is a node with where to read of it.
type ImpactNode struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Kind   string `json:"kind,omitempty"`
	Type   string `json:"type"`
	Status string `json:"status,omitempty"`
	URL    string `json:"source_url,omitempty"`
}

// ImpactDirect depends on the node itself.
type ImpactDirect struct {
	NodeID      string `json:"node_id"`
	Kind        string `json:"kind"`
	EdgeType    string `json:"edge_type"`
	Description string `json:"impact_description"`
	URL         string `json:"source_url"`
}

// ImpactIndirect depends on it through others.
type ImpactIndirect struct {
	NodeID    string   `json:"node_id"`
	Kind      string   `json:"kind"`
	Path      []string `json:"path"` // node ids, from the asked node to this one
	EdgeTypes []string `json:"edge_types"`
	URL       string   `json:"source_url"`
}

// ImpactScenario is a scenario that names something affected.
type ImpactScenario struct {
	Feature  string `json:"feature"`
	Scenario string `json:"scenario"`
	Reason   string `json:"reason"`
}

// ImpactSpecs returns what a change of an entity touches.
func (a *App) ImpactSpecs(ctx context.Context, q RelatedQuery) (SpecImpact, error) {
	asked := q.Depth
	if err := q.check(kdd.MaxDepth); err != nil {
		return SpecImpact{}, err
	}
	s, err := a.specs(ctx, q.SpecScope)
	if err != nil {
		return SpecImpact{}, err
	}
	defer s.release()
	out := SpecImpact{Direct: []ImpactDirect{}, Transitive: []ImpactIndirect{}, Scenarios: []ImpactScenario{}}
	err = s.ask(ctx, func(targets []search.Target) error {
		r := s.graph.Impact(kdd.Query{Entity: q.Entity, Depth: q.Depth, Types: q.EdgeTypes, Limit: q.Limit, Seen: s.seen})
		out = SpecImpact{Direct: []ImpactDirect{}, Transitive: []ImpactIndirect{}, Scenarios: []ImpactScenario{}, Hidden: r.Hidden}
		if r.Node == nil {
			out.Message = fmt.Sprintf("No entity found matching '%s'.", clipRunes(q.Entity, 80))
			out.Suggestions = r.Suggestions
			return nil
		}
		out.Analyzed = s.impactNode(r.Node)
		out.TotalDirect, out.TotalTransitive = len(r.Direct), len(r.Transitive)
		ids := s.called(r.Node)
		for i, x := range r.Direct {
			ids = append(ids, s.called(x.Node)...)
			if i < q.Limit {
				e := x.Path[0]
				out.Direct = append(out.Direct, ImpactDirect{NodeID: x.Node.ID, Kind: kindOfNode(x.Node), EdgeType: e.Type,
					Description: says(e), URL: s.nodeURL(x.Node)})
			}
		}
		for i, x := range r.Transitive {
			if i == q.Limit {
				break
			}
			t := ImpactIndirect{NodeID: x.Node.ID, Kind: kindOfNode(x.Node), URL: s.nodeURL(x.Node), Path: []string{r.Node.ID}}
			for _, e := range slices.Backward(x.Path) {
				t.Path, t.EdgeTypes = append(t.Path, e.From.ID), append(t.EdgeTypes, e.Type)
			}
			out.Transitive = append(out.Transitive, t)
		}
		if out.Scenarios, err = scenarios(ctx, targets, ids); err != nil {
			return err
		}
		if asked > r.Depth {
			out.Warnings = append(out.Warnings, fmt.Sprintf("depth %d is more than %d, which is used", asked, r.Depth))
		}
		if max(len(r.Direct), len(r.Transitive)) > q.Limit {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the nearest %d of each; raise limit for all", q.Limit))
		}
		return nil
	})
	if err != nil {
		return SpecImpact{}, err
	}
	if note := hiddenNote(out.Hidden, "affected specifications"); note != "" {
		out.Warnings = append(out.Warnings, note)
	}
	out.Warnings = append(out.Warnings, s.notes...)
	return out, nil
}

func (s *specs) impactNode(n *kdd.Node) *ImpactNode {
	return &ImpactNode{ID: n.ID, Name: n.Name, Kind: kindOfNode(n), Type: n.Type, Status: statusOf(n.Doc), URL: s.nodeURL(n)}
}

// called returns what texts call a node.
func (s *specs) called(n *kdd.Node) []string {
	if n.Doc != nil {
		return append(n.Doc.IDs(), n.Name)
	}
	return []string{n.Name}
}

// kindOfNode returns the kind of a node's document, else its type in lower case.
func kindOfNode(n *kdd.Node) string {
	if n.Doc != nil && n.Doc.Kind != "" {
		return n.Doc.Kind
	}
	return strings.ToLower(n.Type)
}

// says puts an edge into a sentence.
func says(e kdd.Edge) string {
	text := fmt.Sprintf("%s %s %s", e.From.Name, e.Type, e.To.Name)
	if e.Label != "" {
		text += " (" + e.Label + ")"
	}
	if e.At.Section != "" {
		text += ", in " + e.At.Section
	}
	return text
}

// maxScenarios bounds what an impact lists of them.
const maxScenarios = 20

// scenarios returns the scenarios of Gherkin features that name one of ids.
func scenarios(ctx context.Context, targets []search.Target, ids []string) ([]ImpactScenario, error) {
	out := []ImpactScenario{}
	for i := range targets {
		paths, err := targets[i].Index.Documents(ctx, "")
		if err != nil {
			return out, &search.TargetError{Target: i, Err: err}
		}
		for _, p := range paths {
			if !strings.HasSuffix(p, ".feature") {
				continue
			}
			d, err := targets[i].Index.Document(ctx, p)
			if err != nil {
				return out, &search.TargetError{Target: i, Err: err}
			}
			if out = append(out, scenariosIn(p, d.Body, ids)...); len(out) >= maxScenarios {
				return out[:maxScenarios], nil
			}
		}
	}
	return out, nil
}

// scenariosIn looks at a feature's head and at each of its scenarios: what the
// head names, every scenario is about.
func scenariosIn(path, body string, ids []string) []ImpactScenario {
	var out []ImpactScenario
	name, about := "", ""
	flush := func(head bool, block string) {
		for _, id := range ids {
			if len(id) > 2 && holdsWord(block, id) {
				if head {
					about = id
				} else if name != "" {
					out = append(out, ImpactScenario{path, name, "names " + id})
				}
				return
			}
		}
		if !head && name != "" && about != "" {
			out = append(out, ImpactScenario{path, name, "its feature names " + about})
		}
	}
	var block strings.Builder
	head := true
	for l := range strings.Lines(body) {
		t := strings.TrimSpace(l)
		for _, w := range []string{"Scenario Outline:", "Scenario:", "Escenario:", "Esquema del escenario:", "Example:", "Ejemplo:"} {
			if n, ok := strings.CutPrefix(t, w); ok {
				flush(head, block.String())
				head = false
				name = strings.TrimSpace(n)
				block.Reset()
				break
			}
		}
		block.WriteString(l)
	}
	flush(head, block.String())
	return out
}

// holdsWord reports whether a text holds a name that no letter or digit adjoins.
func holdsWord(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(name)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = i + 1
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}
