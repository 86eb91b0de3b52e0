// Command agents measures what an agent pays: with a scripted agent that needs
// no model, by what one reply of a given size delivers, and with live agents.
//
//	agents check                           the sets of questions against their trees
//	agents scripted -repos DIR             two policies until all gold lines are in the window
//	agents filled -repos DIR               gold lines delivered by one reply of N tokens
//	agents replay                          what live agents typed, asked again
//	agents run -arm ARM -command 'CMD'     a live agent; see README.md
//	agents sheet RUN…                      answers to be graded, without their arms
//	agents report -grades FILE RUN…        arms compared, with intervals
//
// See README.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// options are the flags of all modes.
type options struct {
	repos, asked, program, work, trees, data, testdata, out, kept string
	sets, only                                                    []string
	each                                                          int
	live                                                          live
	rest                                                          []string
}

var modes = map[string]func(*options) error{
	"check": (*options).check, "scripted": (*options).scripted, "filled": (*options).filled,
	"replay": (*options).replay, "run": (*options).run, "sheet": (*options).sheet, "report": (*options).report,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	names := lab.Keys(modes)
	if len(args) == 0 {
		return fmt.Errorf("one of %s is needed", strings.Join(names, ", "))
	}
	mode := modes[strings.TrimLeft(args[0], "-")]
	if mode == nil {
		return fmt.Errorf("no mode %q; there are %s", args[0], strings.Join(names, ", "))
	}
	o, err := parse(args[1:])
	if err != nil {
		return err
	}
	return mode(o)
}

func parse(args []string) (*options, error) {
	o := &options{}
	cache, _ := os.UserCacheDir()
	f := flag.NewFlagSet("agents", flag.ContinueOnError)
	f.StringVar(&o.repos, "repos", "", "folder of repositories, OWNER+NAME, as bench/asked takes it")
	f.StringVar(&o.asked, "asked", "asked", "the program of bench/asked")
	f.StringVar(&o.program, "program", "", "the program that is asked; built from the work tree without it")
	f.StringVar(&o.work, "work", filepath.Join(cache, "knowledge-agents"),
		"folder of sources and indexes, kept between runs")
	f.StringVar(&o.trees, "trees", filepath.Join(cache, "knowledge-asked"), "folder of bench/asked's checkouts")
	f.StringVar(&o.testdata, "testdata", "bench/agents/testdata", "folder of the sets of questions")
	f.StringVar(&o.out, "out", "", "write the report here")
	f.StringVar(&o.kept, "kept", "", "scripted, replay: keep each outcome here; scripted asks only what is not there yet")
	f.IntVar(&o.each, "each", 0, "ask at most so many questions of each set")
	sets := f.String("set", join(append(slices.Clone(lineSets), "plain", "tasks")),
		"which sets; tasks are those of this folder")
	only := f.String("only", "", "which forms of reply, all without it")
	o.live.flags(f)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.sets, o.rest = strings.Split(*sets, ","), f.Args()
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, p := range []*string{&o.work, &o.trees} {
		abs, err := filepath.Abs(*p)
		if err == nil {
			err = os.MkdirAll(abs, 0o755)
		}
		if err == nil {
			*p, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return nil, err
		}
	}
	o.data = filepath.Join(o.work, "data")
	return o, nil
}

// need makes sure that there is a program to ask.
func (o *options) need() (err error) {
	if o.program == "" {
		o.program = filepath.Join(o.work, "knowledge")
		return lab.Build(".", o.program, "./cmd/knowledge")
	}
	o.program, err = filepath.Abs(o.program)
	return err
}

// check compares the sets, those aside too, with their trees and stores: every
// place is a file of them, with these lines, in which its name is.
func (o *options) check() error {
	total, failed := 0, 0
	for _, at := range []string{"*.json", "aside/*.json"} {
		files, err := filepath.Glob(filepath.Join(o.testdata, at))
		if err != nil {
			return err
		}
		for _, f := range files {
			s, _, err := o.prepare(f)
			if err != nil {
				fmt.Printf("%s: %v\n", f, err)
				failed++
				continue
			}
			places := 0
			for _, t := range s.Tasks {
				places += len(t.Gold)
			}
			fmt.Printf("%s: %d questions, all %d places are there\n", f, len(s.Tasks), places)
			total += len(s.Tasks)
		}
	}
	fmt.Printf("%d questions\n", total)
	if failed > 0 || total == 0 {
		return fmt.Errorf("%d sets could not be checked", failed)
	}
	return nil
}

// finish prints the report and writes it where that is asked for.
func (o *options) finish(r *lab.Report) error {
	fmt.Print(r.String())
	if o.out == "" {
		return nil
	}
	return os.WriteFile(o.out, []byte(strings.TrimRight(r.String(), "\n")+"\n"), 0o644)
}

func join(list []string) string { return strings.Join(list, ",") }

func compare(a, b string) int { return strings.Compare(a, b) }
