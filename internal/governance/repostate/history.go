package repostate

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Change is the last commit that changed a file.
type Change struct {
	Order  int // 0 for the newest commit that was looked at
	Commit string
	When   time.Time
}

// History is when the files of a work tree changed.
type History struct {
	Last map[string]Change // by path, with slashes
	// Cut is set when there were more commits than were looked at: what has no
	// entry changed before them.
	Cut bool
}

// The commits that History looks at, the time that it takes at most, and how
// many commits without an installed git, which compares two trees in
// milliseconds where git takes microseconds.
const (
	mostCommits   = 2000
	mostPlain     = 500
	historyInTime = time.Second
)

// History returns when each file was last changed by a commit, merges left out
// as in git log. What is not read in time counts as cut.
func (r *Reader) History(ctx context.Context) (History, error) {
	h := History{Last: map[string]Change{}}
	d, err := r.open()
	if err != nil {
		return h, err
	}
	_, commit, err := d.head()
	if err != nil || commit.IsZero() {
		return h, err
	}
	bounded, cancel := context.WithTimeout(ctx, historyInTime)
	defer cancel()
	if out, err := r.run(bounded, d, nil, "log", "--format=%x01%H %ct", "--name-only", "-z",
		"--no-renames", "--no-ext-diff", "--max-count="+strconv.Itoa(mostCommits+1), commit.String()); err == nil {
		h.logged(out)
		return h, nil
	} else if ctx.Err() != nil {
		return h, ctx.Err()
	}
	h.Cut = true // until the first commit was reached
	if bounded.Err() != nil {
		return h, nil
	}
	return h, h.walk(bounded, d, commit)
}

// logged reads what git log says.
func (h *History) logged(out []byte) {
	order := -1
	var at Change
	for field := range bytes.SplitSeq(out, []byte{0}) {
		text := strings.TrimPrefix(string(field), "\n")
		if head, ok := strings.CutPrefix(text, "\x01"); ok {
			if order++; order == mostCommits {
				h.Cut = true
				return
			}
			hash, when, _ := strings.Cut(head, " ")
			when, text, _ = strings.Cut(when, "\n")
			seconds, _ := strconv.ParseInt(when, 10, 64)
			at = Change{Order: order, Commit: hash, When: time.Unix(seconds, 0)}
		}
		h.note(text, at)
	}
}

func (h *History) note(path string, at Change) {
	if _, newer := h.Last[path]; path != "" && !newer {
		h.Last[path] = at
	}
}

// walk compares every commit's tree with its parent's.
func (h *History) walk(ctx context.Context, d dirs, commit plumbing.Hash) error {
	repo, err := d.repository()
	if err != nil {
		return err
	}
	p := &painter{repo: repo, colour: map[plumbing.Hash]uint8{}}
	if err := p.paint(commit, 1); err != nil {
		return err
	}
	for order := 0; p.queue.Len() > 0; order++ {
		if ctx.Err() != nil || order == mostPlain {
			return nil
		}
		c := heap.Pop(&p.queue).(*object.Commit)
		if err := h.changed(ctx, repo, c, order); err != nil {
			if ctx.Err() != nil || errors.Is(err, plumbing.ErrObjectNotFound) { // a shallow or partial clone
				return nil
			}
			return err
		}
		if err := p.parents(c); err != nil {
			return err
		}
	}
	h.Cut = false
	return nil
}

// changed notes what a commit changed; a merge changes nothing by itself.
func (h *History) changed(ctx context.Context, repo *git.Repository, c *object.Commit, order int) error {
	if c.NumParents() > 1 {
		return nil
	}
	now, err := c.Tree()
	if err != nil {
		return err
	}
	var before *object.Tree
	if c.NumParents() == 1 {
		parent, err := repo.CommitObject(c.ParentHashes[0])
		if err != nil {
			return err
		}
		if before, err = parent.Tree(); err != nil {
			return err
		}
	}
	changes, err := object.DiffTreeWithOptions(ctx, before, now, nil)
	if err != nil {
		return err
	}
	at := Change{Order: order, Commit: c.Hash.String(), When: c.Committer.When}
	for _, x := range changes {
		h.note(x.From.Name, at)
		h.note(x.To.Name, at)
	}
	return nil
}
