// Command impact measures the tests that impact names for a change: single lines
// of public projects are changed as the recipe says, their whole suites tell
// which tests notice, and the ten tests ranked first are held against those.
//
//	impact -draw [-repos DIR]                     write the recipe; see README.md
//	impact [-repos DIR] [-work DIR] [-aside] …    measure
package main

import (
	"flag"
	"fmt"
	"os"
)

type options struct {
	repos, work, python, only, out string
	part                           string
	aside, matrix, asFar           bool
}

const (
	openSet  = "bench/impact/testdata/mutants.tsv"
	asideSet = "bench/impact/testdata/aside/mutants.tsv"
)

func main() {
	var o options
	flag.StringVar(&o.repos, "repos", "", "folder of the repositories, OWNER+NAME each")
	flag.StringVar(&o.work, "work", "", "folder for clones, indexes and verdicts, which a later run goes on from (default: a temporary one)")
	flag.StringVar(&o.python, "python", "python3", "an interpreter with pytest and pytest-timeout")
	flag.StringVar(&o.only, "only", "", "only this project")
	flag.StringVar(&o.out, "out", "", "write the report there")
	flag.StringVar(&o.part, "part", "", "only one of several equal parts, 1of3, so that several can run at once on one -work")
	flag.BoolVar(&o.aside, "aside", false, "the mutants that are kept aside")
	flag.BoolVar(&o.matrix, "matrix", false, "only have the suites judge the mutants")
	flag.BoolVar(&o.asFar, "as-far", false, "only the mutants that -work has verdicts of")
	drawing := flag.Bool("draw", false, "write the recipe anew")
	fitting := flag.Bool("fit", false, "look for weights on the open set as it was ranked into -work")
	flag.Parse()
	var err error
	switch {
	case *drawing:
		err = draw(o.repos, openSet, asideSet)
	case *fitting:
		err = fit(o)
	default:
		err = measure(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "impact:", err)
		os.Exit(1)
	}
}
