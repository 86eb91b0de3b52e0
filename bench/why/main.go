// Command why asks for the reasons of judged lines, and counts how often the
// commits that discussions led to are among the first; it also measures the
// command on files that hundreds of commits changed.
//
//	why [-repos DIR] [-work DIR] [-aside] [-v] [-out FILE]
//
// DIR holds one folder per project, OWNER+NAME, with a git repository in it or
// in its folder repo. A project that is not there is skipped, and said.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/history"
	"github.com/seed-4f2d999b/knowledge/internal/product"
)

type question struct {
	ID, Project, GitHub, Revision, Place, Question string
	Thread                                         int
	Answers                                        []string
}

// asked is what came of a question.
type asked struct {
	rank  int  // of the first right commit, 0 for none of the first ten
	blame bool // git blame names a right one
	cpu   time.Duration
	text  string
}

func main() {
	repos := flag.String("repos", "", "folder of the repositories")
	work := flag.String("work", "", "where work trees and logs are kept between runs (default: a temporary folder)")
	set := flag.String("set", "bench/why", "folder of the questions")
	aside := flag.Bool("aside", false, "ask those that are kept aside, too")
	verbose := flag.Bool("v", false, "print what each miss was answered")
	out := flag.String("out", "", "write the report there")
	profile := flag.String("cpuprofile", "", "write a profile of the calls on long histories there")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "why:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	if err := run(*repos, *work, *set, *out, *aside, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "why:", err)
		os.Exit(1)
	}
}

func run(repos, work, set, out string, aside, verbose bool) error {
	open, err := read(filepath.Join(set, "questions.json"))
	if err != nil {
		return err
	}
	var kept []question
	if aside {
		if kept, err = read(filepath.Join(set, "aside", "questions.json")); err != nil {
			return err
		}
	}
	if work == "" {
		tmp, err := os.MkdirTemp("", "why-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		work = tmp
	}
	all := append(slices.Clone(open), kept...)
	slices.SortStableFunc(all, func(a, b question) int { return cmp.Compare(a.Project, b.Project) })
	found := map[string]asked{}
	var skipped []string
	var long []timed
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].Project == all[i].Project {
			j++
		}
		mine := all[i:j]
		i = j
		dir, err := tree(repos, work, mine[0])
		if err != nil {
			skipped = append(skipped, fmt.Sprintf("%s: %v", mine[0].Project, err))
			continue
		}
		t, err := ask(filepath.Join(work, "data", mine[0].Project), dir, mine, found)
		if err != nil {
			return fmt.Errorf("%s: %w", mine[0].Project, err)
		}
		long = append(long, t...)
	}
	if len(found) == 0 {
		fmt.Println("skipped: none of the projects is below", repos)
		return nil
	}
	var r lab.Report
	r.Printf("# Why lines are as they are\n\n%s, %s, load %s.\n\n", time.Now().UTC().Format("2006-01-02"), lab.Machine(), lab.Load())
	report(&r, "open", open, found, verbose)
	if aside {
		report(&r, "kept aside", kept, found, false)
		report(&r, "all", append(slices.Clone(open), kept...), found, false)
	}
	times(&r, long)
	for _, s := range skipped {
		r.Printf("\nSkipped %s.\n", s)
	}
	fmt.Print(r.String())
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(r.String()), 0o644)
}

func read(file string) (list []question, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return list, json.Unmarshal(data, &list)
}

func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// tree makes a work tree of a project at its revision, once.
func tree(repos, work string, q question) (string, error) {
	dir := filepath.Join(work, "trees", q.Project)
	if head, err := git(dir, "rev-parse", "HEAD"); err == nil && head == q.Revision {
		return dir, nil
	}
	repo, _, err := lab.Repository(repos, q.GitHub, q.Revision)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	if out, err := exec.Command("git", "clone", "-q", "--no-checkout", repo, dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("clone: %s", out)
	}
	if out, err := exec.Command("git", "-C", dir, "checkout", "-q", "--detach", q.Revision).CombinedOutput(); err != nil {
		return "", fmt.Errorf("checkout: %s", out)
	}
	return dir, nil
}

// timed is a file that many commits changed, with the times of some calls.
type timed struct {
	project, path string
	commits       int
	cpu           []time.Duration
}

// ask asks the questions of one project, and about lines all over one file of it.
func ask(data, dir string, list []question, into map[string]asked) ([]timed, error) {
	a, err := product.New(app.Config{Version: "bench", DataDir: data, Dir: dir, Env: func(k string) string {
		if k == "PATH" {
			return os.Getenv(k)
		}
		return ""
	}})
	if err != nil {
		return nil, err
	}
	defer a.Close()
	w := app.Waiting{Wait: 10 * time.Minute, Person: true}
	ctx := context.Background()
	for { // until the whole history is read
		r, err := history.Why(ctx, a, list[0].Place, 1, w)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "read so far") }) {
			break
		}
	}
	for _, q := range list {
		before := processor()
		r, err := history.Why(ctx, a, q.Place, 10, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.ID, err)
		}
		x := asked{cpu: processor() - before}
		for i, c := range r.Commits {
			x.text += fmt.Sprintf("  %d. %s before %d lines %s  %s (%s)\n", i+1, c.Commit, c.Before, c.Lines, c.Subject, c.Merge)
			if x.rank == 0 && slices.ContainsFunc(q.Answers, func(h string) bool { return strings.HasPrefix(h, c.Commit) }) {
				x.rank = i + 1
			}
		}
		file, line, _ := strings.Cut(q.Place, ":")
		if b, err := git(dir, "blame", "-l", "-L"+line+","+line, "HEAD", "--", file); err == nil {
			h, _, _ := strings.Cut(strings.TrimPrefix(b, "^"), " ")
			x.blame = slices.ContainsFunc(q.Answers, func(y string) bool { return strings.HasPrefix(y, h) })
		}
		into[q.ID] = x
	}
	long, err := longest(dir)
	for i := range long {
		t := &long[i]
		t.project = list[0].Project
		body, err := os.ReadFile(filepath.Join(dir, t.path))
		if err != nil {
			return nil, err
		}
		n := strings.Count(string(body), "\n")
		for k := range 20 {
			at := fmt.Sprintf("%s:%d", t.path, 1+k*(n-1)/20)
			before := processor()
			if _, err := history.Why(ctx, a, at, 0, w); err != nil {
				return nil, fmt.Errorf("%s: %w", at, err)
			}
			t.cpu = append(t.cpu, processor()-before)
		}
	}
	return long, err
}

// longest returns, of the source files that 500 commits and more changed, that
// with the fewest and that with the most.
func longest(dir string) ([]timed, error) {
	out, err := git(dir, "log", "--format=", "--name-only", "--no-renames")
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for p := range strings.SplitSeq(out, "\n") {
		count[p]++
	}
	var all []timed
	for p, n := range count {
		if _, err := os.Stat(filepath.Join(dir, p)); err == nil && n >= 500 && slices.Contains([]string{".go", ".py", ".js", ".ts"}, path.Ext(p)) {
			all = append(all, timed{path: p, commits: n})
		}
	}
	slices.SortFunc(all, func(a, b timed) int { return cmp.Or(a.commits-b.commits, cmp.Compare(a.path, b.path)) })
	if len(all) > 2 {
		all = []timed{all[0], all[len(all)-1]}
	}
	return all, nil
}

func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func report(r *lab.Report, title string, list []question, found map[string]asked, verbose bool) {
	var n, first, three, ten, blame int
	var cpu []time.Duration
	var missed []string
	for _, q := range list {
		x, ok := found[q.ID]
		if !ok {
			continue
		}
		n++
		cpu = append(cpu, x.cpu)
		if x.rank == 1 {
			first++
		}
		if 1 <= x.rank && x.rank <= 3 {
			three++
		} else {
			missed = append(missed, fmt.Sprintf("%s %s %s, wants %.10s: rank %d", q.ID, q.Project, q.Place, q.Answers[0], x.rank))
			if verbose {
				fmt.Printf("== %s %s %s: %s\nwants %v\n%s\n", q.ID, q.Project, q.Place, q.Question, q.Answers, x.text)
			}
		}
		if x.rank > 0 {
			ten++
		}
		if x.blame {
			blame++
		}
	}
	if n == 0 {
		return
	}
	r.Printf("## %s\n\n", title)
	r.Table([]string{"questions", "first", "in three", "in ten", "git blame, its one commit"},
		[]string{fmt.Sprint(n), share(first, n), share(three, n), share(ten, n), share(blame, n)})
	r.Printf("\nProcessor time of a call: %s in the middle, %s at most.\n\n", lab.Ms(lab.Median(cpu)), lab.Ms(slices.Max(cpu)))
	if title == "open" {
		for _, m := range missed {
			r.Printf("- %s\n", m)
		}
		r.Printf("\n")
	}
}

func share(n, of int) string { return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(of)) }

// times reports the calls on long histories.
func times(r *lab.Report, long []timed) {
	if len(long) == 0 {
		return
	}
	r.Printf("## Files that 500 commits and more changed\n\nTwenty lines all over each; processor time of one call, the log of the repository being read already.\n\n")
	rows := [][]string{{"project", "file", "commits", "in the middle", "at most"}}
	for _, t := range long {
		rows = append(rows, []string{t.project, t.path, fmt.Sprint(t.commits), lab.Ms(lab.Median(t.cpu)), lab.Ms(slices.Max(t.cpu))})
	}
	r.Table(rows...)
}
