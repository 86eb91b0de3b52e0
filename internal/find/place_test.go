package find_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// To a question of how something works what does it comes before what only
// declares it, and after that where the declaration is named.
func TestWhatDoesItBeforeWhatDeclaresIt(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/README.md", "# Quarry\n")
	s.Write("p/Yard.java", "/** Where slabs wait until a cart takes them. */\npublic interface Yard {\n"+
		"    /** Takes the slab that has waited longest out of the yard. */\n    Slab unstack();\n}\n")
	s.Write("p/RackYard.java", "public class RackYard implements Yard {\n    private final Deque<Slab> leaning = new ArrayDeque<>();\n\n"+
		"    @Override\n    public Slab unstack() {\n        Slab oldest = leaning.pollFirst();\n        oldest.tilt(0);\n        return oldest;\n    }\n}\n")
	s.Write("p/Slab.java", "public class Slab {\n    private int tilt;\n\n    public void tilt(int degrees) {\n        tilt = degrees;\n    }\n}\n")
	s.Write("p/blast.py", "class Charge:\n    \"\"\"Powder for one hole.\"\"\"\n\n    def light(self, clock):\n"+
		"        while clock.horns() < 3:\n            clock.wait()\n        return clock.now()\n")
	s.Write("p/charges.py", "from blast import Charge\n\n\nclass PowderCharge(Charge):\n    pass\n\n\nclass FuseCharge(Charge):\n"+
		"    \"\"\"A fuse, which is lit for its charge.\"\"\"\n")
	a := s.In("p", true)
	for query, want := range map[string]string{
		"how is the slab that has waited longest taken out of the yard": "RackYard.java Yard.java",
		"when is the fuse of a charge lit":                              "blast.py charges.py",
		"Yard":                                                          "Yard.java",
		"FuseCharge":                                                    "charges.py",
	} {
		r, err := find.Search(t.Context(), a, search.Request{Query: query}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		last := 2.0
		for _, h := range r.Hits {
			path, _, _ := strings.Cut(h.At, ":")
			got = append(got, path)
			if h.Score > last {
				t.Errorf("%s: %s scores more than the one before it", query, h.At)
			}
			last = h.Score
		}
		if !strings.HasPrefix(strings.Join(got, " ")+" ", want+" ") {
			t.Errorf("%s: %s, want first %s", query, got, want)
		}
	}
}
