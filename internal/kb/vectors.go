package kb

import "math"

// Dot returns the inner product of two vectors, the cosine of those of length 1;
// 0 where they are not of the same number of dimensions.
func Dot(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Unit brings a vector to length 1, unless it has none.
func Unit(v []float32) {
	n := Dot(v, v)
	if n == 0 {
		return
	}
	f := float32(1 / math.Sqrt(n))
	for i := range v {
		v[i] *= f
	}
}

// Apart returns the cosines of a query and texts, in their order, after a part
// of the mean of the texts, common, is taken off all: texts that were found
// together are alike, and what they share does not tell which of them is meant.
func Apart(query []float32, texts [][]float32, common float64) []float64 {
	mean := make([]float32, len(query))
	for _, t := range texts {
		for k, x := range t {
			mean[k] += float32(common) * x / float32(len(texts))
		}
	}
	less := func(v []float32) []float32 {
		out := make([]float32, len(v))
		for k, x := range v {
			out[k] = x - mean[k]
		}
		Unit(out)
		return out
	}
	q := less(query)
	near := make([]float64, len(texts))
	for i, t := range texts {
		near[i] = Dot(less(t), q)
	}
	return near
}
