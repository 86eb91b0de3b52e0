package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTexts(t *testing.T) {
	for _, n := range []int{0, 1, textRun - 1, textRun, textRun + 1, 1000} {
		list := []string{}
		for i := range n {
			list = append(list, fmt.Sprintf("%s%d", strings.Repeat("a", i%7), i))
		}
		slices.Sort(list)
		var e enc
		share(&e, len(list), func(i int) string { return list[i] })
		x, ok := readTexts(&dec{b: e.b})
		if !ok {
			t.Fatal("does not read")
		}
		if got := x.all(); !slices.Equal(got, list) {
			t.Fatalf("%d strings are others", n)
		}
		for i, s := range list {
			if x.at(i) != s || x.search(s) != i {
				t.Fatalf("%d of %d: %q is at %d", i, n, x.at(i), x.search(s))
			}
		}
		for _, s := range []string{"", "a", "aaaaaaaaa", "zz", "00"} {
			if i, known := slices.BinarySearch(list, s); known != (x.search(s) == i) {
				t.Errorf("%q is at %d of %d", s, x.search(s), n)
			}
		}
		for cut := range e.b { // cut short is noticed, and so is disorder
			if y, ok := readTexts(&dec{b: e.b[:cut]}); ok && !slices.IsSorted(y.all()) {
				t.Fatal("out of order")
			}
		}
	}
	var e enc
	list := []string{"b", "a"}
	share(&e, 2, func(i int) string { return list[i] })
	if _, ok := readTexts(&dec{b: e.b}); ok {
		t.Error("strings out of order are read")
	}
}
