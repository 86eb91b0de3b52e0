// Package diagram draws what surrounds one node of a graph: as SVG with a
// layout of its own, as DOT for Graphviz and as a flowchart for Mermaid. The
// same graph gives the same bytes. It knows nothing of what the nodes are.
package diagram

import (
	"fmt"
	"slices"
	"strings"
)

// Graph is what is drawn. Its first node is the one that the others surround.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// Node is one box.
type Node struct {
	Label string
	Under string // a second, smaller line; "" for none
	Class string // what it is: nodes of one class look alike
	URL   string // opened by a click; "" for none
	// Column says how far from the first node it is: 0 for that one, more
	// to the right, less to the left.
	Column int
	Faded  bool
}

// Edge is an arrow between two nodes, by their numbers.
type Edge struct {
	From, To int
	Label    string
	Faded    bool
}

// Formats are the names of what Draw can write.
var Formats = []string{"mermaid", "dot", "svg"}

// Draw writes a graph in one of Formats.
func Draw(g Graph, format string) string {
	g = g.merged()
	switch format {
	case "dot":
		return g.dot()
	case "svg":
		return g.svg()
	default:
		return g.mermaid()
	}
}

// merged returns the graph with one edge for each pair of nodes and direction,
// named by all of them, and without edges that lead nowhere.
func (g Graph) merged() Graph {
	type pair struct{ from, to int }
	at := map[pair]int{}
	out := Graph{Nodes: g.Nodes}
	for _, e := range g.Edges {
		if e.From == e.To || min(e.From, e.To) < 0 || max(e.From, e.To) >= len(g.Nodes) {
			continue
		}
		i, ok := at[pair{e.From, e.To}]
		if !ok {
			at[pair{e.From, e.To}] = len(out.Edges)
			out.Edges = append(out.Edges, e)
			continue
		}
		x := &out.Edges[i]
		x.Faded = x.Faded && e.Faded
		if e.Label != "" && !slices.Contains(strings.Split(x.Label, ", "), e.Label) {
			x.Label = strings.TrimPrefix(x.Label+", "+e.Label, ", ")
		}
	}
	return out
}

// classes returns the classes of a graph, in order of the alphabet.
func (g Graph) classes() []string {
	var out []string
	for _, n := range g.Nodes {
		if n.Class != "" {
			out = append(out, n.Class)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shade is a fill and the stroke that goes with it. Text on it is dark.
type shade struct{ fill, stroke string }

// shades are given to classes by their names where these are known, so that
// two pictures of one project look alike, else in turn.
var shades = map[string]shade{
	"ENTITY":   {"#dbeafe", "#2563eb"},
	"USE_CASE": {"#dcfce7", "#16a34a"},
	"RULE":     {"#fee2e2", "#dc2626"},
	"PROCESS":  {"#f3e8ff", "#9333ea"},
	"EVENT":    {"#fef3c7", "#d97706"},
	"DEFAULT":  {"#f1f5f9", "#64748b"},
	"DOCUMENT": {"#f1f5f9", "#64748b"},
	"CONCEPT":  {"#ffffff", "#94a3b8"},
	"ACTOR":    {"#cffafe", "#0891b2"},
	"SYSTEM":   {"#e0e7ff", "#4f46e5"},
}

func shadeOf(class string) shade {
	if s, ok := shades[class]; ok {
		return s
	}
	return shades["DEFAULT"]
}

func (g Graph) dot() string {
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir=LR;\n  node [shape=box style=\"rounded,filled\" fontname=\"Helvetica\" fontsize=11];\n  edge [fontname=\"Helvetica\" fontsize=9 color=\"#64748b\"];\n")
	for i, n := range g.Nodes {
		s := shadeOf(n.Class)
		label := quoted(n.Label)
		if n.Under != "" {
			label = label[:len(label)-1] + `\n` + quoted(n.Under)[1:]
		}
		fmt.Fprintf(&b, "  n%d [label=%s fillcolor=%q color=%q", i, label, s.fill, s.stroke)
		if n.URL != "" {
			fmt.Fprintf(&b, " URL=%s", quoted(n.URL))
		}
		if i == 0 {
			b.WriteString(" penwidth=2.5")
		}
		if n.Faded {
			b.WriteString(` style="rounded,filled,dashed"`)
		}
		b.WriteString("];\n")
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  n%d -> n%d", e.From, e.To)
		if e.Label != "" {
			fmt.Fprintf(&b, " [label=%s%s]", quoted(e.Label), map[bool]string{true: " style=dashed"}[e.Faded])
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// quoted writes a string of DOT.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ").Replace(s) + `"`
}

func (g Graph) mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, n := range g.Nodes {
		label := entities(n.Label)
		if n.Under != "" {
			label += "<br/><small>" + entities(n.Under) + "</small>"
		}
		fmt.Fprintf(&b, "  n%d[\"%s\"]", i, label)
		if n.Class != "" {
			b.WriteString(":::" + className(n.Class))
		}
		b.WriteByte('\n')
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Faded {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s", e.From, arrow)
		if e.Label != "" {
			fmt.Fprintf(&b, "|\"%s\"|", entities(e.Label))
		}
		fmt.Fprintf(&b, " n%d\n", e.To)
	}
	for _, c := range g.classes() {
		s := shadeOf(c)
		fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:#0f172a\n", className(c), s.fill, s.stroke)
	}
	if len(g.Nodes) > 0 {
		b.WriteString("  style n0 stroke-width:3px\n")
	}
	return b.String()
}

// className turns a class into a word of Mermaid. Bare "default" and "end"
// mean something there.
func className(c string) string {
	return "c" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, c)
}

// entities writes a text of Mermaid, whose entities begin with #.
func entities(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\"#<>&;`|[](){}\\", r):
			fmt.Fprintf(&b, "#%d;", r)
		case r < ' ':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
