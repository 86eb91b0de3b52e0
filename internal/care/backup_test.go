package care_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// A backup is taken while stores change, and what is restored of it is one moment,
// whole and true.
func TestBackup(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("docs/a.md", "# Alpha\n\nThe first text of all.\n")
	a := s.In("work", false)
	s.Create(a, app.CreateStore{Name: "docs", Source: filepath.Join(s.Root, "docs"), User: true})
	s.Write("data/team/rights.yaml", "stores: {}\n")
	to := filepath.Join(s.Root, "backup")
	var busy sync.WaitGroup
	busy.Go(func() {
		for i := range 8 {
			s.Write("docs/a.md", fmt.Sprintf("# Alpha\n\nText number %d of all.\n", i))
			if st, err := a.IndexStore(t.Context(), "docs", true); err == nil {
				_, _ = a.WaitJob(t.Context(), st.Job)
			}
		}
	})
	var last care.BackedUp
	for range 6 {
		b, err := care.BackUp(t.Context(), a, to)
		if err != nil {
			t.Fatal(err)
		}
		last = b
	}
	busy.Wait()
	if last.Stores != 1 || last.Files < 4 {
		t.Errorf("%+v", last)
	}
	again, err := care.BackUp(t.Context(), a, to)
	if err != nil {
		t.Fatal(err)
	}
	if more, err := care.BackUp(t.Context(), a, to); err != nil || more.Copied >= again.Bytes {
		t.Errorf("nothing has changed, and %d bytes are copied: %v", more.Copied, err)
	}
	for folder, want := range map[string]kb.Code{s.Root: kb.Exists, filepath.Join(s.Data, "b"): kb.Invalid} {
		if _, err := care.BackUp(t.Context(), a, folder); kb.CodeOf(err) != want {
			t.Errorf("a backup to %s: %v", folder, err)
		}
	}
	if _, err := care.Restore(t.Context(), a, to); kb.CodeOf(err) != kb.Exists {
		t.Errorf("a restore over what is there: %v", err)
	}
	other := &producttest.Site{T: t, Data: filepath.Join(s.Root, "restored"), Root: s.Root}
	b := other.In("elsewhere", false)
	if _, err := care.Restore(t.Context(), b, s.Root); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("a restore of something else: %v", err)
	}
	if _, err := care.Restore(t.Context(), b, to); err != nil {
		t.Fatal(err)
	}
	if v, err := care.Verify(t.Context(), b, "", false); err != nil || v.ExitStatus() == 7 {
		t.Errorf("%v %v", v, err)
	}
	if r := other.Search(b, search.Request{Query: "text number of all"}, app.Scope{Stores: []string{"docs"}}); len(r.Hits) != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(other.Data, "team", "rights.yaml")); err != nil {
		t.Error(err)
	}
}
