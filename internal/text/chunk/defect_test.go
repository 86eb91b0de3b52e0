package chunk

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// A reader that stumbles over a text costs that text its declarations, and
// nothing else.
func TestADefectOfAReaderLeavesPlainText(t *testing.T) {
	splitters["stumbling"] = func(kb.Text, *lines) (outline, bool) { panic("index out of range [3]") }
	t.Cleanup(func() { delete(splitters, "stumbling") })
	text := kb.Text{Body: strings.Repeat("one two\n\nthree\n", 60), Language: "stumbling"}
	cut, err := new(Cutter).Split(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(text, cut.Chunks); err != nil {
		t.Error(err)
	}
	if want := "a defect of the reader of stumbling: index out of range [3]"; cut.Failed != want {
		t.Errorf("failed with %q, want %q", cut.Failed, want)
	}
	if len(cut.Chunks) < 2 || len(cut.Chunks[0].Symbols) > 0 {
		t.Errorf("%d chunks, the first %+v", len(cut.Chunks), cut.Chunks[0])
	}
}
