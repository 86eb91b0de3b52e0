package specs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// ImpactReply is the reply of kdd:impact.
type ImpactReply struct {
	Analyzed        *ImpactNode      `json:"analyzedNode"` // null when nothing has the name
	Direct          []ImpactDirect   `json:"directlyAffected"`
	Transitive      []ImpactIndirect `json:"transitivelyAffected"`
	Scenarios       []ImpactScenario `json:"scenariosToRerun"`
	Code            []search.Related `json:"code,omitempty"`   // that implements or names it
	Tests           []search.Related `json:"tests,omitempty"`  // that prove it
	Serves          []SpecRef        `json:"serves,omitempty"` // of a file of code: what it serves
	TotalDirect     int              `json:"totalDirectly"`
	TotalTransitive int              `json:"totalTransitively"`
	Next            int              `json:"next,omitempty"` // the offset of the next of both lists
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

// Impact returns what a change of an entity touches.
func Impact(ctx context.Context, a *app.App, q RelatedQuery) (ImpactReply, error) {
	asked, short := q.Depth, q.Limit == 0
	if err := q.check(kdd.MaxDepth); err != nil {
		return ImpactReply{}, err
	}
	s, err := open(ctx, a, q.Scope)
	if err != nil {
		return ImpactReply{}, err
	}
	defer s.Release()
	out := ImpactReply{Direct: []ImpactDirect{}, Transitive: []ImpactIndirect{}, Scenarios: []ImpactScenario{}}
	err = s.ask(ctx, func(targets []search.Target) error {
		r := s.graph.Impact(kdd.Query{Entity: q.Entity, Depth: q.Depth, Types: q.EdgeTypes, Limit: q.Offset + q.Limit, Seen: s.seen})
		out = ImpactReply{Direct: []ImpactDirect{}, Transitive: []ImpactIndirect{}, Scenarios: []ImpactScenario{}, Hidden: r.Hidden}
		if r.Node == nil {
			if out.Serves, err = s.serves(ctx, targets, q.Entity); len(out.Serves) > 0 || err != nil {
				return err
			}
			out.Message = fmt.Sprintf("No entity found matching '%s'.", app.ClipRunes(q.Entity, 80))
			out.Suggestions = r.Suggestions
			return nil
		}
		out.Analyzed = s.impactNode(r.Node)
		out.TotalDirect, out.TotalTransitive = len(r.Direct), len(r.Transitive)
		ids := s.called(r.Node)
		for i, x := range r.Direct {
			ids = append(ids, s.called(x.Node)...)
			if i >= q.Offset && i < q.Offset+q.Limit {
				e := x.Path[0]
				out.Direct = append(out.Direct, ImpactDirect{NodeID: x.Node.ID, Kind: kindOfNode(x.Node), EdgeType: e.Type,
					Description: says(e), URL: s.nodeURL(x.Node)})
			}
		}
		for i, x := range r.Transitive {
			if i >= q.Offset && i < q.Offset+q.Limit {
				out.Transitive = append(out.Transitive, s.indirect(r.Node, x))
			}
		}
		if out.Scenarios, err = scenarios(ctx, targets, ids); err != nil {
			return err
		}
		if r.Node.Doc != nil {
			by, err := s.servedBy(ctx, targets, r.Node.Doc)
			if err != nil {
				return err
			}
			out.Code, out.Tests = by.code, by.tests
		}
		if asked > r.Depth {
			out.Warnings = append(out.Warnings, fmt.Sprintf("depth %d is more than %d, which is used", asked, r.Depth))
		}
		return nil
	})
	if err != nil {
		return ImpactReply{}, err
	}
	if note := hiddenNote(out.Hidden, "affected specifications"); note != "" {
		out.Warnings = append(out.Warnings, note)
	}
	out.Warnings = append(out.Warnings, s.Notes...)
	if short {
		out.shorten()
	}
	// Both lists go on from one place, the nearest end of the two.
	next := 0
	for _, l := range [][2]int{{len(out.Direct), out.TotalDirect}, {len(out.Transitive), out.TotalTransitive}} {
		if shown := q.Offset + l[0]; shown < l[1] && l[0] > 0 && (next == 0 || shown < next) {
			next = shown
		}
	}
	if out.Next = next; next > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the nearest of each; go on with offset %d", next))
	}
	return out, nil
}

// indirect is what depends on a node through others.
func (s *specs) indirect(of *kdd.Node, x kdd.Impacted) ImpactIndirect {
	t := ImpactIndirect{NodeID: x.Node.ID, Kind: kindOfNode(x.Node), URL: s.nodeURL(x.Node), Path: []string{of.ID}}
	for _, e := range slices.Backward(x.Path) {
		t.Path, t.EdgeTypes = append(t.Path, e.From.ID), append(t.EdgeTypes, e.Type)
	}
	return t
}

// shorten cuts the lists to a short reply, what is affected itself before the rest.
func (r *ImpactReply) shorten() {
	direct, transitive, scenarios := r.Direct, r.Transitive, r.Scenarios
	r.Direct, r.Transitive, r.Scenarios = nil, nil, nil
	left := replyBytes - relatedNote - sizeOf(r)
	r.Scenarios = scenarios[:fitting(scenarios, left/4)]
	left -= sizeOf(r.Scenarios)
	r.Direct = direct[:fitting(direct, left*3/5)]
	r.Transitive = transitive[:fitting(transitive, left-sizeOf(r.Direct))]
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
