// Command injections measures how well text that addresses an assistant is
// marked: on the judged set beside package visible, on published lists of
// injections, and on the documentation of public projects, cut into chunks as
// a store has them. With -fit it fits the weights and prints them.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/platform/visible"
)

func main() {
	repos := flag.String("repos", os.Getenv("KNOWLEDGE_REPOS"), "folder of the repositories: OWNER+NAME/repo, bare, or NAME")
	set := flag.String("set", "internal/platform/visible/testdata/injections", "folder of the judged set")
	aside := flag.String("aside", "", "folder of the part of it that is kept aside")
	doFit := flag.Bool("fit", false, "fit the weights, without each list in turn and with all, and write them")
	table := flag.String("table", "internal/platform/visible/weights.txt", "file of the weights")
	verbose := flag.Bool("v", false, "list what is wrong")
	out := flag.String("out", "", "write the report here, of -fit what is marked of lists that are held out")
	flag.Parse()
	if err := run(*repos, *set, *aside, *doFit, *verbose, *table, *out); err != nil {
		fmt.Fprintln(os.Stderr, "injections:", err)
		os.Exit(1)
	}
}

func run(repos, set, aside string, doFit, verbose bool, table, out string) error {
	var items []item
	for _, dir := range []string{set, aside} {
		if dir == "" {
			continue
		}
		for _, f := range []string{"injections", "ordinary"} {
			part, err := judged(dir+"/"+f+".tsv", f == "injections")
			if err != nil {
				return err
			}
			items = append(items, part...)
		}
	}
	if repos == "" {
		fmt.Println("skipped: the published lists and the documentation; name a folder of repositories with -repos or $KNOWLEDGE_REPOS")
		out = ""
	} else {
		more, err := fetched(repos)
		if err != nil {
			return err
		}
		items = append(items, more...)
	}
	if doFit && repos != "" {
		report, err := fit(items, table)
		if err == nil && out != "" {
			err = os.WriteFile(out, []byte(head+heldOut+report), 0o644)
		}
		return err
	}
	began := time.Now()
	bytes := 0
	marked := make([]bool, len(items))
	for i, it := range items {
		marked[i] = visible.ToAssistant(it.text)
		bytes += len(it.text)
	}
	took := time.Since(began)
	report := tell(items, marked, verbose)
	report += fmt.Sprintf("\n%d texts, %.1f MB, judged at %.1f MB/s on one core.\n", len(items), float64(bytes)/1e6, float64(bytes)/1e6/took.Seconds())
	fmt.Print(report)
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(head+report), 0o644)
}

const head = `# Text that addresses an assistant

Written by ` + "`.ci/extra injections`" + `. A text is marked when the rule of package visible fires anywhere in it.
The documentation is cut into the chunks that a store has of it.

`

const heldOut = `Marked is by signs made by hand, by words weighed (-fit), or by either, as the program does. In each part of the table
the words were weighed without the list that is held out; the judged set, BIPIA, what was taken in the wild, and the
documentation that is measured are in none. The signs made by hand were made after reading the open part of the judged
set: what they mark of it says little.

`

// parts are what documentation is for.
var parts = []string{"fitted to", "threshold", "held out"}

// fetched reads what is there of the published lists and the documentation.
func fetched(repos string) (items []item, err error) {
	for _, p := range published {
		dir, ok := repository(repos, p.repository)
		if !ok {
			fmt.Printf("skipped: %s: no copy of %s\n", p.name, p.repository)
			continue
		}
		raw, err := git(dir, "show", "HEAD:"+p.file)
		if err != nil {
			return nil, err
		}
		texts, err := p.read(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		seen := map[string]bool{}
		for _, t := range texts {
			if !seen[t] {
				seen[t] = true
				items = append(items, item{list: p.name, text: t, injection: p.injection, group: p.group})
			}
		}
	}
	for _, t := range made(4000) {
		items = append(items, item{list: "made", text: t, injection: true, group: "made"})
	}
	for _, t := range nearly(3000) {
		items = append(items, item{list: "made, ordinary", text: t, group: "made"})
	}
	part := 0
	for _, full := range documentation {
		if full == "|" {
			part++
			continue
		}
		name, under, _ := strings.Cut(full, ":")
		dir, ok := repository(repos, name)
		if !ok {
			fmt.Printf("skipped: the documentation of %s: no copy\n", name)
			continue
		}
		texts, err := manual(dir, under)
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			items = append(items, item{list: "documentation", kind: full, text: t, group: parts[part]})
		}
	}
	return items, nil
}

// tell returns the tables.
func tell(items []item, marked []bool, verbose bool) string {
	type count struct{ all, marked int }
	var order []string
	counts := map[string]*count{}
	add := func(key string, m bool) {
		c := counts[key]
		if c == nil {
			c = &count{}
			counts[key] = c
			order = append(order, key)
		}
		c.all++
		if m {
			c.marked++
		}
	}
	for i, it := range items {
		what := "ordinary"
		if it.injection {
			what = "injections"
		}
		key := it.list + " | " + what + " | "
		key += it.group
		add(key, marked[i])
		if it.list == "documentation" {
			add("documentation of "+it.kind+" | "+what+" | "+it.group, marked[i])
		}
		if verbose && marked[i] != it.injection {
			fmt.Printf("%s\t%s\t%v\t%q\n", it.list, it.kind, marked[i], clip(it))
		}
	}
	slices.SortStableFunc(order, func(a, b string) int {
		kind := func(s string) int {
			if strings.HasPrefix(s, "documentation of") {
				return 1
			}
			return 0
		}
		return kind(a) - kind(b)
	})
	var b strings.Builder
	b.WriteString("| list | of what | | texts | marked | share |\n|---|---|---|---:|---:|---:|\n")
	for _, k := range order {
		c := counts[k]
		fmt.Fprintf(&b, "| %s | %d | %d | %.2f %% |\n", k, c.all, c.marked, 100*float64(c.marked)/float64(c.all))
	}
	return b.String()
}

// clip is the part of a text that the rule fires on, or its beginning.
func clip(it item) string {
	text := it.text
	if !it.injection {
		best := visible.Odds(text)
		for _, l := range strings.Split(text, "\n") {
			if visible.Odds(l) >= best-1 {
				return l
			}
		}
	}
	if len(text) > 300 {
		text = text[:300]
	}
	return text
}
