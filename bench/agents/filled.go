package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/agents/scripted"
	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// budgets are the tokens that one reply is given to fill.
var budgets = []int{1200, 2500}

// limits are the numbers of hits that are tried to fill them.
var limits = []int{1, 2, 3, 4, 5, 6, 8, 10, 14, 20}

// delivery is what the largest reply within a budget brings.
type delivery struct {
	lines  float64 // share of the question's needed lines that it shows
	shown  int     // of them
	needed int
	all    bool // every needed line
	told   bool // every place is named
	tokens int
	over   bool // even one hit is more than the budget
}

type delivered struct {
	q  scripted.Question
	by map[string]delivery // by form and budget
}

// filled measures the needed lines that one reply delivers which is given so
// many tokens to fill: of those with more and more hits the largest that fits,
// or one that is made for the budget.
func (o *options) filled() error {
	qs, known, err := o.ready()
	if err != nil {
		return err
	}
	var all []delivered
	began := time.Now()
	err = o.eachTree(qs, func(dir string, t *window.Tree, qs []scripted.Question) error {
		a, err := newAsker(o.program, dir, o.data)
		if err != nil {
			return err
		}
		c, err := lab.Dial(dir, a.env, o.program, lab.Handshake)
		if err != nil {
			return err
		}
		for _, q := range qs {
			x := delivered{q, map[string]delivery{}}
			for _, b := range budgets {
				x.by[key(themselves, b)] = deliveryOf(t, q, ideal(t, q, b), false)
			}
			for _, f := range known {
				if f.name == "default" {
					continue // is minimal, or rows without lines
				}
				if err := fill(a, c, t, q, f, x.by); err != nil {
					return fmt.Errorf("%s: %w", q.ID, err)
				}
			}
			all = append(all, x)
		}
		fmt.Fprintf(os.Stderr, "%s: %d questions, %s\n", qs[0].Repo, len(qs), time.Since(began).Round(time.Second))
		return c.Close()
	})
	if err != nil {
		return err
	}
	r := &lab.Report{}
	r.Printf("# What one reply delivers\n\n%s, %s. Written by `.ci/extra agents -filled`.\n\n",
		time.Now().Format(time.DateOnly), lab.Machine())
	r.Printf("One search with the question as it is, given a number of tokens to fill: the reply with the most hits that "+
		"is not longer (of %v hits), or one made for that budget where the program makes such. Lines are those that hold "+
		"text, of a place at most its first %d; one counts when the reply has its number and its text. *lines*: the mean "+
		"over questions of the share that is shown. *of all lines*: all lines shown of all lines needed. *whole*: "+
		"questions of which nothing is missing. *told*: questions of which every place is named. *over*: even one hit is "+
		"longer than the budget, and counts as nothing. Of plain any line of a right file does. *the lines themselves* "+
		"is a reply that knows the answer and shows nothing else: no other delivers more.\n\n", limits, window.Most)
	for _, n := range budgets {
		r.Printf("## %d tokens\n\n", n)
		r.Table(o.filledRows(all, known, n)...)
	}
	return o.finish(r)
}

// fill asks one question in one form.
func fill(a *asker, c *lab.Client, t *window.Tree, q scripted.Question, f form, into map[string]delivery) error {
	best := map[int]string{}
	if f.name == "budget" {
		for _, n := range budgets {
			// A process of its own: a server does not repeat what it has given.
			_, text, err := a.search([]string{"--budget", fmt.Sprint(n)})(q.Text)
			if err != nil {
				return err
			}
			best[n] = text
		}
	} else {
		for _, limit := range limits {
			text, err := c.Call("search", map[string]any{"query": q.Text, "detail": f.name, "limit": limit})
			if err != nil {
				return err
			}
			n := tokens.Estimate(text)
			for _, b := range budgets {
				if n <= b {
					best[b] = text
				}
			}
			if n > slices.Max(budgets) {
				break
			}
		}
	}
	for _, b := range budgets {
		text, ok := best[b]
		into[key(f.name, b)] = deliveryOf(t, q, text, !ok)
	}
	return nil
}

func deliveryOf(t *window.Tree, q scripted.Question, text string, over bool) delivery {
	w := window.New(t)
	told := w.Add("", text)
	in, all := w.Found(q.Gold)
	d := delivery{shown: in, needed: all, all: w.Complete(q.Gold), told: scripted.Names(told, q),
		tokens: tokens.Estimate(text), over: over}
	if q.Gold[0].From == 0 { // any right file does
		d.shown, d.needed = min(in, 1), 1
	}
	d.lines = float64(d.shown) / float64(max(1, d.needed))
	return d
}

// themselves is the form of a reply that knows the answer: the needed lines and
// nothing else, the shortest places first, as far as the budget goes. No reply
// delivers more.
const themselves = "the lines themselves"

func ideal(t *window.Tree, q scripted.Question, budget int) string {
	type place struct{ text []string }
	var all []place
	for _, p := range q.Gold {
		if p.From == 0 {
			p.From, p.To = 1, 1
		}
		path, lines := window.Needed(t, p)
		one := place{[]string{path}}
		for _, n := range lines {
			l, _ := t.Line(path, n)
			one.text = append(one.text, fmt.Sprintf("%d\t%s", n, l))
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b place) int { return len(a.text) - len(b.text) })
	reply := ""
	for _, p := range all {
		for _, l := range p.text {
			if tokens.Estimate(reply+l+"\n") > budget {
				return reply
			}
			reply += l + "\n"
		}
	}
	return reply
}

func key(form string, budget int) string { return fmt.Sprintf("%s %d", form, budget) }

func (o *options) filledRows(all []delivered, known []form, budget int) [][]string {
	rows := [][]string{{"", "questions", "form", "lines", "of all lines", "whole", "told", "tokens p50", "over"}}
	names := []string{themselves}
	for _, f := range known {
		if f.name != "default" {
			names = append(names, f.name)
		}
	}
	add := func(name string, of []delivered) {
		for _, f := range names {
			if len(of) == 0 {
				continue
			}
			var lines, whole, told, over float64
			var shown, needed int
			var sizes []int
			for _, x := range of {
				d := x.by[key(f, budget)]
				lines += d.lines
				shown, needed = shown+d.shown, needed+d.needed
				whole, told, over = whole+one(d.all), told+one(d.told), over+one(d.over)
				sizes = append(sizes, d.tokens)
			}
			n := float64(len(of))
			named := share(told / n)
			if f == themselves {
				named = "–" // it names nothing
			}
			rows = append(rows, []string{name, fmt.Sprint(len(of)), f, fmt.Sprintf("%.3f", lines/n),
				fmt.Sprintf("%.3f", float64(shown)/float64(max(1, needed))), share(whole / n), named,
				fmt.Sprint(lab.Median(sizes)), fmt.Sprint(over)})
		}
	}
	var pooled []delivered
	for _, s := range o.sets {
		var of []delivered
		for _, x := range all {
			if x.q.Set == s {
				of = append(of, x)
			}
		}
		add(s, of)
		if slices.Contains(lineSets, s) {
			pooled = append(pooled, of...)
		}
	}
	add("**pooled, the sets whose answers are lines**", pooled)
	return rows
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
