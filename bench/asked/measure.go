package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// answer is an item with what was said to it.
type answer struct {
	*item
	reply     *reply
	gold      []place
	something bool // there is an answer
	fileRank  int  // of the first hit in a right file, 0 none
	lineRank  int  // … whose lines hold the line
	exactRank int  // … whose own best line or symbol is the declaration's
	funcRank  int  // … that names a right place
	ndcg      float64
	// of the needed places: shown within ten and twenty hits, and within
	// 2,000 tokens of the contextual reply; files within ten
	within10, within20, shown, linked, files10 float64
}

// store is the store that a gold path is in; "" for any.
func (a *answer) judge(store string) {
	var ranked []string
	seen := map[string]bool{}
	for i, h := range a.reply.hits {
		if store != "" && h.store != store {
			if f := h.store + "\x00" + h.path; !seen[f] {
				seen[f] = true
				ranked = append(ranked, "")
			}
			continue
		}
		right := slices.ContainsFunc(a.gold, func(p place) bool { return same(h.path, p.Path) })
		if right && a.fileRank == 0 {
			a.fileRank = i + 1
		}
		if a.lineRank == 0 && slices.ContainsFunc(a.gold, func(p place) bool {
			if a.set == "docs" {
				return h.names(p)
			}
			return same(h.path, p.Path) && (p.Line == 0 || h.from <= p.Line && p.Line <= h.to)
		}) {
			a.lineRank = i + 1
		}
		if a.exactRank == 0 && slices.ContainsFunc(a.gold, func(p place) bool {
			return same(h.path, p.Path) && (p.From == 0 || p.From <= h.line && h.line <= p.To || h.symbol != "" && h.symbol == a.meant(p))
		}) {
			a.exactRank = i + 1
		}
		if a.funcRank == 0 && slices.ContainsFunc(a.gold, func(p place) bool { return p.From > 0 && h.names(p) }) {
			a.funcRank = i + 1
		}
		if f := h.store + "\x00" + h.path; !seen[f] {
			seen[f] = true
			ranked = append(ranked, h.path)
		}
	}
	files := map[string]bool{}
	for _, p := range a.gold {
		files[p.Path] = true
	}
	dcg, ideal := 0.0, 0.0
	found := map[string]bool{}
	for i, p := range ranked[:min(10, len(ranked))] {
		for f := range files {
			if p != "" && !found[f] && same(p, f) {
				found[f] = true
				dcg += 1 / math.Log2(float64(i)+2)
				break
			}
		}
	}
	for i := range min(10, len(files)) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	if ideal > 0 {
		a.ndcg = dcg / ideal
	}
	a.within10, a.within20 = named(a.gold, a.reply.hits, 10, math.Inf(1), false), named(a.gold, a.reply.hits, 20, math.Inf(1), false)
	var n float64
	for _, p := range a.gold {
		for _, h := range a.reply.hits[:min(10, len(a.reply.hits))] {
			if same(h.path, p.Path) {
				n++
				break
			}
		}
	}
	a.files10 = n / float64(max(1, len(a.gold)))
}

// meant is the name of the declaration that a place is.
func (a *answer) meant(p place) string {
	if a.set == "names" {
		return a.Ask
	}
	return p.Name
}

// named is the share of places that hits name, up to a number of hits and of
// tokens; with links also those that a hit leads to.
func named(gold []place, hits []hit, limit int, tokens float64, links bool) float64 {
	if len(gold) == 0 {
		return 0
	}
	n, spent := 0.0, 0.0
	got := make([]bool, len(gold))
	for _, h := range hits[:min(limit, len(hits))] {
		if spent += h.tokens; spent > tokens {
			break
		}
		for i, p := range gold {
			if !got[i] && (h.names(p) || slices.ContainsFunc(h.more, func(l lines) bool { return l.names(p) }) ||
				links && slices.ContainsFunc(h.linked, func(l lines) bool { return l.names(p) })) {
				got[i] = true
				n++
			}
		}
	}
	return n / float64(len(gold))
}

func mean(as []*answer, f func(*answer) float64) float64 {
	if len(as) == 0 {
		return math.NaN()
	}
	s := 0.0
	for _, a := range as {
		s += f(a)
	}
	return s / float64(len(as))
}

func reciprocal(rank int) float64 {
	if rank == 0 || rank > 20 {
		return 0
	}
	return 1 / float64(rank)
}

func within(rank, k int) float64 {
	if rank > 0 && rank <= k {
		return 1
	}
	return 0
}

// area is the area under the curve: how often a positive is scored above a
// negative, ties half.
func area(positive, negative []float64) float64 {
	if len(positive) == 0 || len(negative) == 0 {
		return math.NaN()
	}
	s := 0.0
	for _, p := range positive {
		for _, n := range negative {
			switch {
			case p > n:
				s++
			case p == n:
				s += 0.5
			}
		}
	}
	return s / float64(len(positive)*len(negative))
}

// said is a probability and what came of it.
type said struct {
	p     float64
	right bool
}

// calibration is the expected calibration error in ten bins of equal mass.
func calibration(xs []said) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	xs = slices.Clone(xs)
	slices.SortStableFunc(xs, func(a, b said) int { return cmp.Compare(a.p, b.p) })
	e := 0.0
	for k := range 10 {
		bin := xs[k*len(xs)/10 : (k+1)*len(xs)/10]
		d := 0.0
		for _, x := range bin {
			d += x.p
			if x.right {
				d--
			}
		}
		e += math.Abs(d)
	}
	return e / float64(len(xs))
}

// chance is the calibration error that a perfectly calibrated program of the
// same probabilities stays below in 95 of 100 draws.
func chance(xs []said) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draws := make([]float64, 1000)
	ys := slices.Clone(xs)
	for i := range draws {
		for j := range ys {
			ys[j].right = rng.Float64() < ys[j].p
		}
		draws[i] = calibration(ys)
	}
	slices.Sort(draws)
	return draws[949]
}

func times(as []*answer) []time.Duration {
	var out []time.Duration
	for _, a := range as {
		if a.reply.err == nil {
			out = append(out, time.Duration(a.reply.ms*float64(time.Millisecond)))
		}
	}
	return out
}

// processors are the times that the product had a processor for each answer.
func processors(as []*answer) []time.Duration {
	var out []time.Duration
	for _, a := range as {
		if a.reply.err == nil && a.reply.processor > 0 {
			out = append(out, a.reply.processor)
		}
	}
	return out
}
