// Command secrets measures what is left out and masked as a secret: of the
// kinds that a review laid out, of a judged set of kinds, and, wrongly, of
// public repositories. Run it with ".ci/extra secrets -repos DIR", DIR holding
// checkouts or bare repositories, one a folder. Its report has figures, paths
// and reasons, and no text of anybody.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "secrets:", err)
		os.Exit(1)
	}
}

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	repos := flag.String("repos", "", "folder of repositories; without it none is looked at")
	tasks := flag.String("tasks", "../shared/eval/code-search-dev.json", "which of them, as a set of judged queries names them; all when it is missing")
	script := flag.String("script", "../shared/reviews/attacks/secrets.sh", "the review's script, which writes a file of each kind")
	set := flag.String("set", "internal/source/testdata/secrets", "folder of the judged set")
	sample := flag.Int("sample", 0, "print so many of the masked places with the line around them, to look at")
	flag.Parse()

	var r lab.Report
	r.Printf("# Secrets, %s\n\n%s. Written by `.ci/extra secrets`.\n\n", time.Now().UTC().Format(time.DateOnly), lab.Machine())
	if err := kinds(&r, *script); err != nil {
		return err
	}
	if err := judgedSet(&r, *set); err != nil {
		return err
	}
	if err := cost(&r); err != nil {
		return err
	}
	if *repos == "" {
		fmt.Println("skipped: the public repositories; name their folder with -repos")
	} else if err := public(&r, *repos, *tasks, *sample); err != nil {
		return err
	}
	path, err := r.Write(*out, "secrets")
	if err != nil {
		return err
	}
	fmt.Println(path)
	return nil
}

// public looks at the newest commit of each repository below dir.
func public(r *lab.Report, dir, tasks string, sample int) error {
	wanted, err := named(tasks)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var all counts
	rows := [][]string{{"repository", "files", "left out", "by name", "by content", "with a mask", "masked places", "by kind"}}
	for _, e := range entries {
		name := strings.Replace(e.Name(), "+", "/", 1)
		if !e.IsDir() || wanted != nil && !wanted[strings.ToLower(name)] {
			continue
		}
		delete(wanted, strings.ToLower(name))
		c, err := look(filepath.Join(dir, e.Name()), name)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		rows = append(rows, c.row(name))
		all.add(c)
		fmt.Fprintln(os.Stderr, strings.Join(rows[len(rows)-1], "  "))
	}
	rows = append(rows, all.row("all"))
	r.Printf("## Public repositories\n\nEvery text of at most 1 MiB in the newest commit at hand, vendored trees and lockfiles too.\n\n")
	r.Table(rows...)
	for _, missing := range slices.Sorted(maps.Keys(wanted)) {
		r.Printf("Not at hand: %s.\n", missing)
	}
	r.Printf("\n%.2f files in 1,000 have a masked place, %.2f places in 1,000 files.\n\nLeft out whole, %d of %d:\n\n", 1000*float64(all.masked)/float64(max(all.files, 1)), 1000*float64(all.places)/float64(max(all.files, 1)), len(all.left), all.files)
	left := [][]string{{"file", "why"}}
	for _, l := range all.left {
		left = append(left, []string{l.path, l.why})
	}
	r.Table(left...)
	r.Printf("\nMasked places:\n\n")
	spots := [][]string{{"place", "kind"}}
	for _, s := range all.spots {
		spots = append(spots, []string{s.path, s.why})
	}
	r.Table(spots...)
	if sample > 0 {
		step := max(1, len(all.spots)/sample)
		for i := 0; i < len(all.spots); i += step {
			fmt.Printf("%s [%s] %s\n", all.spots[i].path, all.spots[i].why, all.spots[i].line)
		}
	}
	return nil
}

// named returns the repositories that a set of judged queries names, in lower
// case; nil when there is no such file.
func named(tasks string) (map[string]bool, error) {
	raw, err := os.ReadFile(tasks)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var set struct {
		Repos []struct{ GitHub string }
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, r := range set.Repos {
		names[strings.ToLower(r.GitHub)] = true
	}
	return names, nil
}

// spot is a file or a place in one, and why it is none that is shown.
type spot struct{ path, why, line string }

type counts struct {
	files, byName, byContent, masked, places int
	kinds                                    map[string]int
	left, spots                              []spot
}

func (c *counts) add(o counts) {
	c.files, c.byName, c.byContent, c.masked, c.places = c.files+o.files, c.byName+o.byName, c.byContent+o.byContent, c.masked+o.masked, c.places+o.places
	c.left, c.spots = append(c.left, o.left...), append(c.spots, o.spots...)
	if c.kinds == nil {
		c.kinds = map[string]int{}
	}
	for k, n := range o.kinds {
		c.kinds[k] += n
	}
}

func (c *counts) row(name string) []string {
	kinds := slices.SortedFunc(maps.Keys(c.kinds), func(a, b string) int { return cmp.Or(c.kinds[b]-c.kinds[a], strings.Compare(a, b)) })
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%s %d", k, c.kinds[k])
	}
	return []string{name, fmt.Sprint(c.files), fmt.Sprint(len(c.left)), fmt.Sprint(c.byName), fmt.Sprint(c.byContent), fmt.Sprint(c.masked), fmt.Sprint(c.places), strings.Join(kinds, ", ")}
}
