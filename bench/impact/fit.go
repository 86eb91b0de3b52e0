package main

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/impact/reach"
)

// fit looks for weights under which more of the open mutants have a test that
// notices among the first ten, one weight at a time, and prints them. The set
// aside is not read.
func fit(o options) error {
	paths, err := filepath.Glob(filepath.Join(o.work, "open-*.ranked"))
	if err != nil {
		return err
	}
	var all []judged
	for _, p := range paths {
		list, err := lab.ReadLines[judged](p)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return fmt.Errorf("no ranked mutants below %q: measure first", o.work)
	}
	best := reach.Weights
	value, ten := worth(all, best)
	fmt.Printf("%d mutants; as it is: %.4f, %d in ten\n", len(all), value, ten)
	for round := range 12 {
		better := false
		for k := range best {
			for _, f := range []float64{0, 0.5, 0.8, 0.9, 1.1, 1.25, 2, -1} {
				try := best
				try[k] *= f
				if f == -1 { // from nothing
					try[k] = best[k] + 0.3
				}
				if v, n := worth(all, try); v > value+1e-6 {
					best, value, ten, better = try, v, n, true
				}
			}
		}
		fmt.Printf("round %d: %.4f, %d in ten\n", round+1, value, ten)
		if !better {
			break
		}
	}
	for k, w := range best {
		without := best
		without[k] = 0
		v, n := worth(all, without)
		fmt.Printf("%-10s %.2f   without: %.4f, %d in ten\n", reach.SignalNames[k], w, v, n)
	}
	return nil
}

// worth is the mean over mutants of how well the first test that notices is
// placed: nearly 1 well within the first ten, nearly 0 far behind.
func worth(all []judged, w reach.Signals) (value float64, ten int) {
	for _, j := range all {
		first, behind := math.Inf(-1), 0
		scores := make([]float64, len(j.Tests))
		for i, t := range j.Tests {
			for k, x := range t.Signals {
				scores[i] += w[k] * x
			}
			if t.Notices {
				first = max(first, scores[i])
			}
		}
		if math.IsInf(first, -1) {
			continue
		}
		for i := range scores {
			if scores[i] > first || scores[i] == first && !j.Tests[i].Notices {
				behind++
			}
		}
		if behind < 10 {
			ten++
		}
		value += 0.85/(1+math.Exp((float64(behind)-9.5)/3)) + 0.15/float64(behind+1)
	}
	return value / float64(len(all)), ten
}
