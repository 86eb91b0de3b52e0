// Command watch measures how far behind its files an index is: after edits,
// branch switches and bursts, in two servers at once, and what watching costs
// while nothing happens. It writes its report to bench/runs.
//
// The work tree is a part of GOROOT/src under git, in a scratch folder.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "watch:", err)
		os.Exit(1)
	}
}

type bench struct {
	scratch, bin, work string
	env                []string
	servers            []*lab.Client
	rng                *rand.Rand
	next               int
	rows               [][]string
}

func (b *bench) row(what, value, bound string, met bool) {
	mark := "met"
	if !met {
		mark = "**missed**"
	}
	b.rows = append(b.rows, []string{what, value, bound, mark})
	fmt.Fprintf(os.Stderr, "%-60s %-40s %s\n", what, value, mark)
}

func run() error {
	out := flag.String("out", "bench/runs", "folder of the report")
	events := flag.Int("events", 200, "how many single events")
	burst := flag.Int("burst", 10000, "how many events in the burst")
	trees := flag.Int("worktrees", 100, "how many work trees")
	bin := flag.String("bin", "", "measure this program instead of building the last commit")
	flag.Parse()
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	b := &bench{rng: rand.New(rand.NewPCG(13, 13))}
	if b.scratch, err = lab.Scratch("watch"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	began, load := time.Now(), lab.Load()
	tree := lab.Tree{Commit: *bin}
	if b.bin = *bin; b.bin == "" {
		if tree, err = lab.Checkout(root, filepath.Join(b.scratch, "tree")); err != nil {
			return err
		}
		b.bin = filepath.Join(b.scratch, "knowledge")
		if err := tree.Build(b.bin); err != nil {
			return err
		}
	}
	b.work, b.env = filepath.Join(b.scratch, "work"), lab.Env(filepath.Join(b.scratch, "data"))
	files, err := b.prepare()
	if err != nil {
		return err
	}
	for range 2 {
		if err := b.serve(); err != nil {
			return err
		}
	}
	if err := b.followed(); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"idle", b.idle},
		{"events", func() error { return b.events(*events) }},
		{"switch", b.branchSwitch},
		{"stash", b.stash},
		{"burst", func() error { return b.burst(*burst) }},
		{"owner", b.owner},
		{"worktrees", func() error { return b.worktrees(*trees) }},
	} {
		fmt.Fprintf(os.Stderr, "%s  %s (load %s)\n", time.Now().Format(time.TimeOnly), step.name, lab.Load())
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	for _, s := range b.servers {
		_ = s.Close()
	}
	var r lab.Report
	r.Printf("# How far behind is the index? %s\n\n%s. Program: %s. Load before: %s; the run took %s.\n\n", began.Format(time.DateOnly), lab.Machine(), tree.Commit, load, time.Since(began).Round(time.Second))
	r.Printf("Work tree: %d files of GOROOT/src (%s) under git. Two MCP servers over stdio on one data directory; one of them follows the folder. "+
		"An event is over when a search in each server finds what it should, asked every 25 ms; times count from the last write.\n\n", files, runtime.Version())
	r.Table(append([][]string{{"what", "measured", "bound", ""}}, b.rows...)...)
	path, err := r.Write(*out, "watch")
	fmt.Println(path)
	return err
}

func (b *bench) git(dir string, args ...string) error {
	_, err := lab.Command(dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"),
		"git", append([]string{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"}, args...)...)
	return err
}

// prepare makes the work tree and returns its number of files.
func (b *bench) prepare() (int, error) {
	goroot, err := lab.Command(".", nil, "go", "env", "GOROOT")
	if err != nil {
		return 0, err
	}
	src := filepath.Join(strings.TrimSpace(goroot), "src")
	n := 0
	for _, dir := range []string{"net", "os", "encoding", "go", "crypto", "runtime", "internal"} {
		err := filepath.WalkDir(filepath.Join(src, dir), func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || filepath.Ext(name) != ".go" {
				return err
			}
			rel, err := filepath.Rel(src, name)
			if err != nil {
				return err
			}
			raw, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			n++
			return write(filepath.Join(b.work, rel), raw)
		})
		if err != nil {
			return 0, err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "all"}} {
		if err := b.git(b.work, args...); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func write(name string, raw []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, raw, 0o644)
}

func (b *bench) serve() error {
	c, err := lab.Dial(b.work, b.env, b.bin, "legacy")
	if err != nil {
		return err
	}
	b.servers = append(b.servers, c)
	_, err = c.Call("search", map[string]any{"query": "listen and serve"})
	return err
}

// followed waits until some server follows the folder.
func (b *bench) followed() error {
	_, err := b.until(60*time.Second, func() (bool, error) { pid, err := b.follower(b.servers[0]); return pid != 0, err })
	return err
}

func (b *bench) until(limit time.Duration, ok func() (bool, error)) (time.Duration, error) {
	began := time.Now()
	for {
		good, err := ok()
		if err != nil {
			return 0, err
		}
		if good {
			return time.Since(began), nil
		}
		if time.Since(began) > limit {
			return 0, fmt.Errorf("not right after %v", limit)
		}
		time.Sleep(25 * time.Millisecond)
	}
}

// word is a word that no file has.
func (b *bench) word() string {
	b.next++
	return fmt.Sprintf("Zq%sx%04d", strings.Repeat(string(rune('a'+b.next%26)), 3), b.next)
}

// at asks a server where a word stands: the path of the one hit whose lines have it, "" for none.
func at(c *lab.Client, word string) (string, error) {
	text, err := c.Call("search", map[string]any{"query": word, "mode": "fts", "limit": 3, "form": "json"})
	if err != nil {
		return "", err
	}
	var r struct {
		Hits []struct{ At, Code string }
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return "", err
	}
	for _, h := range r.Hits {
		if strings.Contains(h.Code, word) {
			path, _, _ := strings.Cut(h.At, ":")
			return path, nil
		}
	}
	return "", nil
}

// right waits until every server says that word stands at path.
func (b *bench) right(word, path string) (time.Duration, error) {
	began := time.Now()
	for _, c := range b.servers {
		if _, err := b.until(30*time.Second, func() (bool, error) { p, err := at(c, word); return p == path, err }); err != nil {
			return 0, fmt.Errorf("%s at %q: %w", word, path, err)
		}
	}
	return time.Since(began), nil
}

func (b *bench) events(n int) error {
	type file struct{ path, word string }
	var live []file
	times := map[string][]time.Duration{}
	for i := range n {
		kind := "create"
		if len(live) > 3 {
			kind = []string{"edit", "create", "rename", "delete", "edit"}[i%5]
		}
		var want file
		switch kind {
		case "create":
			w := b.word()
			want = file{fmt.Sprintf("net/made%d/dir%d/f.go", i%7, i), w}
			if err := write(filepath.Join(b.work, want.path), []byte("package dir\n\n// "+w+" is new.\nfunc "+w+"() {}\n")); err != nil {
				return err
			}
			live = append(live, want)
		case "edit":
			k := b.rng.IntN(len(live))
			w := b.word()
			want = file{live[k].path, w}
			if err := write(filepath.Join(b.work, want.path), []byte("package dir\n\n// "+w+" is edited.\nfunc "+w+"() {}\n")); err != nil {
				return err
			}
			live[k] = want
		case "rename":
			k := b.rng.IntN(len(live))
			want = file{fmt.Sprintf("os/moved%d.go", i), live[k].word}
			if err := os.Rename(filepath.Join(b.work, live[k].path), filepath.Join(b.work, want.path)); err != nil {
				return err
			}
			live[k] = want
		case "delete":
			k := b.rng.IntN(len(live))
			want = file{"", live[k].word}
			if err := os.Remove(filepath.Join(b.work, live[k].path)); err != nil {
				return err
			}
			live = slices.Delete(live, k, k+1)
		}
		d, err := b.right(want.word, want.path)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		times[kind] = append(times[kind], d)
		time.Sleep(time.Duration(b.rng.IntN(300)) * time.Millisecond)
	}
	var all []time.Duration
	for _, kind := range lab.Keys(times) {
		all = append(all, times[kind]...)
		b.row(fmt.Sprintf("%s, %d events: p50, p95, worst", kind, len(times[kind])), quantiles(times[kind]), "", true)
	}
	p95 := lab.Quantile(all, 0.95)
	b.row(fmt.Sprintf("all %d events, both servers: p50, p95, worst", len(all)), quantiles(all), "p95 ≤ 2 s", p95 <= 2*time.Second)
	return nil
}

func quantiles(d []time.Duration) string {
	return fmt.Sprintf("%s, %s, %s", lab.Ms(lab.Median(d)), lab.Ms(lab.Quantile(d, 0.95)), lab.Ms(slices.Max(d)))
}

// branchSwitch changes a thousand files at once.
func (b *bench) branchSwitch() error {
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "events"}, {"checkout", "-q", "-b", "other"}} {
		if err := b.git(b.work, args...); err != nil {
			return err
		}
	}
	var paths []string
	err := filepath.WalkDir(filepath.Join(b.work, "crypto"), func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && len(paths) < 500 {
			paths = append(paths, name)
		}
		return err
	})
	if err == nil {
		err = filepath.WalkDir(filepath.Join(b.work, "runtime"), func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && len(paths) < 1000 {
				paths = append(paths, name)
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	words := map[string]string{}
	for i, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		w := b.word()
		if i%100 == 50 {
			rel, _ := filepath.Rel(b.work, p)
			words[w] = filepath.ToSlash(rel)
		}
		if err := write(p, append(raw, []byte("\n// "+w+" is on the other branch.\nfunc "+w+"() {}\n")...)); err != nil {
			return err
		}
	}
	if err := b.git(b.work, "commit", "-q", "-a", "-m", "a thousand files"); err != nil {
		return err
	}
	all := func(there bool) (time.Duration, error) {
		began := time.Now()
		for _, w := range lab.Keys(words) {
			path := words[w]
			if !there {
				path = ""
			}
			if _, err := b.right(w, path); err != nil {
				return 0, err
			}
		}
		return time.Since(began), nil
	}
	if _, err := all(true); err != nil {
		return err
	}
	var took []time.Duration
	for i := range 5 {
		branch := []string{"main", "other"}[i%2]
		before, err := b.generation()
		if err != nil {
			return err
		}
		if err := b.git(b.work, "checkout", "-q", branch); err != nil {
			return err
		}
		d, err := all(branch == "other")
		if err != nil {
			return err
		}
		took = append(took, d)
		time.Sleep(3 * time.Second)
		after, err := b.generation()
		if err != nil {
			return err
		}
		if after-before != 1 {
			b.row(fmt.Sprintf("updates for the switch to %s", branch), strconv.FormatInt(after-before, 10), "1", false)
		}
	}
	b.row(fmt.Sprintf("git checkout that changes %d files, 5 times: p50, p95, worst", len(paths)), quantiles(took), "≤ 5 s", slices.Max(took) <= 5*time.Second)
	return nil
}

// generation is the number of the folder's live generation.
func (b *bench) generation() (int64, error) {
	var info struct{ Generation int64 }
	err := b.servers[0].Execute("store:info", map[string]any{"store": "."}, &info)
	return info.Generation, err
}

func (b *bench) stash() error {
	w := b.word()
	p := filepath.Join(b.work, "net", "http", "server.go")
	raw, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	if err := write(p, append(raw, []byte("\n// "+w+" is stashed.\nfunc "+w+"() {}\n")...)); err != nil {
		return err
	}
	if _, err := b.right(w, "net/http/server.go"); err != nil {
		return err
	}
	var took []time.Duration
	for i := range 10 {
		path := ""
		args := []string{"stash", "-q"}
		if i%2 == 1 {
			args, path = []string{"stash", "pop", "-q"}, "net/http/server.go"
		}
		if err := b.git(b.work, args...); err != nil {
			return err
		}
		d, err := b.right(w, path)
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	b.row("git stash and stash pop, 10 times: p50, p95, worst", quantiles(took), "≤ 2 s", slices.Max(took) <= 2*time.Second)
	return nil
}

// burst makes, changes, moves and deletes many files as fast as it can, and
// compares what is indexed with what is there.
func (b *bench) burst(n int) error {
	dir := filepath.Join(b.work, "burst")
	began := time.Now()
	for i := range n / 2 {
		if err := write(filepath.Join(dir, fmt.Sprintf("d%d/f%d.txt", i%100, i)), fmt.Appendf(nil, "burst file %d\n", i)); err != nil {
			return err
		}
	}
	for i := range n / 2 {
		old := filepath.Join(dir, fmt.Sprintf("d%d/f%d.txt", i%100, i))
		var err error
		switch i % 3 {
		case 0:
			err = os.Remove(old)
		case 1:
			err = os.Rename(old, filepath.Join(dir, fmt.Sprintf("d%d/moved%d.txt", (i+1)%100, i)))
		case 2:
			err = write(old, fmt.Appendf(nil, "burst file %d, again\n", i))
		}
		if err != nil {
			return err
		}
	}
	made := time.Since(began)
	var want []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(b.work, name)
			want = append(want, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(want)
	began = time.Now()
	for _, c := range b.servers {
		_, err := b.until(60*time.Second, func() (bool, error) {
			var list struct{ Files []string }
			err := c.Execute("files", map[string]any{"store": ".", "glob": "burst/**", "limit": 5000}, &list)
			return slices.Equal(list.Files, want), err
		})
		if err != nil {
			return err
		}
	}
	settled := time.Since(began)
	d, err := b.right("again", "burst/d2/f2.txt")
	_ = d
	_ = err // any of a thousand files answers this: only that it does not fail matters
	b.row(fmt.Sprintf("%d events in %s: paths right in both servers after", n, made.Round(time.Millisecond)), settled.Round(time.Millisecond).String(), "none lost", true)
	return nil
}

// ticks is the processor time a process has taken, in ticks of 10 ms.
func ticks(pid int) (int, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	u, _ := strconv.Atoi(fields[11])
	s, _ := strconv.Atoi(fields[12])
	return u + s, nil
}

func (b *bench) idle() error {
	const span = 30 * time.Second
	time.Sleep(5 * time.Second)
	var before, after int
	for _, c := range b.servers {
		n, err := ticks(c.PID())
		if err != nil {
			return err
		}
		before += n
	}
	time.Sleep(span)
	for _, c := range b.servers {
		n, err := ticks(c.PID())
		if err != nil {
			return err
		}
		after += n
	}
	share := float64(after-before) * 0.01 / span.Seconds() * 100
	b.row("processor time of both servers over 30 idle seconds", fmt.Sprintf("%d ms, %.2f %% of one core", (after-before)*10, share), "≈ 0", share < 0.5)
	return nil
}

// follower is the process that follows the folder, 0 for none.
func (b *bench) follower(c *lab.Client) (int, error) {
	var d struct {
		Findings []struct{ What, Text string }
	}
	if err := c.Execute("doctor", nil, &d); err != nil {
		return 0, err
	}
	for _, f := range d.Findings {
		var pid int
		if n, _ := fmt.Sscanf(f.Text, "process %d follows", &pid); n == 1 {
			return pid, nil
		}
	}
	return 0, nil
}

// keeper is the process that keeps the clock.
func (b *bench) keeper(c *lab.Client) (int, error) {
	var list struct{ Keeper int }
	err := c.Execute("schedules", nil, &list)
	return list.Keeper, err
}

// owner kills whoever follows the folder and keeps the clock.
func (b *bench) owner() error {
	for len(b.servers) < 3 {
		if err := b.serve(); err != nil {
			return err
		}
	}
	if err := b.servers[0].Execute("store:schedule", map[string]any{"store": ".", "cron": "@every 1h"}, &struct{}{}); err != nil {
		return err
	}
	for _, role := range []struct {
		name string
		who  func(*lab.Client) (int, error)
	}{{"follows the folder", b.follower}, {"keeps the clock", b.keeper}} {
		var took []time.Duration
		for range 4 {
			time.Sleep(2500 * time.Millisecond)
			pid, err := role.who(b.servers[0])
			if err != nil {
				return err
			}
			i := slices.IndexFunc(b.servers, func(c *lab.Client) bool { return c.PID() == pid })
			if i < 0 {
				return fmt.Errorf("process %d %s and is none of ours", pid, role.name)
			}
			if err := b.servers[i].Kill(); err != nil {
				return err
			}
			began := time.Now()
			b.servers = slices.Delete(b.servers, i, i+1)
			if _, err := b.until(30*time.Second, func() (bool, error) {
				now, err := role.who(b.servers[0])
				return now != 0 && now != pid, err
			}); err != nil {
				return err
			}
			took = append(took, time.Since(began))
			if err := b.serve(); err != nil {
				return err
			}
		}
		b.row("another "+role.name+" after the owner of three was killed, 4 times: p50, p95, worst", quantiles(took), "≤ 5 s", slices.Max(took) <= 5*time.Second)
	}
	return nil
}

func (b *bench) worktrees(n int) error {
	dir := filepath.Join(b.scratch, "trees")
	data := filepath.Join(b.scratch, "data2")
	env := lab.Env(data)
	size := func() (int64, error) {
		var sum int64
		for _, part := range []string{"segments", "generations", "views", "knowledge.db"} {
			s, err := lab.DirSize(filepath.Join(data, part))
			if err != nil && !os.IsNotExist(err) {
				return 0, err
			}
			sum += s
		}
		return sum, nil
	}
	var one, all int64
	var took []time.Duration
	for i := range n {
		tree := filepath.Join(dir, fmt.Sprintf("w%d", i))
		if err := b.git(b.work, "worktree", "add", "-q", "--detach", tree, "main"); err != nil {
			return err
		}
		began := time.Now()
		if _, err := lab.Command(tree, env, b.bin, "search", "listen and serve", "--limit", "1"); err != nil {
			return err
		}
		took = append(took, time.Since(began))
		var err error
		if i == 0 {
			one, err = size()
		} else if i == n-1 {
			all, err = size()
		}
		if err != nil {
			return err
		}
	}
	b.row(fmt.Sprintf("index of %d unchanged work trees against one (%s)", n, lab.MB(one)), lab.Ratio(all, one), "≤ 2 ×", float64(all) <= 2*float64(one))
	b.row("first search in each further work tree: p50, p95, worst", quantiles(took[1:]), "", true)
	// Hits come from the work tree that asks.
	w := b.word()
	if err := write(filepath.Join(dir, "w1", "net", "only.go"), []byte("package net\n\nfunc "+w+"() {}\n")); err != nil {
		return err
	}
	for i, want := range []bool{false, true, false} {
		out, err := lab.Command(filepath.Join(dir, fmt.Sprintf("w%d", i)), env, b.bin, "search", w, "--mode", "fts")
		if err != nil {
			return err
		}
		if got := strings.Contains(out, "only.go"); got != want {
			return fmt.Errorf("work tree %d: an edit of work tree 1 is found: %v", i, got)
		}
	}
	b.row("an edit in one work tree is found there alone", "yes", "", true)
	return nil
}
