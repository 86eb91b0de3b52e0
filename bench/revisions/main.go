// Command revisions measures searches at earlier commits of public repositories:
// how long the first and the next one take and what they add to the data
// directory, against an index of a checkout of that commit, and whether both find the same.
//
//	revisions -repos DIR [-work DIR] [-project OWNER/NAME,…] [-back N,…] [-out FILE]
//
// DIR holds one folder per project, OWNER+NAME, with a git repository in it or
// in its folder repo. A project that is not there, or has not so many commits, is
// skipped, and said. The queries are the subjects of commits, chosen by rule: of
// those before the commit that is searched every 37th along first parents, without
// the numbers of issues, until there are enough.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

const (
	queries = 20
	every   = 37
	limit   = 20
)

func main() {
	repos := flag.String("repos", "", "folder of the repositories")
	work := flag.String("work", "", "where clones and data directories are made (default: a temporary folder)")
	projects := flag.String("project", "celery/celery,traefik/traefik", "which repositories")
	back := flag.String("back", "50,500", "how many commits before the last one")
	out := flag.String("out", "", "write the report there")
	flag.Parse()
	if err := run(*repos, *work, strings.Split(*projects, ","), strings.Split(*back, ","), *out); err != nil {
		fmt.Fprintln(os.Stderr, "revisions:", err)
		os.Exit(1)
	}
}

func run(repos, work string, projects, back []string, out string) error {
	if repos == "" {
		fmt.Println("skipped: -repos names no folder of repositories")
		return nil
	}
	if work == "" {
		tmp, err := lab.Scratch("revisions")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		work = tmp
	}
	bin := filepath.Join(work, "knowledge")
	if err := lab.Build(".", bin, "./cmd/knowledge"); err != nil {
		return err
	}
	var r lab.Report
	r.Printf("# Searches at earlier commits\n\n%s, %s, load %s.\n\n", time.Now().UTC().Format("2006-01-02"), lab.Machine(), lab.Load())
	r.Printf("A search with `--at` by the command line, a process for each, its workers included; an index of a checkout in an empty data directory\n")
	r.Printf("beside it. Wall time, and processor time of all processes. In a server: the median of all queries, each asked for the second time. Of up to %d queries the first %d places, scores and lines are compared on both sides.\n\n", queries, limit)
	rows := [][]string{{"project", "at", "first search", "processor", "the next", "processor", "in a server", "processor", "indexed of documents", "added to disk",
		"index of a checkout", "processor", "its disk", "queries alike"}}
	var skipped []string
	for _, p := range projects {
		more, err := measure(repos, filepath.Join(work, strings.ReplaceAll(p, "/", "+")), bin, p, back, &r)
		rows = append(rows, more...)
		if err != nil {
			skipped = append(skipped, fmt.Sprintf("%s: %v", p, err))
		}
	}
	r.Table(rows...)
	for _, s := range skipped {
		r.Printf("\nSkipped %s.\n", s)
	}
	fmt.Print(r.String())
	if out == "" || len(rows) == 1 {
		return nil
	}
	return os.WriteFile(out, []byte(r.String()), 0o644)
}

// side is a checkout with a data directory.
type side struct{ dir, data, bin string }

func (s side) search(query string, more ...string) (lab.Usage, []hit, error) {
	args := append([]string{"search", query, "--json", "-n", fmt.Sprint(limit), "--lines", "3"}, more...)
	u, err := lab.Run(s.dir, lab.Env(s.data), s.bin, args...)
	if err != nil {
		return u, nil, err
	}
	var reply struct{ Hits []hit }
	return u, reply.Hits, json.Unmarshal([]byte(u.Out), &reply)
}

type hit struct {
	At    string
	Score float64
	Code  string
}

var revision = regexp.MustCompile(` @ [0-9a-f]{7}$`)

func measure(repos, work, bin, project string, back []string, r *lab.Report) (rows [][]string, err error) {
	bare, _, err := lab.Repository(repos, project, "HEAD")
	if err != nil {
		return nil, err
	}
	name := filepath.Base(project)
	now := side{filepath.Join(work, "now", name), filepath.Join(work, "data"), bin}
	if _, err := os.Stat(now.dir); err != nil {
		if _, err := lab.Command("", os.Environ(), "git", "clone", "-q", bare, now.dir); err != nil {
			return nil, err
		}
	}
	all, err := lab.Command(now.dir, os.Environ(), "git", "rev-list", "--count", "--first-parent", "HEAD")
	if err != nil {
		return nil, err
	}
	u, _, err := now.search("where is the configuration read", "--wait")
	if err != nil {
		return nil, err
	}
	r.Printf("%s: %s commits along first parents; the work tree was indexed in %s (%s of processor time).\n\n", project, strings.TrimSpace(all), lab.Ms(u.Wall), lab.Ms(u.User+u.Sys))
	for _, n := range back {
		row, err := compare(now, work, name, n)
		if err != nil {
			return rows, fmt.Errorf("HEAD~%s: %w", n, err)
		}
		rows = append(rows, append([]string{project}, row...))
	}
	return rows, nil
}

// compare measures one commit.
func compare(now side, work, name, n string) ([]string, error) {
	rev := "HEAD~" + n
	asked, err := subjects(now.dir, rev)
	if err != nil {
		return nil, err
	}
	before, err := lab.DirSize(now.data)
	if err != nil {
		return nil, err
	}
	first, _, err := now.search(asked[0], "--at", rev)
	if err != nil {
		return nil, err
	}
	next, _, err := now.search(asked[1], "--at", rev)
	if err != nil {
		return nil, err
	}
	after, err := lab.DirSize(now.data)
	if err != nil {
		return nil, err
	}
	documents, indexed, err := made(now)
	if err != nil {
		return nil, err
	}
	then := side{filepath.Join(work, "then-"+n, name), filepath.Join(work, "data-"+n), now.bin}
	if _, err := os.Stat(then.dir); err != nil {
		if _, err := lab.Command("", os.Environ(), "git", "clone", "-q", "--shared", "--no-checkout", now.dir, then.dir); err != nil {
			return nil, err
		}
		if _, err := lab.Command(then.dir, os.Environ(), "git", "checkout", "-q", rev); err != nil {
			return nil, err
		}
	}
	whole, _, err := then.search(asked[0], "--wait")
	if err != nil {
		return nil, err
	}
	disk, err := lab.DirSize(then.data)
	if err != nil {
		return nil, err
	}
	alike := 0
	for _, q := range asked {
		_, a, err := now.search(q, "--at", rev)
		if err != nil {
			return nil, err
		}
		_, b, err := then.search(q)
		if err != nil {
			return nil, err
		}
		if same(a, b) {
			alike++
		} else {
			fmt.Fprintf(os.Stderr, "%s %s %q:\n at  %s\n own %s\n", name, rev, q, places(a), places(b))
		}
	}
	wall, cpu, err := served(now, asked, rev)
	if err != nil {
		return nil, err
	}
	return []string{rev, lab.Ms(first.Wall), lab.Ms(first.User + first.Sys), lab.Ms(next.Wall), lab.Ms(next.User + next.Sys), lab.Ms(wall), lab.Ms(cpu),
		fmt.Sprintf("%d of %d", indexed, documents), lab.MB(after - before),
		lab.Ms(whole.Wall), lab.Ms(whole.User + whole.Sys), lab.MB(disk), fmt.Sprintf("%d of %d", alike, len(asked))}, nil
}

// served returns the median time of queries to a server that has answered all of
// them once, and the processor time of each.
func served(s side, asked []string, rev string) (wall, cpu time.Duration, err error) {
	c, err := lab.Dial(s.dir, lab.Env(s.data), s.bin, lab.Handshake)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	var times []time.Duration
	var before time.Duration
	for round := range 2 {
		before, times = c.Processor(), nil
		for _, q := range asked {
			began := time.Now()
			if _, err := c.Call("search", map[string]any{"query": q, "at": rev}); err != nil {
				return 0, 0, fmt.Errorf("round %d: %w", round, err)
			}
			times = append(times, time.Since(began))
		}
	}
	return lab.Median(times), (c.Processor() - before) / time.Duration(len(asked)), nil
}

// subjects returns the queries for a commit.
func subjects(dir, rev string) (out []string, err error) {
	log, err := lab.Command(dir, os.Environ(), "git", "log", "--first-parent", "--format=%s", rev)
	if err != nil {
		return nil, err
	}
	numbers := regexp.MustCompile(`\(?#[0-9]+\)?`)
	for i, s := range strings.Split(strings.TrimSpace(log), "\n") {
		if i%every != 0 || strings.HasPrefix(s, "Merge ") {
			continue
		}
		if s = strings.TrimSpace(numbers.ReplaceAllString(s, "")); len(strings.Fields(s)) > 1 && s[0] != '-' {
			out = append(out, s)
		}
		if len(out) == queries {
			break
		}
	}
	if len(out) < 2 {
		return nil, fmt.Errorf("too few commits before %s to ask about", rev)
	}
	return out, nil
}

// made returns what the newest job that read a commit did.
func made(s side) (documents, indexed int, err error) {
	text, err := lab.Command(s.dir, lab.Env(s.data), s.bin, "jobs", "--all", "--json")
	if err != nil {
		return 0, 0, err
	}
	var list struct {
		Jobs []struct {
			Type    string
			Details struct{ Documents, Indexed int }
		}
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return 0, 0, err
	}
	for _, j := range list.Jobs {
		if j.Type == "revision" {
			return j.Details.Documents, j.Details.Indexed, nil
		}
	}
	return 0, 0, fmt.Errorf("no job has read a commit")
}

func same(a, b []hit) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if revision.ReplaceAllString(a[i].At, "") != b[i].At || a[i].Score != b[i].Score || a[i].Code != b[i].Code {
			return false
		}
	}
	return true
}

func places(list []hit) string {
	var all []string
	for _, h := range list {
		all = append(all, fmt.Sprintf("%s %.2f", revision.ReplaceAllString(h.At, ""), h.Score))
	}
	return strings.Join(all, ", ")
}
