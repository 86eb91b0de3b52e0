package app_test

import (
	"path/filepath"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// A store that is published, and whose old files are swept, while somebody
// verifies is not damaged; neither is one that is deleted meanwhile.
func TestVerifyWhileSomebodyPublishes(t *testing.T) {
	s := producttest.NewSite(t)
	a := s.In("p", true)
	for _, name := range []string{"one", "two"} {
		s.Write(name+"/a.md", "# Retries\n\nThe limit of retries is five in "+name+".\n")
		s.Create(a, app.CreateStore{Name: name, Source: filepath.Join(s.Root, name)})
	}
	c, err := a.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, during := range []func(){
		func() {
			s.Write("two/a.md", "# Retries\n\nThe limit of retries is six now.\n")
			st, err := a.IndexStore(t.Context(), "two", false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.WaitJob(t.Context(), st.Job); err != nil {
				t.Fatal(err)
			}
			if _, err := care.Collect(t.Context(), a, false); err != nil {
				t.Fatal(err)
			}
		},
		func() {
			if _, err := a.DeleteStore(t.Context(), "two", false); err != nil {
				t.Fatal(err)
			}
		},
	} {
		v := care.Checker(c)
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
	s := producttest.NewSite(t)
	a := s.In("p", true)
	var stores []kb.Store
	for _, name := range []string{"one", "two"} {
		s.Write(name+"/a.md", "# Retries\n\nThe limit of retries is five in "+name+".\n")
		s.Create(a, app.CreateStore{Name: name, Source: filepath.Join(s.Root, name)})
		_, st, err := a.Lookup(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, st)
	}
	c, err := a.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.DeleteStore(t.Context(), "two", false); err != nil {
		t.Fatal(err)
	}
	both, err := c.Targets(t.Context(), stores)
	if err != nil {
		t.Fatal(err)
	}
	defer both.Release()
	if len(both.Targets) != 1 || len(both.Notes) != 1 || both.Notes[0] != "store two was deleted meanwhile" {
		t.Errorf("%d targets, notes %q", len(both.Targets), both.Notes)
	}
	if _, err := c.Targets(t.Context(), stores[1:]); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("alone: %v", err)
	}
}
