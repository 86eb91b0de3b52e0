package history_test

import (
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/history"
)

// TestPast: what differs, what changed together, and who made lines.
func TestPast(t *testing.T) {
	a := shop(t)
	h, err := history.OpenPast(t.Context(), a, wait)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	list, names, more, err := h.Differing(t.Context(), "", []string{"go.mod", "pay.go", "refund.go", "tax.go"})
	if err != nil || more != 0 || len(list) != 2 || names == "" {
		t.Fatalf("%+v %q %d %v", list, names, more, err)
	}
	if d := list[0]; d.Path != "refund.go" || !slices.Equal(d.Added, []history.Span{{From: 4, To: 6}}) || !slices.Equal(d.Removed, []history.Span{{From: 4, To: 4}}) {
		t.Errorf("%+v", d)
	}
	if d := list[1]; d.Path != "tax.go" || d.Before != nil {
		t.Errorf("%+v", d)
	}
	if list, _, _, err = h.Differing(t.Context(), "HEAD~2..HEAD~1", nil); err != nil || len(list) != 1 || list[0].Path != "pay.go" || len(list[0].Added) != 1 {
		t.Errorf("%+v %v", list, err)
	}
	if got := h.Together([]string{"refund.go"}); got["refund.go"] != 1 || got["pay.go"] != 0 {
		t.Errorf("%v", got)
	}
	made, err := h.Makers(t.Context(), "pay.go", []history.Span{{From: 5, To: 7}}, true)
	if err != nil || len(made) == 0 || made[0].Share != 1 || made[0].Files != 1 || !slices.Equal(h.ChangedBy(made[0].Commit), []string{"pay.go"}) {
		t.Fatalf("%+v %v", made, err)
	}
	by, err := h.MadeBy(t.Context(), "pay.go", made[:1])
	if err != nil || len(by) != 3 || by[5] != made[0].Commit || by[4] != "" {
		t.Errorf("%v %v", by, err)
	}
}

func TestCarried(t *testing.T) {
	at := history.Carried([]byte("a\nnew\nnew2\nc\nd\n"), []byte("a\nb\nc\nd\n"))
	for line, want := range map[int]int{1: 1, 3: 4, 4: 5} {
		if got := at(line); got != want {
			t.Errorf("line %d is at %d, want %d", line, got, want)
		}
	}
}
