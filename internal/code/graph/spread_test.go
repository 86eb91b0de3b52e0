package graph

import "testing"

func TestSpread(t *testing.T) {
	// 0 calls 1, which calls 2; 0 and everything else calls 3; nothing calls 9.
	arcs := []Arc{{0, 1, 1}, {1, 2, 1}, {0, 3, 1}}
	for i := 4; i < 9; i++ {
		arcs = append(arcs, Arc{i, 3, 1})
	}
	start := make([]float64, 10)
	start[0] = 2
	near := Spread(start, arcs, 0.5)
	switch {
	case near[1] != 1:
		t.Errorf("what the one that is meant calls is nearest: %v", near)
	case near[3] >= near[1]:
		t.Errorf("what everything calls is near: %v", near)
	case !(near[2] > 0 && near[2] < near[1]):
		t.Errorf("what is two calls away is as near: %v", near)
	case near[9] != 0:
		t.Errorf("what nothing joins is near: %v", near)
	}
	if far := Spread(start, arcs, 0.25); far[2] >= near[2] {
		t.Errorf("less goes on, and two calls away is nearer: %v, %v", far[2], near[2])
	}
	for _, x := range Spread(make([]float64, 3), []Arc{{0, 1, 1}}, 0.5) {
		if x != 0 {
			t.Errorf("nothing spreads as %v", x)
		}
	}
}
