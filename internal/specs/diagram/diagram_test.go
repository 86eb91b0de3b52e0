package diagram

import (
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// sample is a neighbourhood as specifications have them: one entity, rules
// and use cases that point at it, what it produces, and relations among those.
func sample(n int, r *rand.Rand) Graph {
	types := []string{"ENTITY", "USE_CASE", "RULE", "PROCESS", "EVENT", "CONCEPT"}
	edges := []string{"REFERENCES", "MENTIONS", "DEPENDS_ON", "UC_APPLIES_RULE", "IMPLEMENTS", "PRODUCES"}
	g := Graph{Nodes: []Node{{Label: "KDDDocument", Under: "entity", Class: "ENTITY", URL: "file:///specs/a%20b.md#x"}}}
	for i := 1; i < n; i++ {
		column := []int{-1, -1, 1, 1, 2, -2}[r.IntN(6)]
		label := fmt.Sprintf("BR-DOCUMENT-%03d", i)
		if i%5 == 0 {
			label = "Estrategia de Chunking Semántico por Tipo KDD con fallback híbrido y más " + fmt.Sprint(i)
		}
		g.Nodes = append(g.Nodes, Node{Label: label, Under: "business rule · draft", Class: types[r.IntN(len(types))], Column: column, Faded: i%7 == 0})
		to := 0
		if column == 2 || column == -2 {
			to = 1 + r.IntN(i)
		}
		g.Edges = append(g.Edges, Edge{From: i, To: to, Label: edges[r.IntN(len(edges))]})
		if i%3 == 0 {
			g.Edges = append(g.Edges, Edge{From: r.IntN(i), To: i, Label: edges[r.IntN(len(edges))], Faded: true})
		}
	}
	return g
}

type rect struct {
	x, y, w, h float64
	what       string
}

func (a rect) meets(b rect) bool {
	return a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h
}

func TestNothingOverlaps(t *testing.T) {
	for seed := range 40 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		l := newLayout(sample(2+r.IntN(39), r).merged())
		l.order()
		l.ports()
		l.place()
		var all []rect
		for _, b := range l.boxes {
			all = append(all, rect{b.x, b.y, b.w, b.h, l.g.Nodes[b.node].Label})
		}
		for i, e := range l.g.Edges {
			n, side := l.named(e)
			x, y := l.port(n, side, i)
			w := width(l.labels[i], smallSize)
			if x += 9; side == 0 {
				x -= 18 + w
			}
			all = append(all, rect{x, y - 8, w, 14, fmt.Sprintf("name of edge %d: %s", i, l.labels[i])})
		}
		for i, a := range all {
			if a.x < 0 || a.y < 0 || a.x+a.w > l.w || a.y+a.h > l.h {
				t.Errorf("%d: %v is outside %v x %v", seed, a, l.w, l.h)
			}
			for _, b := range all[:i] {
				if a.meets(b) {
					t.Errorf("%d: %v and %v overlap", seed, a, b)
				}
			}
		}
	}
}

func TestFormats(t *testing.T) {
	g := Graph{
		Nodes: []Node{{Label: `a "quoted" <b> & [c] \ #1`, Class: "ENTITY"}, {Label: "día\nlínea", Under: "x", Class: "end"}, {Label: "仕様", URL: "javascript:alert(1)", Column: -1}},
		Edges: []Edge{{From: 0, To: 1, Label: "USES"}, {From: 0, To: 1, Label: "USES"}, {From: 0, To: 1, Label: `|"x"`}, {From: 1, To: 1}, {From: 0, To: 9}, {From: 2, To: 0}},
	}
	for _, f := range Formats {
		if a, b := Draw(g, f), Draw(g, f); a != b {
			t.Errorf("%s differs from itself", f)
		}
	}
	dec := xml.NewDecoder(strings.NewReader(Draw(g, "svg")))
	for {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if s := Draw(g, "svg"); strings.Contains(s, "javascript") {
		t.Error("the picture opens what is no address")
	}
	m := Draw(g, "mermaid")
	for _, want := range []string{"flowchart LR\n", `n0["a #34;quoted#34; #60;b#62; #38; #91;c#93; #92; #35;1"]:::cENTITY`, `n0 -->|"USES, #124;#34;x#34;"| n1`, "n2 --> n0", "classDef cend "} {
		if !strings.Contains(m, want) {
			t.Errorf("mermaid lacks %s:\n%s", want, m)
		}
	}
	d := Draw(g, "dot")
	for _, want := range []string{`n0 [label="a \"quoted\" <b> & [c] \\ #1"`, `n1 [label="día línea\nx"`, `n0 -> n1 [label="USES, |\"x\""]`, "n2 -> n0;"} {
		if !strings.Contains(d, want) {
			t.Errorf("dot lacks %s:\n%s", want, d)
		}
	}
	for _, f := range Formats { // one node, and none
		Draw(Graph{Nodes: g.Nodes[:1]}, f)
		Draw(Graph{}, f)
	}
}

// TestPicture writes one to look at, where KNOWLEDGE_PICTURE names a file.
func TestPicture(t *testing.T) {
	name := os.Getenv("KNOWLEDGE_PICTURE")
	if name == "" {
		t.Skip("KNOWLEDGE_PICTURE names no file")
	}
	if err := os.WriteFile(name, []byte(Draw(sample(20, rand.New(rand.NewPCG(3, 1))), "svg")), 0o600); err != nil {
		t.Fatal(err)
	}
}
