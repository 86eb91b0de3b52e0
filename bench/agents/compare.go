package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
	"github.com/seed-4f2d999b/knowledge/bench/agents/trial"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// measured are the means of one arm's attempts at one question.
type measured struct{ right, looks, chars, tokens, oneCall float64 }

// report compares the arms of runs.
func (o *options) report() error {
	all, err := o.attempts()
	if err != nil {
		return err
	}
	if err := o.graded(all); err != nil {
		return err
	}
	r := &lab.Report{}
	r.Printf("# What agents pay\n\n%s. Written by `.ci/extra agents report`.\n\n", time.Now().Format(time.DateOnly))
	how := "graded blind by the rubric"
	if o.live.grades == "" {
		how = "**not graded: by the places named alone**"
	}
	r.Printf("Right: %s; an answer without the places that it needs is wrong, and so is one that is not there. Every "+
		"attempt counts. *one call*: answered right after one search, at most one get_full_context and nothing else. "+
		"Shares and differences are paired by question; in brackets the middle 95 of 100 of 10,000 draws of the "+
		"questions.\n\n", how)
	sets := map[string]bool{}
	for _, a := range all {
		sets[a.run.Set] = true
	}
	for _, s := range lab.Keys(sets) {
		of := slices.DeleteFunc(slices.Clone(all), func(a *attempt) bool { return a.run.Set != s })
		r.Printf("## %s\n\n", s)
		r.Table(o.armRows(of)...)
		r.Table(kindRows(of)...)
	}
	return o.finish(r)
}

// byArm are the means of each question, by label, the questions in one order.
func byArm(of []*attempt) (labels, questions []string, by map[string]map[string]measured) {
	sums, counts := map[string]map[string]measured{}, map[string]map[string]float64{}
	for _, a := range of {
		l, q := a.run.Label, a.task.ID
		if sums[l] == nil {
			sums[l], counts[l] = map[string]measured{}, map[string]float64{}
			labels = append(labels, l)
		}
		if !slices.Contains(questions, q) {
			questions = append(questions, q)
		}
		m := a.measure()
		s := sums[l][q]
		sums[l][q] = measured{s.right + m.right, s.looks + m.looks, s.chars + m.chars,
			s.tokens + m.tokens, s.oneCall + m.oneCall}
		counts[l][q]++
	}
	for l, qs := range sums {
		for q, s := range qs {
			n := counts[l][q]
			qs[q] = measured{s.right / n, s.looks / n, s.chars / n, s.tokens / n, s.oneCall / n}
		}
	}
	slices.Sort(labels)
	slices.Sort(questions)
	return labels, questions, sums
}

func (a *attempt) measure() measured {
	m := measured{right: one(a.right)}
	var searches, contexts, others int
	for _, l := range a.looks {
		m.looks++
		m.chars += float64(l.Chars)
		m.tokens += float64(l.Tokens)
		switch l.Command {
		case "search":
			searches++
		case "context":
			contexts++
		default:
			others++
		}
	}
	m.oneCall = one(a.right && searches == 1 && contexts <= 1 && others == 0)
	return m
}

// armRows compares every arm with the control.
func (o *options) armRows(of []*attempt) [][]string {
	labels, questions, by := byArm(of)
	rows := [][]string{{"arm", "runs", "questions", "right", "against grep", "looks a question", "of grep's",
		"characters", "of grep's", "tokens", "of grep's", "one call"}}
	control := by[controlOf(of)]
	for _, l := range labels {
		runs := map[string]bool{}
		for _, a := range of {
			if a.run.Label == l {
				runs[a.dir] = true
			}
		}
		var have []string
		for _, q := range questions {
			if _, ok := by[l][q]; ok {
				have = append(have, q)
			}
		}
		mean := func(f func(measured) float64) float64 {
			s := 0.0
			for _, q := range have {
				s += f(by[l][q])
			}
			return s / float64(max(1, len(have)))
		}
		rng := rand.New(rand.NewPCG(o.live.seed, 23))
		paired := func(f func(measured) float64, ratio bool) string {
			var mine, theirs []float64
			for _, q := range have {
				if c, ok := control[q]; ok {
					mine, theirs = append(mine, f(by[l][q])), append(theirs, f(c))
				}
			}
			return interval(rng, mine, theirs, ratio)
		}
		right := func(m measured) float64 { return m.right }
		looks := func(m measured) float64 { return m.looks }
		chars := func(m measured) float64 { return m.chars }
		tokens := func(m measured) float64 { return m.tokens }
		rows = append(rows, []string{l, fmt.Sprint(len(runs)), fmt.Sprint(len(have)),
			share(mean(right)), paired(right, false),
			fmt.Sprintf("%.1f", mean(looks)), paired(looks, true),
			fmt.Sprintf("%.0f", mean(chars)), paired(chars, true),
			fmt.Sprintf("%.0f", mean(tokens)), paired(tokens, true),
			share(mean(func(m measured) float64 { return m.oneCall }))})
	}
	return rows
}

// controlOf is the label of the control arm, "" for none.
func controlOf(of []*attempt) string {
	for _, a := range of {
		if a.run.Arm == trial.Grep {
			return a.run.Label
		}
	}
	return ""
}

// interval is the difference of two means, or the ratio of two sums, with what
// draws of the pairs make of it.
func interval(rng *rand.Rand, mine, theirs []float64, ratio bool) string {
	if len(mine) == 0 {
		return "–"
	}
	of := func(pick func(int) int) float64 {
		var a, b float64
		for i := range mine {
			k := pick(i)
			a, b = a+mine[k], b+theirs[k]
		}
		if ratio {
			return a / b
		}
		return (a - b) / float64(len(mine))
	}
	var draws []float64
	for range 10_000 {
		if x := of(func(int) int { return rng.IntN(len(mine)) }); !math.IsNaN(x) && !math.IsInf(x, 0) {
			draws = append(draws, x)
		}
	}
	slices.Sort(draws)
	if len(draws) < 1000 {
		return "–" // the control has looked at nothing
	}
	form := "%.2f [%.2f, %.2f]"
	if !ratio {
		form = "%+.2f [%+.2f, %+.2f]"
	}
	return fmt.Sprintf(form, of(func(i int) int { return i }), draws[len(draws)/40], draws[len(draws)-1-len(draws)/40])
}

// kindRows says how often each kind of question was answered right.
func kindRows(of []*attempt) [][]string {
	labels, _, _ := byArm(of)
	rows := [][]string{append([]string{"right"}, labels...)}
	for _, k := range task.Kinds {
		row := []string{k}
		for _, l := range labels {
			var right, n float64
			for _, a := range of {
				if a.run.Label == l && a.task.Kind == k {
					right, n = right+one(a.right), n+1
				}
			}
			if n == 0 {
				row = append(row, "–")
			} else {
				row = append(row, share(right/n))
			}
		}
		rows = append(rows, row)
	}
	return rows
}
