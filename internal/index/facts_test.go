package index

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

func TestFactsRoundTrip(t *testing.T) {
	chunks := func() []kb.Chunk {
		return []kb.Chunk{{Symbols: []kb.Symbol{{Name: "A", Start: 3}, {Name: "b", Start: 5}}}, {}, {Symbols: []kb.Symbol{{Name: "c", Start: 9}}}}
	}
	full := chunks()
	full[0].Symbols[0].Line = 4
	full[0].Symbols[1].Line, full[0].Symbols[1].Path = 5, []string{"A"}
	full[2].Symbols[0].Line, full[2].Symbols[0].Path = 11, []string{"A", "b"}
	want := kb.Facts{
		Package:    "shop",
		Imports:    []kb.Import{{Path: "./x", Name: "y", Local: "z", Line: 1}, {Path: "os", Line: 2}},
		References: []kb.Reference{{Name: "f", Qualifier: "a.b", Kind: kb.UseCall, Line: 10, Args: 3}, {Name: "f", Line: 4}, {Name: "", Qualifier: "()", Kind: kb.UseInherit, Line: 70000}},
		Bindings:   []kb.Binding{{Name: "x", Type: "T", From: 3, To: 9}, {Name: "T", From: 1, To: 1}},
	}
	raw := appendFacts(full, &want)
	got := chunks()
	f, err := readFacts(raw, got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, f); d != "" {
		t.Errorf("facts (-want +got):\n%s", d)
	}
	if d := cmp.Diff(full, got); d != "" {
		t.Errorf("symbols (-want +got):\n%s", d)
	}
	if raw := appendFacts([]kb.Chunk{{}}, &kb.Facts{}); raw != nil {
		t.Errorf("no facts take %d bytes", len(raw))
	}
	// Whatever is cut off or flipped, reading ends with an error or other facts.
	for i := range raw {
		readFacts(raw[:i], chunks())
		b := append([]byte(nil), raw...)
		b[i] ^= 0xff
		readFacts(b, chunks())
	}
}
