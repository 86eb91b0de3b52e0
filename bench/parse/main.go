// Command parse measures how fast folders are indexed with grammars. Run it
// with ".ci/extra parse DIR…": each DIR is a checkout, or a folder of
// checkouts each of which is indexed by itself, in one data directory.
//
// The first index of a language compiles its grammar once per data
// directory; that is measured apart, by indexing everything once before.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "parse:", err)
		os.Exit(1)
	}
}

type info struct {
	Documents, Chunks, Unparsed int
	TextBytes                   int64
	Languages, Skipped          map[string]int
}

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	each := flag.Bool("each", false, "every folder below a DIR is one repository")
	rounds := flag.Int("rounds", 3, "how often everything is indexed")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: parse [-out DIR] [-rounds N] [-each] DIR…") }
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Println("skipped: no folder is named; give the checkouts to index")
		return nil
	}
	var dirs []string
	for _, d := range flag.Args() {
		abs, err := filepath.Abs(d)
		if err != nil {
			return err
		}
		if !*each {
			dirs = append(dirs, abs)
			continue
		}
		entries, err := os.ReadDir(abs)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() {
				dirs = append(dirs, filepath.Join(abs, e.Name()))
			}
		}
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	scratch, err := lab.Scratch("parse")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	tree, err := lab.Checkout(root, filepath.Join(scratch, "tree"))
	if err != nil {
		return err
	}
	bin := filepath.Join(scratch, "knowledge")
	if err := tree.Build(bin); err != nil {
		return err
	}
	began := time.Now()
	data := filepath.Join(scratch, "data")
	env := lab.Env(data)
	var r lab.Report
	r.Printf("# Indexing with grammars, %s\n\nThe product at commit %s. %s. Load averages %s at the start. Written by `.ci/extra parse`.\n\n", began.Format(time.DateOnly), tree.Commit, lab.Machine(), lab.Load())
	r.Printf("Wall time of `store:create` until its job has completed: walking, parsing, embedding and writing, for stores up to 6 MB also linking, by as many workers as there are cores. Text is what was indexed.\n\n")
	rows := [][]string{{"folder", "text", "documents", "wall", "MB/s", "user + system", "peak memory", "unparsed", "languages"}}
	var text int64
	var sum time.Duration
	unparsed, documents := 0, 0
	for n, dir := range dirs {
		store := fmt.Sprintf("s%d", n)
		if _, err := lab.Run(scratch, env, bin, "--quiet", "store:create", store, dir, "--scope", "user"); err != nil {
			return err // the grammars are compiled now
		}
		var walls, cpus []time.Duration
		var rss []int64
		var i info
		for range *rounds {
			if _, err := lab.Command(scratch, env, bin, "store:delete", store); err != nil {
				return err
			}
			u, err := lab.Run(scratch, env, bin, "--quiet", "store:create", store, dir, "--scope", "user")
			if err != nil {
				return err
			}
			walls, cpus, rss = append(walls, u.Wall), append(cpus, u.User+u.Sys), append(rss, u.PeakRSS)
			said, err := lab.Command(scratch, env, bin, "--json", "store:info", store)
			if err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(said), &i); err != nil {
				return err
			}
		}
		if _, err := lab.Command(scratch, env, bin, "store:delete", store); err != nil {
			return err
		}
		wall := lab.Median(walls)
		text, sum, unparsed, documents = text+i.TextBytes, sum+wall, unparsed+i.Unparsed, documents+i.Documents
		rows = append(rows, []string{filepath.Base(dir), lab.MB(i.TextBytes), fmt.Sprint(i.Documents), lab.Ms(wall), rate(i.TextBytes, wall), lab.Ms(lab.Median(cpus)), lab.MB(lab.Median(rss)), fmt.Sprint(i.Unparsed), languages(i.Languages)})
		fmt.Fprintln(os.Stderr, strings.Join(rows[len(rows)-1][:5], "  "))
	}
	rows = append(rows, []string{"all", lab.MB(text), fmt.Sprint(documents), lab.Ms(sum), rate(text, sum), "", "", fmt.Sprint(unparsed), ""})
	r.Table(rows...)
	path, err := r.Write(*out, "parse")
	if err != nil {
		return err
	}
	fmt.Println(path)
	return nil
}

func rate(n int64, d time.Duration) string {
	return fmt.Sprintf("%.1f", float64(n)/1e6/d.Seconds())
}

// languages names the three most frequent.
func languages(m map[string]int) string {
	names := lab.Keys(m)
	slices.SortStableFunc(names, func(a, b string) int { return m[b] - m[a] })
	var out []string
	for _, n := range names[:min(3, len(names))] {
		out = append(out, fmt.Sprintf("%s %d", n, m[n]))
	}
	return strings.Join(out, ", ")
}
