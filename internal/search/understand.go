package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// question is a query understood, with the places that it names.
type question struct {
	*rank.Query
	spots     []spot
	stores    []rank.Standing // of the targets; nil of one alone
	cut       bool            // there are more candidates than were asked for
	retrieval kb.Retrieval    // with which candidates were asked for
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
		q.Query = d.Query(st)
	}
	if r.Intent == "" && r.Only == nil {
		r.Intent = q.Recognize()
	}
	return q, q.place(ctx, targets)
}

// literally reads the best candidates by words for the query's words as they
// follow each other.
func literally(ctx context.Context, targets []Target, q *rank.Query, found []rank.Evidence, r *Request) error {
	l := q.Literal()
	if l == nil || r.Mode == rank.Vector {
		return nil
	}
	at := make([]int, len(found))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(found[b].Lexical, found[a].Lexical) })
	at = at[:min(len(at), r.Tuning.MostRead)]
	for t := range targets {
		var places []kb.Place
		var of []int
		for _, i := range at {
			if found[i].Store == t {
				places, of = append(places, found[i].Place), append(of, i)
			}
		}
		if len(places) == 0 {
			continue
		}
		passages, err := targets[t].Index.Passages(ctx, places)
		if err != nil {
			return &TargetError{t, err}
		}
		for j, i := range of {
			found[i].Literal = l.In(passages[j].Text, found[i].Flags&kb.FlagProse != 0)
		}
	}
	return nil
}
