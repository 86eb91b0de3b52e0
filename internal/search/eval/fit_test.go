package eval

import (
	"slices"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// A signal that tells the relevant document in every task gains weight, one
// that points elsewhere loses it, and the folds see nothing of each other.
func TestFitFindsWhatTells(t *testing.T) {
	names := rank.Parts()
	tells, misleads := slices.Index(names, "stem"), slices.Index(names, "shallow")
	var ex []example
	for fold := range Folds {
		for range 5 {
			e := example{fold: fold, language: "go", category: "semantic", docs: 3, doc: []int{0, 1, 2}, penalty: []float64{1, 1, 1}, relevant: [][]int{{1}}}
			for d := range 3 {
				row := make([]float64, len(names))
				if d == 1 {
					row[tells] = 1
				} else {
					row[misleads] = 1
				}
				e.row = append(e.row, row)
			}
			ex = append(ex, e)
		}
	}
	f := fit(ex, []string{"stem", "shallow", "vector"}, 0.01)
	if f.CrossNDCG != 1 || f.NDCG != 1 || f.CrossMacro != 1 || len(f.ByFold) != Folds {
		t.Errorf("%+v", f)
	}
	if w := f.Weights; w["stem"] <= even || w["shallow"] >= even || w["vector"] != even {
		t.Errorf("weights %v", w)
	}
}
