package catalog

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestMove(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	v1, v2 := folder("/v1"), folder("/v2")
	if _, _, err := c.Add(ctx, "p1", "lib", v1, "ours", []string{"a"}); err != nil {
		t.Fatal(err)
	}
	add(t, c, "p2", "lib", v1)
	st, gone, err := c.Move(ctx, "p1", "lib", v2, "", nil)
	if err != nil || gone || st.ID != v2.ID() || st.Name != "lib" || st.Description != "ours" || !slices.Equal(st.Tags, []string{"a"}) {
		t.Errorf("%+v, %v, %v", st, gone, err)
	}
	if st, err := c.Lookup(ctx, "p2", "lib"); err != nil || st.ID != v1.ID() {
		t.Errorf("the other project: %+v, %v", st, err)
	}
	st, gone, err = c.Move(ctx, "p2", "lib", v2, "theirs", []string{})
	if err != nil || !gone || st.Description != "theirs" || len(st.Tags) != 0 {
		t.Errorf("the last holder: %+v, %v, %v", st, gone, err)
	}
	_, err = c.Get(ctx, v1.ID())
	wantCode(t, err, kb.NotFound)
	// To where it is already.
	if st, gone, err = c.Move(ctx, "p2", "lib", v2, "", nil); err != nil || gone || st.ID != v2.ID() {
		t.Errorf("%+v, %v, %v", st, gone, err)
	}
	_, _, err = c.Move(ctx, "p2", "none", v2, "", nil)
	wantCode(t, err, kb.NotFound)
	if _, err := c.Lookup(ctx, "p1", "lib"); err != nil {
		t.Error(err)
	}
}

// What is known of how a name came to be ends with the name, and when the
// name means something else.
func TestDefined(t *testing.T) {
	c := fresh(t)
	ctx := t.Context()
	a, b := add(t, c, "p1", "a", folder("/a")), add(t, c, "p1", "b", folder("/b"))
	want := []Defined{{Name: "a", Store: a.ID, ByFile: true, Follows: "npm:a"}, {Name: "b", Store: b.ID}}
	for _, d := range []Defined{{Name: "a", Store: a.ID}, want[0], want[1]} {
		if err := c.SetDefined(ctx, "p1", d); err != nil {
			t.Fatal(err)
		}
	}
	check := func(project string, want []Defined) {
		t.Helper()
		got, err := c.Defined(ctx, project)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	check("p1", want)
	check("p2", nil)
	if _, _, err := c.Detach(ctx, "p1", "b"); err != nil {
		t.Fatal(err)
	}
	check("p1", want[:1])
	if _, _, err := c.Move(ctx, "p1", "a", folder("/other"), "", nil); err != nil {
		t.Fatal(err)
	}
	check("p1", nil)
	if _, _, err := c.Move(ctx, "p1", "a", folder("/a"), "", nil); err != nil {
		t.Fatal(err)
	}
	check("p1", want[:1])
	if err := c.UnsetDefined(ctx, "p1", "a"); err != nil {
		t.Fatal(err)
	}
	check("p1", nil)
}
