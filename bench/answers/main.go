// Answers measures how well questions are answered: the judged sets beside
// this file, over this repository's documentation and Go's.
//
//	.ci/extra answers [-aside] [-v] [-data DIR] [-out FILE]
//
// Without -aside the third that is set aside is not looked at.
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
	if err := stores(ctx, a, root, filepath.Join(sets, "stores.json")); err != nil {
		return err
	}
	var report strings.Builder
	groups := []bool{false}
	if *aside {
		groups = append(groups, true)
	}
	b := &bench{ctx: ctx, app: a, verbose: *verbose, debug: *debug}
	for _, g := range groups {
		name := "development"
		if g {
			name = "aside"
		}
		fmt.Fprintf(&report, "## %s\n\n", name)
		for _, f := range []struct {
			file string
			do   func([]item) string
		}{{"answerable.json", b.answerable}, {"unanswerable.json", b.unanswerable}, {"dialogues.json", b.dialogues}} {
			list, err := load(filepath.Join(sets, f.file))
			if err != nil {
				return err
			}
			list = slices.DeleteFunc(list, func(x item) bool { return x.Aside != g })
			report.WriteString(f.do(list))
			if b.err != nil {
				return b.err
			}
		}
		report.WriteByte('\n')
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
		started, err := a.CreateStore(ctx, req)
		if err != nil {
			return err
		}
		j, err := a.WaitJob(ctx, started.Job)
		if err != nil {
			return err
		}
		if j.State != kb.JobCompleted {
			return errors.New(name + ": " + j.Message)
		}
		fmt.Printf("indexed %s: %d documents\n", name, j.Progress.Done)
	}
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
	began := time.Now()
	r, err := answers.Ask(b.ctx, b.app, answers.AskRequest{Debug: func(s string) {
		if b.debug {
			fmt.Printf("? %s\n  %s\n", q, s)
		}
	}, Question: q, Session: session, Owner: "bench", Stores: []string{"docs", "go"}})
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
		if len(r.Sources) > 0 {
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
		if len(r.Sources) == 0 {
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
