package rank

import (
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// joined is a name that words of a question make together, as it is defined:
// "session store" for SessionStore and session_store.
type joined struct {
	terms    []int // of its spellings
	from, to int   // words of the query, the last excluded
}

// mostParts is how many words a name is made of at most.
const mostParts = 4

// Join adds the names that neighbouring words of a question make.
func (q *Query) Join() {
	if q.Class != Natural || len(q.Words) > q.tuning.MostJoined {
		return
	}
	for from := range q.Words {
		var parts []string
		telling := false
		for to := from; to < min(from+mostParts, len(q.Words)); to++ {
			w := &q.Words[to]
			if w.Named && len(w.Parts) > 0 {
				break
			}
			parts, telling = append(parts, strings.ToLower(w.Text)), telling || !w.Stop
			if len(parts) == 1 || !telling {
				continue
			}
			j := joined{from: from, to: to + 1}
			for _, by := range []string{"", "_"} {
				if t := q.term(terms.Exact(strings.Join(parts, by))); t >= 0 {
					j.terms = append(j.terms, t)
				}
			}
			q.joined = append(q.joined, j)
		}
	}
}

// together is the largest share of the query, by weight, that a name stands for
// which its words make together and a chunk defines.
func (r *ranking) together(defines uint64) (best float64) {
	if r.sum == 0 {
		return 0
	}
	for _, j := range r.q.joined {
		if !slices.ContainsFunc(j.terms, func(t int) bool { return defines&(1<<t) != 0 }) {
			continue
		}
		v := 0.0
		for i := range r.q.Words[j.from:j.to] {
			if w := &r.q.Words[j.from+i]; !w.Stop {
				v += w.idf
			}
		}
		best = max(best, v/r.sum)
	}
	return best
}

// Means reports whether the query means a name that it does not write: a word is
// misspelt for it, or words make it together.
func (q *Query) Means(name string) bool {
	exact := terms.Exact(name)
	return slices.ContainsFunc(q.Words, func(w Word) bool { return w.Meant != "" && w.Exact >= 0 && q.Terms[w.Exact] == exact }) ||
		slices.ContainsFunc(q.joined, func(j joined) bool {
			return slices.ContainsFunc(j.terms, func(t int) bool { return q.Terms[t] == exact })
		})
}
