package code_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// TestAround asks for the files around one: used and using, near and far,
// within its bounds.
func TestAround(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/go.mod", "module example.org/p\n\ngo 1.25\n")
	s.Write("p/money.go", "package p\n\ntype Price int\n\nfunc Sum(p []Price) (s Price) {\n\tfor _, x := range p {\n\t\ts += x\n\t}\n\treturn s\n}\n")
	s.Write("p/order.go", "package p\n\nfunc Total(prices []Price) Price { return Sum(prices) }\n")
	s.Write("p/far.go", "package p\n\nfunc Shop() Price { return Total(nil) }\n")
	s.Write("p/alone.go", "package p\n\nvar alone = 1\n")
	for i := range 5 {
		s.Write(fmt.Sprintf("p/user%d.go", i), fmt.Sprintf("package p\n\nfunc user%d() Price { return Sum(nil) }\n", i))
	}
	a := s.In("p", true)
	w := app.Waiting{Wait: time.Minute, Person: true}
	around := func(path string, depth, limit int) code.Neighbourhood {
		t.Helper()
		r, err := code.Around(t.Context(), a, path, "", depth, limit, w)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := around("order.go", 1, 0)
	var paths []string
	for _, n := range r.Nodes {
		paths = append(paths, fmt.Sprint(n.Path, n.Distance))
	}
	if fmt.Sprint(paths) != "[order.go0 money.go1 far.go1]" {
		t.Errorf("around order.go are %v", paths)
	}
	has := func(from, to string) bool {
		return slices.ContainsFunc(r.Edges, func(e code.Arrow) bool {
			return r.Nodes[e.From].Path == from && r.Nodes[e.To].Path == to && e.Calls+e.Types > 0
		})
	}
	if !has("order.go", "money.go") || !has("far.go", "order.go") || !has("far.go", "money.go") || has("money.go", "order.go") {
		t.Errorf("the edges are %+v of %v", r.Edges, paths)
	}
	if r = around("order.go", 2, 0); len(r.Nodes) != 8 || r.More != 0 {
		t.Errorf("two uses away are %+v", r.Nodes)
	}
	if r = around("order.go", 2, 4); len(r.Nodes) != 5 || r.More != 3 {
		t.Errorf("of at most four there are %d, and %d more", len(r.Nodes)-1, r.More)
	}
	if r = around("alone.go", 3, 0); len(r.Nodes) != 1 || len(r.Edges) != 0 {
		t.Errorf("alone.go has %+v", r)
	}
	for _, bad := range [][2]int{{9, 1}, {-1, 1}, {1, -1}, {1, 5000}} {
		if _, err := code.Around(t.Context(), a, "order.go", "", bad[0], bad[1], w); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("depth %d, limit %d: %v", bad[0], bad[1], err)
		}
	}
	if _, err := code.Around(t.Context(), a, "gone.go", "", 1, 1, w); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("a file that is not there: %v", err)
	}
}
