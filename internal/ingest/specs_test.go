package ingest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// specified returns what the live generation says as specifications, and the
// edges of its graph.
func (f *fixture) specified() (specs []kb.SpecEntry, edges []string) {
	f.Helper()
	g := f.open()
	defer g.Release()
	take := func(ctx context.Context, yield func(kb.SpecEntry) error) error {
		for {
			after := ""
			if n := len(specs); n > 0 {
				after = specs[n-1].Path
			}
			list, err := g.Specs(ctx, after, 5)
			if err != nil || len(list) == 0 {
				return err
			}
			specs = append(specs, list...)
			for _, e := range list {
				if err := yield(e); err != nil {
					return err
				}
			}
		}
	}
	graph, err := kdd.Join(f.Context(), []kdd.Source{{Store: kb.Store{ID: "x"}, Label: "x", Docs: take}})
	if err != nil {
		f.Fatal(err)
	}
	for _, d := range graph.Docs() {
		out, in := graph.Edges(graph.Node(d))
		for _, e := range append(out, in...) {
			edges = append(edges, fmt.Sprintf("%s: %s %s %s %.2f %s:%d", d.Path, e.From.ID, e.Type, e.To.ID, e.Confidence, e.At.Doc.Path, e.At.Line))
		}
	}
	return specs, edges
}

// TestSpecificationsFollowEdits: whatever was edited, renamed and deleted in
// whatever order, the specifications and their graph are those of a fresh index.
func TestSpecificationsFollowEdits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	kinds := []string{"entity", "business-rule", "use-case", "adr"}
	text := func() string {
		return fmt.Sprintf("---\nid: BR-%d\nkind: %s\nstatus: draft\ntags: [t%d]\n---\n# T%d\n\nSee [[BR-%d]] and BR-%d.\n\n## Actores\n\n- **A%d**: x\n",
			rnd.IntN(20), kinds[rnd.IntN(4)], rnd.IntN(3), rnd.IntN(9), rnd.IntN(20), rnd.IntN(20), rnd.IntN(3))
	}
	f := newFixture(t)
	for i := range 12 {
		f.src.docs[fmt.Sprintf("a/d%02d.md", i)] = text()
	}
	f.src.docs["main.go"] = "package main\n"
	f.run()
	for range 15 {
		for range 1 + rnd.IntN(3) {
			p := fmt.Sprintf("%c/d%02d.md", 'a'+rune(rnd.IntN(2)), rnd.IntN(14))
			switch old, ok := f.src.docs[p]; {
			case ok && rnd.IntN(3) == 0:
				delete(f.src.docs, p)
			case ok && rnd.IntN(3) == 0: // moved, or copied with the same content
				f.src.docs["c/"+p[2:]] = old
			default:
				f.src.docs[p] = text()
			}
		}
		f.run()
	}
	fresh := newFixture(t)
	fresh.src.docs = maps.Clone(f.src.docs)
	fresh.run()
	specs, edges := f.specified()
	wantSpecs, wantEdges := fresh.specified()
	if d := cmp.Diff(wantSpecs, specs); d != "" {
		t.Errorf("specifications (-fresh +edited):\n%s", d)
	}
	if d := cmp.Diff(wantEdges, edges); d != "" || len(edges) == 0 {
		t.Errorf("%d edges (-fresh +edited):\n%s", len(edges), d)
	}
	for _, s := range specs {
		if s.Path == "main.go" {
			t.Errorf("%s is a specification", s.Path)
		}
	}
}
