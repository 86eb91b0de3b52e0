package search

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// shower turns ranked candidates into hits.
type shower struct {
	q       *rank.Query
	r       *Request
	targets []Target
	lines   []lines // of each hit
	hits    []Hit
	shown   []rank.Scored // the hits as they were ranked
	survey  *survey
	// Of a packed reply: the places that may be meant where that is unsure, nil
	// elsewhere, and whether the query was a long text of which only words are looked for.
	beside   *survey
	digested bool
	texts    map[docKey]*kb.DocumentText // of a packed reply, those that were read beside the surveys
	asked    *asking
}

func (s *shower) show(ctx context.Context, ranked []rank.Scored) ([]Hit, error) {
	hits := make([]Hit, len(ranked))
	s.lines = make([]lines, len(ranked))
	if err := s.prepare(ctx, ranked); err != nil {
		return nil, err
	}
	var left []int
	for i := range ranked {
		p := s.passage(&ranked[i])
		if p == nil {
			left = append(left, i)
			continue
		}
		var err error
		if hits[i], err = s.hit(ctx, &ranked[i], p, &s.lines[i]); err != nil {
			return nil, of(ranked[i].Store, err)
		}
	}
	err := eachPassage(ctx, s.targets, kb.Index.Passages, len(left), func(k int) (int, kb.Place) {
		return ranked[left[k]].Store, ranked[left[k]].Place
	}, func(k int, p *kb.Passage) (err error) {
		i := left[k]
		hits[i], err = s.hit(ctx, &ranked[i], p, &s.lines[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	s.note(hits, ranked)
	return hits, nil
}

// hit shows a candidate, but for its lines, which it prepares.
func (s *shower) hit(ctx context.Context, c *rank.Scored, p *kb.Passage, l *lines) (Hit, error) {
	t := &s.targets[c.Store]
	page, web := t.page(p.Path)
	if web {
		p.Text = unmarkAll(p.Text)
	}
	*l = s.r.Tuning.bestLines(s.asking(), p)
	l.must = c.Line
	meant, sure := s.meant(&p.Chunk, l, c)
	title, symbol := s.title(&p.Chunk, meant)
	l.meant, l.sure = meant, sure && meant != nil
	h := Hit{
		ID: c.ID, Store: t.Label, At: location(p.Path, &p.Chunk), Symbol: title,
		Score: math.Round(c.Score*100) / 100,
		Where: Where{Target: c.Store, Path: p.Path, Start: p.Chunk.Start, End: p.Chunk.End, Score: c.Score},
	}
	if sure && !web && s.r.Only == nil {
		narrow(&h, &p.Chunk, meant, l)
	}
	h.Extras = t.extras(p.Path)
	var err error
	if web {
		best, _ := l.window(1, 80)
		if h.At, err = t.Cite(ctx, p.Path, &p.Chunk, best); err != nil {
			return h, err
		}
		if page.URL = ""; s.r.Detail == "full" {
			h.Page = &page
		}
	}
	if s.r.Only != nil {
		h.Where.Line, h.Where.Excerpt = l.excerpt(s.r.Only[c.Store], p.Path)
	}
	if s.r.Explain || s.r.Detail == "full" {
		h.Explain = c.Parts
	}
	if s.r.Lines > 0 {
		h.Kind, h.Language, h.Why = kindOf(&p.Chunk, symbol), p.Language, s.why(c)
	}
	if s.r.Detail != "minimal" {
		err = s.detail(ctx, &h, t, p, symbol, c)
	}
	return h, err
}

// asking is what the lines of all hits are looked through for.
func (s *shower) asking() *asking {
	if s.asked == nil {
		s.asked = newAsking(s.q)
	}
	return s.asked
}

// extras returns what else is known of a document.
func (t *Target) extras(path string) (out kb.Extras) {
	for _, extra := range t.Extras {
		if x, ok := extra(path); ok {
			out = append(out, x)
		}
	}
	return out
}

// note says of hits whose document has changed since it was indexed, and of
// those that other stores hold as well.
func (s *shower) note(hits []Hit, ranked []rank.Scored) {
	s.shown, s.hits = ranked, hits
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
	h.Kind, h.Language = kindOf(&p.Chunk, symbol), p.Language
	if symbol != nil {
		h.Signature, h.Doc = symbol.Signature, symbol.Doc
	}
	h.Why = s.why(c)
	whole, err := t.Index.Document(ctx, p.Path)
	if err != nil {
		return err
	}
	doc := &whole
	h.Imports = used(doc, p.Chunk.Start, p.Chunk.End, s.r.Tuning.Imports)
	if symbol != nil {
		symbol = known(&doc.Chunks[p.Place.Chunk], symbol)
		h.Symbol = symbol.Qualified()
	}
	u, ok, err := usageOf(ctx, t, doc, p.Place.Chunk, symbol, s.r.Tuning.Links, false)
	if err != nil {
		return err
	}
	if ok {
		h.CalledBy, h.Calls = names(u.callers, u.moreIn), names(u.callees, u.moreOut)
	}
	h.Related = relatedIn(t, doc, p.Place.Chunk, s.r.Tuning.Neighbouring)
	return nil
}

// kindOf is the kind of a chunk, or of the declaration in it that is shown.
func kindOf(c *kb.Chunk, symbol *kb.Symbol) string {
	if symbol != nil {
		return symbol.Kind
	}
	return c.Kind
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

// perHit is how many tokens a hit may have on the average.
func (s *shower) perHit() int {
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
	return min(per, t.ReplyTokens/max(1, s.r.Limit))
}

// most is how many lines of a hit in the middle are shown at most.
func (s *shower) most() int {
	switch s.r.Detail {
	case "contextual":
		return s.r.Tuning.ContextualLines
	case "full":
		return s.r.Tuning.FullLines
	}
	return s.r.Tuning.MinimalLines
}
