package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// versions lets two programs work side by side. Both know the words of the
// folder that is never edited; in the end the newer one's index is true.
func versions(s *stage, span time.Duration, old string) error {
	src := filepath.Join(s.dir, "older")
	if err := os.MkdirAll(src, 0o700); err != nil {
		return err
	}
	archive := filepath.Join(s.dir, "older.tar")
	if _, err := lab.Command(".", nil, "git", "archive", "--format=tar", "-o", archive, old); err != nil {
		fmt.Printf("skipped: this checkout has no commit %s\n", old)
		return nil
	}
	if _, err := lab.Command(src, nil, "tar", "xf", archive); err != nil {
		return err
	}
	older := filepath.Join(s.dir, "bin", "older")
	if err := lab.Build(src, older, "./cmd/knowledge"); err != nil {
		return err
	}
	bins := map[string]string{"newer": s.bin, "older": older}
	for _, args := range [][]string{
		{"store:create", "fixed", filepath.Join(s.project, "fixed"), "--scope", "user"},
		{"store:create", "main", filepath.Join(s.project, "live"), "--scope", "user"},
	} { // the older one begins; the newer finds what it made
		if e := s.at(older, s.data, args...); e.status != 0 {
			return fmt.Errorf("the older program: %s", e.errs)
		}
	}
	until := time.Now().Add(span)
	ctx, cancel := context.WithDeadline(context.Background(), until.Add(5*time.Minute))
	defer cancel()
	l := &ledger{}
	var wg sync.WaitGroup
	told := map[string]bool{}
	for who, bin := range bins {
		cmd, address, err := s.serve(bin)
		if err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
		defer func(cmd *exec.Cmd) { _ = cmd.Process.Kill(); _ = cmd.Wait() }(cmd)
		agent := &session{stage: s, bin: bin, face: who + " MCP"}
		defer func() {
			if agent.client != nil {
				_ = agent.client.Close()
			}
		}()
		steps := []func(*rand.Rand){
			func(rng *rand.Rand) { agent.step(rng, l, who+"0") },
			func(rng *rand.Rand) {
				one, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				if err := s.httpStep(one, rng, address); err != nil {
					s.oddly(who+" HTTP", err, "")
				}
				time.Sleep(100 * time.Millisecond)
			},
			func(rng *rand.Rand) {
				i := rng.IntN(fixedWords)
				f, e := s.search(bin, s.data, "fixed", word(i))
				switch e.status {
				case 0:
					s.known(i, f, who+" search")
				case 7: // what a newer version wrote is said, never guessed at
					s.mu.Lock()
					told[e.errs] = true
					s.mu.Unlock()
				default:
					s.expects(e, nil, who+" search")
				}
			},
			func(rng *rand.Rand) {
				s.edit(rng)
				args := []string{"index", []string{"main", "main", "fixed"}[rng.IntN(3)]}
				if rng.IntN(5) == 0 {
					args = append(args, "--force")
				}
				if e := s.at(bin, s.data, args...); e.status != 0 {
					s.expects(e, []int{7}, who+" index")
				}
				time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
			},
		}
		for i, step := range steps {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(len(who))))
				for time.Now().Before(until) {
					step(rng)
				}
			})
		}
	}
	wg.Wait()
	s.settle()
	for name := range l.state {
		s.checks(l, name)
	}
	for _, name := range []string{"main", "fixed"} {
		if e := s.run(nil, "index", name, "--force"); e.status != 0 {
			s.broken("in the end index %s ends with %d: %.300s", name, e.status, e.errs)
		}
	}
	fresh := filepath.Join(s.dir, "fresh")
	for name, dir := range map[string]string{"main": "live", "fixed": "fixed"} {
		if e := s.at(s.bin, fresh, "store:create", name, filepath.Join(s.project, dir), "--scope", "user"); e.status != 0 {
			s.broken("a fresh %s cannot be made: %.300s", name, e.errs)
			continue
		}
		s.same(name, fresh)
	}
	if e := s.run([]int{1}, "verify", "--json"); e.status != 0 && e.status != 1 {
		s.broken("in the end verify finds damage: %.800s", e.out)
	}
	for what, n := range s.odd {
		if strings.HasPrefix(what, "older ") { // it is as it is; what it does to answers and stores is looked at above
			told[fmt.Sprintf("%s (%d times)", what, n)] = true
			continue
		}
		s.broken("nobody expects this end, %d times: %s", n, what)
	}
	s.report.Printf("# Two versions in one data directory, %s\n\nCommit %s beside %s for %s: each with a server over HTTP, a session over MCP, searches and index runs at the command line, on the same stores;\nthe older made them. Every answer about a file that nobody edits was looked at; in the end the newer program's index equals one made anew.\n\n", time.Now().UTC().Format(time.DateOnly), s.commit, old, span)
	s.report.Table(rows("done", s.counts)...)
	said := lab.Keys(told)
	slices.Sort(said)
	if len(said) == 0 {
		s.report.Printf("Neither refused a file of the other.\n")
	} else {
		s.report.Printf("Refused with status 7, or said by the older one alone:\n\n- %s\n", strings.Join(said, "\n- "))
	}
	return nil
}
