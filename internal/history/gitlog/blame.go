package gitlog

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// Origin is a commit that made lines what they are, or what they were before.
type Origin struct {
	Commit plumbing.Hash
	When   time.Time
	Path   string // of the file, as the commit has it
	// Lines are those that it made, of the ones asked about, from 1.
	Lines []int
	// Generation is 0 where it made the lines as they are now, 1 where it made
	// those that were replaced by them, and so on.
	Generation int
	// First is set where the commit has the file and none of its parents does.
	First bool
	// Around is set where the commit left the lines as they are and put them
	// into another block; Generation is 1 then.
	Around bool
}

// Traced is what Trace found.
type Traced struct {
	Origins []Origin // by generation, then newest first
	// Uncommitted are the lines that differ from what is checked out.
	Uncommitted []int
	// Unreached are lines that are older than what the log, the repository or
	// the time given reaches, of generation 0.
	Unreached []int
	Versions  int // of files that were read
}

// Bounds of one Trace.
const (
	// mostGenerations is how often a line that was replaced is followed.
	mostGenerations = 3
	// mostVersions is how many files are read.
	mostVersions = 3000
	// largestFile is the size of a file that is followed.
	largestFile = 4 << 20
	// leastMoved is how many letters and digits, in how many lines in a row, are
	// a move and no accident; git blame -M takes 20.
	leastMoved      = 40
	leastMovedLines = 2
	// mostAround is how far around a line a move is looked at.
	mostAround = 40
	// mostMovedFrom is how many other files of a commit are looked through.
	mostMovedFrom = 40
	// leastRenamed is the part of the larger file that two have in common where
	// one is the other under a new name, as in git.
	leastRenamed = 0.5
)

// Trace finds the commits that made lines from to to, from 1, of a file what they
// are. body is the file as it is in the work tree, path is where head has it.
// Lines are followed through white space, formatters, renames, and moves within
// a commit. Commits in ignore are passed through wherever a line can be told in
// their parent. It ends early, with lines unreached, when ctx does.
func (l *Log) Trace(ctx context.Context, repo *source.Repository, head plumbing.Hash, path string, body []byte, from, to int, ignore map[plumbing.Hash]bool) (Traced, error) {
	t := &tracing{log: l, repo: repo, ignore: ignore, words: words{number: map[string]int32{}, as: map[string]int32{}},
		versions: map[plumbing.Hash]*version{}, trees: map[plumbing.Hash]*object.Tree{},
		waiting: map[where]*pending{}, found: map[origin]*Origin{}}
	err := t.start(ctx, head, path, body, from, to)
	for err == nil && t.queue.Len() > 0 {
		if ctx.Err() != nil || len(t.versions) >= mostVersions {
			for _, p := range t.queue {
				t.lose(p.lines)
			}
			break
		}
		p := heap.Pop(&t.queue).(*pending)
		delete(t.waiting, p.where)
		if err = t.step(p); errors.Is(err, plumbing.ErrObjectNotFound) { // a partial clone
			t.lose(p.lines)
			err = nil
		}
	}
	return t.result(), err
}

// line is one that is followed: asked is its number as it was asked about.
type line struct {
	asked, at  int // from 0
	generation int
}

// where is a file of a commit.
type where struct {
	commit int32
	path   string
}

// pending are the lines that are followed in a file of a commit.
type pending struct {
	where
	blob  plumbing.Hash
	when  int64
	lines []line
}

type pendingHeap []*pending

func (h pendingHeap) Len() int { return len(h) }
func (h pendingHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[j].when, h[i].when), cmp.Compare(h[i].path, h[j].path), cmp.Compare(h[i].commit, h[j].commit)) < 0
}
func (h pendingHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pendingHeap) Push(x any)   { *h = append(*h, x.(*pending)) }
func (h *pendingHeap) Pop() any     { n := len(*h) - 1; x := (*h)[n]; *h = (*h)[:n]; return x }

type origin struct {
	commit     int32
	generation int
	path       string
	around     bool
}

type tracing struct {
	log    *Log
	repo   *source.Repository
	ignore map[plumbing.Hash]bool

	words    words
	versions map[plumbing.Hash]*version
	trees    map[plumbing.Hash]*object.Tree

	queue   pendingHeap
	waiting map[where]*pending
	found   map[origin]*Origin
	out     Traced
}

// start compares the work tree with what is checked out.
func (t *tracing) start(ctx context.Context, head plumbing.Hash, path string, body []byte, from, to int) error {
	n, ok := t.log.number[head]
	if !ok {
		return kb.Errorf(kb.NotFound, "the history does not reach the commit that is checked out").WithHint("ask again: it is read on at each call")
	}
	now := t.words.read(body)
	to = min(to, len(now.ids))
	blob, err := t.blobAt(n, path)
	if err != nil {
		return err
	}
	var lines []line
	if blob.IsZero() {
		for i := from - 1; i < to; i++ {
			t.out.Uncommitted = append(t.out.Uncommitted, i+1)
		}
		return nil
	}
	there, err := t.version(blob)
	if err != nil {
		return err
	}
	matched := match(there.ids, now.ids)
	for i := from - 1; i < to; i++ {
		if matched[i] < 0 {
			t.out.Uncommitted = append(t.out.Uncommitted, i+1)
			continue
		}
		lines = append(lines, line{asked: i, at: int(matched[i])})
	}
	t.follow(where{n, path}, blob, lines)
	return ctx.Err()
}

// follow queues lines of a file.
func (t *tracing) follow(w where, blob plumbing.Hash, lines []line) {
	if len(lines) == 0 {
		return
	}
	if p := t.waiting[w]; p != nil {
		p.lines = append(p.lines, lines...)
		return
	}
	p := &pending{where: w, blob: blob, when: t.log.commits[w.commit].when, lines: lines}
	t.waiting[w] = p
	heap.Push(&t.queue, p)
}

func (t *tracing) lose(lines []line) {
	for _, l := range lines {
		if l.generation == 0 {
			t.out.Unreached = append(t.out.Unreached, l.asked+1)
		}
	}
}

// step takes lines one commit back, or, along commits that left the file alone, many.
func (t *tracing) step(p *pending) error {
	at := p.where
	for !t.log.changes(at.commit, at.path) {
		c := &t.log.commits[at.commit]
		if len(c.parents) == 0 {
			break
		}
		n, ok := t.log.number[c.parents[0]]
		if !ok {
			t.lose(p.lines)
			return nil
		}
		at.commit = n
	}
	if at != p.where { // others may have come to the same commit
		t.follow(at, p.blob, p.lines)
		return nil
	}
	return t.through(p)
}

// parent is a file of a parent of a commit.
type parent struct {
	where
	blob plumbing.Hash
}

// through finds which lines a commit made, and follows the others.
func (t *tracing) through(p *pending) error {
	c := &t.log.commits[p.commit]
	var parents []parent
	missing := 0
	for _, h := range c.parents {
		n, ok := t.log.number[h]
		if !ok {
			missing++
			continue
		}
		blob, err := t.blobAt(n, p.path)
		if err != nil {
			return err
		}
		if blob == p.blob {
			t.follow(where{n, p.path}, blob, p.lines)
			return nil
		}
		if !blob.IsZero() {
			parents = append(parents, parent{where{n, p.path}, blob})
		}
	}
	if missing > 0 && len(parents) == 0 {
		t.lose(p.lines)
		return nil
	}
	now, err := t.version(p.blob)
	if err != nil {
		return t.skip(p, err)
	}
	first := len(parents) == 0
	if first {
		renamed, err := t.renamedFrom(p, now)
		if err != nil {
			return err
		}
		if renamed != nil {
			parents, first = append(parents, *renamed), false
		}
	}
	rest := p.lines
	var before *version
	var matched []int32
	for i, up := range parents {
		v, err := t.version(up.blob)
		if err != nil {
			return t.skip(p, err)
		}
		m := match(v.ids, now.ids)
		if i == 0 {
			before, matched = v, m
			t.made(p, indented(v, now, m, p.lines), true, false)
		}
		rest = t.pass(up, rest, func(at int) int { return int(m[at]) })
		if len(rest) == 0 {
			return nil
		}
	}
	if before != nil {
		if rest = t.passReformatted(parents[0], before, now, matched, rest); len(rest) == 0 {
			return nil
		}
	}
	if rest, err = t.passMoved(p, now, matched, rest); err != nil || len(rest) == 0 {
		return err
	}
	if before != nil {
		rest = t.replaced(parents[0], before, now, matched, rest, t.ignore[c.hash])
	}
	t.made(p, rest, false, first)
	return nil
}

// skip gives up lines of a file that cannot be read.
func (t *tracing) skip(p *pending, err error) error {
	if errors.Is(err, source.ErrTooLarge) {
		t.lose(p.lines)
		return nil
	}
	return err
}

// made notes that a commit made lines, or what is around them.
func (t *tracing) made(p *pending, lines []line, around, first bool) {
	c := &t.log.commits[p.commit]
	for _, l := range lines {
		if around {
			l.generation++
		}
		k := origin{p.commit, l.generation, p.path, around}
		o := t.found[k]
		if o == nil {
			o = &Origin{Commit: c.hash, When: time.Unix(c.when, 0).UTC(), Path: p.path, Generation: l.generation, First: first, Around: around}
			t.found[k] = o
		}
		o.Lines = append(o.Lines, l.asked+1)
	}
}

func (t *tracing) result() Traced {
	for _, o := range t.found {
		slices.Sort(o.Lines)
		o.Lines = slices.Compact(o.Lines)
		t.out.Origins = append(t.out.Origins, *o)
	}
	kb.SortFunc(t.out.Origins, func(a, b Origin) int {
		return cmp.Or(a.Generation-b.Generation, b.When.Compare(a.When), slices.Compare(a.Commit[:], b.Commit[:]), cmp.Compare(a.Path, b.Path))
	})
	for _, l := range []*[]int{&t.out.Uncommitted, &t.out.Unreached} {
		slices.Sort(*l)
		*l = slices.Compact(*l)
	}
	t.out.Versions = len(t.versions)
	return t.out
}

// version reads a file.
func (t *tracing) version(blob plumbing.Hash) (*version, error) {
	if v := t.versions[blob]; v != nil {
		return v, nil
	}
	body, err := t.repo.Blob(blob, largestFile)
	if err != nil {
		return nil, err
	}
	v := t.words.read(body)
	t.versions[blob] = v
	return v, nil
}

// blobAt returns the blob of a path in a commit, zero where it has none.
func (t *tracing) blobAt(n int32, path string) (plumbing.Hash, error) {
	c, err := t.repo.Commit(t.log.commits[n].hash)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return t.find(c.TreeHash, path)
}
