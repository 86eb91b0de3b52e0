package index

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestSpecsRoundTrip(t *testing.T) {
	want := &kb.SpecDoc{
		Kind: "adr", ID: "ADR-1", Title: "Título", Status: "superseded", Version: "2", Domain: "core", Aliases: []string{"a", "b"}, Tags: []string{"b"},
		Sections: []kb.SpecSection{
			{Type: "DEFAULT", Start: 4, End: 5},
			{Path: []string{"T"}, Level: 1, Anchor: "t", Type: "RULE", Start: 6, End: 9},
			{Path: []string{"T", "U"}, Level: 3, Anchor: "u", Type: "ENTITY", Start: 10, End: 10},
			{Path: []string{"T", "V"}, Level: 2, Anchor: "v", Type: "PROCESS", Start: 11, End: 400},
			{Path: []string{"W"}, Level: 1, Anchor: "w", Type: "other", Start: 401, End: 402},
		},
		Nodes:    []kb.SpecNode{{Type: "actor", Name: "Dev", Line: 3, Confidence: 0.85}},
		Edges:    []kb.SpecEdge{{From: "Dev", Type: "PERFORMS", Method: "table", Line: 30, Confidence: 1}, {Target: "X", Type: "WHATEVER", Method: "id", Label: "l N:1", Line: 3, Confidence: 0.9}},
		Mentions: []kb.SpecMention{{Text: "a/b.go", Line: 70000}},
	}
	raw := appendSpec(want)
	got, words, err := readSpec(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	// Scratch space that was used before changes nothing.
	if again, _, err := readSpec(raw, words); err != nil || !cmp.Equal(want, again) {
		t.Errorf("read again: %v\n%s", err, cmp.Diff(want, again))
	}
	if empty, _, err := readSpec(appendSpec(&kb.SpecDoc{}), nil); err != nil || !cmp.Equal(empty, &kb.SpecDoc{}) {
		t.Errorf("an empty one: %v, %v", empty, err)
	}
	if newer, _, err := readSpec([]byte{specVersion + 1, 7}, nil); newer != nil || err != nil {
		t.Errorf("of a newer version: %v, %v", newer, err)
	}
	// Whatever is cut off or flipped, reading ends with an error or something else.
	for i := range raw {
		readSpec(raw[:i], nil)
		b := append([]byte(nil), raw...)
		b[i] ^= 0xff
		readSpec(b, nil)
	}
}
