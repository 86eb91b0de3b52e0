package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/agents/scripted"
	"github.com/seed-4f2d999b/knowledge/bench/agents/task"
	"github.com/seed-4f2d999b/knowledge/bench/agents/trial"
	"github.com/seed-4f2d999b/knowledge/bench/agents/window"
	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// typed is what an agent has typed into search about a question.
type typed struct {
	Set   string `json:"set"` // file of questions, without .json
	ID    string `json:"id"`
	Query string `json:"query"`
}

// replayed is what the reply to one query has of the places of its question.
type replayed struct {
	typed
	Own    bool    `json:"own"` // the question as it is put
	Budget int     `json:"budget"`
	Lines  float64 `json:"lines"`  // share of the needed lines that are shown
	Places float64 `json:"places"` // of the places that are named
	Files  float64 `json:"files"`  // of the places whose file is named
	Whole  bool    `json:"whole"`
	Tokens int     `json:"tokens"`
	Reply  string  `json:"reply"`
}

// replayBudgets are what is said of the length of a reply: nothing, then how many
// tokens there are to fill.
var replayBudgets = append([]int{0}, budgets...)

// replay asks again what live agents have typed, each query as the first of a
// session, and the questions as they are put.
func (o *options) replay() error {
	if err := o.need(); err != nil {
		return err
	}
	all, err := lab.ReadLines[typed](filepath.Join(o.testdata, "typed.jsonl"))
	if err != nil {
		return err
	}
	var sets []string
	for _, x := range all {
		if !slices.Contains(sets, x.Set) {
			sets = append(sets, x.Set)
		}
	}
	if !slices.Contains(o.sets, "tasks") { // some of them are wanted
		sets = slices.DeleteFunc(sets, func(s string) bool { return !slices.Contains(o.sets, s) })
	}
	var out []replayed
	for _, name := range sets {
		began, n := time.Now(), len(out)
		if out, err = o.replaySet(name, all, out); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %d replies, %s\n", name, len(out)-n, time.Since(began).Round(time.Second))
	}
	r := &lab.Report{}
	r.Printf("# What agents typed, asked again\n\n%s, %s. Written by `.ci/extra agents replay`.\n\n",
		time.Now().Format(time.DateOnly), lab.Machine())
	r.Printf("What live agents typed into search about the open questions of these sets (`testdata/typed.jsonl`), and the "+
		"questions as they are put, each asked again as the first of a session, with so many tokens to fill. *lines*: the "+
		"mean over queries of the share of the needed lines that the reply shows, of a place at most its first %d. *by "+
		"question*: the mean over questions of the mean of their queries. *places*: of the places, those that it names; "+
		"*files*: those whose file it names. *whole*: queries whose reply lacks nothing. *characters*: of a reply, the mean.\n\n",
		window.Most)
	for _, b := range replayBudgets {
		if b == 0 {
			r.Printf("## Nothing said\n\n")
		} else {
			r.Printf("## %d tokens to fill\n\n", b)
		}
		r.Table(replayRows(out, sets, b)...)
	}
	return o.finish(r)
}

// replaySet adds the replies to the queries of one set.
func (o *options) replaySet(name string, all []typed, out []replayed) ([]replayed, error) {
	s, dir, err := o.prepare(filepath.Join(o.testdata, name+".json"))
	if err != nil {
		return nil, err
	}
	t, err := window.ReadTree(dir)
	if err != nil {
		return nil, err
	}
	a, err := newAsker(o.program, dir, o.data)
	if err != nil {
		return nil, err
	}
	gold := map[string][]task.Place{}
	queries := slices.DeleteFunc(slices.Clone(all), func(x typed) bool { return x.Set != name })
	typedOnes := len(queries)
	for _, q := range s.Tasks {
		gold[q.ID] = q.Gold
		queries = append(queries, typed{name, q.ID, q.Question})
	}
	for i, q := range queries {
		if gold[q.ID] == nil {
			return nil, fmt.Errorf("no question %s", q.ID)
		}
		for _, b := range replayBudgets {
			var args []string
			if b > 0 {
				args = []string{"--budget", fmt.Sprint(b)}
			}
			_, reply, err := a.search(args)(q.Query)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.ID, err)
			}
			x := replayOf(t, gold[q.ID], reply)
			x.typed, x.Own, x.Budget = q, i >= typedOnes, b
			if out = append(out, x); o.kept != "" {
				if err := trial.Append(filepath.Dir(o.kept), filepath.Base(o.kept), x); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

func replayOf(t *window.Tree, gold []task.Place, reply string) replayed {
	d := deliveryOf(t, scripted.Question{Gold: gold}, reply, false)
	_, told := window.Read(t, reply)
	x := replayed{Lines: d.lines, Whole: d.all, Tokens: d.tokens, Reply: reply}
	for _, p := range gold {
		x.Places += one(slices.ContainsFunc(told, func(s window.Span) bool { return p.Overlaps(s.Path, s.From, s.To) }))
		x.Files += one(slices.ContainsFunc(told, func(s window.Span) bool { return task.Same(s.Path, p.Path) }))
	}
	x.Places, x.Files = x.Places/float64(len(gold)), x.Files/float64(len(gold))
	return x
}

func replayRows(all []replayed, sets []string, budget int) [][]string {
	rows := [][]string{{"", "asked", "queries", "lines", "by question", "places", "files", "whole", "tokens p50", "characters"}}
	add := func(name, asked string, wanted func(replayed) bool) {
		var n, lines, places, files, whole, chars float64
		var sizes []int
		by := map[string][]float64{}
		for _, x := range all {
			if x.Budget != budget || !wanted(x) {
				continue
			}
			n, lines, places, files, whole = n+1, lines+x.Lines, places+x.Places, files+x.Files, whole+one(x.Whole)
			sizes = append(sizes, x.Tokens)
			chars += float64(len(x.Reply))
			by[x.Set+x.ID] = append(by[x.Set+x.ID], x.Lines)
		}
		if n == 0 {
			return
		}
		questions := 0.0
		for _, k := range lab.Keys(by) {
			sum := 0.0
			for _, l := range by[k] {
				sum += l
			}
			questions += sum / float64(len(by[k]))
		}
		rows = append(rows, []string{name, asked, fmt.Sprint(n), fmt.Sprintf("%.3f", lines/n),
			fmt.Sprintf("%.3f", questions/float64(len(by))), fmt.Sprintf("%.3f", places/n), fmt.Sprintf("%.3f", files/n),
			share(whole / n), fmt.Sprint(lab.Median(sizes)), fmt.Sprintf("%.0f", chars/n)})
	}
	for _, s := range append(slices.Clone(sets), "") {
		name := s
		if s == "" {
			name = "**all**"
		}
		for _, own := range []bool{false, true} {
			asked := "what agents typed"
			if own {
				asked = "the question"
			}
			add(name, asked, func(x replayed) bool { return x.Own == own && (s == "" || x.Set == s) })
		}
	}
	return rows
}
