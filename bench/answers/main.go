// Answers measures how well questions are answered: those of testdata over the
// documentation of six projects, and the judged sets beside this file over this
// repository's documentation and Go's.
//
//	.ci/extra answers [-repos DIR] [-set NAME] [-aside] [-v] [-data DIR] [-replies FILE] [-sheet FILE] [-grades FILE] [-out FILE]
//
// Without -repos, a folder of repositories as OWNER+NAME, the first part is
// left out. -replies writes every answer with its cited lines, -sheet a page for
// somebody who grades them, -grades reads what that one thinks. Without -aside what is set aside is
// not looked at.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-4f2d999b/knowledge/internal/answers"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

// item is one line of a judged set.
type item struct {
	Lang  string   `json:"lang"`
	Q     string   `json:"q"`
	Turns []string `json:"turns"`
	Store string   `json:"store"`
	File  string   `json:"file"`
	Gold  string   `json:"gold"`
	Tell  string   `json:"tell"`
	Aside bool     `json:"aside"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "answers:", err)
		os.Exit(1)
	}
}

func run() error {
	aside := flag.Bool("aside", false, "ask what was set aside, too, and report it apart")
	verbose := flag.Bool("v", false, "show what went wrong")
	debug := flag.Bool("vv", false, "show what every support is made of")
	data := flag.String("data", "", "data directory that is kept (default: a temporary one)")
	repo := flag.String("repo", ".", "checkout of this repository")
	out := flag.String("out", "", "write the report to this file, too")
	repos := flag.String("repos", "", "folder of the repositories of the six projects")
	set := flag.String("set", "questions", "which set of testdata is asked: questions, third or own")
	everywhere := flag.Bool("everywhere", false, "ask all six documentations together")
	ours := flag.Bool("ours", true, "ask the sets over this repository's documentation and Go's, too")
	said := flag.String("replies", "", "write the answers over the six documentations to this file")
	sheet := flag.String("sheet", "", "write what is needed to grade these answers, without grades, to this file and one beside it")
	grades := flag.String("grades", "bench/answers/testdata/grades.jsonl", "file of grades of these answers")
	signs := flag.String("signs", "", "write what each confidence is made of to this file")
	cited := flag.String("cited", "", "write the cited lines of every answer to this file, for a second reader")
	flag.Parse()
	ctx := context.Background()
	dir := *data
	if dir == "" {
		tmp, err := os.MkdirTemp("", "answers")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	root, err := filepath.Abs(*repo)
	if err != nil {
		return err
	}
	sets := filepath.Join(root, "bench", "answers")
	none, err := os.MkdirTemp("", "answers-dir")
	if err != nil {
		return err
	}
	defer os.RemoveAll(none)
	a, err := product.New(app.Config{Version: "bench", DataDir: dir, Dir: none, Env: func(k string) string {
		if k == "HOME" {
			return none
		}
		return ""
	}})
	if err != nil {
		return err
	}
	defer a.Close()
	var report strings.Builder
	b := &bench{ctx: ctx, app: a, verbose: *verbose, debug: *debug}
	six := &sixDocs{root: root, repos: *repos, sets: sets, set: *set, data: dir, replies: *said, sheet: *sheet, grades: *grades, signs: *signs, everywhere: *everywhere}
	groups := []bool{false}
	if *aside {
		groups = append(groups, true)
	}
	for _, g := range groups {
		name := "development"
		if g {
			name = "aside"
		}
		if *repos != "" {
			text, err := b.six(six, g)
			if err != nil {
				return err
			}
			fmt.Fprintf(&report, "## Six documentations, %s\n\n%s\n", name, text)
		}
	}
	if *ours {
		if err := stores(ctx, a, root, filepath.Join(sets, "stores.json")); err != nil {
			return err
		}
		for _, g := range groups {
			text, err := b.ours(sets, g)
			if err != nil {
				return err
			}
			name := "development"
			if g {
				name = "aside"
			}
			fmt.Fprintf(&report, "## This repository's documentation and Go's, %s\n\n%s\n", name, text)
		}
	}
	slices.Sort(b.times)
	fmt.Fprintf(&report, "First answers, nothing cached: p50 %.1f ms, p95 %.1f ms over %d.\n", b.at(0.5), b.at(0.95), len(b.times))
	fmt.Print(report.String())
	if *cited != "" {
		if err := os.WriteFile(*cited, []byte(b.cited.String()), 0o644); err != nil {
			return err
		}
	}
	if *out != "" {
		return os.WriteFile(*out, []byte("# Answers\n\n"+report.String()), 0o644)
	}
	return nil
}

// ours asks the sets over this repository's documentation and Go's.
func (b *bench) ours(sets string, aside bool) (string, error) {
	var report strings.Builder
	for _, f := range []struct {
		file string
		do   func([]item) string
	}{{"answerable.json", b.answerable}, {"unanswerable.json", b.unanswerable}, {"dialogues.json", b.dialogues}} {
		list, err := load(filepath.Join(sets, f.file))
		if err != nil {
			return "", err
		}
		list = slices.DeleteFunc(list, func(x item) bool { return x.Aside != aside })
		report.WriteString(f.do(list))
		if b.err != nil {
			return "", b.err
		}
	}
	return report.String(), nil
}

// stores makes and indexes the stores that the questions are about.
func stores(ctx context.Context, a *app.App, root, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var want map[string]struct {
		Commit string
		Paths  []string
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	for _, name := range []string{"docs", "go"} {
		w := want[name]
		req := app.CreateStore{Name: name, Paths: w.Paths, User: true, Yes: true}
		if name == "docs" {
			full, err := exec.Command("git", "-C", root, "rev-parse", w.Commit).Output()
			if err != nil {
				return err
			}
			req.Kind, req.Source, req.Commit = kb.KindRepo, root, strings.TrimSpace(string(full))
		} else {
			req.Kind, req.Source = kb.KindFolder, strings.TrimSpace(string(goroot))
		}
		info, err := a.StoreInfo(ctx, name)
		if err == nil && info.Status == "ready" {
			continue
		}
		if err := index(ctx, a, req); err != nil {
			return err
		}
	}
	return nil
}

// index makes a store and waits until it can be asked.
func index(ctx context.Context, a *app.App, req app.CreateStore) error {
	started, err := a.CreateStore(ctx, req)
	if err != nil {
		return err
	}
	j, err := a.WaitJob(ctx, started.Job)
	if err != nil {
		return err
	}
	if j.State != kb.JobCompleted {
		return errors.New(req.Name + ": " + j.Message)
	}
	fmt.Printf("indexed %s: %d documents\n", req.Name, j.Progress.Done)
	return nil
}

func load(file string) (list []item, err error) {
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	return list, err
}

type bench struct {
	ctx     context.Context
	app     *app.App
	verbose bool
	debug   bool
	err     error
	times   []float64
	cited   strings.Builder
	session int
}

func (b *bench) at(q float64) float64 {
	if len(b.times) == 0 {
		return 0
	}
	return b.times[min(len(b.times)-1, int(q*float64(len(b.times))))]
}

func (b *bench) ask(q, session string) answers.Answer {
	return b.askOf(q, session, []string{"docs", "go"}, func(s string) {
		if b.debug {
			fmt.Printf("? %s\n  %s\n", q, s)
		}
	})
}

func (b *bench) askOf(q, session string, stores []string, debug func(string)) answers.Answer {
	began := time.Now()
	r, err := answers.Ask(b.ctx, b.app, answers.AskRequest{Debug: debug, Question: q, Session: session, Owner: "bench", Stores: stores})
	b.times = append(b.times, time.Since(began).Seconds()*1000)
	if err != nil {
		b.err = fmt.Errorf("%s: %w", q, err)
	}
	return r
}

var (
	tagRE  = regexp.MustCompile(`<[^<>]*>`)
	citeRE = regexp.MustCompile(`\s\[\d+\]`)
)

// normal leaves the letters and digits of a text, and single spaces.
func normal(s string) string {
	s = html.UnescapeString(tagRE.ReplaceAllString(s, ""))
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ") + " "
}

func holds(answer, gold string) bool {
	return strings.Contains(normal(citeRE.ReplaceAllString(answer, " ")), normal(gold))
}

func count(answer string) int { return len(strings.Fields(citeRE.ReplaceAllString(answer, ""))) }

func (b *bench) note(r answers.Answer, q, want string) {
	fmt.Fprintf(&b.cited, "### %s\n\nmust tell: %s\n\n", q, want)
	for _, s := range r.Sources {
		fmt.Fprintf(&b.cited, "[%d] %s %s (%.2f)\n\n```\n%s\n```\n\n", s.N, s.Store, s.At, s.Relevance, s.Snippet)
	}
}

func (b *bench) answerable(list []item) string {
	held, answered, long, es, esHeld := 0, 0, 0, 0, 0
	for _, x := range list {
		r := b.ask(x.Q, "")
		b.note(r, x.Q, x.Tell)
		ok := holds(r.Answer, x.Gold)
		if r.Answered {
			answered++
		}
		if count(r.Answer) > 120 {
			long++
		}
		if ok {
			held++
		}
		if x.Lang == "es" {
			es++
			if ok {
				esHeld++
			}
		}
		if b.verbose && !ok {
			fmt.Printf("MISS (%.2f) %s\n  want %s: %s\n  got %s\n", r.Confidence, x.Q, x.File, x.Gold, strings.ReplaceAll(r.Answer, "\n", "\n      "))
			for _, s := range r.Sources {
				fmt.Printf("      [%d] %s\n", s.N, s.At)
			}
		}
	}
	return fmt.Sprintf("- answerable: gold sentence in the answer %s (Spanish %s), answered %s, over 120 words %d\n",
		share(held, len(list)), share(esHeld, es), share(answered, len(list)), long)
}

func (b *bench) unanswerable(list []item) string {
	said := 0
	for _, x := range list {
		r := b.ask(x.Q, "")
		if !r.Answered {
			said++
		} else if b.verbose {
			fmt.Printf("WRONGLY ANSWERED (%.2f) %s\n  got %s\n", r.Confidence, x.Q, strings.ReplaceAll(r.Answer, "\n", "\n      "))
		}
	}
	return fmt.Sprintf("- unanswerable: says so %s\n", share(said, len(list)))
}

func (b *bench) dialogues(list []item) string {
	held := 0
	for _, x := range list {
		b.session++
		id := fmt.Sprint("dialogue-", b.session)
		var r answers.Answer
		for _, t := range x.Turns {
			r = b.ask(t, id)
		}
		b.note(r, strings.Join(x.Turns, " → "), x.Tell)
		if holds(r.Answer, x.Gold) {
			held++
		} else if b.verbose {
			fmt.Printf("MISS (%.2f) %s\n  as %s\n  want %s: %s\n  got %s\n", r.Confidence, strings.Join(x.Turns, " → "), r.Question, x.File, x.Gold, strings.ReplaceAll(r.Answer, "\n", "\n      "))
		}
	}
	return fmt.Sprintf("- dialogues: gold sentence of the last turn in its answer %s\n", share(held, len(list)))
}

func share(n, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", n, of, 100*float64(n)/float64(of))
}
