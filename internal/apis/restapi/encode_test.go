package restapi

import (
	"fmt"
	"strings"
	"testing"
)

// TestEncodePieces: a long list of tools that is written piece by piece is the text
// that the encoder writes at once.
func TestEncodePieces(t *testing.T) {
	var b strings.Builder
	b.WriteString("# a comment of the user's\napis:\n  - code: a # here too\n    baseUrl: https://a.example\n    tools:\n")
	for i := range 3*atOnce + 7 {
		fmt.Fprintf(&b, "      - code: t%d\n        description: |\n          several\n\n            lines: %d\n        parameters:\n          - {name: x, enum: [\"a: b\", '#c']}\n", i, i)
	}
	b.WriteString("  - code: b\n    tools:\n      - code: one\n  - tools:\n")
	for i := range atOnce + 1 {
		fmt.Fprintf(&b, "      # about the next\n      - code: u%d\n", i)
	}
	b.WriteString("    code: c\n    baseUrl: https://c.example\n")
	doc, err := Document("x", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := encodeNode(doc)
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := encode(doc)
	if err != nil || string(pieces) != string(whole) {
		t.Errorf("%v\n%.2000s", err, pieces)
	}
	if again, err := encodeNode(doc); err != nil || string(again) != string(whole) {
		t.Error("the definitions were changed by writing them")
	}
}
