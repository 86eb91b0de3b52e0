package kb_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TestSort: the order is that of package slices, of equal elements too.
func TestSort(t *testing.T) {
	type pair struct{ key, at int }
	byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	for _, n := range []int{0, 1, 2, 11, 12, 13, 50, 51, 300, 3000} {
		for _, keys := range []int{1, 3, 40, 1 << 30} {
			r := rand.New(rand.NewPCG(uint64(n), uint64(keys)))
			list := make([]pair, n)
			for i := range list {
				list[i] = pair{r.IntN(keys), i}
			}
			for name, sorts := range map[string][2]func([]pair, func(a, b pair) int){
				"SortFunc":       {slices.SortFunc[[]pair, pair], kb.SortFunc[[]pair, pair]},
				"SortStableFunc": {slices.SortStableFunc[[]pair, pair], kb.SortStableFunc[[]pair, pair]},
			} {
				want, got := slices.Clone(list), slices.Clone(list)
				sorts[0](want, byKey)
				sorts[1](got, byKey)
				if !slices.Equal(want, got) {
					t.Errorf("%s of %d elements with %d keys is another order", name, n, keys)
				}
			}
		}
	}
}
