package rank

import (
	"iter"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// Doubtful returns the terms of the query that no store has and that may be
// misspelt: names, parts of names, and words that knows, which is given them in
// lower case, does not know. A query that is more than a few words is none that
// was typed: what it has that the stores have not are values.
func (q *Query) Doubtful(st kb.TermStats, knows func(word string) bool) (doubtful []string) {
	if q.Class != Symbol && q.Class != Natural || len(q.Words) > q.tuning.MostTyped {
		return nil
	}
	doubt := func(t int) {
		if q.lacks(st, t) && related(q.Terms[t]) == nil && !slices.Contains(doubtful, q.Terms[t]) {
			doubtful = append(doubtful, q.Terms[t])
		}
	}
	for i := range q.Words {
		w := &q.Words[i]
		if w.Stop || strings.ContainsAny(w.Text, "0123456789") {
			continue
		}
		if w.Whole >= 0 && (w.Named && len(w.Parts) > 0 || !knows(strings.ToLower(w.Text))) {
			doubt(w.Whole)
		}
		for _, p := range w.Parts {
			if !knows(q.Terms[p]) {
				doubt(p)
			}
		}
	}
	return doubtful
}

// lacks reports whether no store has a term.
func (q *Query) lacks(st kb.TermStats, t int) bool {
	return st.Frequency[t] == 0 && st.PathFrequency[t] == 0
}

// Correct has the query look for other terms in the place of misspelt ones.
// Of a name that is spelt right as a whole the parts are no matter.
func (q *Query) Correct(right map[string]string) {
	for i := range q.Words {
		w := &q.Words[i]
		if w.Whole >= 0 {
			typed := q.Terms[w.Whole]
			if r, ok := right[typed]; ok {
				q.spell(w, typed, r)
				continue
			}
		}
		for k, p := range w.Parts {
			if r, ok := right[q.Terms[p]]; ok {
				if t := q.term(r); t >= 0 {
					w.Parts[k] = t
				}
			}
		}
	}
}

// spell puts another whole in the place of a word's.
func (q *Query) spell(w *Word, typed, right string) {
	whole, exact := q.term(right), q.term(terms.Exact(right))
	if whole < 0 || exact < 0 {
		return
	}
	w.Whole, w.Exact, w.Cased, w.Meant = whole, exact, -1, right
	// A stem lacks the ending that was typed, and the model knows words.
	if ending, ok := strings.CutPrefix(strings.ToLower(w.Text), typed); ok && len(w.Parts) == 0 {
		q.Text = strings.ReplaceAll(q.Text, w.Text, right+ending)
	}
}

// Misspelt yields the words that stand for others, with the term of these.
func (q *Query) Misspelt() iter.Seq2[string, string] {
	return func(yield func(word, meant string) bool) {
		for i := range q.Words {
			if w := &q.Words[i]; w.Meant != "" && !yield(w.Text, w.Meant) {
				return
			}
		}
	}
}
