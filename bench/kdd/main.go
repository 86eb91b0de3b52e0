// Command kdd measures what the program makes of specifications: a public
// repository of them against questions that were judged beforehand and against
// what its original engine answered, the seed's own decision record, and ten
// thousand made ones. Run it with ".ci/extra kdd".
//
//	kdd [-repo DIR] [-repos DIR] [-specs DIR] [-aside] [-out DIR]
//
// DIR of -repos holds the repositories of testdata/corpus.json, from which the
// 682 specifications of two languages are gathered.
// DIR of -repo is a clone of the repository that testdata/questions.json
// names, which is else fetched; -specs is the folder of the specifications
// that this program is built from, which are not part of it.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	o := options{}
	flag.StringVar(&o.repo, "repo", "", "a clone of the repository of the questions")
	flag.StringVar(&o.repos, "repos", "../repos", "folder of repositories, OWNER+NAME each, that testdata/corpus.json names")
	flag.StringVar(&o.specs, "specs", "../shared/specs", "folder of the specifications of this program")
	flag.StringVar(&o.questions, "questions", "bench/kdd/testdata/questions.json", "the questions")
	flag.BoolVar(&o.aside, "aside", false, "ask the questions that are kept aside, too")
	flag.BoolVar(&o.show, "v", false, "show what was missed, also of those kept aside")
	flag.StringVar(&o.out, "out", "bench/runs", "folder of the report; \"\" prints it")
	flag.IntVar(&o.made, "made", 10_000, "how many specifications are made; 0 for none")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "kdd:", err)
		os.Exit(1)
	}
}
