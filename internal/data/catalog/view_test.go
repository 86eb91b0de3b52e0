package catalog

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// What a user may not read is as if it were not there, by whatever it is asked for.
func TestView(t *testing.T) {
	ctx := t.Context()
	c := fresh(t)
	add := func(project, name, source string) kb.Store {
		t.Helper()
		return add(t, c, project, name, kb.Spec{Kind: kb.KindRepo, Source: source})
	}
	handbook := add("", "handbook", "https://a.example.org/handbook")
	payroll := add("", "payroll", "https://a.example.org/payroll")
	notes := add("member:ann", "notes", "https://a.example.org/ann")
	theirs := add("member:bob", "diary", "https://a.example.org/bob")
	if _, err := c.SetOwn(ctx, "", "/src/app", kb.Spec{Kind: kb.KindFolder, Source: "/src/app"}); err != nil {
		t.Fatal(err)
	}
	reads := map[string]bool{"handbook": true}
	ann := c.For(View{Project: "member:ann", Reads: func(name string) bool { return reads[name] }})

	names := func(list []Entry, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range list {
			all = append(all, e.Name)
		}
		return strings.Join(all, " ")
	}
	for _, project := range []string{"member:ann", "member:bob", ""} {
		if got := names(ann.List(ctx, project)); got != "notes handbook" {
			t.Errorf("List(%q) shows %q", project, got)
		}
	}
	if got := names(ann.All(ctx)); got != "handbook notes" {
		t.Errorf("All shows %q", got)
	}
	for _, st := range []kb.Store{payroll, theirs} {
		_, byName := ann.Lookup(ctx, "member:ann", st.Name)
		_, absent := ann.Lookup(ctx, "member:ann", strings.Repeat("z", len(st.Name)))
		if as(byName, st.Name) != as(absent, strings.Repeat("z", len(st.Name))) {
			t.Errorf("%s: %v; one that is not there: %v", st.Name, byName, absent)
		}
		for _, id := range []string{string(st.ID), string(st.ID[:4]), string(st.ID[:12])} {
			if _, err := ann.Lookup(ctx, "member:ann", id); kb.CodeOf(err) != kb.NotFound || strings.Contains(kb.HintOf(err), st.Name) {
				t.Errorf("%s is found: %v", id, err)
			}
		}
		if _, err := ann.Get(ctx, st.ID); kb.CodeOf(err) != kb.NotFound {
			t.Errorf("Get %s: %v", st.Name, err)
		}
		if ok, err := ann.Shows(ctx, st.ID); ok || err != nil {
			t.Errorf("Shows %s: %v %v", st.Name, ok, err)
		}
		if err := ann.Delete(ctx, st.ID); kb.CodeOf(err) != kb.Denied {
			t.Errorf("Delete %s: %v", st.Name, err)
		}
	}
	for _, name := range []string{"payrol", "payrolls", "diarY"} { // near what is hidden
		if _, err := ann.Lookup(ctx, "member:ann", name); strings.Contains(kb.HintOf(err), "did you mean") {
			t.Errorf("%s: %v", name, kb.HintOf(err))
		}
	}
	for _, st := range []kb.Store{handbook, notes} {
		for _, id := range []string{st.Name, string(st.ID), string(st.ID[:10])} {
			if got, err := ann.Lookup(ctx, "member:ann", id); err != nil || got.Name != st.Name {
				t.Errorf("%s: %q, %v", id, got.Name, err)
			}
		}
	}
	// A name that is hidden is free to the user, and the user's own names alone change.
	if _, _, err := ann.Add(ctx, "member:ann", "payroll", kb.Spec{Kind: kb.KindRepo, Source: "https://a.example.org/mine"}, "", nil); err != nil {
		t.Error(err)
	}
	if _, err := ann.Rename(ctx, "member:ann", "notes", "diary"); err != nil {
		t.Error(err)
	}
	for _, project := range []string{"", "member:bob"} {
		if _, _, err := ann.Detach(ctx, project, "diary"); kb.CodeOf(err) != kb.Denied {
			t.Errorf("Detach in %q: %v", project, err)
		}
		if _, err := ann.Attach(ctx, project, "x", notes.ID, "", nil); kb.CodeOf(err) != kb.Denied {
			t.Errorf("Attach in %q: %v", project, err)
		}
	}
	// A right that is taken away holds at once.
	delete(reads, "handbook")
	if _, err := ann.Lookup(ctx, "member:ann", string(handbook.ID)); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("handbook is still found: %v", err)
	}
}

// as is an error as a reader sees it, of whatever name.
func as(err error, name string) string {
	return strings.ReplaceAll(err.Error()+" "+kb.HintOf(err), name, "NAME")
}
