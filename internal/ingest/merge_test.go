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
