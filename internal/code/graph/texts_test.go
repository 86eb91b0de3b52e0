package graph

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/data/blockfile"
)

// holds checks that all, at and search of x agree with the strings of list, which are in order.
func holds(t *testing.T, x interface {
	all() []string
	at(int) string
	search(string) int
}, list []string) {
	t.Helper()
	n := len(list)
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
}

// TestMappedTexts reads strings from the file as they were written.
func TestMappedTexts(t *testing.T) {
	for _, n := range []int{0, 1, textRun - 1, textRun, textRun + 1, 1000, 30000} {
		list := []string{}
		for i := range n {
			list = append(list, fmt.Sprintf("%s%d%s", strings.Repeat("a", i%7), i, strings.Repeat("long", i%50)))
		}
		slices.Sort(list)
		path := filepath.Join(t.TempDir(), "x.view")
		p, err := newPacker(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.writeTexts(n, func(i int) string { return list[i] }); err != nil {
			t.Fatal(err)
		}
		if err := p.w.Commit(); err != nil {
			t.Fatal(err)
		}
		r, err := blockfile.Open(path, viewKind, viewVersion)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var bad atomic.Bool
		x, err := openTexts(r, &bad)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, x, list)
		if bad.Load() {
			t.Fatalf("%d strings are damaged", n)
		}
		if n > 0 {
			_ = x.at(n + textRun) // behind the last, as damage asks for
			if !bad.Load() {
				t.Error("a string that is not there was read")
			}
		}
	}
}

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
		holds(t, x, list)
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
