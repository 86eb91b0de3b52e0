package app

import (
	"path/filepath"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A store that is published, and whose old files are swept, while somebody
// verifies is not damaged; neither is one that is deleted meanwhile.
func TestVerifyWhileSomebodyPublishes(t *testing.T) {
	s := newSite(t)
	a := s.in("p", true)
	for _, name := range []string{"one", "two"} {
		s.write(name+"/a.md", "# Retries\n\nThe limit of retries is five in "+name+".\n")
		s.create(a, CreateStore{Name: name, Source: filepath.Join(s.root, name)})
	}
	c, err := a.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, during := range []func(){
		func() {
			s.write("two/a.md", "# Retries\n\nThe limit of retries is six now.\n")
			st, err := a.IndexStore(t.Context(), "two", false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.WaitJob(t.Context(), st.Job); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Collect(t.Context(), false); err != nil {
				t.Fatal(err)
			}
		},
		func() {
			if _, err := a.DeleteStore(t.Context(), "two", false); err != nil {
				t.Fatal(err)
			}
		},
	} {
		v := c.checker()
		view, done := v.View, false
		v.View = func(id kb.StoreID) string { // at the end of the first store's look
			if !done {
				done = true
				during()
			}
			return view(id)
		}
		rep, err := v.Run(t.Context(), nil, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range rep.Findings {
			if f.Status != "left" {
				t.Errorf("%+v", f)
			}
		}
	}
}
