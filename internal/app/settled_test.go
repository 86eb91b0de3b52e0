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

// A store that is deleted between the list of stores and their being opened
// leaves the others to answer; one that was asked for alone is missed.
func TestStoreDeletedUnderAQuestion(t *testing.T) {
	s := newSite(t)
	a := s.in("p", true)
	var stores []kb.Store
	for _, name := range []string{"one", "two"} {
		s.write(name+"/a.md", "# Retries\n\nThe limit of retries is five in "+name+".\n")
		s.create(a, CreateStore{Name: name, Source: filepath.Join(s.root, name)})
		_, st, err := a.lookup(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, st)
	}
	c, err := a.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.DeleteStore(t.Context(), "two", false); err != nil {
		t.Fatal(err)
	}
	both, err := c.targets(t.Context(), stores)
	if err != nil {
		t.Fatal(err)
	}
	defer both.release()
	if len(both.targets) != 1 || len(both.notes) != 1 || both.notes[0] != "store two was deleted meanwhile" {
		t.Errorf("%d targets, notes %q", len(both.targets), both.notes)
	}
	if _, err := c.targets(t.Context(), stores[1:]); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("alone: %v", err)
	}
}
