package ingest

import "testing"

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
