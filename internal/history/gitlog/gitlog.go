// Package gitlog knows the commits of a repository and the paths that each
// changed, and finds the commits that made the lines of a file what they are.
//
// A Log is read from the repository, newest commit first, for as long as the
// caller allows, and kept in a file of its own: a walk along the commits that
// changed one path then touches the repository only where that path changed. What
// was not reached is read by the next call. The file can be deleted at any time.
//
// A path is changed by a commit where it differs from the commit's first parent,
// in a merge too. Renames are not noted: they are found where lines are followed.
package gitlog

import (
	"container/heap"
	"context"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// commit is one commit of a log.
type commit struct {
	hash    plumbing.Hash
	parents []plumbing.Hash
	when    int64   // seconds since 1970, of the committer
	changed []int32 // numbers of paths, ascending
}

// Log is the commits of a repository. It is for one goroutine.
type Log struct {
	commits []commit
	number  map[plumbing.Hash]int32
	paths   []string
	pathNo  map[string]int32
	// absent are the parents that the repository does not have: it is shallow.
	absent map[plumbing.Hash]bool
	grown  bool // since it was opened
}

// New returns an empty log.
func New() *Log {
	return &Log{number: map[plumbing.Hash]int32{}, pathNo: map[string]int32{}, absent: map[plumbing.Hash]bool{}}
}

// Len is the number of commits.
func (l *Log) Len() int { return len(l.commits) }

// Grown reports whether there is more in it than in the file it was opened from.
func (l *Log) Grown() bool { return l.grown }

// Shallow reports whether the repository lacks parents of commits that it has.
func (l *Log) Shallow() bool { return len(l.absent) > 0 }

// mostCommits bounds a log: what is older is not read.
const mostCommits = 200_000

// Extend reads the commits that head has among its ancestors, head too, and that
// the log lacks, newest first. It returns true when all were read, and false
// when ctx ended before or there are more than a log holds; what was read stays.
func (l *Log) Extend(ctx context.Context, repo *source.Repository, head plumbing.Hash) (bool, error) {
	r := &reading{log: l, repo: repo, trees: map[plumbing.Hash]*object.Tree{}, queued: map[plumbing.Hash]bool{}}
	if err := r.add(head); err != nil {
		return false, err
	}
	for i := range l.commits {
		if l.complete(int32(i)) {
			continue
		}
		for _, p := range l.commits[i].parents {
			if err := r.add(p); err != nil {
				return false, err
			}
		}
	}
	for r.queue.Len() > 0 {
		if ctx.Err() != nil || len(l.commits) >= mostCommits {
			return false, nil
		}
		c := heap.Pop(&r.queue).(*object.Commit)
		paths, err := r.changed(ctx, c)
		if ctx.Err() != nil {
			return false, nil
		}
		if errors.Is(err, plumbing.ErrObjectNotFound) { // a partial clone
			paths, err = nil, nil
		}
		if err != nil {
			return false, err
		}
		l.take(c, paths)
		for _, p := range c.ParentHashes {
			if err := r.add(p); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// complete reports whether all parents of a commit are in the log, or nowhere.
func (l *Log) complete(i int32) bool {
	return !slices.ContainsFunc(l.commits[i].parents, func(p plumbing.Hash) bool {
		_, ok := l.number[p]
		return !ok && !l.absent[p]
	})
}

func (l *Log) take(c *object.Commit, paths []string) {
	x := commit{hash: c.Hash, parents: slices.Clone(c.ParentHashes), when: c.Committer.When.Unix(), changed: make([]int32, 0, len(paths))}
	for _, p := range paths {
		x.changed = append(x.changed, l.pathNumber(p))
	}
	slices.Sort(x.changed)
	x.changed = slices.Compact(x.changed)
	l.number[c.Hash] = int32(len(l.commits))
	l.commits = append(l.commits, x)
	l.grown = true
}

func (l *Log) pathNumber(p string) int32 {
	n, ok := l.pathNo[p]
	if !ok {
		n = int32(len(l.paths))
		l.paths = append(l.paths, p)
		l.pathNo[p] = n
	}
	return n
}

// changes reports whether a commit changed a path.
func (l *Log) changes(i int32, path string) bool {
	n, ok := l.pathNo[path]
	if !ok {
		return false
	}
	_, found := slices.BinarySearch(l.commits[i].changed, n)
	return found
}

// reading is the state of one Extend.
type reading struct {
	log    *Log
	repo   *source.Repository
	queue  newestFirst
	queued map[plumbing.Hash]bool
	trees  map[plumbing.Hash]*object.Tree
}

type newestFirst []*object.Commit

func (h newestFirst) Len() int           { return len(h) }
func (h newestFirst) Less(i, j int) bool { return h[i].Committer.When.After(h[j].Committer.When) }
func (h newestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *newestFirst) Push(x any)        { *h = append(*h, x.(*object.Commit)) }
func (h *newestFirst) Pop() any          { n := len(*h) - 1; x := (*h)[n]; *h = (*h)[:n]; return x }

// add queues a commit that the log lacks.
func (r *reading) add(h plumbing.Hash) error {
	if _, ok := r.log.number[h]; ok || r.queued[h] || r.log.absent[h] {
		return nil
	}
	r.queued[h] = true
	c, err := r.repo.Commit(h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		r.log.absent[h] = true
		r.log.grown = true
		return nil
	}
	if err != nil {
		return err
	}
	heap.Push(&r.queue, c)
	return nil
}

// changed returns the paths in which a commit differs from its first parent.
func (r *reading) changed(ctx context.Context, c *object.Commit) ([]string, error) {
	var before plumbing.Hash
	if c.NumParents() > 0 {
		p, err := r.repo.Commit(c.ParentHashes[0])
		if err != nil {
			return nil, err
		}
		before = p.TreeHash
	}
	var out []string
	err := r.compare(ctx, before, c.TreeHash, "", &out)
	return out, err
}

// keptTrees bounds the trees in memory: a commit shares most with its parent.
const keptTrees = 4096

func (r *reading) tree(h plumbing.Hash) (*object.Tree, error) {
	if h.IsZero() {
		return &object.Tree{}, nil
	}
	if t := r.trees[h]; t != nil {
		return t, nil
	}
	t, err := r.repo.Tree(h)
	if err != nil {
		return nil, err
	}
	if len(r.trees) >= keptTrees {
		clear(r.trees)
	}
	r.trees[h] = t
	return t, nil
}

// compare adds the paths below prefix in which two trees differ; a zero hash is an
// empty tree. Submodules are left out: they have a history of their own.
func (r *reading) compare(ctx context.Context, before, now plumbing.Hash, prefix string, out *[]string) error {
	if before == now {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	a, err := r.tree(before)
	if err != nil {
		return err
	}
	b, err := r.tree(now)
	if err != nil {
		return err
	}
	old := make(map[string]*object.TreeEntry, len(a.Entries))
	for i := range a.Entries {
		old[a.Entries[i].Name] = &a.Entries[i]
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		o := old[e.Name]
		delete(old, e.Name)
		if o != nil && o.Hash == e.Hash {
			continue
		}
		if err := r.entry(ctx, o, e, prefix, out); err != nil {
			return err
		}
	}
	for i := range a.Entries {
		if o := &a.Entries[i]; old[o.Name] != nil {
			if err := r.entry(ctx, o, nil, prefix, out); err != nil {
				return err
			}
		}
	}
	return nil
}

func isFolder(e *object.TreeEntry) bool { return e.Mode == filemode.Dir }

// entry adds what differs between two entries of one name, of which one may be nil.
func (r *reading) entry(ctx context.Context, before, now *object.TreeEntry, prefix string, out *[]string) error {
	var from, to plumbing.Hash
	var name string
	isFile := false
	if before != nil {
		name = before.Name
		if isFolder(before) {
			from = before.Hash
		} else {
			isFile = isFile || before.Mode.IsFile()
		}
	}
	if now != nil {
		name = now.Name
		if isFolder(now) {
			to = now.Hash
		} else {
			isFile = isFile || now.Mode.IsFile()
		}
	}
	if isFile {
		*out = append(*out, prefix+name)
	}
	return r.compare(ctx, from, to, prefix+name+"/", out)
}
