// Command spine measures what the first release promises (speed, memory,
// disk, tokens) on the machine it runs on and writes a dated report. Run it
// with ".ci/extra spine"; the machine should be idle.
//
// Every figure stands beside a yardstick that was measured in the same run: an
// empty Go program, reading and hashing the same bytes, a walk over the same
// tree, a plain substring scan over the same text, chromem-go. What it needs
// lies in a scratch folder that is removed afterwards.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

//go:embed queries.txt
var queryText string

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "spine:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	rounds  int
	quiet   time.Duration
	waits   int // rounds that began, and how many of them on a busy machine
	noisy   int
	scratch string
	root    string // of the repository
	tree    lab.Tree
	bin     string // the product
	empty   string // the program that does nothing
	goroot  string
	queries []string
	tok     *lab.Tokenizer
	noTok   string // why there is none

	spawn   []time.Duration // of the empty program
	summary [][]string
	details lab.Report
}

func run() error {
	b := &bench{queries: queryList(queryText)}
	rounds := flag.Int("rounds", 5, "how often each figure is measured; the median counts")
	out := flag.String("out", "bench/runs", "folder of the report")
	dirty := flag.Bool("dirty", false, "measure the work tree as it is, not the last commit")
	quiet := flag.Duration("quiet", 10*time.Second, "how long each round waits, at most, for the machine to be idle")
	keep := flag.Bool("keep", false, "keep the scratch folder")
	flag.Parse()
	b.rounds, b.quiet = max(*rounds, 1), *quiet

	var err error
	if b.root, err = os.Getwd(); err != nil {
		return err
	}
	if b.scratch, err = lab.Scratch("spine"); err != nil {
		return err
	}
	if *keep {
		fmt.Fprintln(os.Stderr, "scratch:", b.scratch)
	} else {
		defer os.RemoveAll(b.scratch)
	}
	began, load := time.Now(), lab.Load()
	if err := b.prepare(*dirty); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"spawn", b.measureSpawn}, {"tools", b.measureTools}, {"index", b.measureIndex},
		{"search", b.measureSearch}, {"vectors", b.measureVectors}, {"binary", b.measureBinary},
	} {
		fmt.Fprintf(os.Stderr, "%s  %s (load %s)\n", time.Now().Format(time.TimeOnly), step.name, lab.Load())
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return b.write(*out, began, load)
}

// round waits for the machine to be idle.
func (b *bench) round() {
	b.waits++
	if !lab.WaitQuiet(b.quiet) {
		b.noisy++
	}
}

// prepare builds the product and the empty program.
func (b *bench) prepare(dirty bool) error {
	goroot, err := lab.Command(b.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	b.goroot = strings.TrimSpace(goroot)
	if b.tree, err = lab.Checkout(b.root, filepath.Join(b.scratch, "tree")); err != nil {
		return err
	}
	if dirty {
		b.tree = lab.Tree{Dir: b.root, Commit: b.tree.Commit + " and uncommitted changes"}
	}
	b.bin = filepath.Join(b.scratch, "knowledge")
	if err := b.tree.Build(b.bin); err != nil {
		return err
	}
	if b.empty, err = lab.BuildEmpty(b.scratch); err != nil {
		return err
	}
	b.tok, b.noTok = lab.NewTokenizer(b.scratch)
	return nil
}

// queryList returns the lines that are neither empty nor comments.
func queryList(text string) []string {
	var qs []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			qs = append(qs, line)
		}
	}
	return qs
}

// figure adds one line to the summary. An empty bound has no verdict.
func (b *bench) figure(what, value, bound string, met bool, yardstick, ratio string) {
	verdict := "–"
	if bound != "" {
		verdict = "met"
		if !met {
			verdict = "**missed**"
		}
	}
	b.summary = append(b.summary, []string{what, value, bound, verdict, yardstick, ratio})
	fmt.Fprintf(os.Stderr, "    %s: %s; bound %q: %s; yardstick %s, %s\n", what, value, bound, verdict, yardstick, ratio)
}

func (b *bench) write(out string, began time.Time, load string) error {
	var r lab.Report
	r.Printf("# Spine, %s\n\n", began.Format(time.DateOnly))
	r.Printf("Commit %s. %s. Load averages %s at the start, %s at the end, %s later; the run itself keeps one to two cores busy. %d rounds began, %d of them while something else kept more than a tenth of the machine busy. Written by `.ci/extra spine`.\n\n",
		b.tree.Commit, lab.Machine(), load, lab.Load(), time.Since(began).Round(time.Second), b.waits, b.noisy)
	r.Printf("Each figure is the median of %d rounds unless the line says otherwise, with the least and the greatest in brackets. A yardstick was measured in the same run; the ratio is figure to yardstick.\n\n", b.rounds)
	r.Table(append([][]string{{"what", "figure", "bound", "verdict", "yardstick", "ratio"}}, b.summary...)...)
	r.Printf("%s", b.details.String())
	r.Printf(`## What this does not say

- Nothing here measures the quality of answers.
- All files were in the page cache. A cold disk, a network disk, a laptop on battery and other systems than the one above were not measured.
- Times of a command are seen from outside: they hold the start of the process and, for searches over stdio, writing and parsing JSON on the client's side.
- Peak memory adds the peaks of all processes of the product, though they may lie apart in time. Workers are sampled every 20 ms, so a peak in their last 20 ms is missed. Mapped files count as far as they were touched.
- One machine, one corpus (Go's own sources), one list of queries (` + "`bench/spine/queries.txt`" + `): ratios travel better than figures.
- The vectors are those of the untrained embedder; another model of the same width costs the same to search and other times to index.
`)
	p, err := r.Write(out, "spine")
	if err == nil {
		fmt.Println(p)
	}
	return err
}
