package care_test

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
)

// TestUsage adds up what a store takes.
func TestUsage(t *testing.T) {
	_, a := producttest.Handbook(t)
	u, err := care.UsageOf(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	has := map[string]bool{}
	for _, p := range u.Parts {
		sum += p.Bytes
		has[p.Path] = p.Files > 0 && p.Bytes > 0 && p.What != ""
	}
	if sum != u.Bytes || !has["segments"] || !has["generations"] || !has["knowledge.db"] {
		t.Errorf("%+v", u)
	}
	if u.Memory.Heap <= 0 || u.Memory.Reserved < u.Memory.Heap {
		t.Errorf("memory: %+v", u.Memory)
	}
}
