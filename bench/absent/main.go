// Command absent asks searches that nothing in a project answers, and counts
// how often the reply says so, and names the dependency that would.
//
//	absent [-repos DIR] [-work DIR] [-aside] [-v] [-out FILE]
//
// DIR holds one folder per project, OWNER+NAME, with a git repository in it or
// in its folder repo. A project that is not there is skipped, and said.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/elsewhere"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/product"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

type project struct {
	Name, GitHub, Revision string
}

type query struct {
	ID, Project, Query string
	Wants              []string
}

// told is what a reply says.
type told struct {
	query
	absent   bool
	there    float64
	p        float64  // that the first hit is right
	extra    int      // tokens of the lines on dependencies
	proposed []string // "go:github.com/gorilla/websocket"
	tokens   int      // of what the reply says beyond its places
	cpu      time.Duration
	text     string
}

func main() {
	repos := flag.String("repos", "", "folder of the repositories")
	work := flag.String("work", "", "where checkouts and indexes are kept between runs (default: a temporary folder)")
	set := flag.String("set", "bench/absent", "folder of the queries")
	aside := flag.Bool("aside", false, "ask those that are kept aside, too")
	verbose := flag.Bool("v", false, "print each reply")
	answered := flag.String("answered", "", "a file of queries that projects answer, as \"knowledge eval\" takes them: what do they pay")
	fit := flag.String("fit", "", "write what speaks for each dependency of each open query there, to fit the weights to")
	out := flag.String("out", "", "write the report there")
	flag.Parse()
	if *answered != "" {
		if err := paid(*repos, *work, *answered, *fit); err != nil {
			fmt.Fprintln(os.Stderr, "absent:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*repos, *work, *set, *out, *fit, *aside, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "absent:", err)
		os.Exit(1)
	}
}

func run(repos, work, set, out, fit string, aside, verbose bool) error {
	var projects []project
	var open, kept []query
	if err := read(filepath.Join(set, "projects.json"), &projects); err != nil {
		return err
	}
	if err := read(filepath.Join(set, "queries.json"), &open); err != nil {
		return err
	}
	if aside {
		if err := read(filepath.Join(set, "aside", "queries.json"), &kept); err != nil {
			return err
		}
	}
	if work == "" {
		tmp, err := os.MkdirTemp("", "absent-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		work = tmp
	}
	var signs io.Writer
	if fit != "" {
		f, err := os.Create(fit)
		if err != nil {
			return err
		}
		defer f.Close()
		signs = f
	}
	answers := map[string]*told{}
	var skipped []string
	for _, p := range projects {
		mine := slices.DeleteFunc(append(slices.Clone(open), kept...), func(q query) bool { return q.Project != p.Name })
		dir, err := checkout(repos, work, p)
		if err != nil {
			skipped = append(skipped, fmt.Sprintf("%s: %v", p.Name, err))
			continue
		}
		if err := ask(filepath.Join(work, "data", p.Name), dir, mine, answers, signs); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if len(answers) == 0 {
		fmt.Println("skipped: none of the projects is below", repos)
		return nil
	}
	var r lab.Report
	r.Printf("# Searches that nothing answers\n\n%s, %s, load %s. Projects as cloned: nothing of their dependencies is installed.\n\n",
		time.Now().UTC().Format("2006-01-02"), lab.Machine(), lab.Load())
	report(&r, "open", open, answers, verbose)
	if aside {
		report(&r, "kept aside", kept, answers, verbose)
		report(&r, "all", append(slices.Clone(open), kept...), answers, verbose)
	}
	for _, s := range skipped {
		r.Printf("\nSkipped %s.\n", s)
	}
	fmt.Print(r.String())
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(r.String()), 0o644)
}

func read(file string, v any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// checkout exports a project at its revision, once, as a folder with a work tree.
func checkout(repos, work string, p project) (string, error) {
	dir := filepath.Join(work, "trees", p.Name)
	head := filepath.Join(dir, ".git", "HEAD")
	if _, err := os.Stat(head); err == nil {
		return dir, nil
	}
	repo, _, err := lab.Repository(repos, p.GitHub, p.Revision)
	if err != nil {
		return "", err
	}
	if err := lab.Export(repo, p.Revision, dir, func(string) bool { return true }); err != nil {
		return "", err
	}
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", d), 0o755); err != nil {
			return "", err
		}
	}
	return dir, os.WriteFile(head, []byte("ref: refs/heads/main\n"), 0o644)
}

// ask indexes a project, where it is not, and asks it.
func ask(data, dir string, list []query, into map[string]*told, signs io.Writer) error {
	a, err := product.New(app.Config{Version: "bench", DataDir: data, Dir: dir, Env: func(k string) string {
		if k == "PATH" {
			return os.Getenv(k)
		}
		return ""
	}})
	if err != nil {
		return err
	}
	defer a.Close()
	scope := app.Scope{Waiting: app.Waiting{Wait: 10 * time.Minute, Person: true}}
	ctx := context.Background()
	if _, err := find.Search(ctx, a, search.Request{Query: "warm up"}, scope); err != nil {
		return err
	}
	for _, q := range list {
		before := processor()
		r, err := find.Ask(ctx, a, search.Request{Query: q.Query, Packed: true}, scope)
		if err != nil {
			return err
		}
		t := &told{query: q, absent: r.Absent, cpu: processor() - before, text: r.Text(), tokens: tokens.Estimate(strings.Join(r.Notes, "\n"))}
		for _, n := range r.Notes {
			if m := proposal.FindStringSubmatch(n); m != nil {
				t.proposed = append(t.proposed, m[1])
				t.extra += tokens.Estimate(n)
			}
		}
		e, err := find.Search(ctx, a, search.Request{Query: q.Query, Explain: true, Limit: 1}, scope)
		if err != nil {
			return err
		}
		t.there, t.p = e.There, e.Probability
		if signs != nil {
			if err := weigh(ctx, a, q, e, signs); err != nil {
				return err
			}
		}
		into[q.ID] = t
	}
	return nil
}

// weigh writes what speaks for each dependency, a line each.
func weigh(ctx context.Context, a *app.App, q query, e find.SearchReply, out io.Writer) error {
	c, err := a.Open(ctx)
	if err != nil {
		return err
	}
	stores, _, err := a.AsScope(ctx, c, app.Scope{})
	if err != nil {
		return err
	}
	s, err := a.Opened(ctx, c, stores)
	if err != nil {
		return err
	}
	defer s.Release()
	r, err := search.Run(ctx, s.Targets, c.Embedder, search.Request{Query: q.Query})
	if err != nil {
		return err
	}
	list, _, err := elsewhere.Weigh(ctx, a, c, app.Unanswered{Query: q.Query, Words: e.Words, Targets: s.Targets, Near: r.Hits})
	for _, x := range list {
		fmt.Fprintf(out, "%s\t%t\t%s\t%.3f\t%.3f\t%s\t%.4f\t%.4f\t%.4f\t%d\t%t\t%s\n", q.ID, right(x.ID(), q.Wants), x.ID(), e.There, e.Probability, e.Confidence,
			x.Share, x.Meaning, x.Near, x.Files, x.Dev, strings.Join(x.Words, ","))
	}
	return err
}

var proposal = regexp.MustCompile(`^(?:a dependency that is not indexed may answer:|or) (\S+)`)

// processor is the time that the process has had.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// right reports whether a proposal is one of those that are wanted.
func right(proposed string, wants []string) bool {
	_, name, _ := strings.Cut(proposed, ":")
	return slices.ContainsFunc(wants, func(w string) bool { return strings.EqualFold(w, name) })
}

func report(r *lab.Report, title string, list []query, answers map[string]*told, verbose bool) {
	var dep, non, said, first, three, wrong, quiet, false3 int
	var cost []int
	var cpu []time.Duration
	var missed []string
	for _, q := range list {
		t := answers[q.ID]
		if t == nil {
			continue
		}
		if t.absent {
			cost, cpu = append(cost, t.tokens), append(cpu, t.cpu)
		}
		if len(q.Wants) == 0 {
			non++
			if t.absent {
				quiet++
			}
			if len(t.proposed) > 0 {
				wrong++
				missed = append(missed, fmt.Sprintf("%s: proposes %s, nothing is right", q.ID, strings.Join(t.proposed, ", ")))
			}
			false3 += len(t.proposed)
			continue
		}
		dep++
		if t.absent {
			said++
		}
		at := slices.IndexFunc(t.proposed, func(p string) bool { return right(p, q.Wants) })
		if at == 0 {
			first++
		}
		if at >= 0 {
			three++
		} else {
			missed = append(missed, fmt.Sprintf("%s: wants %s, there %.2f, proposed %s", q.ID, strings.Join(q.Wants, " or "), t.there, strings.Join(t.proposed, ", ")))
		}
		if verbose {
			fmt.Printf("== %s %s\n%s\n", q.ID, q.Query, t.text)
		}
	}
	r.Printf("## %s\n\n", title)
	r.Table([]string{"", "of", "says that nothing answers", "right dependency first", "in three", "proposes one wrongly"},
		[]string{"a dependency answers", fmt.Sprint(dep), fmt.Sprint(said), share(first, dep), share(three, dep), ""},
		[]string{"nothing answers", fmt.Sprint(non), fmt.Sprint(quiet), "", "", share(wrong, non)})
	if len(cost) > 0 {
		r.Printf("\nWhat a reply says beyond its places: %d tokens in the middle, %d at most. Processor time of such a search, this part included: %s in the middle, %s at most.\n\n",
			lab.Median(cost), slices.Max(cost), lab.Ms(lab.Median(cpu)), lab.Ms(slices.Max(cpu)))
	}
	if title != "kept aside" {
		for _, m := range missed {
			r.Printf("- %s\n", m)
		}
	}
	r.Printf("\n")
}

func share(n, of int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(of))
}
