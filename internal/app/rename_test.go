package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// TestRename: a store is called otherwise in its project, in the definitions
// too, and nothing else of it changes.
func TestRename(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/docs/a.md", "# A\n\nturn the crank\n")
	s.Write("p/more/a.md", "# B\n\npull the lever\n")
	const before = `{"version":1,"x":2,"stores":[{"tags":["t"],"name":"docs","type":"file","source":"docs"}]}`
	s.Write("p/.knowledge/stores.json", before)
	a := s.In("p", true)
	r, err := follow.Sync(t.Context(), a, follow.SyncRequest{})
	if err != nil || len(r.Jobs) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := a.WaitJob(t.Context(), r.Jobs[0].Job); err != nil {
		t.Fatal(err)
	}
	s.Create(a, app.CreateStore{Name: "mine", Source: "more", User: true})
	c := producttest.MustOpen(t, a)
	old := producttest.MustInfo(t, a, "docs")
	if err := follow.SchedulesOf(c).Set(t.Context(), kb.StoreID(old.ID), "@daily", "", time.Now()); err != nil {
		t.Fatal(err)
	}

	for name, code := range map[string]kb.Code{"mine": kb.Exists, "a b": kb.Invalid, "": kb.Invalid} {
		if _, err := a.RenameStore(t.Context(), "docs", name); kb.CodeOf(err) != code || kb.HintOf(err) == "" {
			t.Errorf("to %q: %v", name, err)
		}
	}
	for store, code := range map[string]kb.Code{"mine": kb.Denied, "none": kb.NotFound} {
		if _, err := a.RenameStore(t.Context(), store, "other"); kb.CodeOf(err) != code || kb.HintOf(err) == "" {
			t.Errorf("%s: %v", store, err)
		}
	}

	got, err := a.RenameStore(t.Context(), "docs", "handbook")
	if err != nil || got.Was != "docs" || got.ID != old.ID || !got.Defined {
		t.Fatalf("%+v, %v", got, err)
	}
	now := producttest.MustInfo(t, a, "handbook")
	if now.ID != old.ID || now.Generation != old.Generation || now.Scope != old.Scope || strings.Join(now.Tags, "") != "t" {
		t.Errorf("%+v, before %+v", now, old)
	}
	if a.HasStore(t.Context(), "docs") {
		t.Error("the old name means it still")
	}
	if list, err := follow.SchedulesOf(c).List(t.Context()); err != nil || len(list) != 1 || string(list[0].Store) != old.ID {
		t.Errorf("its schedule: %+v, %v", list, err)
	}
	if r := s.Search(a, search.Request{Query: "crank"}, app.Scope{Stores: []string{"handbook"}}); len(r.Hits) != 1 {
		t.Errorf("%+v", r)
	}
	raw, err := os.ReadFile(filepath.Join(s.Root, "p/.knowledge/stores.json"))
	if err != nil || !strings.Contains(string(raw), `{"tags":["t"],"name":"handbook","type":"file","source":"docs"}`) || !strings.Contains(string(raw), `"x": 2`) {
		t.Errorf("%s, %v", raw, err)
	}
	// The definitions and the catalog agree: there is nothing to do.
	if r, err := follow.Sync(t.Context(), a, follow.SyncRequest{}); err != nil || len(r.Jobs)+len(r.Orphans) != 0 {
		t.Errorf("%+v, %v", r, err)
	}

	// What cannot be written into the definitions is not done at all.
	s.Write("p/.knowledge/stores.json", `{"stores":[{"name":"handbook","type":"file","source":"docs"},{"name":"taken","type":"file","source":"more"}]}`)
	if _, err := a.RenameStore(t.Context(), "handbook", "taken"); kb.CodeOf(err) != kb.Exists {
		t.Errorf("a name that is defined: %v", err)
	}
	s.Write("p/.knowledge/stores.json", `{"stores":`)
	if _, err := a.RenameStore(t.Context(), "handbook", "other"); kb.CodeOf(err) != kb.Invalid {
		t.Errorf("definitions that do not parse: %v", err)
	}
	if !a.HasStore(t.Context(), "handbook") || a.HasStore(t.Context(), "other") || a.HasStore(t.Context(), "taken") {
		t.Error("it was renamed all the same")
	}
}
