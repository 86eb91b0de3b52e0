package impact

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/history"
	"github.com/seed-4f2d999b/knowledge/internal/impact/reach"
)

const (
	// pastTime is how long the history is asked about one change.
	pastTime = 2 * time.Second
	// mostBlamed is of how many files of tests the lines are told apart.
	mostBlamed = 8
	// mostMakers is how many of the commits that made the changed lines count.
	mostMakers = 6
	// enoughLines is how many lines of a test a commit made where it is surely
	// about the test.
	enoughLines = 3
)

// pastOf is what the history says of a change of the own folder.
func (q *query) pastOf(ctx context.Context, p *part) reach.Past {
	if q.past == nil || !p.target.Own {
		return reach.Past{}
	}
	var paths []string
	for _, c := range p.changes {
		paths = append(paths, c.path)
	}
	together := q.past.Together(paths)
	out := reach.Past{Together: func(path string) float64 { return together[path] }}
	bounded, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	makers := q.makers(bounded, p)
	lines := map[string]map[int]string{} // by file of tests: who made each line
	for _, m := range makers {
		for _, f := range q.past.ChangedBy(m.Commit) {
			if lines[f] != nil || len(lines) == mostBlamed || !reach.IsTest(f) || bounded.Err() != nil {
				continue
			}
			if by, err := q.past.MadeBy(bounded, f, makers); err == nil {
				lines[f] = by
			}
		}
	}
	out.Commit = func(t reach.Test) float64 {
		by, score := lines[t.Path], 0.0
		for _, m := range makers {
			n := 0
			for l := t.Start; l <= t.End && by != nil; l++ {
				if by[l] == m.Commit {
					n++
				}
			}
			part := min(1, float64(n)/enoughLines)
			score = max(score, part*min(1, m.Share)/math.Sqrt(1+math.Log2(float64(max(m.Files, 1)))/2))
		}
		return score
	}
	return out
}

// makers are the commits that made the lines which change, as far as there is time.
func (q *query) makers(ctx context.Context, p *part) (out []history.Made) {
	for _, c := range p.changes {
		var now, old []history.Span
		for _, l := range c.lines {
			switch {
			case l.old > 0:
				old = grow(old, l.old)
			case c.place:
				now = grow(now, l.at)
			}
		}
		for _, side := range []struct {
			spans []history.Span
			tree  bool
		}{{old, false}, {now, true}} {
			if len(side.spans) == 0 || ctx.Err() != nil {
				continue
			}
			if found, err := q.past.Makers(ctx, c.path, side.spans, side.tree); err == nil {
				out = append(out, found...)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b history.Made) int {
		switch {
		case a.Share > b.Share:
			return -1
		case a.Share < b.Share:
			return 1
		}
		return strings.Compare(a.Commit, b.Commit)
	})
	return out[:min(len(out), mostMakers)]
}

// grow adds a line to spans in order.
func grow(spans []history.Span, line int) []history.Span {
	if n := len(spans); n > 0 && spans[n-1].To+1 == line {
		spans[n-1].To = line
		return spans
	}
	return append(spans, history.Span{From: line, To: line})
}
