// Traces measures what trace:explain finds: tests of public repositories fail of
// one line that is changed, in the project or in what it depends on, and what
// they print is explained. The function that was changed has to come first.
//
//	.ci/extra traces -repos DIR [-work DIR] [-project NAME,…] [-aside] [-fit NAME=NUMBER,…;…] [-v]
//	.ci/extra traces -repos DIR [-work DIR] [-project NAME,…] -make
//
// DIR holds one folder per repository, OWNER+NAME, with its history. The work
// folder keeps checkouts, packages, traces and indexes. With -make mutants are
// drawn anew; every third is set aside. What is missing is skipped.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "traces:", err)
		os.Exit(1)
	}
}

type options struct {
	repos, work, testdata  string
	only                   []string
	making, aside, verbose bool
	kept                   bool
	fit                    string
}

func run() error {
	var o options
	out := flag.String("out", "", "write the report to this file, too")
	only := flag.String("project", "", "only these projects, with commas between")
	flag.StringVar(&o.repos, "repos", "", "folder of the repositories, as OWNER+NAME")
	flag.StringVar(&o.work, "work", filepath.Join(os.TempDir(), "knowledge-traces"), "folder of what is kept between runs")
	flag.StringVar(&o.testdata, "testdata", "bench/traces/testdata", "folder of the sets")
	flag.BoolVar(&o.making, "make", false, "draw the mutants anew")
	flag.BoolVar(&o.aside, "aside", false, "ask about what was set aside, instead")
	flag.StringVar(&o.fit, "fit", "", "try other numbers of the ranking over the open part: NAME=NUMBER,…;…")
	flag.BoolVar(&o.kept, "kept", false, "report what was measured last of each project, and measure nothing")
	flag.BoolVar(&o.verbose, "v", false, "show each mutant, and where its function came")
	flag.Parse()
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	if o.repos == "" {
		fmt.Println("skipped: -repos names no folder of repositories")
		return nil
	}
	all, err := lab.ReadLines[project](filepath.Join(o.testdata, "projects.jsonl"))
	if err != nil {
		return err
	}
	var report lab.Report
	m := &measure{o: o}
	for i := range all {
		p := &all[i]
		if o.only != nil && !slices.Contains(o.only, p.Name) {
			continue
		}
		if program := map[string]string{"python": "python3", "go": "go", "javascript": "npm"}[p.Language]; missing(program) {
			fmt.Printf("%s is skipped: there is no %s\n", p.Name, program)
			continue
		}
		if err := p.prepare(o.repos, o.work); err != nil {
			fmt.Printf("%s is skipped: %v\n", p.Name, err)
			continue
		}
		if o.making {
			err = o.make(p)
		} else {
			err = m.measured(context.Background(), p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if o.making {
		return nil
	}
	if len(m.results) == 0 {
		fmt.Println("skipped: no project could be prepared")
		return nil
	}
	m.write(&report)
	if o.fit != "" {
		fmt.Print(m.tried())
	}
	fmt.Print(report.String())
	if *out != "" {
		return os.WriteFile(*out, []byte(report.String()), 0o644)
	}
	return nil
}

func missing(program string) bool {
	_, err := exec.LookPath(program)
	return err != nil
}

func (o *options) files(name string) (open, aside string) {
	return filepath.Join(o.testdata, name+".jsonl"), filepath.Join(o.testdata, "aside", name+".jsonl")
}

// make draws the mutants of a project and writes them down as they come.
func (o *options) make(p *project) error {
	open, aside := o.files(p.Name)
	for _, f := range []string{open, aside} {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			return err
		}
		_ = os.Remove(f)
	}
	n := map[string]int{}
	return p.draw(quota{24, 24, 24}, func(m mutant) error {
		to, kind := open, fmt.Sprint(m.Kind, m.Far)
		if n[kind]++; n[kind]%3 == 0 {
			to = aside
		}
		f, err := os.OpenFile(to, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		e := json.NewEncoder(f)
		e.SetEscapeHTML(false)
		return e.Encode(m)
	})
}

// share is n of all.
func share(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f (%d/%d)", float64(n)/float64(all), n, all)
}

// measured measures a project and keeps what came out in the work folder, or
// reads what is kept there.
func (m *measure) measured(ctx context.Context, p *project) error {
	name := filepath.Join(p.root, "measured.json")
	if m.o.aside {
		name = filepath.Join(p.root, "measured-aside.json")
	}
	if !m.o.kept {
		n := len(m.results)
		if err := m.project(ctx, p); err != nil {
			return err
		}
		b, err := json.Marshal(m.results[n:])
		if err != nil {
			return err
		}
		return os.WriteFile(name, b, 0o644)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		fmt.Printf("%s is left out: it was not measured\n", p.Name)
		return nil
	}
	var list []result
	err = json.Unmarshal(b, &list)
	m.results = append(m.results, list...)
	return err
}

// result is where the function of a mutant came.
type result struct {
	Mutant   mutant
	Lang     string
	Rank     int  // from 1; 0 for not among those listed
	Whole    int  // the same of the whole output of the run
	Own, Any bool // whether the innermost own frame, and the innermost of all, is in it
	OnStack  bool
	Tokens   int
	Seconds  float64 // processor time of the question
}

func (m *measure) write(r *lab.Report) {
	which := "the open two thirds"
	if m.o.aside {
		which = "the third set aside"
	}
	r.Printf("# Traces\n\nLines of public repositories were changed, one at a time, their tests run, and what these printed explained: %s, %d mutants. ", which, len(m.results))
	r.Printf("Stores of the project and of what it depends on, without history. %s; load %s.\n\n", lab.Machine(), lab.Load())
	rows := [][]string{{"what", "mutants", "first", "in three", "in ten", "innermost own frame", "innermost frame"}}
	row := func(name string, pick func(*result) bool, rank func(*result) int) {
		var n, one, three, ten, own, any int
		for i := range m.results {
			x := &m.results[i]
			if !pick(x) {
				continue
			}
			n++
			k := cmp.Or(rank(x), 1000)
			one, three, ten = one+count(k <= 1), three+count(k <= 3), ten+count(k <= 10)
			own, any = own+count(x.Own), any+count(x.Any)
		}
		rows = append(rows, []string{name, fmt.Sprint(n), share(one, n), share(three, n), share(ten, n), share(own, n), share(any, n)})
	}
	alone := func(x *result) int { return x.Rank }
	raised := func(x *result) bool { return x.Mutant.Kind == "raised" }
	row("exceptions and panics, the trace of one test", raised, alone)
	row("the same, all that the run printed", raised, func(x *result) int { return x.Whole })
	row("changed in a dependency or far below", func(x *result) bool { return raised(x) && x.Mutant.Far }, alone)
	row("changed on the stack or just below", func(x *result) bool { return raised(x) && !x.Mutant.Far }, alone)
	row("on the stack", func(x *result) bool { return raised(x) && x.OnStack }, alone)
	row("not on the stack", func(x *result) bool { return raised(x) && !x.OnStack }, alone)
	row("bare assertions, all that the run printed", func(x *result) bool { return !raised(x) }, func(x *result) int { return x.Whole })
	row("bare assertions, what one test printed", func(x *result) bool { return !raised(x) }, alone)
	for _, name := range []string{"python", "go", "javascript"} {
		row(name+", exceptions and panics", func(x *result) bool { return raised(x) && x.Lang == name }, alone)
		row(name+", bare assertions", func(x *result) bool { return !raised(x) && x.Lang == name }, func(x *result) int { return x.Whole })
	}
	r.Table(rows...)
	var sizes []int
	var times []float64
	for _, x := range m.results {
		sizes, times = append(sizes, x.Tokens), append(times, x.Seconds*1000)
	}
	r.Printf("Replies: %d tokens at the median, %d at most. A question took %.0f ms at the median, %.0f at the 95th percentile, with the index of the changed file brought up to date.\n",
		lab.Median(sizes), slices.Max(sizes), lab.Median(times), lab.Quantile(times, 0.95))
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
