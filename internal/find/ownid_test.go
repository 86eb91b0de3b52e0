package find_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

const knots = `// Package sea measures speed.
package sea

// Knots is a speed at sea.
type Knots float64

// KmPerHour turns knots into kilometres an hour.
func (k Knots) KmPerHour() float64 { return float64(k) * 1.852 }

// MetresPerSecond turns knots into metres a second.
func (k Knots) MetresPerSecond() float64 { return float64(k) * 0.514 }

// Beaufort gives the force of a wind of that speed.
func (k Knots) Beaufort() int {
	return int(k / 5)
}
`

// A hit in a chunk of several small declarations is one of them by its name,
// its lines and its id, which stays when a neighbour comes.
func TestADeclarationHasItsOwnID(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/go.mod", "module example.org/sea\n\ngo 1.24\n")
	s.Write("p/knots.go", knots)
	a := s.In("p", true)
	w := app.Waiting{Wait: time.Minute}
	first := func(query string) find.Hit {
		t.Helper()
		r, err := find.Search(t.Context(), a, search.Request{Query: query}, app.Scope{Waiting: w})
		if err != nil || len(r.Hits) == 0 {
			t.Fatal(err)
		}
		return r.Hits[0]
	}
	force, speed := first("Beaufort"), first("Knots.KmPerHour")
	if chunk, _, _ := strings.Cut(force.ID, "."); force.ID == speed.ID || !strings.HasPrefix(speed.ID, chunk+".") {
		t.Errorf("Beaufort is %s, KmPerHour %s", force.ID, speed.ID)
	}
	look := func(id, symbol, at string, lines ...string) {
		t.Helper()
		c, err := find.Show(t.Context(), a, id, w)
		if err != nil {
			t.Fatal(err)
		}
		if c.ID != id || c.Symbol != symbol || c.At != at || c.Code != strings.Join(lines, "\n") {
			t.Errorf("%s is %s %s %s:\n%s", id, c.ID, c.Symbol, c.At, c.Code)
		}
	}
	look(force.ID, "Knots.Beaufort", "knots.go:L13-16", strings.Split(knots, "\n")[12:16]...)
	look(speed.ID, "Knots.KmPerHour", "knots.go:L7-8", strings.Split(knots, "\n")[6:8]...)
	if force.At != "knots.go:L13-16" || speed.At != "knots.go:L7-8" {
		t.Errorf("found at %s and %s", force.At, speed.At)
	}
	both, err := find.ShowAll(t.Context(), a, force.ID+","+speed.ID, w)
	if several, ok := both.(search.Several); err != nil || !ok || len(several.Places) != 2 {
		t.Errorf("both: %+v %v", both, err)
	}
	where, err := code.Ask(t.Context(), a, code.CodeRequest{CodeRequest: search.CodeRequest{Symbol: force.ID, What: search.Definition}, Waiting: w})
	if err != nil || len(where.Symbols) != 1 || where.Symbols[0].Symbol != "Knots.Beaufort" || where.Symbols[0].ID != force.ID {
		t.Errorf("its definition: %+v %v", where, err)
	}

	s.Write("p/knots.go", strings.Replace(knots, "// KmPerHour", "// Warp is as fast as it gets.\nfunc Warp() Knots { return 9 }\n\n// KmPerHour", 1))
	first("Warp")
	c, err := find.Show(t.Context(), a, force.ID, w)
	if err != nil || c.Symbol != "Knots.Beaufort" || c.At != "knots.go:L16-19" || !strings.Contains(c.Note, "changed since the id was given") {
		t.Errorf("after an edit beside it: %+v %v", c, err)
	}
	s.Write("p/knots.go", strings.Replace(knots, "Beaufort", "Force", -1))
	first("Force")
	c, err = find.Show(t.Context(), a, force.ID, w)
	if err != nil || c.Symbol == "Knots.Force" || !strings.Contains(c.Note, "the declaration that the id was given for is not there now") {
		t.Errorf("renamed: %+v %v", c, err)
	}
}
