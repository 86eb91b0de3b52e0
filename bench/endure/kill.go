package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// questions are asked to stores whose text is not known word by word.
var questions = []string{"how is a generation published", "parse the manifest", "lock of a store", "error of a job", "merge small segments", "score of a hit",
	"which files are left out", "retry later", "read a document", "cancel", "vectors of a segment", "schedule", "token", "order of hits", "limit"}

// kill is the campaign.
func kill(s *stage, span time.Duration, want int) error {
	mustRun := func(args ...string) {
		if e := s.run(nil, args...); e.status != 0 {
			s.broken("before any kill %s ended with %d: %.200s", strings.Join(args, " "), e.status, e.errs)
		}
	}
	live, fixed := filepath.Join(s.project, "live"), filepath.Join(s.project, "fixed")
	mustRun("store:create", "main", live, "--scope", "user")
	mustRun("store:create", "fixed", fixed, "--scope", "user")
	mustRun("store:create", "repo", s.project, "--type", "repo", "--scope", "user")
	mustRun("crawl", s.site.URL+"/", "site", "--scope", "user")
	if len(s.breaches) > 0 {
		return errors.New("the campaign does not begin")
	}
	// What the store that is never edited answers, at every moment.
	truth := map[string][]string{}
	for _, q := range questions[:8] {
		f, e := s.search(s.bin, s.data, "fixed", q)
		if e.status != 0 || len(f.Hits) == 0 {
			return fmt.Errorf("no answer to %q: %s", q, e.errs)
		}
		truth[q] = f.places()
	}

	ctx, cancel := context.WithTimeout(context.Background(), span+span/2)
	defer cancel()
	l := &ledger{}
	began := time.Now()
	var kills, most int
	var wg sync.WaitGroup
	done := make(chan struct{})
	stopped := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	for i, act := range s.actors(l, truth, stopped) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 20))
			for !stopped() {
				act(ctx, rng)
			}
		})
	}
	rng := rand.New(rand.NewPCG(20, 20))
	pause := 2 * (span - span/10) / time.Duration(max(want, 1))
	kinds := map[string]int{}
	for time.Since(began) < span || kills < want && time.Since(began) < span+span/4 {
		time.Sleep(time.Duration(rng.Int64N(int64(pause))))
		list := s.processes()
		most = max(most, len(list))
		if len(list) == 0 {
			continue
		}
		pid := list[rng.IntN(len(list))]
		what := verbOf(pid)
		if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
			kills++
			kinds[what]++
		}
	}
	close(done)
	wg.Wait()
	took := time.Since(began)
	if kills < want {
		s.broken("only %d of %d kills in %s", kills, want, took.Round(time.Second))
	}
	s.settle()
	s.after(l, truth)
	for what, n := range s.odd {
		s.broken("nobody expects this end, %d times: %s", n, what)
	}
	left := s.sweep()

	s.report.Printf("# kill -9 at random moments, %s\n\nCommit %s: %d processes of the program were killed in %s, while eight actors worked in one data directory:\n", time.Now().UTC().Format(time.DateOnly), s.commit, kills, took.Round(time.Second))
	s.report.Printf("index (with and without --force), save files and commit and update a repository, search at the command line, an agent over MCP, programs over HTTP,\ncrawl a site that changes, clean up (gc, verify, doctor, jobs), and create, delete, export and schedule stores. At most %d processes ran at once.\n\n", most)
	s.report.Printf("What was accepted is looked up before each next step and at the end; a store that nobody edits must give the same answers, places and scores, in every search;\nin the end every store equals an index made anew. Then time is made to pass over what the dead left, everything is deleted, and nothing may lie about: %d files were left.\n\n", left)
	s.report.Table(rows("killed", kinds)...)
	s.report.Table(rows("done", s.counts)...)
	return nil
}

// verbOf tells what a process of the program does.
func verbOf(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "a process that ended"
	}
	for _, a := range strings.Split(string(b), "\x00")[1:] {
		if a != "" && !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "/") {
			return a
		}
	}
	return "another"
}

// actors are the eight; each call is one step.
func (s *stage) actors(l *ledger, truth map[string][]string, stopped func() bool) []func(context.Context, *rand.Rand) {
	agent := &session{stage: s, bin: s.bin, face: "MCP"}
	pages := 0
	exports := 0
	return []func(context.Context, *rand.Rand){
		func(_ context.Context, rng *rand.Rand) { // indexes
			switch rng.IntN(4) {
			case 0:
				s.run(nil, "index", "fixed", "--force")
			case 1:
				s.run(nil, "search", "what is published", "--limit", "3") // the project's own store
			default:
				s.run(nil, "index", "main")
			}
		},
		func(_ context.Context, rng *rand.Rand) { // saves files, commits, updates
			for range 1 + rng.IntN(4) {
				s.edit(rng)
			}
			if rng.IntN(3) == 0 {
				_, _ = lab.Command(s.project, s.env, "git", "commit", "-q", "-a", "-m", "more")
				s.run(nil, "store:update", "repo")
			}
			time.Sleep(time.Duration(rng.IntN(1500)) * time.Millisecond)
		},
		func(_ context.Context, rng *rand.Rand) { // searches
			if rng.IntN(2) == 0 {
				i := rng.IntN(fixedWords)
				if f, e := s.search(s.bin, s.data, "fixed", word(i)); e.status == 0 {
					s.known(i, f, "command line")
				} else {
					s.expects(e, nil, "search")
				}
				return
			}
			q := questions[rng.IntN(8)]
			f, e := s.search(s.bin, s.data, "fixed", q)
			switch {
			case e.status != 0:
				s.expects(e, nil, "search")
			case slices.Equal(f.places(), truth[q]):
				s.count("answers equal to those before")
			case len(f.Notes) > 0:
				s.count("answers that say what they lack")
			default:
				s.broken("%q is answered with %v, not %v, and no note", q, f.places(), truth[q])
			}
		},
		func(_ context.Context, rng *rand.Rand) { // an agent
			agent.step(rng, l, fmt.Sprintf("agent%d", rng.IntN(2)))
			if rng.IntN(40) == 0 && agent.client != nil {
				_ = agent.client.Close()
				agent.client = nil
			}
		},
		func(ctx context.Context, rng *rand.Rand) { // programs over HTTP
			cmd, address, err := s.serve(s.bin)
			if err != nil {
				s.count("serve was killed at its start")
				return
			}
			for range 200 {
				if stopped() {
					break
				}
				one, cancel := context.WithTimeout(ctx, time.Minute)
				err = s.httpStep(one, rng, address)
				cancel()
				if err != nil {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			if err != nil && (strings.Contains(err.Error(), "/api/") && !strings.Contains(err.Error(), "EOF") && !strings.Contains(err.Error(), "refused") && !strings.Contains(err.Error(), "reset")) {
				s.oddly("HTTP", err, "")
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		},
		func(_ context.Context, rng *rand.Rand) { // crawls
			if pages++; pages%3 == 0 {
				s.pages.Add(1)
			}
			s.run(nil, "index", "site")
			time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
		},
		func(_ context.Context, rng *rand.Rand) { // cleans up
			switch rng.IntN(5) {
			case 0, 1:
				s.run(nil, "gc")
			case 2:
				// Leftovers of the dead are no damage; that is status 1.
				if e := s.run([]int{1}, "verify", "--json"); e.status == 7 {
					s.broken("verify finds damage: %.600s", e.out)
				}
			case 3:
				s.run(nil, "doctor")
			default:
				s.run(nil, "jobs", "--all")
			}
			time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
		},
		func(_ context.Context, rng *rand.Rand) { // creates, deletes, exports, schedules
			name := fmt.Sprintf("own%d", rng.IntN(3))
			switch rng.IntN(5) {
			case 0:
				exports++
				s.run([]int{3}, "export", "fixed", filepath.Join(s.dir, fmt.Sprintf("fixed-%d.kbx", exports)))
			case 1:
				if l.of(name) == "there" {
					s.run(nil, "store:schedule", name, "@daily")
				}
			default:
				s.makes(l, rng, name)
			}
		},
	}
}

// after compares everything with what was accepted and with fresh indexes.
func (s *stage) after(l *ledger, truth map[string][]string) {
	for name := range l.state {
		s.checks(l, name)
	}
	for _, name := range []string{"main", "fixed", "site", "repo"} {
		e := s.run(nil, "index", name)
		if strings.Contains(e.out+e.errs, "workers died at") { // it was skipped, and named: that is promised too
			s.count("files that were skipped after deaths, and named")
			e = s.run(nil, "index", name, "--force")
		}
		if e.status != 0 {
			s.broken("in the end index %s ends with %d: %.300s", name, e.status, e.errs)
		}
	}
	s.run(nil, "store:update", "repo")
	fresh := filepath.Join(s.dir, "fresh")
	for name, args := range map[string][]string{
		"main":  {"store:create", "main", filepath.Join(s.project, "live"), "--scope", "user"},
		"fixed": {"store:create", "fixed", filepath.Join(s.project, "fixed"), "--scope", "user"},
		"repo":  {"store:create", "repo", s.project, "--type", "repo", "--scope", "user"},
		"site":  {"crawl", s.site.URL + "/", "site", "--scope", "user"},
	} {
		if e := s.at(s.bin, fresh, args...); e.status != 0 {
			s.broken("a fresh %s cannot be made: %.300s", name, e.errs)
			continue
		}
		s.same(name, fresh)
	}
	for q, want := range truth {
		if f, e := s.search(s.bin, s.data, "fixed", q); e.status != 0 || !slices.Equal(f.places(), want) {
			s.broken("in the end %q is answered with %v, not %v: %s", q, f.places(), want, e.errs)
		}
	}
	if e := s.run([]int{1}, "verify", "--json"); e.status != 0 && e.status != 1 {
		s.broken("in the end verify finds damage: %.800s", e.out)
	}
	exported, _ := filepath.Glob(filepath.Join(s.dir, "*.kbx"))
	for i, f := range exported {
		if i%max(1, len(exported)/8) != 0 {
			continue
		}
		data := filepath.Join(s.dir, fmt.Sprintf("import%d", i))
		if e := s.at(s.bin, data, "import", f); e.status != 0 {
			s.broken("an exported file is not whole: %.300s", e.errs)
			continue
		}
		s.count("exports imported again")
	}
}

// same compares a store of the stage with that of a fresh data directory.
func (s *stage) same(name, fresh string) {
	if a, b := s.at(s.bin, s.data, "files", name, "--limit", "5000"), s.at(s.bin, fresh, "files", name, "--limit", "5000"); a.out != b.out {
		s.broken("the files of %s are not those of a fresh index:\n%.600s\n%.600s", name, a.out, b.out)
	}
	differ := 0
	for _, q := range questions {
		a, _ := s.search(s.bin, s.data, name, q)
		b, _ := s.search(s.bin, fresh, name, q)
		if !slices.Equal(a.places(), b.places()) {
			differ++
			s.broken("%s: %q is answered with %v, by a fresh index with %v", name, q, a.places(), b.places())
		}
	}
	s.count("stores equal to a fresh index")
}

// sweep lets a day pass over what was left, deletes every store, and returns
// how many files of an index lie about after gc.
func (s *stage) sweep() (left int) {
	old := time.Now().Add(-26 * time.Hour)
	dirs := []string{"segments", "generations", "views", "transfer", "web", "repos"}
	each := func(visit func(path string)) {
		for _, d := range dirs {
			_ = filepath.WalkDir(filepath.Join(s.data, d), func(p string, e fs.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() {
					visit(p)
				}
				return nil
			})
		}
	}
	age := func() { each(func(p string) { _ = os.Chtimes(p, old, old) }) }
	age()
	s.run(nil, "gc")
	unfinished := 0
	each(func(p string) {
		if strings.Contains(filepath.Base(p), ".tmp") {
			unfinished++
		}
	})
	if unfinished > 0 {
		s.broken("%d unfinished files are left after gc", unfinished)
	}
	var list struct {
		Stores []struct {
			ID string `json:"id"`
		} `json:"stores"`
	}
	e := s.run(nil, "stores", "--all", "--json")
	if err := decode(e.out, &list); err != nil {
		s.broken("stores: %v", err)
	}
	for _, st := range list.Stores {
		s.run([]int{3}, "store:delete", st.ID, "--everywhere")
	}
	s.settle()
	age()
	s.run(nil, "gc")
	var names []string
	each(func(p string) {
		left++
		rel, _ := filepath.Rel(s.data, p)
		names = append(names, rel)
	})
	if left > 0 {
		s.broken("%d files are left when every store is deleted: %.500v; gc says %.300s; stores: %.500s", left, names,
			s.run(nil, "gc", "--dry-run").out, s.run(nil, "stores", "--all", "--json").out)
	}
	return left
}
