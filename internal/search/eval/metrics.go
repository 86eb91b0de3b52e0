package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Depth is how many hits count: the 10 of NDCG@10 and recall@10.
const Depth = 10

// ndcg is the discounted gain of the relevant places against having all of
// them on top: Σ 1/log2(rank+1) over those found among the first Depth hits,
// divided by the same sum for ranks 1, 2, …, at most 1. ranks are 1-based, 0
// for what was not found.
func ndcg(ranks []int) float64 {
	got, ideal := 0.0, 0.0
	for i, r := range ranks {
		if r > 0 && r <= Depth {
			got += 1 / math.Log2(float64(r)+1)
		}
		if i < Depth {
			ideal += 1 / math.Log2(float64(i)+2)
		}
	}
	if ideal == 0 {
		return 0
	}
	return min(1, got/ideal)
}

// recall is the share of the relevant places among the first Depth hits.
func recall(ranks []int) float64 {
	n := 0
	for _, r := range ranks {
		if r > 0 && r <= Depth {
			n++
		}
	}
	return float64(n) / float64(max(1, len(ranks)))
}

// reciprocal is 1 divided by the rank of the first relevant hit, 0 without one.
func reciprocal(ranks []int) float64 {
	best := 0
	for _, r := range ranks {
		if r > 0 && (best == 0 || r < best) {
			best = r
		}
	}
	if best == 0 {
		return 0
	}
	return 1 / float64(best)
}

func mean(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// quantile returns the value below which a share q of xs lies.
func quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// interval returns the 2.5th and 97.5th percentile of the mean of 1,000
// samples drawn from xs with replacement, always the same ones.
func interval(xs []float64) [2]float64 {
	const samples = 1000
	r := rand.New(rand.NewPCG(6, uint64(len(xs))))
	means := make([]float64, samples)
	for i := range means {
		sum := 0.0
		for range xs {
			sum += xs[r.IntN(len(xs))]
		}
		means[i] = sum / float64(max(1, len(xs)))
	}
	return [2]float64{quantile(means, 0.025), quantile(means, 0.975)}
}
