package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// first puts the chunk of each document's best function first among its hits,
// but for those that declare all that the question names.
func (s *survey) first(ctx context.Context, targets []Target, ranked []rank.Scored) error {
	if s == nil {
		return nil
	}
	done := map[*surveyed]bool{}
	for i := range ranked {
		c := &ranked[i]
		d := s.docs[docKey{c.Store, c.Path}]
		if d == nil || done[d] {
			continue
		}
		done[d] = true
		if s.q.Declares(c.Defines) {
			continue
		}
		k := slices.IndexFunc(s.sites, func(x site) bool { return x.doc == d })
		if k < 0 {
			continue
		}
		y := s.sites[k].symbol
		chunk := chunkAt(d.DocumentText, max(y.Line, y.Start))
		for j := i + 1; j < len(ranked); j++ {
			if o := &ranked[j]; o.Store == c.Store && o.Path == c.Path && o.Chunk == chunk {
				d.show(o, c.Chunk)
			}
		}
		d.show(c, chunk)
	}
	return identify(ctx, targets, ranked)
}

// identify sets the ids that are missing.
func identify(ctx context.Context, targets []Target, ranked []rank.Scored) error {
	places, at := map[int][]kb.Place{}, map[int][]int{}
	for i := range ranked {
		if c := &ranked[i]; c.ID == "" {
			places[c.Store], at[c.Store] = append(places[c.Store], c.Place), append(at[c.Store], i)
		}
	}
	for t := range targets {
		if places[t] == nil {
			continue
		}
		ids, err := targets[t].Index.IDs(ctx, places[t])
		if err != nil {
			return of(t, err)
		}
		for k, i := range at[t] {
			ranked[i].ID = ids[k]
		}
	}
	return nil
}

// line returns the line of the best function that begins in a hit's chunk, 0
// without one and where the chunk declares all that the question names.
func (s *survey) line(c *rank.Scored) int {
	if s == nil || s.q.Declares(c.Defines) {
		return 0
	}
	for i := range s.sites {
		x := &s.sites[i]
		at := max(x.symbol.Line, x.symbol.Start)
		if x.doc.key == (docKey{c.Store, c.Path}) && c.Start <= at && at <= c.End {
			return at
		}
	}
	return 0
}

// show makes a hit one of another chunk of its document, whose id is "" where it
// was not found by itself.
func (d *surveyed) show(c *rank.Scored, chunk int) {
	if c.Chunk == chunk {
		return
	}
	e := c.Evidence
	if now := d.found[chunk]; now != nil {
		c.Evidence = *now
	} else {
		c.Matched, c.Defines, c.Lexical, c.Cosine, c.ID = 0, 0, 0, 0, ""
	}
	c.Chunk = chunk
	c.Start, c.End = d.Chunks[chunk].Start, d.Chunks[chunk].End
	c.Named, c.Literal = e.Named, e.Literal
}

// row shows a function in the list of a document's places.
func (x *site) row() (text string, price int) {
	text = fmt.Sprintf("%s L%d-%d", kb.Clip(x.symbol.Qualified(), titleBytes), x.symbol.Start, x.symbol.End)
	return text, tokens.Estimate(text) + 1
}

// price is what the places cost where all of their documents are among the hits.
func (s *survey) price(t *Tuning) (sum int) {
	for i := range s.sites[:min(len(s.sites), t.Places)] {
		_, price := s.sites[i].row()
		sum += price
	}
	return sum
}

// places gives the hits the further functions of their documents that score
// best, in the order of their scores, within a budget of tokens.
func (s *survey) places(hits []Hit, ranked []rank.Scored, budget int, t *Tuning) {
	n := 0
	for i := range s.sites {
		x := &s.sites[i]
		at, named := -1, false
		for j := range hits {
			if ranked[j].Store != x.doc.key.target || ranked[j].Path != x.doc.Path {
				continue
			}
			if at < 0 {
				at = j
			}
			h := &hits[j].Where
			named = named || h.Start <= x.symbol.Start && x.symbol.End <= h.End
		}
		if at < 0 || named {
			continue
		}
		row, price := x.row()
		if budget -= price; budget < 0 || n == t.Places {
			return
		}
		hits[at].Places = append(hits[at].Places, row)
		n++
	}
}
