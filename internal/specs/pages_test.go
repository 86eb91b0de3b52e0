package specs_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
)

// TestShortReplies: among 1,000 specifications no default reply has more than
// 4 KB, and pages join to the whole.
func TestShortReplies(t *testing.T) {
	s := producttest.NewSite(t)
	const n = 1000
	for i := range n {
		kind, id := "requirement", fmt.Sprintf("REQ-%04d", i)
		if i%2 == 0 {
			kind, id = "business-rule", fmt.Sprintf("BR-%04d", i)
		}
		s.Write(fmt.Sprintf("p/specs/a folder with a long name/%03d/%s.md", i/100, id),
			spec(fmt.Sprintf("id: %s\nkind: %s\ndomain: warehouse\ndepends_on: [BR-0000, BR-%04d, REQ-9999]", id, kind, (i+2)%n/2*2),
				fmt.Sprintf("# %s A title of some length that says what number %d is about\n\nText of it.\n", id, i)))
	}
	a := s.In("p", true)
	s.Search(a, search.Request{Query: "title"}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
	scope := specs.Scope{Waiting: person}
	short := func(what string, reply any, err error) {
		t.Helper()
		raw, marshal := json.Marshal(reply)
		if err != nil || marshal != nil || len(raw) > 4096 || len(raw) < 1000 {
			t.Errorf("%s: %d bytes, %v\n%.300s", what, len(raw), err, raw)
		}
	}
	list, err := specs.List(t.Context(), a, specs.ListQuery{Scope: scope})
	short("list", list, err)
	for depth := range 4 {
		r, err := specs.Related(t.Context(), a, specs.RelatedQuery{Entity: "BR-0000", Depth: depth, Scope: scope})
		short("related", r, err)
		i, err := specs.Impact(t.Context(), a, specs.RelatedQuery{Entity: "BR-0000", Depth: depth, Scope: scope})
		short("impact", i, err)
	}
	c, err := specs.Check(t.Context(), a, specs.CheckQuery{Scope: scope})
	short("check", c, err)
	m, err := specs.Matrix(t.Context(), a, specs.MatrixQuery{Scope: scope})
	short("matrix", m, err)
	if list.Next == 0 || c.Next == 0 || m.Next == 0 {
		t.Errorf("nothing follows: %d %d %d", list.Next, c.Next, m.Next)
	}

	seen := map[string]bool{}
	for at, pages := 0, 0; ; pages++ {
		l, err := specs.List(t.Context(), a, specs.ListQuery{Limit: 300, Offset: at, Scope: scope})
		if err != nil || l.Total != n || pages > 3 {
			t.Fatalf("%d %v", l.Total, err)
		}
		for _, d := range l.Documents {
			if seen[d.Path] {
				t.Fatalf("%s twice", d.Path)
			}
			seen[d.Path] = true
		}
		if at = l.Next; at == 0 {
			break
		}
	}
	if len(seen) != n {
		t.Errorf("%d of %d documents", len(seen), n)
	}
	names := map[string]bool{}
	for at, pages := 0, 0; pages < 50; pages++ {
		r, err := specs.Related(t.Context(), a, specs.RelatedQuery{Entity: "BR-0000", Limit: 250, Offset: at, Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Related {
			if names[x.Name] {
				t.Fatalf("%s twice", x.Name)
			}
			names[x.Name] = true
		}
		if at = r.Next; at == 0 {
			break
		}
	}
	if len(names) < n-1 {
		t.Errorf("%d related", len(names))
	}
	for _, err := range []error{
		second(specs.List(t.Context(), a, specs.ListQuery{Offset: -1, Scope: scope})), second(specs.Check(t.Context(), a, specs.CheckQuery{Offset: -1, Scope: scope})),
		second(specs.Related(t.Context(), a, specs.RelatedQuery{Entity: "BR-0000", Offset: -1, Scope: scope})),
	} {
		if kb.CodeOf(err) != kb.Invalid {
			t.Error(err)
		}
	}
	if r, err := specs.Related(t.Context(), a, specs.RelatedQuery{Entity: "BR-0000", Offset: 5000, Scope: scope}); err != nil || r.Count != 0 || r.Next != 0 {
		t.Errorf("behind the end: %+v %v", r, err)
	}
}

func second[T any](_ T, err error) error { return err }
