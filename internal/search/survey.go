package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/code/graph"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
	"github.com/seed-4f2d999b/knowledge/internal/text/terms"
)

// A survey says which functions of the documents found have a part in what a
// question asks about: by their words and their meaning, by their document, and by
// what they call and what calls them. A wide one has also what was found where
// there are no functions.
type survey struct {
	q     *rank.Query
	as    weighing
	docs  map[docKey]*surveyed
	sites []site         // the best first
	calls map[int][]call // by the number of the site that calls
}

// call is that a site calls another, by its number, in a line.
type call struct{ to, line int }

type docKey struct {
	target int
	path   string
}

// surveyed is a document of a survey.
type surveyed struct {
	*kb.DocumentText
	key   docKey
	score float64                // of its best hit
	found map[int]*rank.Evidence // by chunk
	terms map[int][]int          // query terms by line
	at    []int                  // by line, the number of the innermost function around it; -1 none

	types    map[string][]*kb.Symbol // what may be an interface, by name; nil before it is asked for
	bases    []kb.Reference          // see inherits
	outlined bool
}

// site is a function of a document, or a chunk that was found and has none.
type site struct {
	doc      *surveyed
	symbol   *kb.Symbol // nil without a function
	chunk    int        // in which it begins
	from, to int        // its lines
	score    float64
	number   int // before the sites were sorted
}

// is reports whether a site is the chunk of a hit.
func (x *site) is(c rank.Scored) bool {
	return x.symbol == nil && x.chunk == c.Chunk && x.doc.key == docKey{c.Store, c.Path}
}

// weighing says what counts in a survey beside the words of a site, which count 1.
type weighing struct {
	wide     bool
	meaning  float64 // of the chunk in which it begins
	document float64 // the rank of its document
	around   float64 // what it calls and what calls it
	further  float64 // lost by each further site of a document
}

// flowMeaning is what the meaning counts for the functions of a packed flow.
const flowMeaning = 0.9

// The weights are those that deliver most lines in bench/agents: of a flow those
// of the questions how, of a phrase those of what agents typed, of a long text those of issues, whose functions
// are in several documents.
var (
	ofFlow   = weighing{document: 1, around: 1}
	ofPhrase = weighing{wide: true, meaning: 0.65, document: 0.45, around: 0.65}
	ofText   = weighing{wide: true, meaning: 1, document: 1.5, around: 1, further: 0.3}
)

// flow returns how the functions of a question of how something works are weighed:
// where their lines are shown by their meaning, too, which tells most of a whole
// function.
func (r *Request) flow() weighing {
	as := ofFlow
	if r.Packed {
		as.meaning = flowMeaning
	}
	return as
}

// functions are the kinds of declarations that do something.
var functions = []string{"function", "method", "constructor"}

// acting reports whether a declaration is a function that is no test.
func acting(y *kb.Symbol) bool { return slices.Contains(functions, y.Kind) && !rank.InTests(y.Path) }

// Refers reports whether the resolved references of the stores help to answer.
func (r *Request) Refers() bool {
	return r.Packed || r.Detail == "contextual" || r.Detail == "full" || r.Intent != "" || rank.AsksHow(r.Query)
}

// surveyOf looks into the documents of the best hits for a question of how
// something works; nil where the query names its place. In a wide survey also
// what has no functions counts.
func surveyOf(ctx context.Context, targets []Target, q *rank.Query, r *Request, best []rank.Scored,
	found []rank.Evidence, as weighing) (*survey, error) {
	s := &survey{q: q, as: as, docs: map[docKey]*surveyed{}, calls: map[int][]call{}}
	var docs []*surveyed
	for i := range best {
		c := &best[i]
		k := docKey{c.Store, c.Path}
		if c.Named > 0 || c.Literal > 0 {
			return nil, nil
		}
		if c.Flags&kb.FlagProse != 0 && !as.wide || s.docs[k] != nil {
			continue
		}
		s.docs[k] = &surveyed{key: k, score: c.Score, found: map[int]*rank.Evidence{}}
		docs = append(docs, s.docs[k])
	}
	keys := make([]docKey, len(docs))
	for i, d := range docs {
		keys[i] = d.key
	}
	texts, err := textsOf(ctx, targets, keys, true)
	if err != nil {
		return nil, err
	}
	for i, d := range docs {
		d.DocumentText = texts[i]
	}
	for i := range found {
		if d := s.docs[docKey{found[i].Store, found[i].Path}]; d != nil {
			d.found[found[i].Chunk] = &found[i]
		}
	}
	s.find(docs, best, q)
	s.weigh(docs, q, r.Tuning)
	if err := s.spread(targets, docs, r.Tuning); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.sites, func(a, b site) int { return cmp.Compare(b.score, a.score) })
	if as.further > 0 {
		s.vary()
	}
	return s, nil
}

// vary takes the sites of each document in turn where their scores are close:
// each further one of a document counts for less.
func (s *survey) vary() {
	taken := map[*surveyed]float64{}
	score := func(x *site) float64 { return x.score - s.as.further*taken[x.doc] }
	for i := range s.sites[:min(len(s.sites), packedPlaces)] {
		best := i
		for j := i + 1; j < len(s.sites); j++ {
			if score(&s.sites[j]) > score(&s.sites[best]) {
				best = j
			}
		}
		x := s.sites[best]
		copy(s.sites[i+1:best+1], s.sites[i:best])
		s.sites[i] = x
		taken[x.doc]++
	}
}

// find finds the functions of all documents, and of a wide survey the chunks of
// hits that have none.
func (s *survey) find(docs []*surveyed, hits []rank.Scored, q *rank.Query) {
	index := make(map[string]int, len(q.Terms))
	for i, term := range q.Terms {
		if q.TermIDF(term) > 0 {
			index[term] = i
		}
	}
	for _, d := range docs {
		d.read(index)
		for i := range d.Chunks {
			for j := range d.Chunks[i].Symbols {
				y := &d.Chunks[i].Symbols[j]
				if !acting(y) || y.Start < 1 || y.End >= len(d.at) {
					continue
				}
				for line := y.Start; line <= y.End; line++ { // a function within another comes after it
					d.at[line] = len(s.sites)
				}
				s.sites = append(s.sites, site{doc: d, symbol: y, chunk: i, from: y.Start, to: y.End, number: len(s.sites)})
			}
		}
	}
	for i := range hits {
		c := &hits[i]
		if d := s.docs[docKey{c.Store, c.Path}]; s.as.wide && d != nil && !d.does(c.Start, c.End) {
			s.sites = append(s.sites, site{doc: d, chunk: c.Chunk, from: c.Start, to: c.End, number: len(s.sites)})
		}
	}
}

// does reports whether a function has some of the lines from start to end.
func (d *surveyed) does(start, end int) bool {
	return start < len(d.at) && slices.ContainsFunc(d.at[start:min(end+1, len(d.at))], func(n int) bool { return n >= 0 })
}

// weigh scores the sites by their words, BM25 over their own lines, and by their
// document and the meaning of their chunk, each relative to the best.
func (s *survey) weigh(docs []*surveyed, q *rank.Query, t *Tuning) {
	idf := make([]float64, len(q.Terms))
	for i, term := range q.Terms {
		idf[i] = max(0, q.TermIDF(term))
	}
	var lines, top, best, nearest float64
	for _, d := range docs {
		best = max(best, d.score)
	}
	for i := range s.sites {
		x := &s.sites[i]
		lines += float64(x.to - x.from + 1)
		nearest = max(nearest, x.near())
	}
	k1, b := t.Rank.BM25F.K1, t.Rank.BM25F.B[kb.FieldBody]
	tf := make([]float64, len(q.Terms))
	for i := range s.sites {
		x := &s.sites[i]
		clear(tf)
		for line := x.from; line <= x.to; line++ {
			for _, term := range x.doc.terms[line] {
				tf[term]++
			}
		}
		length := float64(x.to-x.from+1) * float64(len(s.sites)) / lines
		for term, n := range tf {
			if n > 0 {
				x.score += idf[term] * n * (k1 + 1) / (n + k1*(1-b+b*length))
			}
		}
		top = max(top, x.score)
	}
	for i := range s.sites {
		x := &s.sites[i]
		if top > 0 {
			x.score /= top
		}
		if nearest > 0 {
			x.score += s.as.meaning * x.near() / nearest
		}
		if best > 0 {
			x.score += s.as.document * x.doc.score / best
		}
	}
}

// near is the cosine of the chunk in which a site begins to the query, 0 where
// it was not found.
func (x *site) near() float64 {
	if e := x.doc.found[x.chunk]; e != nil {
		return e.Cosine
	}
	return 0
}

// read finds the query terms of each line of the chunks that were found.
func (d *surveyed) read(index map[string]int) {
	last := 0
	if n := len(d.Chunks); n > 0 {
		last = d.Chunks[n-1].End
	}
	d.at = slices.Repeat([]int{-1}, last+1)
	d.terms = map[int][]int{}
	var s terms.Scanner
	for i := range d.Chunks {
		c := &d.Chunks[i]
		if e := d.found[i]; e == nil || e.Matched == 0 {
			continue
		}
		line := c.Start
		for text := range strings.Lines(d.Body[c.From:c.To]) {
			s.Scan(text, func(term []byte, _ bool) {
				if j, ok := index[string(term)]; ok {
					d.terms[line] = append(d.terms[line], j)
				}
			})
			line++
		}
	}
}

// spread adds to each function how near it is, over calls and other uses, to
// those that score best. What tests use tells nothing.
func (s *survey) spread(targets []Target, docs []*surveyed, t *Tuning) error {
	top := 0.0
	for i := range s.sites {
		top = max(top, s.sites[i].score)
	}
	if top == 0 {
		return nil
	}
	var arcs []graph.Arc
	seen := map[[2]int]bool{}
	for ti := range targets {
		var paths []string
		for _, d := range docs {
			if d.key.target == ti && !rank.IsTest(d.Path) {
				paths = append(paths, d.Path)
			}
		}
		if targets[ti].View == nil || paths == nil {
			continue
		}
		err := targets[ti].View.Between(paths, func(e kb.Edge) {
			if e.Kind == kb.UseType {
				return
			}
			a := s.around(ti, e.From)
			if a < 0 {
				return
			}
			b := s.around(ti, e.To)
			if b < 0 || a == b || seen[[2]int{a, b}] {
				return
			}
			seen[[2]int{a, b}] = true
			if e.Kind == kb.UseCall {
				s.calls[a] = append(s.calls[a], call{b, e.From.Line})
			}
			arcs = append(arcs, graph.Arc{A: a, B: b, Weight: e.Confidence})
		})
		if err != nil {
			return of(ti, err)
		}
	}
	start := make([]float64, len(s.sites))
	for i := range s.sites {
		start[i] = math.Pow(s.sites[i].score/top, t.Sharp)
	}
	for i, near := range graph.Spread(start, arcs, t.Onward) {
		s.sites[i].score += s.as.around * near
	}
	return nil
}

// around returns the number of the innermost function around a place, -1 without one.
func (s *survey) around(target int, at kb.Spot) int {
	if d := s.docs[docKey{target, at.Path}]; d != nil && at.Line < len(d.at) {
		return d.at[at.Line]
	}
	return -1
}
