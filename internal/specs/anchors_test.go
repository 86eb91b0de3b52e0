package specs

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
	"github.com/seed-4f2d999b/knowledge/internal/specs/kdd"
)

// A store that is no folder is cited at its forge, whose anchors keep accents
// and number what is equal; both kinds of anchors lead back.
func TestForgeAnchors(t *testing.T) {
	sections := []kb.SpecSection{
		{Level: 0}, {Path: []string{"A"}, Level: 1, Anchor: "a"}, {Path: []string{"A", "Descripción"}, Level: 2, Anchor: "descripcion"},
		{Path: []string{"A", "Push"}, Level: 2, Anchor: "push"}, {Path: []string{"B", "Push"}, Level: 2, Anchor: "push"}, {Path: []string{"a -- b"}, Level: 1, Anchor: "a----b"},
	}
	forge := source.Place{URL: "https://github.com/o/r/blob/c/x.md", Forge: true}
	for i, want := range map[int]string{2: "#descripci%C3%B3n", 3: "#push", 4: "#push-1", 5: "#a----b"} {
		if got := withAnchor(forge, sections, i); got != forge.URL+want {
			t.Errorf("section %d: %s, not %s", i, got, want)
		}
	}
	if got := withAnchor(source.Place{URL: "file:///x.md"}, sections, 2); got != "file:///x.md#descripcion" {
		t.Error(got)
	}
	if got := withAnchor(source.Place{URL: "file:///x.md"}, sections, 4); got != "file:///x.md#push-1" {
		t.Error(got)
	}
	d := &kdd.Doc{Sections: sections}
	for anchor, want := range map[string]int{"push-1": 4, "push": 3, "descripción": 2, "descripcion": 2, "#Descripción": 2, "a----b": 5, "push-2": -1} {
		for _, forge := range []bool{false, true} {
			if i := d.Section(anchor, forge); i != want {
				t.Errorf("%s is section %d", anchor, i)
			}
		}
	}
}
