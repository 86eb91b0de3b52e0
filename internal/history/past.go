package history

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/history/gitlog"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Past is the history of the project that asks, for rooms that build on it. It is
// for one goroutine.
type Past struct {
	p *past
	// Note says what of the history was not read; "" when all was.
	Note string
}

// OpenPast opens the history of the project that asks, and brings it up to date.
// kb.NotFound where there is no project, or none with a repository and a commit.
func OpenPast(ctx context.Context, a *app.App, w app.Waiting) (*Past, error) {
	p, err := open(ctx, a, w)
	if err != nil {
		return nil, err
	}
	return &Past{p: p, Note: p.note}, nil
}

// Close gives the repository back.
func (h *Past) Close() error { return h.p.Close() }

// Span is the lines from one to another, from 1.
type Span = gitlog.Span

// Differing is a file that differs between two states.
type Differing struct {
	Path    string
	Added   []Span // lines of the newer state that the older lacks
	Removed []Span // lines of the older state that the newer lacks
	Before  []byte // the older state; nil where it has no such file
	Now     []byte
}

// mostDiffering bounds the files of one comparison.
const mostDiffering = 1000

// Differing compares two revisions, "A..B", or for "" the last commit with the
// work tree, of which indexed are the paths that are indexed. Names is what was
// compared, more how many files were left out.
func (h *Past) Differing(ctx context.Context, revisions string, indexed []string) (list []Differing, names string, more int, err error) {
	p, when := h.p, period{base: h.p.head, head: h.p.head, tree: true}
	var paths []string
	if revisions == "" {
		names = "the work tree against " + p.named(p.head)
		if paths, err = p.log.Uncommitted(ctx, p.repo, p.head, indexed, p.root); err != nil {
			return nil, "", 0, err
		}
		gone, err := p.gone(ctx, indexed)
		if err != nil {
			return nil, "", 0, err
		}
		paths = append(paths, gone...)
	} else {
		if when, err = p.period(revisions, time.Now()); err != nil {
			return nil, "", 0, err
		}
		names = when.to + " against " + when.from
		seen := map[string]bool{}
		for _, side := range [][2]plumbing.Hash{{when.head, when.base}, {when.base, when.head}} {
			p.log.Since(side[0], side[1], time.Time{}, func(c gitlog.Commit) bool {
				for _, f := range c.Paths {
					seen[f] = true
				}
				return true
			})
		}
		for f := range seen {
			paths = append(paths, f)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	more = max(0, len(paths)-mostDiffering)
	for _, name := range paths[:len(paths)-more] {
		if err := ctx.Err(); err != nil {
			return nil, "", 0, err
		}
		d, ok, err := p.differing(when, name)
		if err != nil {
			return nil, "", 0, err
		}
		if ok {
			list = append(list, d)
		}
	}
	return list, names, more, nil
}

// differing compares one file; ok is false where it is the same, or no text.
func (p *past) differing(when period, name string) (d Differing, ok bool, err error) {
	d = Differing{Path: name}
	if d.Before, _, err = p.log.File(p.repo, when.base, name); err != nil {
		return d, false, err
	}
	if when.tree {
		if d.Now, err = p.body(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return d, false, nil // too large, or no file any more
		}
	} else if d.Now, _, err = p.log.File(p.repo, when.head, name); err != nil {
		return d, false, err
	}
	d.Before, d.Now = unixLines(d.Before), unixLines(d.Now)
	if bytes.Equal(d.Before, d.Now) || bytes.IndexByte(d.Before, 0) >= 0 || bytes.IndexByte(d.Now, 0) >= 0 {
		return d, false, nil
	}
	d.Added, _ = gitlog.Compare(d.Before, d.Now)
	d.Removed, _ = gitlog.Compare(d.Now, d.Before)
	return d, len(d.Added)+len(d.Removed) > 0, nil
}

// Carried returns the function from lines of an older text to where they are in
// the newer; one that is gone is where the next is that was kept.
func Carried(now, before []byte) func(line int) int {
	added, _ := gitlog.Compare(before, now)
	removed, _ := gitlog.Compare(now, before)
	return func(line int) int {
		at := line
		for _, s := range removed {
			if s.From < line {
				at -= min(s.To, line-1) - s.From + 1
			}
		}
		for _, s := range added {
			if s.From <= at {
				at += s.To - s.From + 1
			}
		}
		return at
	}
}

// mostListed bounds how many files of a commit are looked for in the work tree.
const mostListed = 200_000

// gone returns the files of the last commit that the work tree has no more.
func (p *past) gone(ctx context.Context, indexed []string) ([]string, error) {
	c, err := p.repo.Commit(p.head)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(indexed))
	for _, f := range indexed {
		known[f] = true
	}
	var out []string
	left := mostListed
	var walk func(h plumbing.Hash, prefix string) error
	walk = func(h plumbing.Hash, prefix string) error {
		t, err := p.repo.Tree(h)
		if errors.Is(err, plumbing.ErrObjectNotFound) { // a partial clone
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range t.Entries {
			if left--; left < 0 || ctx.Err() != nil {
				return ctx.Err()
			}
			switch name := prefix + e.Name; {
			case e.Mode == filemode.Dir:
				if err := walk(e.Hash, name+"/"); err != nil {
					return err
				}
			case !e.Mode.IsFile(): // a submodule has files of its own
			case !known[name]:
				if _, err := p.root.Lstat(filepath.FromSlash(name)); errors.Is(err, os.ErrNotExist) {
					out = append(out, name)
				}
			}
		}
		return nil
	}
	return out, walk(c.TreeHash, "")
}

// largestTogether is how many files a commit may change to say anything of what
// belongs together.
const largestTogether = 60

// Together returns how often other files changed in the commits that changed
// one of paths, in (0,1]: 1 for one that did so each time. A commit counts the less
// the more files it changed.
func (h *Past) Together(paths []string) map[string]float64 {
	out, all := map[string]float64{}, 0.0
	h.p.log.Since(h.p.head, plumbing.ZeroHash, time.Time{}, func(c gitlog.Commit) bool {
		if c.Merge || len(c.Paths) > largestTogether || !slices.ContainsFunc(c.Paths, func(f string) bool { return slices.Contains(paths, f) }) {
			return true
		}
		weight := 1 / float64(1+len(c.Paths))
		all += weight
		for _, f := range c.Paths {
			out[f] += weight
		}
		return true
	})
	for f := range out {
		out[f] /= all
	}
	return out
}

// Made says what a commit has to do with lines.
type Made struct {
	Commit string  // its hash
	Share  float64 // of the lines, in (0,1]; half of that for each replacement since
	Files  int     // that it changed
}

// Makers returns the commits that made lines of a file, and what was there
// before, the one with the largest share first. The lines are those of the last
// commit, or with tree those of the work tree.
func (h *Past) Makers(ctx context.Context, path string, spans []Span, tree bool) ([]Made, error) {
	body, err := h.p.body(path)
	if !tree {
		body, _, err = h.p.log.File(h.p.repo, h.p.head, path)
	}
	if err != nil || body == nil {
		return nil, err
	}
	share, lines := map[plumbing.Hash]float64{}, 0
	for _, s := range spans {
		found, err := h.p.log.Trace(ctx, h.p.repo, h.p.head, path, body, s.From, s.To, h.p.ignored())
		if err != nil {
			return nil, err
		}
		lines += s.To - s.From + 1
		for _, o := range found.Origins {
			share[o.Commit] += float64(len(o.Lines)) / float64(int(1)<<o.Generation)
		}
	}
	var out []Made
	for c, n := range share {
		out = append(out, Made{c.String(), n / float64(lines), h.p.log.Changed(c)})
	}
	kb.SortFunc(out, func(a, b Made) int {
		if a.Share != b.Share {
			if a.Share > b.Share {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Commit, b.Commit)
	})
	return out, nil
}

// ChangedBy returns the paths that a commit changed.
func (h *Past) ChangedBy(commit string) []string {
	return h.p.log.PathsOf(plumbing.NewHash(commit))
}

// MadeBy returns, for each line of a file as it lies in the work tree, from 1, which of
// commits made it; lines that others made are not there.
func (h *Past) MadeBy(ctx context.Context, path string, commits []Made) (map[int]string, error) {
	body, err := h.p.body(path)
	if err != nil {
		return nil, nil // too large, or no file any more
	}
	found, err := h.p.log.Trace(ctx, h.p.repo, h.p.head, path, body, 1, bytes.Count(body, []byte("\n"))+1, h.p.ignored())
	if err != nil {
		return nil, err
	}
	out := map[int]string{}
	for _, o := range found.Origins {
		c := o.Commit.String()
		if o.Generation == 0 && slices.ContainsFunc(commits, func(m Made) bool { return m.Commit == c }) {
			for _, l := range o.Lines {
				out[l] = c
			}
		}
	}
	return out, nil
}
