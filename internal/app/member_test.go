package app_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Members have the stores that they may read, change those that they may write, and
// make none of what lies on the machine.
func TestMembers(t *testing.T) {
	s := producttest.NewSite(t)
	site := producttest.NewManual(t).URL
	a := s.Configured("work", "web: {allow: [127.0.0.1]}\n", nil)
	for _, name := range []string{"handbook", "payroll"} {
		s.Write(name+"/a.md", "# "+name+"\n\nThe common text of "+name+".\n")
		s.Create(a, app.CreateStore{Name: name, Source: filepath.Join(s.Root, name), User: true})
	}
	reads, writes, limit := map[string]bool{"handbook": true}, map[string]bool{}, 1
	member := func(name string) *app.App {
		m := a.For(app.Member{Name: name, Reads: func(n string) bool { return reads[n] }, Writes: func(n string) bool { return writes[n] },
			Sources: func() []string { return []string{site + "/"} }, Stores: func() int { return limit }, Jobs: func() int { return 5 }})
		t.Cleanup(func() { m.Close() })
		return m
	}
	ann, bob := member("ann"), member("bob")
	// What the machine has, a member's core has too, but what is the machine's alone.
	has, lacks := reflect.ValueOf(producttest.MustOpen(t, a)).Elem(), reflect.ValueOf(producttest.MustOpen(t, ann)).Elem()
	for i := range has.NumField() {
		if name := has.Type().Field(i).Name; name != "vouched" && name != "kept" && !has.Field(i).IsZero() && lacks.Field(i).IsZero() {
			t.Errorf("a member's core has no %s", name)
		}
	}
	found := func(m *app.App) string {
		r := s.Search(m, search.Request{Query: "common text of the archive"}, app.Scope{})
		var names []string
		for _, h := range r.Hits {
			names = append(names, h.Store)
		}
		slices.Sort(names)
		return strings.Join(slices.Compact(names), " ")
	}
	if got := found(ann); got != "handbook" {
		t.Errorf("ann finds %q", got)
	}
	for what, err := range map[string]error{
		"index":  second(ann.IndexStore(t.Context(), "handbook", false)),
		"delete": second(ann.DeleteStore(t.Context(), "handbook", true)),
		"rename": second(ann.RenameStore(t.Context(), "handbook", "mine")),
		"folder": second(ann.CreateStore(t.Context(), app.CreateStore{Source: filepath.Join(s.Root, "payroll"), Agent: true})),
		"here":   second(ann.CreateStore(t.Context(), app.CreateStore{Source: ".", Agent: true})),
		"source": second(ann.CreateStore(t.Context(), app.CreateStore{Source: "https://other.example.org/x", Agent: true})),
		"up":     second(ann.CreateStore(t.Context(), app.CreateStore{Source: site + "/../x", Kind: kb.KindWeb, Agent: true, Web: kb.Web{Hosts: []string{"other.example.org"}}})),
	} {
		if kb.CodeOf(err) != kb.Denied {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"index":  second(ann.IndexStore(t.Context(), "payroll", false)),
		"delete": second(ann.DeleteStore(t.Context(), "payroll", true)),
		"info":   second(ann.StoreInfo(t.Context(), "payroll")),
	} {
		if kb.CodeOf(err) != kb.NotFound {
			t.Errorf("%s of what is hidden: %v", what, err)
		}
	}
	writes["handbook"] = true
	if _, err := ann.IndexStore(t.Context(), "handbook", false); err != nil {
		t.Error(err)
	}
	// Two users' stores of one page, under one name, are two.
	for _, m := range []*app.App{ann, bob} {
		s.Create(m, app.CreateStore{Name: "notes", Kind: kb.KindWeb, Source: site + "/v1/install", Agent: true, Web: kb.Web{MaxPages: 1}})
	}
	x, y := producttest.MustInfo(t, ann, "notes"), producttest.MustInfo(t, bob, "notes")
	if x.ID == y.ID {
		t.Error("two users share a store")
	}
	if _, err := bob.StoreInfo(t.Context(), x.ID); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("bob sees ann's: %v", err)
	}
	if _, err := ann.CreateStore(t.Context(), app.CreateStore{Name: "more", Kind: kb.KindWeb, Source: site + "/v2/install", Agent: true}); kb.CodeOf(err) != kb.Denied {
		t.Errorf("more than one store: %v", err)
	}
	jobs, err := bob.Jobs(t.Context(), app.JobFilter{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs.Jobs {
		if string(j.Store) == x.ID || j.Name == "payroll" || j.Details["shared"] != nil {
			t.Errorf("bob sees the job %+v", j)
		}
	}
	if _, err := ann.DeleteStore(t.Context(), "notes", true); err != nil {
		t.Error(err)
	}
	if got := found(bob); !strings.Contains(got, "notes") {
		t.Errorf("bob's is gone with ann's: %q", got)
	}
	reads["handbook"] = false
	if got := found(bob); got != "notes" {
		t.Errorf("a right that was taken away: %q", got)
	}
}

func second[T any](_ T, err error) error { return err }
