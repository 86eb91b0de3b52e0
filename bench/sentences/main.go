// Command sentences measures the check of what a model says: on judged
// sentences about lines, how many false ones are kept and how many true ones.
// Run it with ".ci/extra sentences".
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/answers/answer"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
)

// judged is one sentence about lines.
type judged struct {
	ID       string   `json:"id"`
	Passage  []string `json:"passage"`
	Sentence string   `json:"sentence"`
	Lang     string   `json:"lang"`
	Kind     string   `json:"kind"`
	True     bool     `json:"true"`
}

func main() {
	aside := flag.Bool("aside", false, "judge the part that is kept aside as well")
	verbose := flag.Bool("v", false, "list what is wrong")
	out := flag.String("out", "", "write the report here")
	flag.Parse()
	if err := run(*aside, *verbose, *out); err != nil {
		fmt.Fprintln(os.Stderr, "sentences:", err)
		os.Exit(1)
	}
}

func run(aside, verbose bool, out string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Sentences held against lines, %s\n", time.Now().UTC().Format("2006-01-02"))
	sets := []string{"bench/answers/testdata/sentences.jsonl"}
	if aside {
		sets = append(sets, "bench/answers/testdata/aside/sentences.jsonl")
	}
	var all []judged
	for _, set := range sets {
		list, err := read(set)
		if err != nil {
			return err
		}
		measure(&b, set, list, verbose)
		all = append(all, list...)
	}
	if err := whole(&b, all); err != nil {
		return err
	}
	fmt.Print(b.String())
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(b.String()), 0o644)
}

// read reads a judged set.
func read(set string) ([]judged, error) {
	f, err := os.Open(set)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []judged
	for in := bufio.NewScanner(f); in.Scan(); {
		var j judged
		if err := json.Unmarshal(in.Bytes(), &j); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", set, len(all)+1, err)
		}
		all = append(all, j)
	}
	return all, nil
}

// measure holds each sentence against its lines.
func measure(b *strings.Builder, set string, all []judged, verbose bool) {
	check := answer.Checker(embed.Default())
	total, kept := map[string]int{}, map[string]int{}
	began := time.Now()
	for _, j := range all {
		v := check.Check(context.Background(), j.Sentence, j.Passage)
		names := []string{fmt.Sprintf("%v: %s", j.True, j.Kind), fmt.Sprintf("%v", j.True)}
		for _, k := range names {
			total[k]++
			if v.Holds {
				kept[k]++
			}
		}
		if verbose && v.Holds != j.True {
			fmt.Printf("%s %s %s: %s\n    %s (%.2f)\n", j.ID, names[0], j.Lang, j.Sentence, v.Why, v.Cover)
		}
	}
	fmt.Fprintf(b, "\n%s: %d sentences, %.1f ms each\n\n| sentences | all | kept | share |\n|---|---|---|---|\n", set, len(all),
		float64(time.Since(began).Microseconds())/1000/float64(max(1, len(all))))
	var names []string
	for k := range total {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		fmt.Fprintf(b, "| %s | %d | %d | %.0f %% |\n", k, total[k], kept[k], 100*float64(kept[k])/float64(total[k]))
	}
}
