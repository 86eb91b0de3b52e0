package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/agents/scripted"
	"github.com/seed-4f2d999b/knowledge/bench/agents/trial"
	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

//go:embed scripted/policy.go
var policyCode string

// form is one way of asking the product.
type form struct {
	name    string
	options []string // flags of search
}

// forms are what policy B asks with; default is what a pipe is given when nothing
// is said. Those whose flags the program does not know are left out.
var forms = []form{
	{"default", nil},
	{"minimal", []string{"--json", "--detail", "minimal"}},
	{"contextual", []string{"--json", "--detail", "contextual"}},
	{"full", []string{"--json", "--detail", "full"}},
	{"budget", []string{"--budget", "1200"}},
}

// known returns the forms that are wanted and that the program knows.
func (o *options) known() ([]form, error) {
	help, err := lab.Command(".", os.Environ(), o.program, "search", "--help")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(forms), func(f form) bool {
		return o.only != nil && !slices.Contains(o.only, f.name) ||
			slices.Contains(f.options, "--budget") && !strings.Contains(help, "--budget")
	}), nil
}

// policyA and its better form, in the order of the columns.
var policiesA = []struct {
	name string
	run  func(scripted.Question, *window.Tree) scripted.Outcome
}{{"A: grep", scripted.Grep}, {"A+: grep, best", scripted.GrepBest}}

// outcomes are those of one question, by policy.
type outcomes struct {
	ID  string                      `json:"id"`
	Set string                      `json:"set"`
	By  map[string]scripted.Outcome `json:"by"`
}

// keptOutcomes reads what a run that was broken off, or was of other sets, has kept.
func (o *options) keptOutcomes() ([]outcomes, error) {
	if o.kept == "" {
		return nil, nil
	}
	all, err := lab.ReadLines[outcomes](o.kept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return all, err
}

// ready has the program made, and returns what is asked and in which forms.
func (o *options) ready() ([]scripted.Question, []form, error) {
	if err := o.need(); err != nil {
		return nil, nil, err
	}
	qs, err := o.questions()
	if err != nil {
		return nil, nil, err
	}
	known, err := o.known()
	return qs, known, err
}

// scripted runs the policies over the questions and reports what they cost.
func (o *options) scripted() error {
	qs, known, err := o.ready()
	if err != nil {
		return err
	}
	all, err := o.keptOutcomes()
	if err != nil {
		return err
	}
	qs = slices.DeleteFunc(qs, func(q scripted.Question) bool {
		return slices.ContainsFunc(all, func(x outcomes) bool { return x.ID == q.ID && x.Set == q.Set })
	})
	began := time.Now()
	err = o.eachTree(qs, func(dir string, t *window.Tree, qs []scripted.Question) error {
		a, err := newAsker(o.program, dir, o.data)
		if err != nil {
			return err
		}
		for _, q := range qs {
			x := outcomes{q.ID, q.Set, map[string]scripted.Outcome{}}
			for _, p := range policiesA {
				x.By[p.name] = p.run(q, t)
			}
			for _, f := range known {
				out, err := scripted.Search(q, t, a.search(f.options))
				if err != nil {
					return fmt.Errorf("%s: %w", q.ID, err)
				}
				x.By["B: "+f.name] = out
			}
			all = append(all, x)
			if o.kept != "" {
				if err := trial.Append(filepath.Dir(o.kept), filepath.Base(o.kept), x); err != nil {
					return err
				}
			}
		}
		fmt.Fprintf(os.Stderr, "%s: %d questions, %s\n", qs[0].Repo, len(qs), time.Since(began).Round(time.Second))
		return nil
	})
	if err != nil {
		return err
	}
	r := &lab.Report{}
	r.Printf("# A scripted agent\n\n%s, %s. Load averages %s at the end. Written by `.ci/extra agents -scripted`.\n\n",
		time.Now().Format(time.DateOnly), lab.Machine(), lab.Load())
	r.Printf("Policy A greps the rarest words of the question and reads windows around the hits; A+ does so as "+
		"well as it can be done without a model. Policy B asks the product once, in a pipe, and reads what "+
		"it is told; what it does not find so it looks for as A does. Each stops when the lines that answer "+
		"are in its window (of a place the first %d that hold text), or at %s. Tokens are those of commands "+
		"and replies, by the product's estimator; all of them stay in the window. What was not found counts "+
		"with what it has cost. Tools and instructions, which are carried in every session, are not in it "+
		"(`docs/agents.md`).\n\n", window.Most, scripted.Limits())
	tablesOf(r, o.sets, all, known)
	r.Printf("## The policies\n\n```go\n%s```\n", policyCode)
	return o.finish(r)
}

// tablesOf writes one table a set, and one of all whose answers are lines.
func tablesOf(r *lab.Report, sets []string, all []outcomes, known []form) {
	var pooled []outcomes
	for _, s := range sets {
		var of []outcomes
		for _, x := range all {
			if x.Set == s {
				of = append(of, x)
			}
		}
		if len(of) == 0 {
			continue
		}
		tableOf(r, s, of, known)
		if slices.Contains(lineSets, s) {
			pooled = append(pooled, of...)
		}
	}
	if len(pooled) > 0 {
		tableOf(r, "All sets whose answers are lines", pooled, known)
	}
}

func tableOf(r *lab.Report, name string, of []outcomes, known []form) {
	r.Printf("## %s\n\n%d questions.\n\n", name, len(of))
	rows := [][]string{{"", "found", "tokens p50", "p90", "of A p50", "p90", "of A+ p50", "p90", "calls p50", "p90",
		"after the first call", "lines of it", "places told by it"}}
	var base []string
	for _, p := range policiesA {
		base = append(base, p.name)
	}
	cols := slices.Clone(base)
	for _, f := range known {
		cols = append(cols, "B: "+f.name)
	}
	for _, c := range cols {
		var tokens, calls []int
		var found, one, first, told float64
		for _, x := range of {
			y := x.By[c]
			tokens, calls = append(tokens, y.Tokens), append(calls, y.Calls)
			if y.Found {
				found++
			}
			if y.Found && y.Calls == 1 {
				one++
			}
			if y.Told {
				told++
			}
			first += y.First
		}
		n := float64(len(of))
		row := []string{c, share(found / n), fmt.Sprint(lab.Quantile(tokens, 0.5)), fmt.Sprint(lab.Quantile(tokens, 0.9))}
		for _, b := range base {
			var theirs []int
			for _, x := range of {
				theirs = append(theirs, x.By[b].Tokens)
			}
			for _, q := range []float64{0.5, 0.9} {
				row = append(row, share(float64(lab.Quantile(tokens, q))/float64(max(1, lab.Quantile(theirs, q)))))
			}
		}
		row = append(row, fmt.Sprint(lab.Quantile(calls, 0.5)), fmt.Sprint(lab.Quantile(calls, 0.9)))
		if strings.HasPrefix(c, "B") {
			row = append(row, share(one/n), share(first/n), share(told/n))
		} else {
			row = append(row, "–", "–", "–")
		}
		rows = append(rows, row)
	}
	r.Table(rows...)
}

func share(x float64) string { return fmt.Sprintf("%.2f", x) }
