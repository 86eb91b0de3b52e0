package rank

import (
	"math"
	"slices"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Sure is how sure it is that the first hit is right.
type Sure struct {
	P     float64            // the probability, in [0,1]
	There float64            // that there is an answer at all, in [0,1], at least P
	Signs map[string]float64 // what it follows from, by name
}

// Sign is what tells whether the first hit is right: a value with its weight in
// the logit of there being an answer at all, and in that of the first hit being
// right where there is one.
type Sign struct {
	Name         string
	There, Right float64

	value func(*first) float64
}

// signs is the one table of them; bench/asked -fit fitted the weights together
// on questions with known answers, by repository.
var signs = []Sign{
	// The share of the query in the chunk and its document, and the best of the
	// first hits; how near the nearest chunk of all is; both at once.
	{Name: "chunk", Right: 0.799, value: func(f *first) float64 { return f.q.Coverage(f.hit.Matched) }},
	{Name: "document", Right: 1.01, value: func(f *first) float64 { return f.q.Coverage(f.hit.DocMatched) }},
	{Name: "best", There: 1.31, value: (*first).best},
	{Name: "nearest", There: 19.2, Right: 1.76, value: (*first).nearest},
	{Name: "both", There: 3.13, value: func(f *first) float64 { return f.best() * f.nearest() }},
	// How far the hit is before the first of another document, how many come
	// close, and what the second has of the query.
	{Name: "margin", Right: 5.94, value: (*first).margin},
	{Name: "crowd", Right: -0.394, value: (*first).crowd},
	{Name: "second", Right: -1.79, value: (*first).second},
	{Name: "byvector", Right: 0.954, value: func(f *first) float64 { return flag(f.hit.Cosine == f.topCos) }},
	// Names and messages are told from one another.
	{Name: "names", There: 3.08, Right: 1.4, value: func(f *first) float64 { return f.q.Coverage(f.hit.Defines) }},
	{Name: "named", Right: 1.65, value: func(f *first) float64 { return f.hit.Named }},
	{Name: "literal", There: 4.24, Right: 2.2, value: func(f *first) float64 { return f.hit.Literal }},
	{Name: "definitions", Right: 0.292, value: (*first).definitions},
	{Name: "symbol", Right: 0.233, value: func(f *first) float64 { return flag(f.q.Class == Symbol) }},
	{Name: "failure", Right: 0.122, value: func(f *first) float64 { return flag(f.q.Class == Failure) }},
	{Name: "words", There: -2.97, value: func(f *first) float64 { return flag(f.q.Class == Natural) }},
	// Words that no store has at all; those that are rare are in best.
	{Name: "unknown", There: -1.9, value: (*first).unknown},
	// Of many stores another may be meant, of code and prose the other.
	{Name: "stores", Right: -0.0778, value: func(f *first) float64 { return math.Log(float64(max(1, len(f.o.Stores)))) }},
	{Name: "prose", Right: -0.208, value: func(f *first) float64 { return flag(f.hit.Flags&kb.FlagProse != 0) }},
	{Name: "wanted", Right: -0.149, value: func(f *first) float64 { return f.o.Prose }},
	// A long chunk is more likely to be what was meant than a short one.
	{Name: "lines", Right: 0.62, value: func(f *first) float64 { return math.Log(float64(f.hit.End - f.hit.Start + 1)) }},
}

// first is the first hit among the others.
type first struct {
	*ranking
	hit  *Scored
	hits []Scored
}

// sure returns how sure it is that the first of the hits is right:
//
//	P = There · σ(Σ Right·value), There = σ(Σ There·value)
//
// By vectors alone it is where the nearest cosine lies between that of
// unrelated texts and of near copies.
func (r *ranking) sure(hits []Scored) Sure {
	if r.o.Mode == Vector {
		p := max(0, min(1, (hits[0].Cosine-r.t.FarCosine)/r.t.CosineSpan))
		return Sure{P: p, There: p}
	}
	f := &first{r, &hits[0], hits}
	there, right := r.t.ThereBase, r.t.RightBase
	s := Sure{Signs: map[string]float64{}}
	for i := range r.t.Signs {
		sg := &r.t.Signs[i]
		v := sg.value(f)
		s.Signs[sg.Name] = v
		there, right = there+sg.There*v, right+sg.Right*v
	}
	s.There = logistic(there)
	s.P = s.There * logistic(right)
	return s
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// best is what the best of the first few hits holds.
func (f *first) best() float64 {
	most := 0.0
	for i := range f.hits[:min(f.t.SureHits, len(f.hits))] {
		most = max(most, f.holds(&f.hits[i].Evidence))
	}
	return most
}

// unknown is the share of the words that tell which no store has.
func (f *first) unknown() float64 {
	n, all := 0.0, 0.0
	for i := range f.q.Words {
		if w := &f.q.Words[i]; !w.Stop && w.Whole >= 0 {
			n, all = n+flag(w.absent), all+1
		}
	}
	return n / max(1, all)
}

// nearest is how far the nearest cosine is above that of unrelated texts or,
// where that is not known, what it mostly is for such words.
func (f *first) nearest() float64 {
	if f.o.Noise == 0 || f.o.Mode == FTS || f.topCos == 0 {
		return f.t.NearUnknown * f.best()
	}
	return max(0, f.topCos-f.o.Noise)
}

// rival is the first hit of another document, nil without one.
func (f *first) rival() *Scored {
	i := slices.IndexFunc(f.hits, func(s Scored) bool { return s.Path != f.hit.Path || s.Store != f.hit.Store })
	if i < 0 {
		return nil
	}
	return &f.hits[i]
}

func (f *first) margin() float64 {
	if v := f.rival(); v != nil && f.hit.raw > 0 {
		return 1 - v.raw/f.hit.raw
	}
	return 1
}

func (f *first) crowd() float64 {
	return math.Log(f.count(func(s *Scored) bool { return s.raw > f.t.Close*f.hit.raw }))
}

func (f *first) second() float64 {
	if v := f.rival(); v != nil {
		return f.q.Coverage(v.Matched)
	}
	return 0
}

// definitions is how many hits define a name of the query.
func (f *first) definitions() float64 {
	return math.Log1p(f.count(func(s *Scored) bool { return f.definition(&s.Evidence, nil) >= 1 }))
}

func (f *first) count(is func(*Scored) bool) float64 {
	n := 0.0
	for i := range f.hits {
		n += flag(is(&f.hits[i]))
	}
	return n
}
