package specs_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/specs"
)

// TestWhatReplaces: what is not in force says so with what replaces it, whoever
// of the two says it, in every reply that shows it.
func TestWhatReplaces(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/adr/0001-files.md", spec("id: ADR-0001\nkind: adr\nstatus: superseded\nsuperseded_by: ADR-0002", "# ADR-0001 Orders in files\n\n## Decision\n\nZebra orders are kept in flat files.\n"))
	s.Write("p/adr/0002-tables.md", spec("id: ADR-0002\nkind: adr\nstatus: accepted", "# ADR-0002 Orders in tables\n\n## Decision\n\nTables keep them.\n"))
	s.Write("p/adr/0003-queue.md", spec("id: ADR-0003\nkind: adr\nstatus: Superseded by ADR-0002", "# ADR-0003 Orders in queues\n\n## Decision\n\nGiraffe orders wait in queues.\n"))
	s.Write("p/adr/0004-old.md", spec("id: ADR-0004\nkind: adr", "# ADR-0004 Orders on paper\n\n## Decision\n\nOkapi orders are written on paper.\n"))
	s.Write("p/adr/0005-new.md", spec("id: ADR-0005\nkind: adr\nsupersedes: ADR-0004", "# ADR-0005 Orders on screens\n\n## Decision\n\nNo paper.\n"))
	s.Write("p/adr/0006-gone.md", spec("id: ADR-0006\nkind: adr\nstatus: deprecated", "# ADR-0006 Orders by pigeon\n\n## Decision\n\nPigeon orders fly.\n"))
	s.Write("p/src/orders.go", "package orders\n\n// Store keeps ADR-0001.\nfunc Store() {}\n")
	a := s.In("p", true)
	scope := specs.Scope{Waiting: person}
	for query, want := range map[string]string{
		"zebra orders are kept in flat files": "status of this specification: superseded, replaced by ADR-0002",
		"giraffe orders wait in queues":       "status of this specification: superseded, replaced by ADR-0002",
		"pigeon orders fly":                   "status of this specification: deprecated",
	} {
		r := s.Search(a, search.Request{Query: query}, app.Scope{Waiting: app.Waiting{Wait: time.Minute}})
		if len(r.Hits) == 0 || r.Hits[0].Note != want {
			t.Errorf("%s: %+v", query, r.Hits)
		}
	}
	for id, want := range map[string]string{
		"ADR-0001": "superseded, replaced by ADR-0002", "ADR-0004": "superseded, replaced by ADR-0005", "ADR-0006": "deprecated", "ADR-0002": "", "ADR-0005": "",
	} {
		r, err := specs.Section(t.Context(), a, map[string]string{
			"ADR-0001": "adr/0001-files.md", "ADR-0004": "adr/0004-old.md", "ADR-0006": "adr/0006-gone.md", "ADR-0002": "adr/0002-tables.md", "ADR-0005": "adr/0005-new.md",
		}[id], "decision", scope)
		if err != nil || strings.TrimPrefix(r.Note, "the document is ") != want {
			t.Errorf("section of %s: %q %v", id, r.Note, err)
		}
		rel, err := specs.Related(t.Context(), a, specs.RelatedQuery{Entity: id, Scope: specs.Scope{Statuses: []string{"all"}, Waiting: person}})
		if said := strings.Join(rel.Warnings, "; "); err != nil || want != "" && !strings.Contains(said, id+" is "+want) || want == "" && strings.Contains(said, " is ") {
			t.Errorf("related of %s: %q %v", id, said, err)
		}
	}
	found, err := specs.Search(t.Context(), a, specs.SearchQuery{Query: "zebra orders flat files", Scope: scope})
	if said := strings.Join(found.Warnings, "; "); err != nil || !strings.Contains(said, "superseded: ADR-0001 Orders in files (replaced by ADR-0002)") {
		t.Errorf("kdd:search: %q %v", said, err)
	}
	hits := s.Search(a, search.Request{Query: "func Store keeps"}, app.Scope{})
	for _, h := range hits.Hits {
		if strings.HasPrefix(h.At, "src/orders.go") {
			c, err := find.ByID(t.Context(), a, h.ID)
			raw, _ := json.Marshal(c)
			if err != nil || !strings.Contains(string(raw), `"kdd_status":"superseded, replaced by ADR-0002"`) {
				t.Errorf("%s %v", raw, err)
			}
		}
	}
}
