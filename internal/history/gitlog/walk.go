package gitlog

import (
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Commit is what a log knows of a commit.
type Commit struct {
	Hash  plumbing.Hash
	When  time.Time
	Paths []string
	Merge bool
}

// Since calls f with every commit that head has among its ancestors and base has
// not, newest first, until f returns false. A zero base is none; commits before
// since are left out. Commits that the log has not reached are not there.
func (l *Log) Since(head, base plumbing.Hash, since time.Time, f func(Commit) bool) {
	known := l.ancestors(base)
	var order []int32
	for i := range l.ancestors(head) {
		if !known[i] && l.commits[i].when >= since.Unix() {
			order = append(order, i)
		}
	}
	kb.SortFunc(order, func(a, b int32) int {
		x, y := &l.commits[a], &l.commits[b]
		if x.when != y.when {
			return int(y.when - x.when)
		}
		return slices.Compare(x.hash[:], y.hash[:])
	})
	for _, i := range order {
		c := &l.commits[i]
		out := Commit{Hash: c.hash, When: time.Unix(c.when, 0).UTC(), Merge: len(c.parents) > 1}
		for _, p := range c.changed {
			out.Paths = append(out.Paths, l.paths[p])
		}
		if !f(out) {
			return
		}
	}
}

func (l *Log) ancestors(of plumbing.Hash) map[int32]bool {
	out := map[int32]bool{}
	var todo []int32
	add := func(h plumbing.Hash) {
		if i, ok := l.number[h]; ok && !out[i] {
			out[i] = true
			todo = append(todo, i)
		}
	}
	add(of)
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range l.commits[i].parents {
			add(p)
		}
	}
	return out
}

// Changed returns how many paths a commit changed.
func (l *Log) Changed(h plumbing.Hash) int {
	if i, ok := l.number[h]; ok {
		return len(l.commits[i].changed)
	}
	return 0
}

// Brought returns, for each commit, the one on the line of first parents of head
// that brought it there: itself, or the merge of its branch.
func (l *Log) Brought(head plumbing.Hash) map[plumbing.Hash]plumbing.Hash {
	var mainline []int32
	for h := head; ; {
		i, ok := l.number[h]
		if !ok {
			break
		}
		mainline = append(mainline, i)
		if len(l.commits[i].parents) == 0 {
			break
		}
		h = l.commits[i].parents[0]
	}
	out := make(map[plumbing.Hash]plumbing.Hash, len(l.commits))
	for _, i := range mainline {
		out[l.commits[i].hash] = l.commits[i].hash
	}
	slices.Reverse(mainline) // the first merge that has a commit brought it
	for _, m := range mainline {
		by := l.commits[m].hash
		todo := slices.Clone(l.commits[m].parents)
		for len(todo) > 0 {
			h := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			i, ok := l.number[h]
			if _, done := out[h]; done || !ok {
				continue
			}
			out[h] = by
			todo = append(todo, l.commits[i].parents...)
		}
	}
	return out
}

// At returns the commit that head was at some time, along first parents; zero
// where it had none.
func (l *Log) At(head plumbing.Hash, when time.Time) plumbing.Hash {
	for h := head; ; {
		i, ok := l.number[h]
		if !ok {
			return plumbing.ZeroHash
		}
		if l.commits[i].when < when.Unix() {
			return h
		}
		if len(l.commits[i].parents) == 0 {
			return plumbing.ZeroHash
		}
		h = l.commits[i].parents[0]
	}
}

// PathsOf returns the paths that a commit changed.
func (l *Log) PathsOf(h plumbing.Hash) []string {
	i, ok := l.number[h]
	if !ok {
		return nil
	}
	out := make([]string, len(l.commits[i].changed))
	for k, p := range l.commits[i].changed {
		out[k] = l.paths[p]
	}
	return out
}
