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
	repos, program, tasks, work, out, signs string
	sets, data                              []string
	aside, verbose, print, json, sure, fit  bool
	limit                                   int
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
	folders := flag.String("testdata", "bench/asked/testdata", "folders of the sets")
	only := flag.String("set", strings.Join(sets, ","), "which sets")
	flag.BoolVar(&o.aside, "aside", false, "also the third of each set that is aside")
	flag.BoolVar(&o.verbose, "v", false, "list what was missed")
	flag.BoolVar(&o.sure, "sure", false, "ask on the command line, for the probability in the place of its name")
	flag.BoolVar(&o.fit, "fit", false, "fit the weights of the confidence as well; the sets that are aside are not used")
	flag.StringVar(&o.signs, "signs", "", "write the signs of every answer here, one JSON object a line; with -sure or -fit")
	flag.BoolVar(&o.print, "print", false, "print what is asked, and ask nothing")
	flag.BoolVar(&o.json, "json", false, "print one JSON object a line, for the programs of bench/agents; with -print")
	flag.IntVar(&o.limit, "each", 0, "ask at most so many items of each set")
	flag.Parse()
	o.sets, o.data = strings.Split(*only, ","), strings.Split(*folders, ",")
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
	for _, dir := range o.data {
		var more []repository
		if err := readJSON(filepath.Join(dir, "repos.json"), &more); err != nil {
			return err
		}
		table = append(table, more...)
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
		as, err := b.set(set)
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
	if o.signs != "" {
		if err := writeSigns(o.signs, all); err != nil {
			return err
		}
	}
	fmt.Print(b.r.String())
	if o.out != "" {
		return os.WriteFile(o.out, []byte(strings.TrimRight(b.r.String(), "\n")+"\n"), 0o644)
	}
	return nil
}

// set asks the items of a set, of one folder after the other.
func (b *bench) set(name string) (all []*answer, err error) {
	for _, dir := range b.o.data {
		items, err := load(dir, name, b.o.aside)
		if err != nil {
			return nil, err
		}
		if n := b.o.limit; n > 0 && len(items) > n {
			var some []*item
			for i := range n {
				some = append(some, items[i*len(items)/n])
			}
			items = some
		}
		as, err := b.ask(name, items)
		if err != nil {
			return nil, err
		}
		all = append(all, as...)
	}
	return all, nil
}

// skip says once that a repository is not there.
func (b *bench) skip(name string, err error) {
	if !b.skipped[name] {
		fmt.Printf("skipped: %s: %v\n", name, err)
		b.skipped[name] = true
	}
}
