// Command attacks runs the scripts of a review that tried to break the program
// and judges what they print:
//
//	attacks [-scripts DIR] [-only NAME,…] [-long] [-jobs N] [-keep] [-again DIR] [-out FILE]
//
// Each script runs from a copy in a throw-away folder, with a home and data
// directories there, on ports that are free, against a program that is built
// from this tree. The scripts only print; what has to be read in their output
// for a promise to be held stands in the judges of this package, one a script.
// The exit status is 1 when a promise was broken, and 0 with a printed reason
// when there are no scripts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func main() {
	scripts := flag.String("scripts", "../shared/reviews/attacks", "folder of the scripts")
	only := flag.String("only", "", "scripts to run, as http1,secrets; empty is all")
	long := flag.Bool("long", false, "as many kills, flips and minutes as the review had")
	jobs := flag.Int("jobs", 2, "scripts that run at once")
	again := flag.String("again", "", "folder that a run kept: judge its outputs once more")
	keep := flag.Bool("keep", false, "keep the folder with the output of each script")
	out := flag.String("out", "", "file for the report; standard output without")
	flag.Parse()
	switch err := run(*scripts, *only, *again, *out, *long, *keep, *jobs); {
	case errors.Is(err, errSkipped):
		fmt.Println(err)
	case err != nil:
		fmt.Fprintln(os.Stderr, "attacks:", err)
		os.Exit(1)
	}
}

var errSkipped = errors.New("skipped")

// attack is one script: how it is run and judged.
type attack struct {
	name  string // of the file
	lane  string // attacks of one lane run one after the other, in the order of the table
	open  bool   // reading is open on its server
	args  []string
	limit time.Duration
	judge func(*seen) // nil: it is a part of others
}

// seen is what one attack printed, and what its judge made of it.
type seen struct {
	attack
	out     string
	skipped string // why it was not run
	took    time.Duration
	checks  []check
	place   *place
}

// check is one promise and whether it was held.
type check struct {
	promise string // what must hold, with the number of the line
	held    bool
	saw     string
}

// expect adds a check.
func (s *seen) expect(promise string, held bool, format string, args ...any) {
	s.checks = append(s.checks, check{promise, held, fmt.Sprintf(format, args...)})
}

func run(dir, only, again, out string, long, keep bool, jobs int) error {
	if again != "" {
		return rejudge(again, only, out, long)
	}
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
		return fmt.Errorf("%w: no scripts in %s", errSkipped, dir)
	}
	for _, program := range []string{"bash", "python3", "curl", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: no program %s on the PATH", errSkipped, program)
		}
	}
	w, err := newPlace(dir)
	if err != nil {
		return err
	}
	if keep {
		fmt.Println("kept in", w.dir)
	} else {
		defer os.RemoveAll(w.dir)
	}
	defer w.close()
	var mu sync.Mutex
	var all []*seen
	lanes := map[string][]*seen{}
	for _, a := range table(long) {
		if only != "" && !slices.Contains(strings.Split(only, ","), a.name) {
			continue
		}
		s := &seen{attack: a, place: w}
		all = append(all, s)
		lanes[a.lane] = append(lanes[a.lane], s)
	}
	slots := make(chan struct{}, max(jobs, 1))
	var wg sync.WaitGroup
	for _, lane := range lanes {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, s := range lane {
				w.attack(s)
				mu.Lock()
				fmt.Print(s.line())
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return report(out, w.commit, all)
}

// rejudge judges what a run kept.
func rejudge(dir, only, out string, long bool) error {
	w := &place{dir: dir, bin: filepath.Join(dir, "bin", "knowledge"), env: lab.Env(dir + "/attacks-data"), commit: "of the run that was kept"}
	var all []*seen
	for _, a := range table(long) {
		s := &seen{attack: a, place: w}
		said, err := os.ReadFile(filepath.Join(dir, s.file()))
		if err != nil || only != "" && !slices.Contains(strings.Split(only, ","), a.name) {
			continue
		}
		s.out = string(said)
		s.judge(s)
		all = append(all, s)
		fmt.Print(s.line())
	}
	return report(out, w.commit, all)
}

// file keeps what the attack printed.
func (s *seen) file() string { return strings.ReplaceAll(s.label(), " ", "-") + ".out" }

// label names the attack, and that reading was open.
func (s *seen) label() string {
	if s.open {
		return s.name + " open"
	}
	return s.name
}

// line is one attack on a terminal.
func (s *seen) line() string {
	if s.skipped != "" {
		return fmt.Sprintf("%-17s skipped: %s\n", s.label(), s.skipped)
	}
	var b strings.Builder
	held := 0
	for _, c := range s.checks {
		if c.held {
			held++
			continue
		}
		fmt.Fprintf(&b, "    BROKEN %s: %s\n", c.promise, c.saw)
	}
	return fmt.Sprintf("%-17s %d of %d held in %s\n%s", s.label(), held, len(s.checks), s.took.Round(time.Second), b.String())
}

// report writes the table; it returns an error when something was broken.
func report(out, commit string, all []*seen) error {
	var r lab.Report
	checks, broken, skipped := 0, 0, 0
	rows := [][]string{{"script", "must hold", "held", "seen"}}
	for _, s := range all {
		if s.skipped != "" {
			skipped++
			rows = append(rows, []string{s.label(), "", "skipped", s.skipped})
		}
		for _, c := range s.checks {
			checks++
			held := "yes"
			if !c.held {
				broken++
				held = "**no**"
			}
			rows = append(rows, []string{s.label(), c.promise, held, c.saw})
		}
	}
	r.Printf("# Attacks, %s\n\nThe scripts of the review, run against commit %s; the number before each line is that of the promise in the issue.\n\n", time.Now().UTC().Format(time.DateOnly), commit)
	r.Printf("%d scripts, %d checks, **%d broken**, %d scripts skipped. Machine: %s.\n\n", len(all), checks, broken, skipped, lab.Machine())
	r.Table(rows...)
	if out == "" {
		fmt.Print(r.String())
	} else if err := os.WriteFile(out, []byte(strings.TrimRight(r.String(), "\n")+"\n"), 0o644); err != nil {
		return err
	}
	if broken > 0 {
		return fmt.Errorf("%d of %d checks are broken", broken, checks)
	}
	return nil
}
