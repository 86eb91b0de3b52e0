package specdoc

import "testing"

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
