package search

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// TestLinesThatAreAskedFor: with lines every hit has as many as are named, wide
// ones too, whatever that costs, and none is cut for the sake of the others.
func TestLinesThatAreAskedFor(t *testing.T) {
	wide := "func Reverse(l *List) { // " + strings.Repeat("reverses ", 30)
	s := &shower{q: query("reverse list"), r: &Request{Lines: 4, Limit: 50, Tuning: Fitted()}, targets: []Target{{}}}
	var r Reply
	for range 50 {
		p := passage()
		p.Text = strings.Replace(p.Text, "func Reverse(l *List) {", wide, 1)
		s.lines = append(s.lines, s.r.Tuning.bestLines(newAsking(s.q), p))
		s.shown = append(s.shown, rank.Scored{})
		r.Hits = append(r.Hits, Hit{ID: "k3vq7m2xabc", At: "list.go:L4-14"})
	}
	s.fit(&r)
	for i, h := range r.Hits {
		if strings.Count(h.Code, "\n") != 3 || !strings.Contains(h.Code, strings.TrimSpace(wide)) || h.Line == 0 {
			t.Fatalf("hit %d shows %d %q", i, h.Line, h.Code)
		}
	}
	for _, n := range []int{-1, MaxLines + 1} {
		if r := (Request{Query: "x", Lines: n}); r.Complete() == nil {
			t.Errorf("%d lines are taken", n)
		}
	}
}
