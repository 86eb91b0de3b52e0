package index

import (
	"cmp"
	"slices"
)

// step is a term in the order of rough scoring.
type step struct {
	number   int     // of the term
	postings int     // at most so many
	most     float64 // what it adds at most
	left     float64 // what all after it add at most
	more     int     // the postings of all after it
}

// plan returns the terms that add something, first those that can add most for
// the postings that are to be read: rare words and names cost nothing, and what
// they might have added is out of the way when the common ones are looked at. nil
// when a term can take something away.
func (g *Generation) plan(w *weighing) ([]step, error) {
	steps := make([]step, 0, len(w.Terms))
	for i, idf := range w.IDF {
		switch {
		case idf < 0:
			return nil, nil
		case idf == 0:
			continue
		}
		at, err := g.lookup(w.Terms[i])
		if err != nil {
			return nil, err
		}
		x := step{number: i, most: idf * (w.BM25F.K1 + 1)}
		for si := range at {
			x.postings += int(at[si].count)
		}
		steps = append(steps, x)
	}
	slices.SortFunc(steps, func(a, b step) int {
		cost := func(s step) float64 { return float64(s.postings+fewPostings) / s.most }
		return cmp.Or(cmp.Compare(cost(a), cost(b)), cmp.Compare(a.number, b.number))
	})
	for k := len(steps) - 2; k >= 0; k-- {
		after := steps[k+1]
		steps[k].left, steps[k].more = after.left+after.most, after.more+after.postings
	}
	return steps, nil
}

const (
	// worthLooking is from how many postings on it is worth to look whether the
	// rest of the terms can be left out, lookEvery after how many more again.
	worthLooking, lookEvery = 50_000, 20_000
	// perChunk is how many postings are added in the time in which one chunk is
	// scored exactly.
	perChunk = 100
	// fewPostings are how many cost nothing beside what each list does.
	fewPostings = 1000
)
