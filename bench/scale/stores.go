package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// mostFile is above which size a file is left out, so that no store is much larger
// than the others.
const mostFile = 400_000

// stores measures searches over the files of a folder as n stores of the user and
// as one, each of which has a data directory and a server of its own; the servers,
// and those of another build, are asked in turns.
func (b *bench) stores(out, commit string, n int, before string, began time.Time, load string) error {
	if b.dir == "" {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			fmt.Printf("skipped: there is no folder, and no Go whose sources could be one: %v; -dir names a folder\n", err)
			return nil
		}
		b.dir = filepath.Join(strings.TrimSpace(string(root)), "src", "crypto")
	}
	files, err := b.split(n)
	if err != nil {
		return err
	}
	many, one := lab.Env(filepath.Join(b.scratch, "many")), lab.Env(filepath.Join(b.scratch, "one"))
	maker := b.bin
	if before != "" {
		maker = before // a later build reads what an earlier one wrote
	}
	create := func(env []string, name, dir string) error {
		_, err := lab.Command(b.scratch, env, maker, "--quiet", "store:create", name, dir, "--scope", "user", "--yes")
		return err
	}
	for i := range n {
		name := part(i)
		if err := create(many, name, filepath.Join(b.scratch, "parts", name)); err != nil {
			return err
		}
	}
	if err := create(one, "one", filepath.Join(b.scratch, "parts")); err != nil {
		return err
	}
	asked := []*askedServer{{what: fmt.Sprintf("%d stores", n), env: many, bin: b.bin}, {what: "one store of the same", env: one, bin: b.bin}}
	if before != "" {
		asked = append(asked, &askedServer{what: fmt.Sprintf("%d stores, the build before", n), env: many, bin: before},
			&askedServer{what: "one store, the build before", env: one, bin: before})
	}
	differ, err := b.ask(asked)
	if err != nil {
		return err
	}
	var r lab.Report
	r.Printf("# Many stores, %s\n\nThe product at commit %s. %s. Load averages %s at the start. Written by `.ci/extra scale -stores %d`.\n\n",
		began.Format(time.DateOnly), commit, lab.Machine(), load, n)
	r.Printf("%d files of %s as %d stores of the user's scope and as one; %d questions, each asked once before and %d times in each of %d servers, in turns.\n\n",
		files, filepath.Base(b.dir), n, len(b.queries), turns, rounds)
	rows := [][]string{{"what", "processor time of a search", "to one store", "p50", "first search", "anonymous memory"}}
	for i, s := range asked {
		rows = append(rows, []string{s.what, lab.Ms(lab.Median(s.cpu)), lab.Ratio(lab.Median(s.cpu), lab.Median(asked[i|1].cpu)),
			lab.Ms(lab.Median(s.wall)), lab.Ms(lab.Median(s.first)), lab.MB(lab.Median(s.anonymous))})
		fmt.Println(strings.Join(rows[len(rows)-1], " | "))
	}
	r.Table(rows...)
	if before != "" {
		r.Printf("\nReplies that differ between the builds: %d of %d.\n", differ, rounds*len(b.queries)*2)
	}
	path, err := r.Write(out, "scale-many")
	if err == nil {
		fmt.Println(path)
	}
	return err
}

func part(i int) string { return fmt.Sprintf("part%03d", i) }

// split copies the files of the folder into n folders, in order, and returns how
// many there are.
func (b *bench) split(n int) (int, error) {
	var paths []string
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() < mostFile {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(paths) < n {
		return 0, fmt.Errorf("%s has %d files, too few for %d stores", b.dir, len(paths), n)
	}
	slices.Sort(paths)
	for i, path := range paths {
		rel, err := filepath.Rel(b.dir, path)
		if err != nil {
			return 0, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		to := filepath.Join(b.scratch, "parts", part(i*n/len(paths)), rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return 0, err
		}
	}
	return len(paths), nil
}

// turns is how often each question is asked of each server.
const turns = 3

// askedServer is a build over a data directory.
type askedServer struct {
	what, bin        string
	env              []string
	client           *lab.Client
	wall, cpu, first []time.Duration
	anonymous        []int64
	replies          []string
}

// ask asks every server every question in turns, and returns in how many replies the
// second pair of servers differs from the first.
func (b *bench) ask(all []*askedServer) (differ int, err error) {
	call := func(s *askedServer, q string) (string, time.Duration, error) {
		start := time.Now()
		reply, err := s.client.Call("search", map[string]any{"query": q})
		return reply, time.Since(start), err
	}
	for round := range rounds {
		for _, s := range all {
			if s.client, err = lab.Dial(b.scratch, s.env, s.bin, lab.Handshake); err != nil {
				return 0, err
			}
			defer s.client.Close()
			s.replies = nil
		}
		for k, q := range b.queries {
			for _, s := range all {
				reply, took, err := call(s, q)
				if err != nil {
					return 0, err
				}
				if k == 0 {
					s.first = append(s.first, took)
				}
				s.replies = append(s.replies, reply)
			}
		}
		for range turns {
			for _, s := range all { // one after the other, so that none works beside another
				from := s.client.Processor()
				for _, q := range b.queries {
					_, took, err := call(s, q)
					if err != nil {
						return 0, err
					}
					s.wall = append(s.wall, took)
				}
				s.cpu = append(s.cpu, (s.client.Processor()-from)/time.Duration(len(b.queries)))
			}
		}
		for i, s := range all {
			s.anonymous = append(s.anonymous, s.client.Anonymous())
			if i >= 2 {
				for k := range s.replies {
					if s.replies[k] != all[i-2].replies[k] {
						differ++
					}
				}
			}
			if err := s.client.Close(); err != nil {
				return 0, err
			}
		}
		fmt.Printf("round %d of %d\n", round+1, rounds)
	}
	return differ, nil
}
