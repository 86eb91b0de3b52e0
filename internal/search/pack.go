package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

const (
	// PackedTokens is the ceiling of a reply that is packed, where none is given,
	// MinBudget and MaxBudget are the least and the largest that may be.
	PackedTokens = 1200
	MinBudget    = 100
	MaxBudget    = 20_000
	// packedPlaces is how many places a packed reply has at most where no limit is given.
	packedPlaces = 20
	// enough is how probable it has to be that the answer is among the places
	// whose lines are shown; no more lines are shown then.
	enough = 0.85
	// unsureShare is what a place may have of what is left where the first may not
	// be the one meant, and literalShare what one may have at most that was found
	// by a text: its line and what is around it answers, however long it is.
	unsureShare  = 0.8
	literalShare = 0.2
	// leastSlice is the fewest tokens for which lines of a place are shown.
	leastSlice = 40
	// fewest is how many places have lines at least where the query is a phrase and
	// the first is likely meant: it may be another function of its document.
	fewest = 2
	// rowTokens is set aside for each of the rows below the lines, someRowTokens where
	// some have the line that tells most, linedRowTokens where all have; fewRows of them there are, longRows for a
	// long text, manyRows of functions that call each other and where the first hit
	// may not be the one meant.
	rowTokens      = 24
	someRowTokens  = 30
	linedRowTokens = 36
	fewRows        = 4
	longRows       = 6
	manyRows       = 8
	// largeInner is how many lines a function has at most that is shown in place
	// of one within it.
	largeInner = 80
	// packedLinks is how many callers, and callees, of the place that is meant are
	// named, fewLinks how many callers of others that have lines.
	packedLinks = 4
	fewLinks    = 2
	// packedValues is how many constants and variables that the first place reads
	// are shown.
	packedValues = 3
)

// packing fills the defaults of a packed reply.
func (r *Request) packing() error {
	if r.Budget != 0 && (r.Budget < MinBudget || r.Budget > MaxBudget) {
		return kb.Errorf(kb.Invalid, "budget must lie between %d and %d tokens, not %d", MinBudget, MaxBudget, r.Budget).
			WithHint("leave it out for %d", PackedTokens).About("budget")
	}
	if r.listed = r.Limit > 0; r.Packed && !r.listed {
		r.Limit = packedPlaces
	}
	return nil
}

// surveyBeside looks into the documents of hits for words of what is meant, and
// of those for a long text; nil for others.
func surveyBeside(ctx context.Context, targets []Target, q *question, r *Request, ranked []rank.Scored,
	found []rank.Evidence) (*survey, error) {
	if q.Class != rank.Natural || len(q.spots) > 0 {
		return nil, nil
	}
	as := ofPhrase
	if q.digested {
		as = ofText
	}
	return surveyOf(ctx, targets, q.Query, r, ranked[:min(len(ranked), packedPlaces)], found, as)
}

// A pack composes the text of a reply for a reader who pays for every line: the
// first place with its lines and with what uses it where that one is likely
// meant, more places with fewer lines where it is not, and of a question how
// something works the functions in the order in which they call each other.
type pack struct {
	s      *shower
	places []*packed
	sure   float64
	named  int             // how many places are named at most
	flow   bool            // the places are functions that call each other
	sites  map[int]*packed // by the number of the function
	memory *Memory
	// further are functions that are named below the first place of their
	// document, the likeliest first.
	further []aside
}

// packed is a place of a packed reply.
type packed struct {
	target         int
	rank           int // in the order of likelihood
	path, at, name string
	from           string // the place that calls it, in a flow
	note           string
	id             string // where its path does not lead to it
	extras         kb.Extras
	doc            *kb.DocumentText
	symbol         *kb.Symbol
	body           *extract
	uses           []string // lines on what uses it and what it uses
	key            uint64
	given          bool // in this session, as it is now
	marked         bool // the note says what the text is
	literal        bool // it was found by a text that stands in it
}

// pack writes the text of a reply with the hits that were ranked.
func (s *shower) pack(ctx context.Context, r *Reply, sure rank.Sure) error {
	p := &pack{s: s, sure: sure.P, memory: MemoryOf(ctx)}
	if err := p.gather(ctx, r); err != nil {
		return err
	}
	budget := cmp.Or(s.r.Budget, PackedTokens)
	foot := foot(append(s.r.Notes, r.Notes...), r.Confidence)
	if err := p.fill(ctx, budget-tokens.Estimate(foot), r.Confidence == "none" && !p.flow && s.r.Budget == 0); err != nil {
		return err
	}
	r.Packed, r.Shown = true, p.fit(foot, budget)
	r.Tokens = tokens.Estimate(r.Shown + foot)
	var keys []uint64
	for _, x := range p.places {
		if x.body != nil && x.body.whole() {
			keys = append(keys, x.key)
		}
	}
	p.memory.Note(keys, r.Tokens)
	return nil
}

// gather makes the places of a reply: the functions of a survey in the order of
// their scores, those that may be meant, or the hits.
func (p *pack) gather(ctx context.Context, r *Reply) error {
	s := p.s
	if s.survey != nil && len(s.survey.sites) > 0 {
		p.flow, p.sites = true, map[int]*packed{}
		for i := range s.survey.sites {
			if x := &s.survey.sites[i]; len(p.places) < s.r.Limit {
				y, err := p.function(ctx, x)
				if err != nil {
					return err
				}
				if y != nil {
					p.sites[x.number] = y
				}
			}
		}
		return nil
	}
	if s.beside != nil && len(s.beside.sites) > 0 {
		return p.mix(ctx, r)
	}
	hits := r.Hits[:min(len(r.Hits), s.r.Limit)]
	for i := range hits {
		if err := p.hit(ctx, &r.Hits[i], i); err != nil {
			return err
		}
	}
	return nil
}

// mix makes the places of functions that may be meant, and of the hits that are
// none, in the order of their scores.
func (p *pack) mix(ctx context.Context, r *Reply) error {
	for k := range p.s.beside.sites {
		x := &p.s.beside.sites[k]
		if len(p.places) >= p.s.r.Limit {
			break
		}
		if x.symbol != nil {
			if _, err := p.function(ctx, x); err != nil {
				return err
			}
			continue
		}
		if i := slices.IndexFunc(p.s.shown, x.is); i >= 0 {
			if err := p.hit(ctx, &r.Hits[i], i); err != nil {
				return err
			}
		}
	}
	return nil
}

// hit adds the place of a hit, but where another place has its lines.
func (p *pack) hit(ctx context.Context, h *Hit, i int) error {
	s, c := p.s, &p.s.shown[i]
	d, err := s.text(ctx, c.Store, c.Path)
	if err != nil {
		return err
	}
	x := &packed{target: c.Store, path: c.Path, at: h.At, name: h.Symbol, note: h.Note, extras: h.Extras, doc: d,
		literal: c.Literal > 0 && c.Named == 0}
	if start, end, must := s.extent(x, i); !p.overlaps(x, start, end) {
		return p.add(ctx, &s.targets[c.Store], x, start, end, must)
	}
	return nil
}

// function returns the place of a function of a survey, or of the one around it,
// and adds it where that is not done. Nil where another place has its lines.
func (p *pack) function(ctx context.Context, x *site) (*packed, error) {
	symbol := cmp.Or(enclosing(x.doc.DocumentText, x.symbol), x.symbol)
	y := &packed{target: x.doc.key.target, path: x.doc.Path, doc: x.doc.DocumentText, symbol: symbol, name: symbol.Qualified()}
	for _, o := range p.places {
		if o.target == y.target && o.path == y.path && o.body.first == symbol.Start {
			return o, nil
		}
	}
	if p.overlaps(y, symbol.Start, symbol.End) {
		return nil, nil
	}
	t := &p.s.targets[y.target]
	if t.Fresh != nil {
		y.note = t.Fresh(y.path, y.doc.Stamp)
	}
	y.extras = t.extras(y.path)
	return y, p.add(ctx, t, y, symbol.Start, symbol.End, 0)
}

// extent returns the lines of hit i: of the declaration that is meant, which it
// sets, of the whole function that its chunk is a part of, or of the chunk; and
// the one that has to be seen, 0 for none.
func (s *shower) extent(x *packed, i int) (start, end, must int) {
	h, c, l := &s.hits[i].Where, &s.shown[i], &s.lines[i]
	chunk := &x.doc.Chunks[c.Chunk]
	if y := l.meant; y != nil {
		x.symbol = known(chunk, y)
		start, end = x.symbol.Start, x.symbol.End
		switch {
		case l.sure:
			if o := enclosing(x.doc, x.symbol); o != nil {
				return o.Start, o.End, cmp.Or(l.must, x.symbol.Line)
			}
		case len(chunk.Symbols) == 1 && slices.Contains(functions, x.symbol.Kind):
			start, end = min(start, h.Start), max(end, h.End) // it may be above or below
		default:
			start, end = h.Start, h.End
		}
		return start, end, l.must
	}
	first, last := declaration(x.doc, c.Chunk)
	if y := subject(x.doc, first, last); y != nil && slices.Contains(functions, y.Kind) && y.Start <= h.Start && h.End <= y.End {
		best, _ := l.window(1, packWidth)
		x.symbol = y
		return y.Start, y.End, cmp.Or(l.must, best)
	}
	return h.Start, h.End, l.must
}

// enclosing returns the longest function of at most largeInner lines around one
// that is declared within it; nil without one.
func enclosing(d *kb.DocumentText, y *kb.Symbol) (out *kb.Symbol) {
	if len(y.Path) == 0 || !slices.Contains(functions, y.Kind) {
		return nil
	}
	for i := range d.Chunks {
		for j := range d.Chunks[i].Symbols {
			o := &d.Chunks[i].Symbols[j]
			if o.Start <= y.Start && y.End <= o.End && o.End-o.Start > y.End-y.Start && o.End-o.Start < largeInner &&
				slices.Contains(functions, o.Kind) && (out == nil || o.End-o.Start > out.End-out.Start) {
				out = o
			}
		}
	}
	return out
}

// overlaps reports whether an earlier place has some of the lines of one.
func (p *pack) overlaps(x *packed, start, end int) bool {
	return slices.ContainsFunc(p.places, func(o *packed) bool {
		return o.target == x.target && o.path == x.path && start < o.body.first+len(o.body.text) && o.body.first <= end
	})
}

// add adds a place of the lines from start to end.
func (p *pack) add(ctx context.Context, t *Target, x *packed, start, end, must int) (err error) {
	x.body = p.s.extractOf(x.doc, start, end, x.symbol)
	start, end = x.body.trim()
	x.body.must = must
	if page, web := t.page(x.path); web {
		x.body.numbered = false
		x.body.scan() // what tells stands in the marks, too
		for i := range x.body.text {
			x.body.text[i] = unmark(x.body.text[i])
		}
		if x.id, err = p.s.idOf(ctx, x.target, x.path, chunkAt(x.doc, start)); err != nil {
			return err
		}
		if x.at == "" {
			x.at = page.URL
		}
	} else {
		x.at = place(x.path, start, end)
		if !t.Own {
			x.at = t.Store.Label() + ":" + x.at
		}
	}
	text := strings.Join(x.body.text, "\n")
	x.key = placeKey(t, x.path, start, text)
	x.given = p.memory.Given(x.key)
	x.rank = len(p.places)
	p.places = append(p.places, x)
	return nil
}
