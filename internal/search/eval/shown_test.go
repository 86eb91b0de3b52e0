package eval

import (
	"strings"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// TestMoreHitsShowNoLess asks the pinned queries with larger and larger limits:
// the hits that there were show as many lines as before. The reply stays within
// what its hits may cost.
func TestMoreHitsShowNoLess(t *testing.T) {
	p := openPinned(t)
	for _, detail := range []string{"minimal", "contextual"} {
		for i, q := range p.questions {
			if len(q.options) > 0 || i%3 > 0 && !rank.AsksHow(q.query) {
				continue
			}
			var targets []search.Target
			for _, s := range q.stores {
				targets = append(targets, p.stores[s])
			}
			lines := func(h search.Hit) int { return strings.Count(h.Code, "\n") + min(len(h.Code), 1) }
			var before []search.Hit
			for _, limit := range []int{1, 2, 3, 5, 8, 10, 15, 20} {
				r := search.Request{Query: q.query, Limit: limit, Detail: detail}
				reply, err := search.Run(t.Context(), targets, p.bench.embedder, r)
				if err != nil {
					t.Fatal(err)
				}
				tuning := search.Fitted()
				per := map[string]int{"minimal": tuning.MinimalTokens, "contextual": tuning.ContextualTokens}[detail]
				if reply.Tokens > per*limit && limit > 2 {
					t.Errorf("%s: %d tokens for %d hits, %s", q.line, reply.Tokens, limit, detail)
				}
				for j, was := range before {
					h := reply.Hits[j]
					if h.ID != was.ID {
						t.Errorf("%s: hit %d is another with limit %d", q.line, j+1, limit)
					} else if lines(h) < lines(was) {
						t.Errorf("%s: hit %d shows %d lines with limit %d, %d before", q.line, j+1, lines(h), limit, lines(was))
					}
				}
				before = reply.Hits
			}
		}
	}
}
