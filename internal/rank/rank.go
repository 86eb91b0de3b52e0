package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// BM25F is how the fields are weighed against each other. A name that a chunk
// defines says more than a name it mentions, and what encloses it about half
// as much; path terms are weighed by signals as well.
var BM25F = kb.BM25F{
	K1:     1.2,
	Weight: [kb.Fields]float64{kb.FieldBody: 1, kb.FieldSymbols: 3, kb.FieldHeadings: 1.2, kb.FieldPath: 1.5},
	B:      [kb.Fields]float64{kb.FieldBody: 0.6, kb.FieldSymbols: 0.4, kb.FieldHeadings: 0.3, kb.FieldPath: 0.5},
}

// Evidence is a candidate with where it comes from.
type Evidence struct {
	kb.Candidate
	Store int // index of the store asked
}

// Scored is a candidate with its score.
type Scored struct {
	Evidence
	Also  []int              // further stores that hold the same text at the same path
	Score float64            // calibrated, in [0,1]
	Parts map[string]float64 // contribution of each signal to the order
	raw   float64
}

// Modes are which rankers count.
const (
	Hybrid = "hybrid"
	Vector = "vector"
	FTS    = "fts"
)

// Options say what a ranking is for.
type Options struct {
	Mode    string // Hybrid when empty
	Intent  string
	Limit   int
	Explain bool
	Without []string // names of Parts that do not count
}

// leastCosine is how near a chunk that shares no word with the query must be.
const leastCosine = 0.3

// Parts names what Options.Without may leave out: the rankers and the signals.
func Parts() []string {
	out := []string{"lexical", "vector"}
	for i := range signals {
		out = append(out, signals[i].name)
	}
	return out
}

type ranking struct {
	q      *Query
	o      Options
	topLex float64
	topCos float64
	named  bool
	tests  bool // the query asks for tests
	docs   bool // the query asks for documentation
	code   bool // there is code among the candidates
	stems  map[string][]string
	out    []bool // by signal: left out
}

// Rank orders candidates of all stores, keeps one a document unless a second
// is clearly as good, and calibrates. The confidence is in [0,1].
func Rank(q *Query, cands []Evidence, o Options) (hits []Scored, confidence float64) {
	if len(cands) == 0 {
		return nil, 0
	}
	// The nearest vectors of a store in which nothing is near are noise.
	if o.Mode != Vector {
		cands = slices.DeleteFunc(slices.Clone(cands), func(e Evidence) bool {
			return q.Coverage(e.Matched) == 0 && e.Cosine < leastCosine
		})
		if len(cands) == 0 {
			return nil, 0
		}
	}
	r := &ranking{q: q, o: o, stems: map[string][]string{}, out: make([]bool, len(signals))}
	for i := range signals {
		r.out[i] = slices.Contains(o.Without, signals[i].name)
	}
	for i := range q.Words {
		w := &q.Words[i]
		r.named = r.named || w.Named
		switch strings.ToLower(w.Text) {
		case "test", "tests", "testing", "benchmark", "fuzz", "spec", "prueba", "pruebas":
			r.tests = true
		case "readme", "doc", "docs", "documentation", "guide", "tutorial", "changelog", "config", "configuration", "documentación", "guía", "manual":
			r.docs = true
		}
	}
	for i := range cands {
		r.topLex = max(r.topLex, cands[i].Lexical)
		r.topCos = max(r.topCos, cands[i].Cosine)
		r.code = r.code || cands[i].Flags&kb.FlagProse == 0 && !slices.Contains(settings, cands[i].Language)
	}
	list := make([]Scored, len(cands))
	for i := range cands {
		list[i] = r.score(&cands[i])
	}
	slices.SortFunc(list, func(a, b Scored) int {
		if c := cmp.Compare(b.raw, a.raw); c != 0 {
			return c
		}
		if c := cmp.Compare(a.ID, b.ID); c != 0 {
			return c
		}
		if c := cmp.Compare(a.Store, b.Store); c != 0 {
			return c
		}
		return cmp.Compare(a.Path, b.Path)
	})
	hits = r.onePerDocument(list)
	confidence = r.confidence(hits)
	top := hits[0].raw
	for i := range hits {
		h := &hits[i]
		if top > 0 {
			h.Score = math.Max(0, math.Min(1, confidence*h.raw/top))
		}
	}
	return hits, confidence
}

func (r *ranking) score(e *Evidence) Scored {
	s := Scored{Evidence: *e}
	note := func(string, float64) {}
	if r.o.Explain {
		s.Parts = map[string]float64{}
		note = func(name string, v float64) {
			if v != 0 {
				s.Parts[name] = math.Round(v*1000) / 1000
			}
		}
	}
	lex, vec := 0.0, 0.0
	if r.topLex > 0 && !slices.Contains(r.o.Without, "lexical") {
		lex = e.Lexical / r.topLex
	}
	if r.topCos > 0 && !slices.Contains(r.o.Without, "vector") {
		vec = max(0, e.Cosine/r.topCos)
	}
	switch r.o.Mode {
	case Vector:
		// Nothing but the cosine: the mode is for judging the vectors.
		s.raw = vec
		note("vector", vec)
		return s
	case FTS:
		s.raw = lex
		note("lexical", lex)
	default:
		s.raw = lexicalWeight*lex + vectorWeight*vec
		note("lexical", lexicalWeight*lex)
		note("vector", vectorWeight*vec)
	}
	factors := intents[r.o.Intent]
	for i, sg := range signals {
		if r.out[i] {
			continue
		}
		v := sg.value(r, e)
		if v == 0 {
			continue
		}
		f, ok := factors[sg.name]
		if sg.demote {
			k := sg.weight
			if ok {
				k = math.Pow(k, f)
			}
			s.raw *= k
			note(sg.name, k-1)
			continue
		}
		w := sg.weight
		switch only, special := intentWeights[sg.name]; {
		case special && ok:
			w = only * f
		case ok:
			w *= f
		}
		s.raw += w * v
		note(sg.name, w*v)
	}
	return s
}

// closeSecond is how near a second chunk of a document must come to the
// first to be shown as well.
const closeSecond = 0.98

func (r *ranking) onePerDocument(list []Scored) []Scored {
	type doc struct {
		store int
		path  string
	}
	best := map[doc]float64{}
	count := map[doc]int{}
	shown := map[string]int{} // index in out, by path, lines and the text's part of the id
	out := make([]Scored, 0, min(len(list), r.o.Limit))
	for _, s := range list {
		copyOf := fmt.Sprintf("%s:%d:%s", s.Path, s.Start, s.ID[max(0, len(s.ID)-3):])
		if i, ok := shown[copyOf]; ok && out[i].Store != s.Store {
			out[i].Also = append(out[i].Also, s.Store)
			continue
		}
		if len(out) == r.o.Limit {
			continue // only copies of what is shown are still of interest
		}
		d := doc{s.Store, s.Path}
		if n := count[d]; n > 0 {
			if n > 1 || r.o.Intent == "find-pattern" || s.raw < closeSecond*best[d] || s.raw <= 0 {
				continue
			}
		} else {
			best[d] = s.raw
		}
		count[d]++
		shown[copyOf] = len(out)
		out = append(out, s)
	}
	return out
}

// confidence is how much of the query the best hits answer at all, whatever
// the others score: the share of its words, by weight, that stand together in
// one chunk and, for less, in its document. By vectors alone it is where the
// cosine lies between that of unrelated texts and of near copies.
func (r *ranking) confidence(hits []Scored) float64 {
	c := 0.0
	for _, h := range hits[:min(3, len(hits))] {
		if r.o.Mode == Vector {
			c = max(c, (h.Cosine-0.15)/0.6)
			continue
		}
		c = max(c, 0.75*r.q.Coverage(h.Matched)+0.25*r.q.Coverage(h.DocMatched))
	}
	return max(0, min(1, c))
}

// Confidence names a confidence.
func Confidence(c float64) string {
	switch {
	case c >= 0.7:
		return "high"
	case c >= 0.45:
		return "medium"
	case c >= 0.15:
		return "low"
	}
	return "none"
}
