package ingest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroupsAreBounded(t *testing.T) {
	const mb = 1 << 20
	size := map[string]int64{"a": 1 * mb, "b": 11 * mb, "c": 11 * mb, "d": 11 * mb, "e": 2 * mb, "f": 30 * mb}
	got := groups([]string{"f", "e", "d", "c", "b", "a"}, size)
	want := [][]string{{"a", "e", "b", "c"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("groups (-want +got):\n%s", d)
	}
	if got := groups(nil, size); len(got) != 0 {
		t.Errorf("groups of nothing: %v", got)
	}
}

// TestCrowded: nine small segments are too many of nine, and not of a store of
// sixty, which is not written twice for them.
func TestCrowded(t *testing.T) {
	for _, c := range []struct {
		small, all int
		want       bool
	}{{8, 8, false}, {9, 9, true}, {9, 35, true}, {9, 60, false}, {15, 60, false}, {16, 60, true}} {
		if got := tiers[2].crowded(c.small, c.all); got != c.want {
			t.Errorf("%d small ones of %d segments are too many: %v", c.small, c.all, got)
		}
	}
}
