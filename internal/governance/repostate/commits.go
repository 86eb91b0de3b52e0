package repostate

import (
	"container/heap"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// upstream finds the branch that the current one follows, and counts the commits
// between the two.
func (r *Reader) upstream(ctx context.Context, d dirs, repo *git.Repository, s *State, commit plumbing.Hash) error {
	if s.Detached {
		return nil
	}
	c := d.config()
	b := c.Section("branch").Subsection(s.Branch)
	remote, merge := b.Option("remote"), b.Option("merge")
	if remote == "" || merge == "" {
		return nil
	}
	ref := merge
	if remote != "." {
		ref = "" // the fetched branch, by the remote's refspecs
		for _, spec := range c.Section("remote").Subsection(remote).OptionAll("fetch") {
			if to, ok := mapped(spec, merge); ok {
				ref = to
			}
		}
		if ref == "" {
			return nil
		}
	}
	s.Upstream = plumbing.ReferenceName(ref).Short()
	there, err := repo.Reference(plumbing.ReferenceName(ref), true)
	if err != nil || commit.IsZero() {
		return nil // deleted there, or nothing here yet: only the name is known
	}
	s.Ahead, s.Behind, err = apart(ctx, repo, commit, there.Hash())
	return err
}

// mapped applies a refspec such as +refs/heads/*:refs/remotes/origin/*.
func mapped(spec, ref string) (string, bool) {
	from, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	if !ok {
		return "", false
	}
	before, after, star := strings.Cut(from, "*")
	if !star {
		return to, from == ref
	}
	if !strings.HasPrefix(ref, before) || !strings.HasSuffix(ref, after) || len(ref) < len(before)+len(after) {
		return "", false
	}
	return strings.Replace(to, "*", ref[len(before):len(ref)-len(after)], 1), true
}

// painter visits commits, newest first, and paints them with the colours of their
// descendants.
type painter struct {
	repo   *git.Repository
	colour map[plumbing.Hash]uint8
	queue  commitHeap
}

type commitHeap []*object.Commit

func (h commitHeap) Len() int           { return len(h) }
func (h commitHeap) Less(i, j int) bool { return h[i].Committer.When.After(h[j].Committer.When) }
func (h commitHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *commitHeap) Push(x any)        { *h = append(*h, x.(*object.Commit)) }
func (h *commitHeap) Pop() any          { n := len(*h) - 1; x := (*h)[n]; *h = (*h)[:n]; return x }

// paint adds a colour to a commit and queues it when the colour is new to it. A
// commit that a shallow clone lacks is the end.
func (p *painter) paint(h plumbing.Hash, colour uint8) error {
	if p.colour[h]&colour == colour {
		return nil
	}
	p.colour[h] |= colour
	c, err := p.repo.CommitObject(h)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		delete(p.colour, h)
		return nil
	}
	if err != nil {
		return err
	}
	heap.Push(&p.queue, c)
	return nil
}

// parents paints the parents of a commit as itself.
func (p *painter) parents(c *object.Commit) error {
	for _, parent := range c.ParentHashes {
		if err := p.paint(parent, p.colour[c.Hash]); err != nil {
			return err
		}
	}
	return nil
}

// apart counts the commits that only one of two has among its ancestors.
func apart(ctx context.Context, repo *git.Repository, here, there plumbing.Hash) (ahead, behind int, err error) {
	const left, right, both = 1, 2, 3
	if here == there {
		return 0, 0, nil
	}
	p := &painter{repo: repo, colour: map[plumbing.Hash]uint8{}}
	if err := errors.Join(p.paint(here, left), p.paint(there, right)); err != nil {
		return 0, 0, err
	}
	// Until all in the queue is common. What is common is older than its
	// descendants, but for clocks that went wrong.
	for slices.ContainsFunc(p.queue, func(c *object.Commit) bool { return p.colour[c.Hash] != both }) {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		c := heap.Pop(&p.queue).(*object.Commit)
		if err := p.parents(c); err != nil {
			return 0, 0, err
		}
	}
	for _, colour := range p.colour {
		switch colour {
		case left:
			ahead++
		case right:
			behind++
		}
	}
	return ahead, behind, nil
}

// Merged returns the local branches whose commits are all in HEAD, but for
// the current one and those that other work trees have checked out, sorted.
func (r *Reader) Merged(ctx context.Context) ([]string, error) {
	d, err := r.open()
	if err != nil {
		return nil, err
	}
	current, commit, err := d.head()
	if err != nil || commit.IsZero() {
		return nil, err
	}
	all, err := r.mergedRefs(ctx, d, commit)
	if err != nil {
		return nil, err
	}
	used := checkedOut(d)
	var out []string
	for _, ref := range all {
		if name := ref.Short(); name != current && !used[string(ref)] {
			mask(&name)
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// mergedRefs asks git, which has a commit graph, or looks through all commits.
func (r *Reader) mergedRefs(ctx context.Context, d dirs, commit plumbing.Hash) (out []plumbing.ReferenceName, err error) {
	if said, err := r.run(ctx, d, nil, "for-each-ref", "--merged="+commit.String(), "--format=%(refname)", "refs/heads"); err == nil {
		for _, name := range strings.Fields(string(said)) {
			out = append(out, plumbing.ReferenceName(name))
		}
		return out, nil
	}
	repo, err := d.repository()
	if err != nil {
		return nil, err
	}
	tips := map[plumbing.Hash][]plumbing.ReferenceName{}
	refs, err := repo.Branches()
	if err != nil {
		return nil, err
	}
	if err := refs.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference {
			tips[ref.Hash()] = append(tips[ref.Hash()], ref.Name())
		}
		return nil
	}); err != nil {
		return nil, err
	}
	p := &painter{repo: repo, colour: map[plumbing.Hash]uint8{}}
	if err := p.paint(commit, 1); err != nil {
		return nil, err
	}
	for len(tips) > 0 && p.queue.Len() > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := heap.Pop(&p.queue).(*object.Commit)
		out = append(out, tips[c.Hash]...)
		delete(tips, c.Hash)
		if err := p.parents(c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkedOut returns the refs that HEADs of work trees name.
func checkedOut(d dirs) map[string]bool {
	out := map[string]bool{}
	heads := []string{filepath.Join(d.common, "HEAD")}
	trees, _ := os.ReadDir(filepath.Join(d.common, "worktrees")) // most repositories have none
	for _, t := range trees {
		heads = append(heads, filepath.Join(d.common, "worktrees", t.Name(), "HEAD"))
	}
	for _, h := range heads {
		if ref, ok := strings.CutPrefix(line(h), "ref:"); ok {
			out[strings.TrimSpace(ref)] = true
		}
	}
	return out
}
