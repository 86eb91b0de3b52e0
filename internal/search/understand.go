package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// question is a query understood, with the places that it names.
type question struct {
	*rank.Query
	stats     kb.TermStats // of its terms
	spots     []spot
	stores    []rank.Standing // of the targets; nil of one alone
	digested  bool            // it is the telling words of a long text
	cut       bool            // there are more candidates than were asked for
	deaf      error           // why it has no vector
	retrieval kb.Retrieval    // with which candidates were asked for
	survey    *survey         // of the documents found; nil for most queries
	beside    *survey         // the same, for functions beside hits that are unsure
	found     []rank.Evidence // the candidates
}

// notes says how the query was taken.
func (q *question) notes() (out []string) {
	for w, meant := range q.Misspelt() {
		out = append(out, fmt.Sprintf("%q is nowhere here; %q was looked for", kb.Clip(w, 40), meant))
	}
	if q.deaf != nil {
		out = append(out, "found by words alone, without meaning: "+q.deaf.Error())
	}
	return out
}

// understand reads the query of a request. Of a stack trace the message and
// the names of the stores' own frames are looked for; the frames lead to their
// places.
func understand(ctx context.Context, targets []Target, r *Request) (*question, error) {
	q := &question{}
	text := r.Query
	if frames, rest := rank.Frames(text); len(frames) > 0 && r.Only == nil && r.Mode != rank.Vector {
		var err error
		if q.spots, err = own(ctx, targets, frames, r); err != nil {
			return nil, err
		}
		for i, s := range q.spots {
			if s.symbol != "" && !slices.ContainsFunc(q.spots[:i], func(b spot) bool { return b.symbol == s.symbol }) {
				rest += s.symbol + "\n"
			}
		}
		if strings.ContainsFunc(rest, unicode.IsLetter) {
			text = rest
		}
	}
	q.Query = r.Tuning.Rank.Parse(text)
	if d := q.Digest(); d != nil {
		st, err := count(ctx, targets, d.Terms(), r)
		if err != nil {
			return nil, err
		}
		q.Query, q.digested = d.Query(st), true
	}
	if r.Intent == "" && r.Only == nil {
		r.Intent = q.Recognize()
	}
	if err := q.place(ctx, targets); err != nil {
		return nil, err
	}
	if err := q.count(ctx, targets, r); err != nil {
		return nil, err
	}
	if err := q.respell(ctx, targets, r); err != nil {
		return nil, err
	}
	q.Join()
	if r.Intent != rank.Documentation && r.Only == nil { // sections count such words by themselves
		q.Expand()
	}
	return q, q.count(ctx, targets, r)
}

// count counts the terms that were not counted yet.
func (q *question) count(ctx context.Context, targets []Target, r *Request) error {
	n := len(q.stats.Frequency)
	if n > 0 && n == len(q.Terms) {
		return nil
	}
	st, err := count(ctx, targets, q.Terms[n:], r)
	st.Frequency = append(q.stats.Frequency, st.Frequency...)
	st.PathFrequency = append(q.stats.PathFrequency, st.PathFrequency...)
	q.stats = st
	return err
}

// respell has the query look for what a word was misspelt for: among the terms
// that are written like it those with the fewest letters wrong, of these one
// that is defined or else the most common.
func (q *question) respell(ctx context.Context, targets []Target, r *Request) error {
	if r.Mode == rank.Vector {
		return nil
	}
	doubtful := q.Doubtful(q.stats, embed.Knows)
	if len(doubtful) == 0 {
		return nil
	}
	found := make([][][]string, len(targets))
	err := each(len(targets), func(i int) (err error) {
		found[i], err = targets[i].Index.Spelt(ctx, doubtful)
		return err
	})
	if err != nil {
		return err
	}
	right := map[string]string{}
	for k, term := range doubtful {
		var alike []string
		for i := range found {
			alike = append(alike, found[i][k]...)
		}
		wrong := func(t string) int { return terms.Edits(term, t, len(term)) }
		slices.SortFunc(alike, func(a, b string) int {
			return cmp.Or(cmp.Compare(wrong(a), wrong(b)), cmp.Compare(a, b))
		})
		alike = slices.Compact(alike)
		if n := slices.IndexFunc(alike, func(t string) bool { return wrong(t) > wrong(alike[0]) }); n > 0 {
			alike = alike[:n]
		}
		best, err := commonest(ctx, targets, alike, r)
		if err != nil {
			return err
		}
		if best != "" {
			right[term] = best
		}
	}
	q.Correct(right)
	return nil
}

// commonest returns the term that most chunks have, one that is defined before
// others; "" when none has any.
func commonest(ctx context.Context, targets []Target, alike []string, r *Request) (best string, err error) {
	ask := slices.Clone(alike)
	for _, t := range alike {
		ask = append(ask, terms.Exact(t))
	}
	st, err := count(ctx, targets, ask, r)
	if err != nil {
		return "", err
	}
	var most [2]int64
	for i, t := range alike {
		n := [2]int64{min(1, st.Frequency[len(alike)+i]), st.Frequency[i] + st.PathFrequency[i]}
		if slices.Compare(n[:], most[:]) > 0 {
			best, most = t, n
		}
	}
	return best, nil
}

// first returns the numbers below n that come first, at most most of them in
// order, as a stable sort of all would.
func first(n, most int, order func(a, b int) int) []int {
	var out []int
	for i := range n {
		if len(out) == most {
			if most == 0 || order(out[most-1], i) <= 0 {
				continue
			}
			out = out[:most-1]
		}
		at, _ := slices.BinarySearchFunc(out, i, func(a, b int) int {
			if order(a, b) <= 0 {
				return -1
			}
			return 1
		})
		out = slices.Insert(out, at, i)
	}
	return out
}

// literally reads the best candidates by words for the query's words as they
// follow each other.
func literally(ctx context.Context, targets []Target, q *rank.Query, found []rank.Evidence, r *Request) error {
	l := q.Literal()
	if l == nil || r.Mode == rank.Vector {
		return nil
	}
	at := first(len(found), r.Tuning.MostRead, func(a, b int) int { return cmp.Compare(found[b].Lexical, found[a].Lexical) })
	at = slices.DeleteFunc(at, func(i int) bool { return !l.May(&found[i]) })
	return eachPassage(ctx, targets, kb.Index.Excerpts, len(at), func(k int) (int, kb.Place) {
		return found[at[k]].Store, found[at[k]].Place
	}, func(k int, p *kb.Passage) error {
		e := &found[at[k]]
		e.Literal = l.In(p.Text, e.Flags&kb.FlagProse != 0)
		return nil
	})
}
