package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// paid asks queries that projects answer, and says what their replies pay for
// the chance that they might not.
func paid(repos, work, file, fit string) error {
	var f struct {
		Repos []project
		Tasks []struct{ Repo, Query string }
	}
	if err := read(file, &f); err != nil {
		return err
	}
	var signs io.Writer
	if fit != "" {
		f, err := os.Create(fit)
		if err != nil {
			return err
		}
		defer f.Close()
		signs = f
	}
	var r lab.Report
	rows := [][]string{{"project", "queries", "says that nothing answers", "names a dependency", "tokens for it, of all replies"}}
	var all, said, named, tokens int
	for _, p := range f.Repos {
		var mine []query
		for _, t := range f.Tasks {
			if t.Repo == p.Name {
				mine = append(mine, query{ID: fmt.Sprint(p.Name, len(mine)), Project: p.Name, Query: t.Query})
			}
		}
		p.Name = "answered-" + p.Name
		dir, err := checkout(repos, work, p)
		if err != nil {
			continue
		}
		into := map[string]*told{}
		if err := ask(filepath.Join(work, "data", p.Name), dir, mine, into, signs); err != nil {
			return err
		}
		n, with, cost := 0, 0, 0
		for _, q := range mine {
			t := into[q.ID]
			if t.absent {
				n++
			}
			if len(t.proposed) > 0 {
				with++
				cost += t.extra
				fmt.Printf("%s: %s: %s (%.2f)\n", p.Name, q.Query, strings.Join(t.proposed, " "), t.p)
			}
		}
		rows = append(rows, []string{p.Name, fmt.Sprint(len(mine)), fmt.Sprint(n), fmt.Sprint(with), fmt.Sprintf("%.1f", float64(cost)/float64(max(1, len(mine))))})
		all, said, named, tokens = all+len(mine), said+n, named+with, tokens+cost
	}
	rows = append(rows, []string{"all", fmt.Sprint(all), fmt.Sprint(said), fmt.Sprint(named), fmt.Sprintf("%.1f", float64(tokens)/float64(max(1, all)))})
	r.Table(slices.Clip(rows)...)
	fmt.Print(r.String())
	return nil
}
