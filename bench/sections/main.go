// Command sections measures how well the order of sections answers questions
// to documentation, and fits its weights: the Markdown and reStructuredText of
// sixteen public projects is indexed as folders and asked the questions of
// testdata. bench/web judges what comes of it.
//
//	sections [-repos DIR] [-model FILE] [-fit] [-v] [-out FILE]
//
// DIR holds one folder per project, OWNER+NAME, with a git repository in it or
// in its folder repo; a project that is not there is skipped and said so.
// -model takes another model than the one in the program; -fit fits the
// weights, also with each project left out; -v lists what was missed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/embed"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/eval"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

type place struct{ Page, Section string }

type question struct {
	Project string
	place
	Ask  string
	Or   []place
	Hard bool
}

// example is a question with the sections that were looked at for it.
type example struct {
	*question
	kept    []rank.Evidence
	values  [][]float64
	factors []float64
	right   []bool
}

func main() {
	repos := flag.String("repos", "", "folder of the repositories")
	model := flag.String("model", "", "model file to use instead of the one in the program")
	fit := flag.Bool("fit", false, "fit the weights")
	verbose := flag.Bool("v", false, "list what was missed")
	out := flag.String("out", "", "write the report here")
	flag.Parse()
	if *repos == "" {
		fmt.Println("skipped: no -repos DIR with checkouts of the projects in bench/sections/testdata/README.md")
		return
	}
	if err := run(context.Background(), *repos, *model, *fit, *verbose, *out); err != nil {
		fmt.Fprintln(os.Stderr, "sections:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, repos, model string, fit, verbose bool, out string) error {
	questions, err := lab.ReadLines[question]("bench/sections/testdata/questions.jsonl")
	if err != nil {
		return err
	}
	var emb kb.Embedder = embed.Default()
	if model != "" {
		if emb, err = embed.New(embed.Config{Model: model}); err != nil {
			return err
		}
	}
	scratch, err := lab.Scratch("sections")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	bench, err := eval.NewBench(ctx, "", emb, "")
	if err != nil {
		return err
	}
	defer bench.Close()

	var all []*example
	skipped := map[string]bool{}
	for i := range questions {
		q := &questions[i]
		if skipped[q.Project] {
			continue
		}
		dir := filepath.Join(scratch, strings.ReplaceAll(q.Project, "/", "+"))
		if _, err := os.Stat(dir); err != nil {
			repo, commit, err := lab.Repository(repos, q.Project, "HEAD")
			if err == nil {
				err = lab.Export(repo, commit, dir, wanted)
			}
			if err != nil {
				fmt.Printf("skipped: %s: %v\n", q.Project, err)
				skipped[q.Project] = true
				continue
			}
		}
		e, err := ask(ctx, bench, emb, q, dir)
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		return nil
	}
	var r lab.Report
	names, weights := rank.SectionParts()
	r.Printf("# The order of sections\n\n%s, %s. Model %s.\n\n%d questions to the documentation of %d projects (bench/sections/testdata); the weights of the order were fitted to them.\n\n    .ci/extra sections -repos DIR -fit\n\n",
		time.Now().Format(time.DateOnly), lab.Machine(), emb.ID(), len(all), len(byProject(all)))
	rows := [][]string{{"weights", "questions", "right section at rank ≤ 3", "hard ones", "mean reciprocal rank", "right section looked at"}}
	add := func(name string, s scores) {
		rows = append(rows, []string{name, fmt.Sprint(s.n), fmt.Sprintf("%.1f %%", 100*s.top), fmt.Sprintf("%.1f %%", 100*s.hard), fmt.Sprintf("%.3f", s.mrr), fmt.Sprintf("%.1f %%", 100*s.there)})
	}
	fixed := func(w []float64) func(*example) []float64 { return func(*example) []float64 { return w } }
	add("as they stand", score(all, fixed(weights)))
	for k, n := range names {
		w := slices.Clone(weights)
		w[k] = 0
		add("without "+n, score(all, fixed(w)))
	}
	if fit {
		w := descend(all, len(names))
		add("fitted to all", score(all, fixed(w)))
		add("each project's fitted without it", score(all, cross(all, len(names))))
		r.Table(rows...)
		r.Printf("Fitted to all:")
		for k, n := range names {
			r.Printf(" %s %.2f", n, w[k])
		}
		r.Printf(".\n\n")
	} else {
		r.Table(rows...)
	}
	rows = [][]string{{"project", "questions", "right section at rank ≤ 3", "mean reciprocal rank"}}
	projects := byProject(all)
	for _, p := range lab.Keys(projects) {
		s := score(projects[p], fixed(weights))
		rows = append(rows, []string{p, fmt.Sprint(s.n), fmt.Sprintf("%.1f %%", 100*s.top), fmt.Sprintf("%.3f", s.mrr)})
	}
	r.Table(rows...)
	if verbose {
		for _, e := range all {
			if n := e.rank(weights); n == 0 || n > 3 {
				fmt.Fprintf(os.Stderr, "missed: %s %q: %s#%s at %d\n", e.Project, e.Ask, e.Page, e.Section, n)
			}
		}
	}
	fmt.Print(r.String())
	if out != "" {
		return os.WriteFile(out, []byte(strings.TrimRight(r.String(), "\n")+"\n"), 0o644)
	}
	return nil
}

// wanted tells documents of the newest version in English.
func wanted(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".rst":
	default:
		return false
	}
	lower := strings.ToLower(name)
	if strings.Contains(lower, "changelog") || strings.Contains(lower, "node_modules") {
		return false
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch part {
		case "versioned_docs", "i18n", ".changeset", "zh", "ja", "ko", "ru", "pt", "fr", "de", "es", "uk", "bn", "ro", "tr":
			return false
		}
		if strings.HasSuffix(part, "_versioned_docs") || strings.HasSuffix(part, "versions") {
			return false
		}
	}
	return true
}

func ask(ctx context.Context, bench *eval.Bench, emb kb.Embedder, q *question, dir string) (*example, error) {
	at, err := bench.Open(ctx, &eval.Repo{Name: strings.ReplaceAll(q.Project, "/", "+")}, dir)
	if err != nil {
		return nil, err
	}
	query, found, err := search.Sections(ctx, []search.Target{at}, emb, search.Request{Query: q.Ask, Limit: 5})
	if err != nil {
		return nil, err
	}
	e := &example{question: q}
	e.kept, e.values, e.factors = rank.EvaluateSections(query, found, rank.Options{})
	for i := range e.kept {
		k := &e.kept[i]
		headings := strings.Split(k.Section.Title, "\x00")
		at := place{strings.TrimSuffix(k.Path, path.Ext(k.Path)), fold(headings[len(headings)-1])}
		e.right = append(e.right, slices.ContainsFunc(append(q.Or, q.place), func(p place) bool {
			return p.Page == at.Page && fold(p.Section) == at.Section
		}))
	}
	return e, nil
}

// fold leaves out what marks text in a heading.
func fold(heading string) string {
	heading = strings.Map(func(r rune) rune {
		if strings.ContainsRune("`*_\\", r) {
			return -1
		}
		return r
	}, strings.ToLower(heading))
	return strings.Join(strings.Fields(heading), " ")
}
