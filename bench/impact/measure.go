package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/impact"
	"github.com/seed-4f2d999b/knowledge/internal/impact/reach"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// judged is one mutant that the suite kills, with the ranked tests.
type judged struct {
	Mutant mutant
	Tests  []candidate
	Killed int // how many tests notice it
	All    int // tests of the suite
	Rank   int // of the first that does, from 1; 0 for none
	Tokens int
	Took   time.Duration
}

// candidate is one ranked test.
type candidate struct {
	ID      string
	Notices bool
	Signals reach.Signals
}

func measure(o options) error {
	if _, err := exec.LookPath("git"); err != nil {
		fmt.Println("skipped: no program git on the PATH")
		return nil
	}
	if o.work == "" {
		tmp, err := os.MkdirTemp("", "impact-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		o.work = tmp
	}
	set, name := openSet, "open"
	if o.aside {
		set, name = asideSet, "aside"
	}
	list, err := readMutants(set)
	if err != nil {
		return err
	}
	var all []judged
	var rows []row
	judgedAll := 0
	for i := range projects {
		p := &projects[i]
		if o.only != "" && o.only != p.name {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(list), func(m mutant) bool { return m.Project != p.name })
		if p.lang == "python" && exec.Command(o.python, "-c", "import pytest, pytest_timeout").Run() != nil {
			fmt.Printf("skipped: %s: %s has no pytest or no pytest-timeout\n", p.name, o.python)
			continue
		}
		dir, err := checkout(o.repos, p, filepath.Join(o.work, "suites-"+name+o.part))
		if err != nil {
			fmt.Printf("skipped: %s: %v\n", p.name, err)
			continue
		}
		base := filepath.Join(o.work, name+"-"+strings.ReplaceAll(p.name, "/", "+"))
		mine = portion(mine, o.part)
		verdicts, err := p.matrix(dir, o.python, base+".verdicts", mine, o.asFar)
		if err != nil {
			return err
		}
		if o.matrix {
			continue
		}
		found, err := p.rank(o, verdicts)
		if err != nil {
			return err
		}
		if err := keep(base+".ranked", found); err != nil {
			return err
		}
		judgedAll += len(verdicts)
		rows = append(rows, rowOf(p.name, len(verdicts), found))
		all = append(all, found...)
	}
	if o.matrix || len(all) == 0 {
		return nil
	}
	return report(o, name, append(rows, rowOf("all", judgedAll, all)), all)
}

// portion is one of several equal parts of a list, "1of3" the first; all of it for "".
func portion(list []mutant, part string) []mutant {
	var k, n int
	if _, err := fmt.Sscanf(strings.ReplaceAll(part, "of", " "), "%d %d", &k, &n); err != nil || n < 1 {
		return list
	}
	var out []mutant
	for i, m := range list {
		if i%n == k-1 {
			out = append(out, m)
		}
	}
	return out
}

func keep(path string, list []judged) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for _, j := range list {
		line, err := json.Marshal(j)
		if err == nil {
			_, err = f.Write(append(line, '\n'))
		}
		if err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}

// rank asks for the tests of each mutant that the suite kills: the changed line
// lies in the work tree, against the last commit.
func (p *project) rank(o options, verdicts []verdict) ([]judged, error) {
	ctx := context.Background()
	dir, err := checkout(o.repos, p, filepath.Join(o.work, "trees"))
	if err != nil {
		return nil, err
	}
	a, err := product.New(app.Config{DataDir: filepath.Join(o.work, "data"), Dir: dir, Project: dir, Env: func(string) string { return "" }})
	if err != nil {
		return nil, err
	}
	defer a.Close()
	wait := app.Waiting{Wait: 3 * time.Minute, Person: true}
	var out []judged
	for _, v := range verdicts {
		if len(v.Failing) == 0 {
			continue
		}
		back, err := v.Mutant.put(dir)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		r, err := impact.Impact(ctx, a, impact.Request{Limit: mostRanked, Waiting: wait})
		took := time.Since(start)
		back()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Mutant, err)
		}
		j := judged{Mutant: v.Mutant, Killed: len(v.Failing), All: v.Tests, Took: took}
		for i, t := range r.Tests {
			c := candidate{ID: p.id(t), Signals: t.Ranked.Signals}
			c.Notices = notices(v.Failing, c.ID)
			if c.Notices && j.Rank == 0 {
				j.Rank = i + 1
			}
			j.Tests = append(j.Tests, c)
		}
		r.Tests, r.MoreTests = r.Tests[:min(10, len(r.Tests))], max(0, len(r.Tests)-10)
		j.Tokens = tokens.Estimate(r.Text())
		out = append(out, j)
	}
	return out, nil
}

const mostRanked = 400

// id is what a suite calls a ranked test.
func (p *project) id(t impact.Test) string {
	at, _, _ := strings.Cut(t.At, ":L")
	if p.lang == "go" {
		return path.Dir(at) + ":" + t.Symbol
	}
	return at + "::" + strings.ReplaceAll(t.Symbol, ".", "::")
}

// notices reports whether a test is among those that fail.
func notices(failing []string, id string) bool {
	file, _, _ := strings.Cut(id, "::")
	return slices.Contains(failing, id) || slices.Contains(failing, "*") || slices.Contains(failing, file+"::*")
}

// row is one line of the report.
type row struct {
	name                  string
	mutants, killed       int
	one, three, five, ten int
	chance                float64 // that ten tests at random have one that notices
	took                  []time.Duration
	tokens                []int
	unreached             int
}

func rowOf(name string, mutants int, list []judged) row {
	r := row{name: name, mutants: mutants, killed: len(list)}
	for _, j := range list {
		for _, x := range []struct {
			n    int
			into *int
		}{{1, &r.one}, {3, &r.three}, {5, &r.five}, {10, &r.ten}} {
			if j.Rank > 0 && j.Rank <= x.n {
				*x.into++
			}
		}
		if j.Rank == 0 {
			r.unreached++
		}
		r.chance += atRandom(j.All, j.Killed)
		r.took = append(r.took, j.Took)
		r.tokens = append(r.tokens, j.Tokens)
	}
	return r
}

// atRandom is the chance that ten of n tests have one of k.
func atRandom(n, k int) float64 {
	miss := 1.0
	for i := range 10 {
		if n-i <= 0 {
			return 1
		}
		miss *= math.Max(0, float64(n-k-i)/float64(n-i))
	}
	return 1 - miss
}

func report(o options, name string, rows []row, all []judged) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Which tests to run\n\n%s, %s. Load averages %s at the end. The set %q of `bench/impact/testdata`; see `bench/impact/README.md`.\n", time.Now().Format(time.DateOnly), lab.Machine(), lab.Load(), name)
	b.WriteString("Of the mutants that the whole suite kills: how many the tests ranked first kill, `impact` asked without arguments over the changed work tree.\n\n")
	b.WriteString("| project | mutants | killed by the suite | by the first | first 3 | first 5 | first 10 | ten at random | none ranked | median time | largest reply |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	part := func(n, of int) string { return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(of, 1))) }
	for _, r := range rows {
		if r.killed == 0 {
			fmt.Fprintf(&b, "| %s | %d | 0 | | | | | | | | |\n", r.name, r.mutants)
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %s | %s | %.1f %% | %d | %s | %d tokens |\n", r.name, r.mutants, r.killed, part(r.one, r.killed), part(r.three, r.killed),
			part(r.five, r.killed), part(r.ten, r.killed), 100*r.chance/float64(r.killed), r.unreached, lab.Ms(lab.Median(r.took)), slices.Max(r.tokens))
	}
	b.WriteString("\nNot among the first ten, with the rank of the first test that notices:\n\n")
	for _, j := range all {
		if j.Rank == 0 || j.Rank > 10 {
			fmt.Fprintf(&b, "- %s %s:%d %s: rank %d, %d of %d tests notice\n", j.Mutant.Project, j.Mutant.File, j.Mutant.Line, j.Mutant.Operator, j.Rank, j.Killed, j.All)
		}
	}
	fmt.Print(b.String())
	if o.out == "" {
		return nil
	}
	f, err := os.OpenFile(o.out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(b.String() + "\n")
	return errors.Join(err, f.Close())
}
