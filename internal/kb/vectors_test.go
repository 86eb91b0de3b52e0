package kb

import (
	"math"
	"testing"
)

// TestVectors: a vector without length stays as it is, vectors of different
// numbers of dimensions have nothing in common, and what all texts share does
// not make the one near that has less of the rest.
func TestVectors(t *testing.T) {
	v := []float32{3, 4}
	Unit(v)
	if n := Dot(v, v); math.Abs(n-1) > 1e-6 {
		t.Errorf("its square is %g", n)
	}
	none := []float32{0, 0}
	if Unit(none); none[0] != 0 || none[1] != 0 {
		t.Errorf("got %v", none)
	}
	if got := Dot([]float32{1}, v); got != 0 {
		t.Errorf("got %g", got)
	}
	if got := Apart(v, nil, 0.5); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	near := Apart([]float32{0.8, 0.6, 0}, [][]float32{{1, 0, 0}, {0.8, 0.6, 0}}, 0.7)
	if near[1] <= near[0] || math.Abs(near[1]-1) > 1e-6 {
		t.Errorf("got %v", near)
	}
}
