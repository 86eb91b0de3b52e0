package main

import (
	"fmt"
	"math"

	"github.com/seed-4f2d999b/knowledge/internal/visible"
)

const (
	rounds = 3000
	rate   = 0.5
	pull   = 0.002 // towards zero
	heavy  = 2.0   // how much more a false alarm weighs
)

// fit finds the weights by logistic regression: a text stands for the window
// of its sentences that has the highest odds so far, so that what is ordinary
// in an injection teaches nothing. A sign that speaks for an injection may not
// weigh less than nothing.
func fit(items []item) error {
	names := visible.SignNames()
	n := len(names)
	var xs [][][]bool
	var ys []float64
	for _, it := range items {
		if !it.fit {
			continue
		}
		var windows [][]bool
		visible.Windows(it.text, func(s []bool) { windows = append(windows, append([]bool(nil), s...)) })
		if len(windows) == 0 {
			continue
		}
		xs = append(xs, windows)
		y := 0.0
		if it.injection {
			y = 1
		}
		ys = append(ys, y)
	}
	w := make([]float64, n+1)
	for i := range w {
		w[i] = 1
	}
	w[n] = -3
	odds := func(s []bool) float64 {
		o := w[n]
		for i, v := range s {
			if v {
				o += w[i]
			}
		}
		return o
	}
	for range rounds {
		g := make([]float64, n+1)
		total := 0.0
		for i, windows := range xs {
			best := windows[0]
			for _, s := range windows[1:] {
				if odds(s) > odds(best) {
					best = s
				}
			}
			weight := 1.0
			if ys[i] == 0 {
				weight = heavy
			}
			d := weight * (1/(1+math.Exp(-odds(best))) - ys[i])
			total += weight
			for k, v := range best {
				if v {
					g[k] += d
				}
			}
			g[n] += d
		}
		for k := range w {
			step := g[k] / total * 20
			if k < n {
				step += pull * w[k]
			}
			w[k] -= rate * step
			if k < n-2 {
				w[k] = max(w[k], 0)
			}
		}
	}
	for i, name := range names {
		fmt.Printf("\t%.2f, // %s\n", w[i], name)
	}
	fmt.Printf("\t%.2f, // none\n", w[n])
	return nil
}
