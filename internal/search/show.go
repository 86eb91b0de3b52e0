package search

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// shower turns ranked candidates into hits.
type shower struct {
	q       *rank.Query
	r       *Request
	targets []Target
	lines   []lines       // of each hit
	shown   []rank.Scored // the hits as they were ranked
}

func (s *shower) show(ctx context.Context, ranked []rank.Scored) ([]Hit, error) {
	hits := make([]Hit, len(ranked))
	s.lines = make([]lines, len(ranked))
	for ti, t := range s.targets {
		var places []kb.Place
		var at []int
		for i, c := range ranked {
			if c.Store == ti {
				places = append(places, c.Place)
				at = append(at, i)
			}
		}
		if len(places) == 0 {
			continue
		}
		passages, err := t.Index.Passages(ctx, places)
		if err != nil {
			return nil, of(ti, err)
		}
		for j, i := range at {
			p := &passages[j]
			page, web := t.page(p.Path)
			if web {
				p.Text = unmarkAll(p.Text)
			}
			s.lines[i] = s.r.Tuning.bestLines(s.q, p)
			s.lines[i].must = ranked[i].Line
			title, symbol := s.title(&p.Chunk, &s.lines[i])
			hits[i] = Hit{
				ID: ranked[i].ID, Store: t.Label, At: location(p.Path, &p.Chunk), Symbol: title,
				Score: math.Round(ranked[i].Score*100) / 100,
				Where: Where{Target: ti, Path: p.Path, Start: p.Chunk.Start, End: p.Chunk.End, Score: ranked[i].Score},
			}
			for _, extra := range t.Extras {
				if x, ok := extra(p.Path); ok {
					hits[i].Extras = append(hits[i].Extras, x)
				}
			}
			if web {
				best, _ := s.lines[i].window(1, 80)
				if hits[i].At, err = t.Cite(ctx, p.Path, &p.Chunk, best); err != nil {
					return nil, of(ti, err)
				}
				if page.URL = ""; s.r.Detail == "full" {
					hits[i].Page = &page
				}
			}
			if s.r.Only != nil {
				hits[i].Where.Line, hits[i].Where.Excerpt = s.lines[i].excerpt(s.r.Only[ti], p.Path)
			}
			if s.r.Explain || s.r.Detail == "full" {
				hits[i].Explain = ranked[i].Parts
			}
			if s.r.Detail != "minimal" {
				if err := s.detail(ctx, &hits[i], &t, p, symbol, &ranked[i]); err != nil {
					return nil, of(ti, err)
				}
			}
		}
	}
	s.note(hits, ranked)
	return hits, nil
}

// note says of hits whose document has changed since it was indexed, and of
// those that other stores hold as well.
func (s *shower) note(hits []Hit, ranked []rank.Scored) {
	s.shown = ranked
	for i := range hits {
		if t := &s.targets[ranked[i].Store]; t.Fresh != nil {
			hits[i].Note = t.Fresh(ranked[i].Path, ranked[i].Stamp)
		}
		if also := ranked[i].Also; len(also) > 0 && hits[i].Note == "" {
			hits[i].Note = "the same in " + s.targets[also[0]].Label
			if n := len(also) - 1; n > 0 {
				hits[i].Note += fmt.Sprintf(" and %d more stores", n)
			}
		}
	}
}

// detail adds what contextual and full show.
func (s *shower) detail(ctx context.Context, h *Hit, t *Target, p *kb.Passage, symbol *kb.Symbol, c *rank.Scored) error {
	h.Kind, h.Language = p.Chunk.Kind, p.Language
	if symbol != nil {
		h.Kind, h.Signature, h.Doc = symbol.Kind, symbol.Signature, symbol.Doc
	}
	h.Why = s.why(c)
	doc, err := t.Index.Document(ctx, p.Path)
	if err != nil {
		return err
	}
	h.Imports = used(&doc, p.Chunk.Start, p.Chunk.End, s.r.Tuning.Imports)
	if symbol != nil {
		symbol = known(&doc.Chunks[p.Place.Chunk], symbol)
		h.Symbol = symbol.Qualified()
	}
	u, ok, err := usageOf(ctx, t, &doc, p.Place.Chunk, symbol, s.r.Tuning.Links)
	if err != nil {
		return err
	}
	if ok {
		h.CalledBy, h.Calls = names(u.callers, u.moreIn), names(u.callees, u.moreOut)
	}
	h.Related = relatedIn(t, &doc, p.Place.Chunk, s.r.Tuning.Neighbouring)
	return nil
}

// known returns the symbol of a chunk that s, which may lack the line of its
// name and what encloses it, stands for.
func known(c *kb.Chunk, s *kb.Symbol) *kb.Symbol {
	for i := range c.Symbols {
		if k := &c.Symbols[i]; k.Name == s.Name && k.Start == s.Start {
			return k
		}
	}
	return s
}

// why says in words what speaks for a hit.
func (s *shower) why(c *rank.Scored) []string {
	var out []string
	words := func(bits uint64) string {
		var w []string
		for i := range s.q.Words {
			x := &s.q.Words[i]
			if !x.Stop && x.Whole >= 0 && bits&(1<<x.Whole) != 0 {
				w = append(w, x.Text)
			}
		}
		return strings.Join(w, ", ")
	}
	if w := words(c.Defines); w != "" {
		out = append(out, "defines "+w)
	}
	if w := words(c.InPath); w != "" {
		out = append(out, "path names "+w)
	}
	if w := words(c.Matched); w != "" {
		out = append(out, "mentions "+w)
	}
	if c.Cosine > 0 {
		out = append(out, fmt.Sprintf("cosine %.2f", c.Cosine))
	}
	return out
}

// budget is how many tokens the reply may have.
func (s *shower) budget(hits int) int {
	t := s.r.Tuning
	per := t.MinimalTokens
	switch s.r.Detail {
	case "contextual":
		per = t.ContextualTokens
	case "full":
		per = t.FullTokens
	}
	if s.r.Explain {
		per += t.ExplainTokens
	}
	return min(t.ReplyTokens, per*max(hits, 1))
}

// fit gives every hit as many of its lines as the budget allows, the first
// ones more: they answer most often.
func (s *shower) fit(r *Reply) {
	budget := s.budget(s.r.Limit)
	t := s.r.Tuning
	most := t.MinimalLines
	if s.r.Detail == "contextual" {
		most = t.ContextualLines
	} else if s.r.Detail == "full" {
		most = t.FullLines
	}
	for i := range r.Hits { // what may be shown is judged, so that the marks are in the budget
		_, text := s.lines[i].window(most+t.furtherLines(i), t.LineWidth)
		h, at := &r.Hits[i], &s.shown[i]
		h.Note = s.targets[at.Store].Mark(h.Note, at.Path, h.Doc+"\n"+text)
	}
	const header = 14 // the digits of tokens and ms, which are not known yet
	for n := most; ; n-- {
		width := t.LineWidth
		if n <= 0 {
			width = max(20, 100+20*n)
		}
		for i := range r.Hits {
			r.Hits[i].Line, r.Hits[i].Code = s.lines[i].window(max(n+t.furtherLines(i), 1), width)
		}
		r.Tokens = tokens.Estimate(r.Text()) + header
		if r.Tokens <= budget || n < -4 {
			return
		}
		if n > 8 {
			n -= n / 4
		}
	}
}
