package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/history/gitlog"
	"github.com/seed-4f2d999b/knowledge/internal/history/message"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	lately        = 14 * 24 * time.Hour // before the last commit
	latelyCommits = 2
)

// latelyChanged says which lines of files of the work tree are in no commit yet,
// which are younger than two weeks before the last commit, and the commits of
// that time that changed each file. Files without changes are left out; nil where
// there is no history.
func latelyChanged(ctx context.Context, a *app.App, paths []string, w app.Waiting) (map[string]app.Lately, error) {
	p, err := open(ctx, a, w)
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer p.Close()
	last, err := p.repo.Commit(p.head)
	if err != nil {
		return nil, err
	}
	since := last.Committer.When.Add(-lately)
	base := p.log.At(p.head, since)
	commits := map[string][]string{}
	p.log.Since(p.head, base, since, func(c gitlog.Commit) bool {
		for _, f := range c.Paths {
			if c.Merge || len(commits[f]) == latelyCommits || !slices.Contains(paths, f) {
				continue
			}
			if x, err := p.repo.Commit(c.Hash); err == nil {
				subject, _ := message.Split(x.Message)
				commits[f] = append(commits[f], fmt.Sprintf("%s of %s: %s", c.Hash.String()[:10], c.When.Format(time.DateOnly), kb.Clip(subject, 80)))
			}
		}
		return true
	})
	out := map[string]app.Lately{}
	for _, name := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x := app.Lately{Commits: commits[name]}
		f, differs, err := p.compare(period{base: p.head, head: p.head, tree: true}, name)
		if err != nil {
			return nil, err
		}
		for _, s := range f.lines {
			x.Uncommitted = append(x.Uncommitted, [2]int{s.From, s.To})
		}
		if len(x.Commits) > 0 {
			if f, _, err = p.compare(period{base: base, head: p.head, tree: true}, name); err != nil {
				return nil, err
			}
			for _, s := range f.lines {
				x.Recent = append(x.Recent, [2]int{s.From, s.To})
			}
		}
		if differs || len(x.Commits) > 0 {
			out[name] = x
		}
	}
	return out, nil
}
