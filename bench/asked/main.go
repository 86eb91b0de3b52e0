// Command asked measures search as it is used: names, messages of errors,
// stack traces, issues, questions of how something works, questions over many
// stores, about nothing that is there, to documentation and in plain words.
//
//	asked -repos DIR [-program FILE] [-set NAME,…] [-aside] [-out FILE]
//
// DIR holds one folder per project, OWNER+NAME, with a git repository and its
// history in it or in its folder repo; a project that is not there is skipped
// and said so. Checkouts and indexes stay in -work between runs. -v lists what
// was missed, -print what is asked. See README.md for the sets.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

type options struct {
	repos, program, tasks, work, out, data string
	sets                                   []string
	aside, verbose, print, json, sure, fit bool
	limit                                  int
}

type bench struct {
	o       options
	trees   *trees
	tasks   map[string][]task
	skipped map[string]bool
	r       lab.Report
}

func main() {
	var o options
	cache, _ := os.UserCacheDir()
	flag.StringVar(&o.repos, "repos", "", "folder of the repositories")
	flag.StringVar(&o.program, "program", "", "the program that is asked; built from the work tree without it")
	flag.StringVar(&o.tasks, "tasks", "../shared/eval/code-search-dev.json", "the public tasks")
	flag.StringVar(&o.work, "work", filepath.Join(cache, "knowledge-asked"), "folder of checkouts and indexes, kept between runs")
	flag.StringVar(&o.out, "out", "", "write the report here")
	flag.StringVar(&o.data, "testdata", "bench/asked/testdata", "folder of the sets")
	only := flag.String("set", strings.Join(sets, ","), "which sets")
	flag.BoolVar(&o.aside, "aside", false, "also the third of each set that is aside")
	flag.BoolVar(&o.verbose, "v", false, "list what was missed")
	flag.BoolVar(&o.sure, "sure", false, "ask on the command line, for the probability in the place of its name")
	flag.BoolVar(&o.fit, "fit", false, "fit the weights of the confidence as well; the sets that are aside are not used")
	flag.BoolVar(&o.print, "print", false, "print what is asked, and ask nothing")
	flag.BoolVar(&o.json, "json", false, "print one JSON object a line, for the programs of bench/agents; with -print")
	flag.IntVar(&o.limit, "each", 0, "ask at most so many items of each set")
	flag.Parse()
	o.sets = strings.Split(*only, ",")
	if o.repos == "" {
		fmt.Println("skipped: no -repos DIR with repositories of the projects in bench/asked/testdata/repos.json")
		return
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "asked:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	var table []repository
	if err := readJSON(filepath.Join(o.data, "repos.json"), &table); err != nil {
		return err
	}
	work, err := filepath.Abs(o.work)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	if o.work, err = filepath.EvalSymlinks(work); err != nil {
		return err
	}
	b := &bench{o: o, skipped: map[string]bool{}, trees: &trees{repos: o.repos, work: o.work, table: map[string]repository{}, history: map[string]map[string]string{}}}
	for _, r := range table {
		b.trees.table[r.Name] = r
	}
	if b.tasks, err = publicTasks(o.tasks); err != nil {
		fmt.Println("skipped: the public tasks:", err)
		b.tasks = map[string][]task{}
	}
	if o.program == "" && !o.print {
		b.o.program = filepath.Join(o.work, "knowledge")
		if err := lab.Build(".", b.o.program, "./cmd/knowledge"); err != nil {
			return err
		}
	} else if b.o.program, err = filepath.Abs(o.program); err != nil {
		return err
	}
	part := "the two thirds for looking at"
	if o.aside {
		part = "all items, those aside too"
	}
	b.r.Printf("# Search as it is used\n\n%s, %s. Load averages %s at the start. %s. Written by `.ci/extra asked`.\n\n", time.Now().Format(time.DateOnly), lab.Machine(), lab.Load(), part)
	var all []*answer
	for _, set := range o.sets {
		if !slices.Contains(sets, set) {
			return fmt.Errorf("no set %q; there are %s", set, strings.Join(sets, ", "))
		}
		items, err := load(o.data, set, o.aside)
		if err != nil {
			return err
		}
		if o.limit > 0 && len(items) > o.limit {
			var some []*item
			for i := range o.limit {
				some = append(some, items[i*len(items)/o.limit])
			}
			items = some
		}
		as, err := b.ask(set, items)
		if err != nil {
			return err
		}
		if o.print || len(as) == 0 {
			continue
		}
		b.report(set, as)
		all = append(all, as...)
		fmt.Fprintf(os.Stderr, "%s: %d asked\n", set, len(as))
	}
	if o.print {
		return nil
	}
	b.honesty(all)
	if o.fit {
		b.fit(all)
	}
	fmt.Print(b.r.String())
	if o.out != "" {
		return os.WriteFile(o.out, []byte(strings.TrimRight(b.r.String(), "\n")+"\n"), 0o644)
	}
	return nil
}

// skip says once that a repository is not there.
func (b *bench) skip(name string, err error) {
	if !b.skipped[name] {
		fmt.Printf("skipped: %s: %v\n", name, err)
		b.skipped[name] = true
	}
}
