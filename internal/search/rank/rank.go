package rank

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Evidence is a candidate with where it comes from.
type Evidence struct {
	kb.Candidate
	Store int // index of the store asked
	// PathCosine is the query's with the document's path, 0 when it is unknown.
	PathCosine float64
	// Refers and Declares are set when a name of the query is used, or declared,
	// in the chunk for certain: its references are resolved. Only the intents
	// that ask about a name look.
	Refers, Declares bool
	// Named is how much a place that the query names speaks for the chunk, such
	// as a frame of a stack trace, in [0,1]; Line is that place.
	Named float64
	Line  int
	// Literal is how much of the query the chunk has word for word, see Literal.In.
	Literal float64
	// Marked is how much feedback on similar questions speaks against the
	// chunk, in [0,1].
	Marked float64
	// Section is what a closer look at a chunk of prose showed; nil without one.
	Section *Section
}

// Scored is a candidate with its score.
type Scored struct {
	Evidence
	Also   []int              // further stores that hold the same text at the same path
	Score  float64            // calibrated, in [0,1]
	Parts  map[string]float64 // contribution of each signal to the order
	raw    float64
	within float64 // its place among the chunks of its document
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
	Prose   float64 // without an intent: how likely documentation is wanted
	Limit   int
	Explain bool
	// Noise is the cosine that unrelated texts have in the embedder's space; 0
	// when nobody knows, and cosines then count for the order alone.
	Noise   float64
	Without []string // names of Parts that do not count
	// Stores is what speaks for each store before anything in it is looked at;
	// nil where one alone is asked.
	Stores []Standing
}

// admitted reports whether a candidate is more than noise.
func (e *Evidence) admitted(q *Query) bool {
	return e.Named > 0 || q.Coverage(e.Matched) > 0 || e.Cosine >= q.tuning.LeastCosine
}

// admitted returns the candidates that are more than noise.
func admitted(q *Query, cands []Evidence) []Evidence {
	kept := make([]Evidence, 0, len(cands))
	for i := range cands {
		if cands[i].admitted(q) {
			kept = append(kept, cands[i])
		}
	}
	return kept
}

// Parts names what Options.Without may leave out: the rankers and the signals.
func Parts() []string {
	out := make([]string, len(signals))
	for i := range signals {
		out[i] = signals[i].Name
	}
	return out
}

type ranking struct {
	q            *Query
	t            *Tuning
	o            Options
	topLex       float64
	resolved     bool // some candidate uses or declares a name for certain
	topCos       float64
	topMean      float64
	topPath      float64
	topTotal     float64
	topUses      float64
	named        bool
	pathed       bool    // the query is the path of some candidate
	alone        uint64  // Query.alone, 0 where no candidate has it
	tests        bool    // the query asks for tests
	prose        bool    // the query asks for documentation
	past         bool    // the query asks for what changed
	declarations bool    // the query asks for declarations apart from what they declare
	own          bool    // some store is the project's own
	apart        float64 // how far the query is in other words than the text
	home         float64 // the most that a candidate of the project's own holds
	elsewhere    bool    // the query names a store
	code         float64 // share of the candidates that are code
	words        []nameWord
	most         float64 // weight of the weightiest of words
	sum          float64 // weight of the words that tell
	docs         map[docKey]*document
	editions     *editions
	twins        *twins
	weight       []float64 // of each signal in this ranking; of demotions the factor
	within       []float64 // of each among the chunks of one document
	off          []bool    // signals that do not count
}

type docKey struct {
	store int
	path  string
}

// document is what is told once for all chunks of a document.
type document struct {
	stem, dir               meet
	path                    float64
	names                   float64 // the largest share of the query that names of a chunk have
	best                    float64 // sum of the scores by words of its best sections
	test, example, vendored bool
}

func newRanking(q *Query, cands []Evidence, o Options) *ranking {
	r := &ranking{q: q, t: q.tuning, o: o, words: q.nameWords(), docs: make(map[docKey]*document, len(cands)/2), editions: newEditions(cands), twins: newTwins(cands)}
	for i := range r.words {
		r.most = max(r.most, r.words[i].weight)
	}
	for i := range q.Words {
		w := &q.Words[i]
		if !w.Stop {
			r.sum += w.idf
		}
		r.named = r.named || w.Named
		text := strings.ToLower(w.Text)
		r.past = r.past || slices.Contains(r.t.AsksPast, text)
		r.declarations = r.declarations || slices.Contains(r.t.AsksDeclared, text)
		r.tests = r.tests || slices.Contains(r.t.AsksTests, text)
		r.prose = r.prose || slices.Contains(r.t.AsksProse, text)
	}
	alone := q.alone()
	for i := range cands {
		r.resolved = r.resolved || cands[i].Refers || cands[i].Declares
		r.topLex = max(r.topLex, cands[i].Lexical)
		r.topCos = max(r.topCos, cands[i].Cosine)
		r.topMean = max(r.topMean, cands[i].Mean)
		r.topPath = max(r.topPath, cands[i].PathCosine)
		r.topTotal = max(r.topTotal, total(&cands[i]))
		r.topUses = max(r.topUses, cands[i].Uses)
		r.alone |= cands[i].Matched & alone
		d := r.document(&cands[i])
		d.names = max(d.names, q.Coverage(cands[i].Defines))
		r.pathed = r.pathed || d.path > 0
		if o.Stores != nil && o.Stores[cands[i].Store].Own {
			r.home = max(r.home, r.holds(&cands[i]))
		}
		if !r.beside(&cands[i]) {
			r.code += 1 / float64(len(cands))
		}
	}
	r.apart = r.otherWords(cands)
	for _, s := range o.Stores {
		r.own, r.elsewhere = r.own || s.Own, r.elsewhere || s.Named
	}
	if o.Mode == Vector { // cosines as they are
		r.topCos, r.topMean, r.topPath = 1, 1, 1
	}
	r.weigh()
	return r
}

// otherWords is how far the question is in other words than the text: 1 where no
// chunk has a word of it, 0 where one has Covered of it or more, in words or word
// for word, for names, and where documentation is wanted, whose sections are
// weighed by themselves.
func (r *ranking) otherWords(cands []Evidence) float64 {
	if r.q.Class != Natural || r.named || r.o.Intent == Documentation {
		return 0
	}
	most := 0.0
	for i := range cands {
		most = max(most, r.q.Coverage(cands[i].Matched), cands[i].Literal)
	}
	return (1 - r.o.Prose) * max(0, 1-most/r.t.Covered)
}

// weigh settles what each signal weighs in this ranking.
func (r *ranking) weigh() {
	n := len(r.t.Signals)
	r.weight, r.within, r.off = make([]float64, n), make([]float64, n), make([]bool, n)
	for i := range r.t.Signals {
		sg := &r.t.Signals[i]
		f := sg.under(r.o.Intent)
		if r.o.Intent == "" {
			f += r.o.Prose * (sg.under(Documentation) - f)
		}
		r.weight[i], r.within[i] = sg.Document*f, sg.Chunk*f
		if sg.Apart > 0 {
			r.weight[i] *= 1 + r.apart*(sg.Apart-1)
		}
		if sg.Factor > 0 {
			r.weight[i] = math.Pow(sg.Factor, f)
		}
		switch {
		case slices.Contains(r.o.Without, sg.Name):
			r.off[i] = true
		case r.o.Mode == Vector:
			// Nothing but the cosines: the mode is for judging the vectors.
			r.weight[i] = sg.Vector
			r.off[i] = sg.Vector == 0
		case r.o.Mode == FTS:
			r.off[i] = sg.Vector > 0
		}
		r.off[i] = r.off[i] || sg.value == nil || r.weight[i] == 0 && r.within[i] == 0
	}
}

// under is what the weight of a signal is multiplied by under an intent.
func (s *Signal) under(intent string) float64 {
	f, listed := s.Intents[intent]
	if !listed && !s.Asked {
		return 1
	}
	return f
}

// Rank orders candidates of all stores, keeps one a document unless a second
// is clearly as good, and calibrates. The confidence is in [0,1].
func Rank(q *Query, cands []Evidence, o Options) (hits []Scored, sure Sure) {
	if len(cands) == 0 {
		return nil, Sure{}
	}
	// The nearest vectors of a store in which nothing is near are noise.
	if o.Mode != Vector {
		if cands = admitted(q, cands); len(cands) == 0 {
			return nil, Sure{}
		}
	}
	r := newRanking(q, cands, o)
	list := make([]Scored, len(cands))
	for i := range cands {
		list[i] = r.score(&cands[i])
	}
	ordered := r.perDocument(list)
	r.sections(ordered, list)
	hits = distinct(ordered)
	sure = r.sure(hits)
	hits = hits[:min(len(hits), o.Limit)]
	top := hits[0].raw
	for i := range hits {
		h := &hits[i]
		if top > 0 {
			h.Score = math.Max(0, math.Min(1, sure.P*h.raw/top))
		}
		h.addUp()
	}
	return hits, sure
}

// score adds up what speaks for a candidate:
//
//	(Σ weight·value over the signals) · Π factor^value over the demotions
func (r *ranking) score(e *Evidence) Scored {
	s := Scored{Evidence: *e}
	if r.o.Explain {
		s.Parts = map[string]float64{}
	}
	d := r.document(e)
	factor := 1.0
	for i := range r.t.Signals {
		if r.off[i] {
			continue
		}
		sg := &r.t.Signals[i]
		v := sg.value(r, e, d)
		if v == 0 {
			continue
		}
		if sg.Factor > 0 {
			v = math.Pow(r.weight[i], v)
			factor *= v
			v--
		} else {
			s.within += r.within[i] * sg.among(r, e, v)
			v *= r.weight[i]
			s.raw += v
		}
		if s.Parts != nil && v != 0 {
			s.Parts[sg.Name] = math.Round(v*1000) / 1000
		}
	}
	s.raw *= factor
	return s
}

// Evaluate returns the values of every signal, in the order of Parts, for
// every candidate that Rank would order; that of a signal of sections is 0.
func Evaluate(q *Query, cands []Evidence, o Options) (kept []Evidence, values [][]float64) {
	kept = admitted(q, cands)
	r := newRanking(q, kept, o)
	for i := range kept {
		d := r.document(&kept[i])
		row := make([]float64, len(r.t.Signals))
		for j := range row {
			if sg := &r.t.Signals[j]; sg.value != nil {
				row[j] = sg.value(r, &kept[i], d)
			}
		}
		values = append(values, row)
	}
	return kept, values
}
