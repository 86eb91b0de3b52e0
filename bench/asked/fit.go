package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// thereSigns and rightSigns are the signs that have a weight in each of the two
// logits of internal/search/rank/confidence.go.
var (
	thereSigns = []string{"best", "nearest", "both", "names", "literal", "words", "unknown"}
	rightSigns = []string{"chunk", "document", "nearest", "margin", "crowd", "second", "byvector", "names", "named", "literal",
		"definitions", "symbol", "failure", "stores", "prose", "wanted", "lines"}
)

const (
	folds = 8
	// The squared distance of the standardised weights from 0 counts so much of
	// an answer; there are few questions without one.
	pullThere, pullRight = 1, 3
)

// model is a logistic regression.
type model struct {
	names  []string
	base   float64
	weight []float64
}

func (m *model) at(signs map[string]float64) float64 {
	z := m.base
	for i, n := range m.names {
		z += m.weight[i] * signs[n]
	}
	return 1 / (1 + math.Exp(-z))
}

// fitted is the product of the two.
type fitted struct{ there, right *model }

// say gives an answer the two probabilities.
func (f *fitted) say(r *reply) {
	if r.confidence, r.there = 0, 0; len(r.signs) > 0 {
		r.there = f.there.at(r.signs)
		r.confidence = r.there * f.right.at(r.signs)
	}
}

func right(a *answer) bool { return a.something && a.fileRank == 1 }

func fitBoth(all []*answer) *fitted {
	with := slices.DeleteFunc(slices.Clone(all), func(a *answer) bool { return len(a.reply.signs) == 0 })
	some := slices.DeleteFunc(slices.Clone(with), func(a *answer) bool { return !a.something })
	return &fitted{fitOne(with, thereSigns, pullThere, func(a *answer) bool { return a.something }),
		fitOne(some, rightSigns, pullRight, right)}
}

// fold puts all questions to a repository on one side.
func fold(a *answer) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(a.Repo))
	return int(h.Sum32() % folds)
}

// fit adds the weights fitted to all answers, and what they are worth on
// repositories that they were not fitted to.
func (b *bench) fit(all []*answer) {
	for k := range folds {
		var others []*answer
		for _, a := range all {
			if fold(a) != k {
				others = append(others, a)
			}
		}
		m := fitBoth(others)
		for _, a := range all {
			if fold(a) == k {
				m.say(a.reply)
			}
		}
	}
	b.r.Printf("Fitted again; each repository with weights fitted without its eighth of them.\n\n")
	b.honesty(all)
	m := fitBoth(all)
	b.r.Printf("Weights fitted to all: ThereBase %.3g, RightBase %.3g.\n\n", m.there.base, m.right.base)
	names := slices.Compact(slices.Sorted(slices.Values(slices.Concat(thereSigns, rightSigns))))
	rows := [][]string{{"sign", "there", "right"}}
	for _, n := range names {
		rows = append(rows, []string{n, m.there.of(n), m.right.of(n)})
	}
	b.r.Table(rows...)
	rows = [][]string{{"at least", "of all", "right", "of the absent"}}
	for _, p := range []float64{0.1, 0.2, 0.3, 0.5, 0.6, 0.65, 0.7, 0.8, 0.85, 0.9} {
		n, ok, absent, none := 0.0, 0.0, 0.0, 0.0
		for _, a := range all {
			if !a.something {
				none++
			}
			if a.reply.confidence >= p {
				n++
				if right(a) {
					ok++
				}
				if !a.something {
					absent++
				}
			}
		}
		rows = append(rows, []string{fmt.Sprint(p), figure(n / float64(len(all))), figure(ok / n), figure(absent / none)})
	}
	b.r.Table(rows...)
}

func (m *model) of(name string) string {
	if i := slices.Index(m.names, name); i >= 0 {
		return fmt.Sprintf("%.3g", m.weight[i])
	}
	return ""
}

// writeSigns writes what fits are made of, for trying others.
func writeSigns(path string, all []*answer) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, a := range all {
		if err := enc.Encode(map[string]any{"set": a.set, "kind": a.Kind, "id": a.ID, "repo": a.Repo, "something": a.something,
			"file": a.fileRank, "signs": a.reply.signs}); err != nil {
			return err
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// fitOne fits a logistic regression with Newton's steps on standardised signs.
func fitOne(as []*answer, names []string, pull float64, is func(*answer) bool) *model {
	n := len(names) + 1
	mean, spread := make([]float64, n), make([]float64, n)
	for i, name := range names {
		for _, a := range as {
			mean[i+1] += a.reply.signs[name] / float64(len(as))
		}
		for _, a := range as {
			d := a.reply.signs[name] - mean[i+1]
			spread[i+1] += d * d / float64(len(as))
		}
		if spread[i+1] = math.Sqrt(spread[i+1]); spread[i+1] == 0 {
			spread[i+1] = 1
		}
	}
	w := make([]float64, n)
	for range 30 {
		h := make([][]float64, n) // the second derivatives, and the first in the last column
		for i := range h {
			h[i] = make([]float64, n+1)
			if i > 0 {
				h[i][i], h[i][n] = pull, -pull*w[i]
			} else {
				h[i][i] = 1e-6
			}
		}
		x := make([]float64, n)
		for _, a := range as {
			x[0] = 1
			z := w[0]
			for i, name := range names {
				x[i+1] = (a.reply.signs[name] - mean[i+1]) / spread[i+1]
				z += w[i+1] * x[i+1]
			}
			p := 1 / (1 + math.Exp(-max(-30, min(30, z))))
			d := -p
			if is(a) {
				d++
			}
			for i := range n {
				h[i][n] += d * x[i]
				for j := range n {
					h[i][j] += p * (1 - p) * x[i] * x[j]
				}
			}
		}
		solve(h)
		step := 0.0
		for i := range w {
			w[i] += h[i][n]
			step = max(step, math.Abs(h[i][n]))
		}
		if step < 1e-6 {
			break
		}
	}
	m := &model{names: names, base: w[0]}
	for i := range names {
		m.weight = append(m.weight, w[i+1]/spread[i+1])
		m.base -= m.weight[i] * mean[i+1]
	}
	return m
}

// solve leaves the solution of the equations in the last column.
func solve(a [][]float64) {
	n := len(a)
	for i := range n {
		top := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[top][i]) {
				top = r
			}
		}
		a[i], a[top] = a[top], a[i]
		for k := n; k >= i; k-- {
			a[i][k] /= a[i][i]
		}
		for r := range n {
			if f := a[r][i]; r != i && f != 0 {
				for k := i; k <= n; k++ {
					a[r][k] -= f * a[i][k]
				}
			}
		}
	}
}

// explained asks on the command line, which says the probability and its signs.
func (a *asker) explained(query string, args map[string]any) (string, error) {
	line := []string{"search", "--json", "--explain"}
	for _, k := range lab.Keys(args) {
		switch v := args[k].(type) {
		case []string:
			line = append(line, "--"+k, v[0])
		default:
			line = append(line, "--"+k, fmt.Sprint(v))
		}
	}
	return lab.Command(a.dir, a.env, a.program, append(line, "--", query)...)
}
