package eval

import (
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// TestScoresStayTheSame: what a hit scores depends on neither how many are
// shown nor on what is cut away, and a longer reply begins as the shorter one.
func TestScoresStayTheSame(t *testing.T) {
	p := openPinned(t)
	half, most := 0.5, 0.9
	for i, q := range p.questions {
		if len(q.options) > 0 || i%3 != 0 {
			continue
		}
		var targets []search.Target
		for _, s := range q.stores {
			targets = append(targets, p.stores[s])
		}
		ask := func(limit int, threshold *float64) []search.Hit {
			r, err := search.Run(t.Context(), targets, p.bench.embedder,
				search.Request{Query: q.query, Limit: limit, Threshold: threshold})
			if err != nil {
				t.Fatal(err)
			}
			return r.Hits
		}
		all := ask(search.MaxLimit, nil)
		score := map[string]float64{}
		for _, h := range all {
			score[h.Store+h.At+h.ID] = h.Where.Score
		}
		for _, limit := range []int{1, 3, 10, 40} {
			for _, threshold := range []*float64{nil, &half, &most} {
				for k, h := range ask(limit, threshold) {
					was, ok := score[h.Store+h.At+h.ID]
					if !ok || was != h.Where.Score {
						t.Errorf("%s: %s scores %v with limit %d, %v alone", q.line, h.At, h.Where.Score, limit, was)
					}
					if all[k].ID != h.ID {
						t.Errorf("%s: hit %d is %s with limit %d, %s with more", q.line, k+1, h.At, limit, all[k].At)
					}
				}
			}
		}
	}
}
