package kdd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/specdoc"
)

// Stats counts what a graph holds.
type Stats struct {
	Documents  int            `json:"documents"`
	Nodes      int            `json:"nodes"`
	Edges      int            `json:"edges"`
	Orphans    int            `json:"orphanEdges"`
	Kinds      map[string]int `json:"kinds"`
	NodeTypes  map[string]int `json:"nodeTypes"`
	EdgeTypes  map[string]int `json:"edgeTypes"`
	Methods    map[string]int `json:"methods"`
	Lifecycles map[string]int `json:"lifecycles"`
	Layers     map[string]int `json:"layers"`
	Domains    map[string]int `json:"domains"`
}

// Stats counts the graph. Documents without a kind count as "", those without
// layer or domain not at all.
func (g *Graph) Stats() Stats {
	s := Stats{Documents: len(g.docs), Nodes: len(g.nodes), Edges: len(g.edges), Orphans: len(g.orphans),
		Kinds: map[string]int{}, NodeTypes: map[string]int{}, EdgeTypes: map[string]int{}, Methods: map[string]int{},
		Lifecycles: map[string]int{}, Layers: map[string]int{}, Domains: map[string]int{}}
	for _, d := range g.docs {
		s.Kinds[d.Kind]++
		s.Lifecycles[d.Lifecycle]++
		if l := LayerName(d.Layer); l != "" {
			s.Layers[l]++
		}
		if d.Domain != "" {
			s.Domains[d.Domain]++
		}
	}
	for i := range g.nodes {
		s.NodeTypes[g.nodes[i].Type]++
	}
	for i := range g.edges {
		s.EdgeTypes[g.strings.list[g.edges[i].typ]]++
		s.Methods[methods[g.edges[i].method]]++
	}
	return s
}

// Orphan is a stated relation whose target nothing is called.
type Orphan struct {
	At     Spot
	Target string // as written
	Type   string
	Method string
	Reason string // "nothing has this id, file name, alias or title", …
	// Near is a name close to the target, "" without any.
	Near string
}

// Coverage says how much of what its kind asks for a document has.
type Coverage struct {
	Doc     *Doc
	Percent int
	Missing []string // "a section Attributes (Atributos)", "a link to an entity"
}

// Report is the reply of Check.
type Report struct {
	Documents int // of a kind of specification that were looked at
	Percent   int // mean of their coverage; 100 without any
	// Coverage is that of the incomplete ones, the least covered first.
	Coverage []Coverage
	// Violations are the edges from lower layers to higher ones, one of each
	// pair of documents.
	Violations []Edge
	// EdgesBetween is how many edges between documents were looked at for violations.
	EdgesBetween int
	Orphans      []Orphan
	// References is how many edges name a target: OrphanRate is the share of
	// Orphans in them, in [0,1].
	References int
	OrphanRate float64
	Hidden     map[string]int
}

// need is one thing that a kind of specification asks for: one of the
// sections, or a link with a document of one of the kinds.
type need struct {
	what     string
	sections string // roles
	linked   string // kinds, or types of nodes in capitals; either direction
	types    string // of the edges; "" for any
}

// needs are the checklist by kind.
var needs = map[string][]need{
	"entity": {
		{"a section Description (Descripción)", "description purpose", "", ""},
		{"a section Attributes (Atributos)", "attributes", "", ""},
		{"a rule, event or behaviour that it is linked with", "", "business-rule business-policy cross-policy event command query process use-case", ""},
	},
	"event": {
		{"a section Description (Descripción)", "description purpose", "", ""},
		{"a section Payload", "payload attributes", "", ""},
		{"a producer", "producers", "command use-case process entity query", "EMITS PRODUCES TRIGGERS"},
		{"a consumer", "consumers", "command use-case process entity query", "CONSUMES"},
	},
	"business-rule": {
		{"a section Declaration (Declaración)", "declaration description", "", ""},
		{"a section When applies (Cuándo aplica)", "when", "", ""},
		{"a link to an entity", "", "entity", ""},
		{"a command, process or use case that applies it", "", "command query process use-case requirement", ""},
	},
	"business-policy": {
		{"a section Declaration (Declaración)", "declaration description", "", ""},
		{"a section When applies (Cuándo aplica)", "when", "", ""},
		{"a command, process or use case that applies it", "", "command query process use-case requirement", ""},
	},
	"cross-policy": {
		{"a section Declaration (Declaración) or Purpose (Propósito)", "declaration purpose description", "", ""},
		{"a command, process or use case that applies it", "", "command query process use-case requirement", ""},
	},
	"command": {
		{"a section Purpose (Propósito)", "purpose description", "", ""},
		{"a section Input (Entrada)", "input", "", ""},
		{"a section Postconditions (Postcondiciones)", "postconditions output", "", ""},
		{"an event that it emits", "", "event", ""},
		{"a use case, process or requirement that it belongs to", "", "use-case process requirement objective", ""},
	},
	"query": {
		{"a section Purpose (Propósito)", "purpose description", "", ""},
		{"a section Input (Entrada)", "input", "", ""},
		{"a section Output (Salida)", "output", "", ""},
		{"an entity that it reads", "", "entity", ""},
	},
	"process": {
		{"a section Steps (Pasos) or Flow (Flujo)", "steps flow description", "", ""},
		{"a link to a command, event or use case", "", "command event use-case query", ""},
	},
	"use-case": {
		{"a section Description (Descripción)", "description purpose", "", ""},
		{"an actor", "actors", "ACTOR", ""},
		{"a section Main flow (Flujo principal)", "flow steps", "", ""},
		{"a section Postconditions (Postcondiciones)", "postconditions", "", ""},
		{"a rule that it applies", "rules", "business-rule business-policy cross-policy", ""},
		{"a command or query that it runs", "commands", "command query process", ""},
		{"a requirement that it is traced to", "", "requirement objective prd", ""},
	},
	"ui-view": {
		{"a section Description (Descripción)", "description purpose", "", ""},
		{"a section Behavior (Comportamiento) or Layout", "behavior layout", "", ""},
		{"a link to a use case or component", "components", "use-case ui-component", ""},
	},
	"ui-component": {
		{"a section Description (Descripción)", "description purpose", "", ""},
		{"a link to an entity, view or use case", "", "entity ui-view use-case", ""},
	},
	"requirement": {
		{"a section Description (Descripción)", "description purpose", "", ""},
		{"a section Acceptance criteria (Criterios de aceptación)", "criteria", "", ""},
		{"a use case, rule or command that it is traced to", "", "use-case business-rule business-policy cross-policy command query process", ""},
	},
	"objective": {
		{"a section Objective (Objetivo)", "purpose description", "", ""},
		{"a section Success criteria (Criterios de éxito)", "success criteria metrics", "", ""},
		{"a link to a use case or requirement", "", "use-case requirement prd", ""},
	},
	"prd": {
		{"a section Problem (Problema)", "problem context description", "", ""},
		{"a section Scope (Alcance)", "scope", "", ""},
		{"a link to a use case, requirement or objective", "", "use-case requirement objective", ""},
	},
	"adr": {
		{"a section Context (Contexto)", "context problem", "", ""},
		{"a section Decision (Decisión)", "decision", "", ""},
		{"a section Consequences (Consecuencias)", "consequences", "", ""},
	},
}

// Check looks at the documents that a filter selects (its limit is not used)
// for what is missing in them.
func (g *Graph) Check(f Filter) Report {
	r := Report{Hidden: map[string]int{}}
	sum := 0
	looked := make([]bool, len(g.docs))
	for i, d := range g.docs {
		if !f.matches(d) || d.fixture() {
			continue
		}
		if !f.sees(d) {
			r.Hidden[d.Lifecycle]++
			continue
		}
		looked[i] = true
		if len(needs[d.Kind]) == 0 {
			continue
		}
		r.Documents++
		c := g.coverage(int32(i))
		sum += c.Percent
		if c.Percent < 100 {
			r.Coverage = append(r.Coverage, c)
		}
	}
	r.Percent = 100
	if r.Documents > 0 {
		r.Percent = (sum + r.Documents/2) / r.Documents
	}
	kb.SortStableFunc(r.Coverage, func(a, b Coverage) int { return cmp.Compare(a.Percent, b.Percent) })
	for i := range g.edges {
		e := &g.edges[i]
		if int(e.from) >= len(g.docs) || int(e.to) >= len(g.docs) || !looked[e.doc] {
			continue
		}
		r.EdgesBetween++
		if e.violation && (i == 0 || g.edges[i-1].from != e.from || g.edges[i-1].to != e.to) {
			r.Violations = append(r.Violations, g.edge(int32(i)))
		}
	}
	const nearest = 20 // a suggestion each; more are a matter of another kind
	for _, o := range g.orphans {
		if !looked[o.doc] {
			continue
		}
		x := Orphan{At: g.docs[o.doc].spot(int(o.line)), Target: g.strings.list[o.target], Type: g.strings.list[o.typ], Method: methods[o.method], Reason: o.reason}
		if len(r.Orphans) < nearest {
			if s := g.suggest(specdoc.Stem(x.Target), Filter{Seen: Seen{All: true}}); len(s) > 0 {
				x.Near = s[0].Name
			}
		}
		r.Orphans = append(r.Orphans, x)
	}
	for _, d := range g.refs {
		if looked[d.doc] {
			r.References += int(d.n)
		}
	}
	if r.References > 0 {
		r.OrphanRate = float64(len(r.Orphans)) / float64(r.References)
	}
	return r
}

// Selected returns the documents that a filter selects and sees, without data
// of tests.
func (g *Graph) Selected(f Filter) []*Doc {
	var out []*Doc
	for _, d := range g.docs {
		if f.matches(d) && f.sees(d) && !d.fixture() {
			out = append(out, d)
		}
	}
	return out
}

// VerifiedBy returns the documents that say to verify a document.
func (g *Graph) VerifiedBy(d *Doc) []*Doc {
	var out []*Doc
	n := g.names.paths[d.Source][d.Path]
	for _, i := range g.inward[g.in[n]:g.in[n+1]] {
		if e := &g.edges[i]; g.strings.list[e.typ] == "VALIDATES" && int(e.from) < len(g.docs) {
			out = append(out, g.docs[e.from])
		}
	}
	return out
}

// Linked returns the documents of some kinds that a document has relations
// with, in either direction, each once.
func (g *Graph) Linked(d *Doc, kinds string) []*Doc {
	var out []*Doc
	g.each(g.names.paths[d.Source][d.Path], nil, func(_, other int32, _ bool) {
		if x := g.nodes[other].Doc; x != nil && x != d && within(kinds, x.Kind) && !slices.Contains(out, x) {
			out = append(out, x)
		}
	})
	return out
}

// NameOf returns how a document is called: its id, else its title.
func (g *Graph) NameOf(d *Doc) string { return g.nodes[g.names.paths[d.Source][d.Path]].Name }

// CheckNode checks one document.
func (g *Graph) CheckNode(n *Node) Report {
	i := g.number(n)
	if i < 0 || n.Doc == nil {
		return Report{Percent: 100, Hidden: map[string]int{}}
	}
	c := g.coverage(i)
	r := Report{Documents: 1, Percent: c.Percent, Coverage: []Coverage{c}, Hidden: map[string]int{}}
	for e := g.out[i]; e < g.out[i+1]; e++ {
		if int(g.edges[e].to) < len(g.docs) {
			r.EdgesBetween++
		}
		if g.edges[e].violation {
			r.Violations = append(r.Violations, g.edge(e))
		}
	}
	for _, o := range g.orphans {
		if o.doc == i {
			r.Orphans = append(r.Orphans, Orphan{At: n.Doc.spot(int(o.line)), Target: g.strings.list[o.target], Type: g.strings.list[o.typ], Method: methods[o.method], Reason: o.reason})
		}
	}
	if i := slices.IndexFunc(g.refs, func(r refs) bool { return r.doc == i }); i >= 0 {
		r.References = int(g.refs[i].n)
		r.OrphanRate = float64(len(r.Orphans)) / float64(max(1, r.References))
	}
	return r
}

// coverage holds a document against the list of its kind.
func (g *Graph) coverage(n int32) Coverage {
	d := g.docs[n]
	c := Coverage{Doc: d, Percent: 100}
	list := needs[d.Kind]
	if len(list) == 0 {
		return c
	}
	has := map[string]bool{}
	for i := range d.Sections {
		s := &d.Sections[i]
		if len(s.Path) > 0 && s.Level > 0 {
			has[specdoc.Role(s.Path[len(s.Path)-1])] = true
			// The text below the title is the description when no section is called so.
			if s.Level == 1 && s.End > s.Start+2 {
				has["title"] = true
			}
		}
	}
	met := 0
	for _, x := range list {
		ok := false
		for _, role := range strings.Fields(x.sections) {
			ok = ok || has[role] || role == "description" && has["title"]
		}
		if !ok && x.linked != "" {
			g.each(n, nil, func(e, other int32, _ bool) {
				node := &g.nodes[other]
				what := node.Type
				if node.Doc != nil {
					what = node.Doc.Kind
				}
				ok = ok || within(x.linked, what) && (x.types == "" || within(x.types, g.strings.list[g.edges[e].typ]))
			})
		}
		if ok {
			met++
		} else {
			c.Missing = append(c.Missing, x.what)
		}
	}
	c.Percent = 100 * met / len(list)
	return c
}

// within reports whether a word is among those of a list.
func within(list, word string) bool {
	return word != "" && slices.Contains(strings.Fields(list), word)
}
