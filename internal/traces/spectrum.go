package traces

import (
	"math"
	"slices"
	"strings"
)

const (
	mostTests    = 300 // that did not fail and are looked at
	mostReached  = 600 // declarations that one test is followed to
	reachedDepth = 7
)

// spectrum says of each suspect how well being reached by a test tells which of
// them failed, in [0,1]: what all that failed reach and none that passed is 1
// (the coefficient of Ochiai over calls as they are known without running
// anything). It is nil where no test is known to have failed.
func (e *explainer) spectrum(suspects []*place) (map[*place]float64, error) {
	failed := map[*place]map[*place]bool{}
	var order []*place
	for i, t := range e.tests {
		if t == nil {
			continue
		}
		if failed[t] == nil {
			reached, err := e.reach(t)
			if err != nil {
				return nil, err
			}
			failed[t] = reached
			order = append(order, t)
		}
		for _, s := range e.steps[i] {
			failed[t][s.at] = true
		}
	}
	if len(failed) == 0 || !e.report.listed {
		return nil, nil
	}
	others, err := e.others(order)
	if err != nil {
		return nil, err
	}
	if len(others) == 0 && len(failed) == 1 {
		return nil, nil
	}
	passed := map[*place]int{}
	for _, t := range others {
		reached, err := e.reach(t)
		if err != nil {
			return nil, err
		}
		for p := range reached {
			passed[p]++
		}
	}
	out := map[*place]float64{}
	for _, p := range suspects {
		n := 0
		for _, reached := range failed {
			if reached[p] {
				n++
			}
		}
		if n > 0 {
			out[p] = float64(n) / math.Sqrt(float64(len(failed)*(n+passed[p])))
		}
	}
	return out, nil
}

// others returns the tests in the files of those that failed which did not: all
// of them where the run came to its end, else those that are said to have passed.
func (e *explainer) others(failed []*place) ([]*place, error) {
	var out []*place
	var files []fileKey
	for _, t := range failed {
		k := fileKey{t.target, t.path}
		if slices.Contains(files, k) {
			continue
		}
		files = append(files, k)
		f, err := e.file(t.target, t.path)
		if err != nil {
			return nil, err
		}
		for i := range f.symbols {
			y := &f.symbols[i]
			if len(out) == mostTests || !slices.Contains(callable, y.Kind) || !strings.HasPrefix(strings.ToLower(y.Name), "test") {
				continue
			}
			if e.report.aborted && !e.report.passed[y.Name] {
				continue
			}
			if p := e.symbol(t.target, t.path, y); !slices.Contains(failed, p) {
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// reach returns what a declaration leads to, itself included.
func (e *explainer) reach(p *place) (map[*place]bool, error) {
	reached := map[*place]bool{p: true}
	level := []*place{p}
	for d := 0; d < reachedDepth && len(level) > 0; d++ {
		var next []*place
		for _, at := range level {
			list, err := e.callsOf(at)
			if err != nil {
				return nil, err
			}
			for _, c := range list {
				if !reached[c.to] && len(reached) < mostReached {
					reached[c.to] = true
					next = append(next, c.to)
				}
			}
		}
		level = next
	}
	return reached, nil
}

// between returns the declarations on a shortest way of calls from one to
// another, without both; nil where none is known of at most that many calls.
func (e *explainer) between(from, to *place, most int) ([]*place, error) {
	came := map[*place]*place{from: nil}
	level := []*place{from}
	for d := 0; d < most && len(level) > 0 && len(came) < mostReached; d++ {
		var next []*place
		for _, at := range level {
			list, err := e.callsOf(at)
			if err != nil {
				return nil, err
			}
			for _, c := range list {
				if _, seen := came[c.to]; seen {
					continue
				}
				came[c.to] = at
				if c.to == to {
					var way []*place
					for p := at; p != from; p = came[p] {
						way = append(way, p)
					}
					slices.Reverse(way)
					return way, nil
				}
				next = append(next, c.to)
			}
		}
		level = next
	}
	return nil, nil
}
