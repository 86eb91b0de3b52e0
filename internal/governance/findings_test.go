package governance

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/governance/evidence"
)

// TestEvidenceCache: what was read is kept until the file changes, and gone with it.
func TestEvidenceCache(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, evidence.Name)
	var c evidenceCache
	if got := c.get(dir); got != nil {
		t.Errorf("nothing there: %+v", got)
	}
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		later := time.Now().Add(time.Duration(len(text)) * time.Second)
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"version":"2.1","snapshot":{"findings":[{"file":"a.go","ruleId":"r"}]}}`)
	first := c.get(dir)
	if first == nil || len(first.byFile["a.go"]) != 1 || c.get(dir) != first {
		t.Errorf("%+v", first)
	}
	put(`{"version":"2.1"}`)
	if got := c.get(dir); got == first || got == nil || len(got.byFile) != 0 {
		t.Errorf("changed: %+v", got)
	}
	put(`{bad`)
	if got := c.get(dir); got == nil || got.byFile != nil {
		t.Errorf("invalid: %+v", got)
	}
	os.Remove(path)
	if got := c.get(dir); got != nil {
		t.Errorf("gone: %+v", got)
	}
}

// BenchmarkNoEvidence is what a search pays in a project without evidence.
func BenchmarkNoEvidence(b *testing.B) {
	dir := b.TempDir()
	var c evidenceCache
	for b.Loop() {
		if c.get(dir) != nil {
			b.Fatal("there is some")
		}
	}
}
