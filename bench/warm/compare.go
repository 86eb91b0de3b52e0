package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/bench/lab"
)

// asked are the searches of one program.
type asked struct {
	name    string
	client  *lab.Client
	wall    []time.Duration // by question, the least of the rounds
	every   []time.Duration // of every round
	cpu     time.Duration   // of all rounds
	replies []string
	memory  int64 // anonymous, at the end
}

// dial starts the server of a program and asks everything that is asked before.
func (b *bench) dial(name, bin string, env []string, args map[string]any) (*asked, error) {
	dir := b.scratch
	if b.here {
		dir = b.dir
	}
	c, err := lab.Dial(dir, env, bin, lab.Handshake)
	if err != nil {
		return nil, err
	}
	x := &asked{name: name, client: c, wall: make([]time.Duration, len(b.questions)), replies: make([]string, len(b.questions))}
	began := time.Now()
	for i, q := range b.before {
		reply, err := x.ask(q.text, args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.text, err)
		}
		if &b.before[0] == &b.questions[0] {
			x.replies[i] = reply
		}
	}
	time.Sleep(following - time.Since(began))
	return x, nil
}

func (x *asked) ask(query string, args map[string]any) (string, error) {
	all := map[string]any{"query": query}
	for k, v := range args {
		all[k] = v
	}
	text, err := x.client.Call("search", all)
	return plain(text), err
}

// measure asks each question of all programs, one after the other, as often as there are
// rounds; who begins changes.
func (b *bench) measure(args map[string]any, all ...*asked) error {
	for round := range b.rounds {
		for i, q := range b.questions {
			for k := range all {
				x := all[(i+k+round)%len(all)]
				cpu, began := x.client.Processor(), time.Now()
				reply, err := x.ask(q.text, args)
				if err != nil {
					return err
				}
				took := time.Since(began)
				if x.replies[i] == "" {
					x.replies[i] = reply
				}
				x.cpu += x.client.Processor() - cpu
				x.every = append(x.every, took)
				if x.wall[i] == 0 || took < x.wall[i] {
					x.wall[i] = took
				}
			}
		}
	}
	for _, x := range all {
		x.memory = anonymous(x.client.PID())
		if err := x.client.Close(); err != nil {
			return err
		}
	}
	return nil
}

// mean is the processor time of a search.
func (b *bench) mean(x *asked) time.Duration {
	return x.cpu / time.Duration(len(b.questions)*b.rounds)
}

// compare measures the program, and another one beside it.
func (b *bench) compare(r *lab.Report, bin, before string, i info) error {
	args := map[string]any{"stores": []string{store}}
	if b.here {
		args = nil
	}
	now, err := b.dial("this program", bin, b.env, args)
	if err != nil {
		return err
	}
	all := []*asked{now}
	if before != "" {
		then, err := b.dial("the build before", before, b.env, args)
		if err != nil {
			return err
		}
		all = append(all, then)
	}
	if err := b.measure(args, all...); err != nil {
		return err
	}
	r.Printf("One pass over 32 bytes a chunk in memory takes %s.\n\n", lab.Ms(lab.MemoryPass(int64(i.Chunks)*32)))
	b.table(r, all)
	return nil
}

// table prints what all programs took, and the ratio of the first to the last.
func (b *bench) table(r *lab.Report, all []*asked) {
	first, last := all[0], all[len(all)-1]
	head := []string{"what"}
	for _, x := range all {
		head = append(head, x.name)
	}
	rows := [][]string{append(head, "ratio")}
	row := func(what string, f func(*asked) time.Duration) {
		line := []string{what}
		for _, x := range all {
			line = append(line, lab.Ms(f(x)))
		}
		rows = append(rows, append(line, lab.Ratio(f(first), f(last))))
	}
	row("p50 of every search", func(x *asked) time.Duration { return lab.Quantile(x.every, .5) })
	row("p95 of every search", func(x *asked) time.Duration { return lab.Quantile(x.every, .95) })
	row("p50 of the least time of each question", func(x *asked) time.Duration { return lab.Quantile(x.wall, .5) })
	row("p95 of the least time of each question", func(x *asked) time.Duration { return lab.Quantile(x.wall, .95) })
	row("processor time of a search, mean", b.mean)
	for _, kind := range kinds {
		row("… p50 of "+kind, func(x *asked) time.Duration {
			var of []time.Duration
			for i, q := range b.questions {
				if q.kind == kind {
					of = append(of, x.wall[i])
				}
			}
			return lab.Quantile(of, .5)
		})
	}
	line := []string{"anonymous memory of the server at the end"}
	for _, x := range all {
		line = append(line, lab.MB(x.memory))
	}
	r.Table(append(rows, append(line, lab.Ratio(first.memory, last.memory)))...)
	if first == last {
		return
	}
	var other []string
	for i, q := range b.questions {
		if first.replies[i] != last.replies[i] {
			other = append(other, q.text)
		}
	}
	r.Printf("Replies that differ: %d of %d. Load averages %s at the end.\n\n", len(other), len(b.questions), lab.Load())
	for _, q := range other[:min(len(other), 10)] {
		r.Printf("- %q\n", q)
	}
}

// many asks the folder as one store and as many, each in a data directory of its own,
// so that no segment is shared.
func (b *bench) many(r *lab.Report, bin, before string, n int) error {
	files, err := lab.List(b.dir)
	if err != nil {
		return err
	}
	parts := filepath.Join(b.scratch, "parts")
	paths := lab.Keys(files)
	for i, p := range paths {
		to := filepath.Join(parts, fmt.Sprintf("part%03d", i*n/len(paths)), filepath.FromSlash(p))
		if err := copyFile(filepath.Join(b.dir, filepath.FromSlash(p)), to); err != nil {
			return err
		}
	}
	env := lab.Env(filepath.Join(b.scratch, "many"))
	for i := range n {
		name := fmt.Sprintf("part%03d", i)
		if _, err := lab.Command(b.scratch, env, bin, "--quiet", "store:create", name, filepath.Join(parts, name), "--scope", "user", "--yes"); err != nil {
			return err
		}
	}
	one, err := b.dial("one store", bin, b.env, map[string]any{"stores": []string{store}})
	if err != nil {
		return err
	}
	b.rounds = 1
	if err := b.measure(map[string]any{"stores": []string{store}}, one); err != nil {
		return err
	}
	all, err := b.dial(fmt.Sprintf("%d stores", n), bin, env, nil)
	if err != nil {
		return err
	}
	list := []*asked{all}
	if before != "" {
		then, err := b.dial(fmt.Sprintf("%d stores, the build before", n), before, env, nil)
		if err != nil {
			return err
		}
		list = append(list, then)
	}
	if err := b.measure(nil, list...); err != nil {
		return err
	}
	r.Printf("## %d stores\n\nThe same files as %d stores of the user's scope, to one store of all.\n\n", n, n)
	b.table(r, append(slices.Clone(list), one))
	if before == "" {
		return nil
	}
	other := 0
	for i := range b.questions {
		if list[0].replies[i] != list[1].replies[i] {
			other++
		}
	}
	r.Printf("Of the replies over %d stores %d differ from those of the build before.\n\n", n, other)
	return nil
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o600)
}
