package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/chunk"
)

// The source of the tests counts one document that it leaves out itself.
func TestWhatDecodingRulesOutIsCounted(t *testing.T) {
	f := newFixture(t)
	f.src.docs = map[string]string{"a.txt": "one\n", "nul.txt": "a\x00b", "noise.txt": "\x01\x02\x81\x90\x01\x02"}
	if r := f.run(); r.Head.Documents != 1 || r.Head.Skipped["binary"] != 3 {
		t.Errorf("%d documents, left out: %v", r.Head.Documents, r.Head.Skipped)
	}
	f.src.docs["b.txt"] = "two\n"
	if r := f.run(); r.Head.Documents != 2 || r.Head.Skipped["binary"] != 3 {
		t.Errorf("after an edit %d documents, left out: %v", r.Head.Documents, r.Head.Skipped)
	}
}

// A document that its grammar cannot read is kept as plain text and named, as
// long as it is there as it is.
func TestWhatAGrammarCannotReadIsKeptAndNamed(t *testing.T) {
	f := newFixture(t)
	f.x.Cutter = chunk.NewCutter(filepath.Join(os.TempDir(), "knowledge-grammars"))
	t.Cleanup(func() { f.x.Cutter.Close() })
	f.src.docs = map[string]string{"a.py": "def one():\n    pass\n", "odd.py": strings.Repeat("<a>", 2000) + "\nlost = 1\n" + strings.Repeat("<a>\n", 18000)}
	named := func(h kb.Head, want ...string) {
		t.Helper()
		if len(h.Notes) != len(want) || h.Unparsed != len(want) {
			t.Fatalf("%d not parsed, notes %q", h.Unparsed, h.Notes)
		}
		for i, w := range want {
			if !strings.HasPrefix(h.Notes[i], w) || !strings.HasSuffix(h.Notes[i], "; it is kept as plain text") {
				t.Errorf("note %q", h.Notes[i])
			}
		}
	}
	r := f.run()
	named(r.Head, "skipped-grammar: odd.py: the grammar of python cannot read this text")
	if r.Head.Documents != 2 || len(r.LeftOut) != 0 {
		t.Errorf("%d documents, left out %q", r.Head.Documents, r.LeftOut)
	}
	f.src.docs["a.py"] = "def two():\n    pass\n"
	named(f.run().Head, "skipped-grammar: odd.py")
	f.src.docs["odd.py"] = "lost = 1\n"
	named(f.run().Head)
}
