package specdoc

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{
		"Descripción":               "descripcion",
		"¿Qué pasa si se incumple?": "que-pasa-si-se-incumple",
		"Entity: User":              "entity-user",
		"Estados (v2)":              "estados-v2",
		"a -- b":                    "a----b",
		"  Two   spaces\there ":     "two-spaces-here",
		"用户 登录":                     "用户-登录",
		"C++ / C#":                  "c-c",
		"snake_case-name":           "snake_case-name",
		"ﬁne ½":                     "fine-12",
		"---":                       "",
		"1. `kdd_search` — Búsqueda semántica": "1-kdd_search-busqueda-semantica",
	} {
		if got := Anchor(heading); got != want {
			t.Errorf("Anchor(%q) = %q, want %q", heading, got, want)
		}
	}
}

func TestLoose(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{"descripcion", "Descripción", true},
		{"#descripción", "descripcion", true},
		{"a----b", "a----b", true},
		{"1-kdd_search--búsqueda-semántica", "1. `kdd_search` — Búsqueda semántica", true},
		{"descripcion", "description", false},
		{"flow-1", "flow", false},
		{"用户-登录", "用户 登录", true},
	} {
		if got := loose(x.a) == loose(x.b); got != x.want {
			t.Errorf("%q and %q name the same heading: %v", x.a, x.b, got)
		}
	}
}

func TestFind(t *testing.T) {
	anchors := []string{"", "intro", "flow", "flow", "phase-1", "descripcion"}
	for anchor, want := range map[string]int{
		"#flow": 2, "flow-1": 3, "flow-2": -1, "phase-1": 4, "phase-2": -1, "Descripción": 5, "": -1, "#": -1, "nothing": -1,
	} {
		if got := Find(anchors, anchor); got != want {
			t.Errorf("Find(%q) = %d, want %d", anchor, got, want)
		}
	}
}

// TestForgeAnchors has the headings of one document, in order, with what
// github-slugger 2.0 answers.
func TestForgeAnchors(t *testing.T) {
	rows := [][2]string{
		{"Ejemplo", "ejemplo"},
		{"Ejemplo", "ejemplo-1"},
		{"Ejemplo 1", "ejemplo-1-1"},
		{"Ejemplo", "ejemplo-2"},
		{"Ejemplo 1", "ejemplo-1-2"},
		{"Descripción", "descripción"},
		{"¿Qué pasa si se incumple?", "qué-pasa-si-se-incumple"},
		{"a -- b", "a----b"},
		{"C++ / C#", "c--c"},
		{"x² and ½", "x-and-"},
		{"① Ⓐ Ⅳ", "-ⓐ-ⅳ"},
		{"İstanbul", "i̇stanbul"},
		{"ΟΔΟΣ ΣΑΣ", "οδος-σας"},
		{"用户 登录", "用户-登录"},
		{"हिन्दी में", "हिन्दी-में"},
		{"👩‍💻 People", "-people"},
		{"❤️ Hearts", "️-hearts"},
		{"🎉", ""},
		{"🎉", "-1"},
		{"v2.0 (beta)", "v20-beta"},
		{"snake_case_", "snake_case_"},
		{"tie‿d", "tie‿d"},
		{"naïve — not", "naïve--not"},
		{"“quoted”", "quoted"},
		{"100 % of it", "100--of-it"},
		{"ﬁne", "ﬁne"},
		{"No break", "nobreak"},
		{"constructor", "constructor"},
		{"toString", "tostring"},
	}
	sections := make([]kb.SpecSection, 0, len(rows)+1)
	sections = append(sections, kb.SpecSection{}) // before the first heading
	for _, r := range rows {
		sections = append(sections, kb.SpecSection{Level: 2, Path: []string{"Top", r[0]}, Anchor: Anchor(r[0])})
	}
	seen := map[string]bool{}
	for i, got := range Anchors(sections, true)[1:] {
		if got != rows[i][1] {
			t.Errorf("%q: %q, want %q", rows[i][0], got, rows[i][1])
		}
	}
	for i, got := range Anchors(sections, false) {
		if got != "" && seen[got] {
			t.Errorf("section %d: %q again", i, got)
		}
		seen[got] = true
	}
	if got := Anchors([]kb.SpecSection{{Level: 1, Path: []string{"&copy; Us &amp; them"}}}, true); got[0] != "-us--them" {
		t.Error(got)
	}
}
