package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/history/gitlog"
	"github.com/seed-4f2d999b/knowledge/internal/history/message"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/text/tokens"
)

// WhyReply says which commits made lines what they are.
type WhyReply struct {
	At      string   `json:"at"` // path:Lfrom-Lto
	Symbol  string   `json:"symbol,omitempty"`
	Commits []Commit `json:"commits"` // the likeliest reason first
	More    int      `json:"more,omitempty"`
	// Uncommitted are lines that no commit has yet, Older those that are older than
	// the history that was read.
	Uncommitted string    `json:"uncommitted,omitempty"`
	Older       string    `json:"older,omitempty"`
	Extras      kb.Extras `json:"extras,omitempty"` // specifications and findings of the place, inlined
	Notes       []string  `json:"notes,omitempty"`
}

// MarshalJSON implements json.Marshaler: extras are members of the reply.
func (r WhyReply) MarshalJSON() ([]byte, error) {
	type plain WhyReply
	return kb.Inlined(plain(r), r.Extras)
}

// Commit is one of them.
type Commit struct {
	Commit  string `json:"commit"` // ten digits of the hash
	Date    string `json:"date"`   // of the committer, UTC
	Author  string `json:"author"`
	Subject string `json:"subject"`
	Body    string `json:"body,omitempty"`
	// Lines are those that it made, of the file as it is now; Before is set where
	// it made what they were once or twice before, Around where it only put them
	// into another block.
	Lines  string   `json:"lines"`
	Around bool     `json:"around,omitempty"`
	Before int      `json:"before,omitempty"`
	Path   string   `json:"path,omitempty"`  // where the file had another
	First  bool     `json:"first,omitempty"` // the file came with it
	Issues []string `json:"issues,omitempty"`
	Merge  string   `json:"merge,omitempty"` // the subject of the merge that brought it
	Files  int      `json:"files"`           // how many it changed
	Note   string   `json:"note,omitempty"`
}

const (
	defaultCommits = 6
	whyTokens      = 1400 // of the reply, but for what specifications and findings say
	traceTime      = 10 * time.Second
)

// Why returns the commits that made a place what it is.
func Why(ctx context.Context, a *app.App, place string, limit int, w app.Waiting) (WhyReply, error) {
	limit, err := app.CheckLimit(limit, defaultCommits)
	if err != nil {
		return WhyReply{}, err
	}
	at, err := find.Show(ctx, a, place, w)
	if err != nil {
		return WhyReply{}, err
	}
	from, to := at.Start, at.End
	if _, f, t, ok := search.ParseRange(place); ok {
		from, to = f, t
	}
	p, err := open(ctx, a, w)
	if err != nil {
		return WhyReply{}, err
	}
	defer p.Close()
	body, err := p.body(at.Path)
	if err != nil {
		return WhyReply{}, kb.Errorf(kb.NotFound, "%q of store %s is no file of this project's work tree, and only its history is known", at.Path, at.Store).
			WithHint("name a place in this project: its files are listed with: files")
	}
	reply := WhyReply{At: fmt.Sprintf("%s:L%d-%d", at.Path, from, to), Symbol: at.Symbol, Commits: []Commit{}, Extras: at.Extras}
	if p.note != "" {
		reply.Notes = append(reply.Notes, p.note)
	}
	bounded, cancel := context.WithTimeout(ctx, traceTime)
	defer cancel()
	found, err := p.log.Trace(bounded, p.repo, p.head, at.Path, body, from, to, p.ignored())
	if err != nil && bounded.Err() == nil || ctx.Err() != nil {
		return WhyReply{}, errors.Join(ctx.Err(), err)
	}
	reply.Uncommitted, reply.Older = ranges(found.Uncommitted), ranges(found.Unreached)
	ordered := order(p, found)
	reply.More = max(0, len(ordered)-limit)
	brought := p.log.Brought(p.head)
	for _, o := range ordered[:min(limit, len(ordered))] {
		c, err := p.commit(o, at.Path, brought)
		if err != nil {
			return WhyReply{}, err
		}
		reply.Commits = append(reply.Commits, c)
	}
	reply.shorten()
	return reply, nil
}

// reason is what one commit has to do with a place.
type reason struct {
	gitlog.Origin
	files int
	score float64
}

// order ranks commits by how many of the lines they made, those that made the
// lines as they are before those that made what was there before. A commit that
// changed very many files says little about one place, and one that brought the
// whole file less than one that was about the lines.
func order(p *past, found gitlog.Traced) []reason {
	byCommit := map[plumbing.Hash]*reason{}
	var all []*reason
	for _, o := range found.Origins {
		r := byCommit[o.Commit]
		if r == nil {
			r = &reason{Origin: o, files: p.log.Changed(o.Commit)}
			byCommit[o.Commit] = r
			all = append(all, r)
		} else if o.Generation == r.Generation {
			r.Lines = append(r.Lines, o.Lines...)
		}
		weight := 1.0
		for range o.Generation {
			weight /= 2
		}
		r.score += weight * float64(len(o.Lines))
	}
	for _, r := range all {
		switch {
		case r.files > 200:
			r.score *= 0.2
		case r.files > 50:
			r.score *= 0.5
		}
	}
	kb.SortStableFunc(all, func(a, b *reason) int { return cmp.Compare(b.score, a.score) })
	out := make([]reason, len(all))
	for i, r := range all {
		out[i] = *r
	}
	return out
}

// commit says what the repository knows of a commit.
func (p *past) commit(o reason, path string, brought map[plumbing.Hash]plumbing.Hash) (Commit, error) {
	x, err := p.repo.Commit(o.Commit)
	if err != nil {
		return Commit{}, err
	}
	subject, body := message.Split(x.Message)
	c := Commit{
		Commit: o.Commit.String()[:10], Date: o.When.Format(time.DateOnly), Author: kb.Clip(x.Author.Name, 60),
		Subject: subject, Body: body, Lines: ranges(o.Lines), Before: o.Generation, First: o.First, Files: o.files,
		Note: message.Note(x.Message), Around: o.Around,
	}
	if o.Around {
		c.Before = 0
	}
	if o.Path != path {
		c.Path = o.Path
	}
	issues := message.Issues(x.Message)
	if m, ok := brought[o.Commit]; ok && m != o.Commit {
		if merge, err := p.repo.Commit(m); err == nil {
			title, rest := message.Split(merge.Message)
			c.Merge = strings.TrimSpace(title + ": " + kb.Clip(strings.SplitN(rest, "\n", 2)[0], 120))
			c.Merge = strings.TrimSuffix(c.Merge, ":")
			issues = append(issues, message.Issues(merge.Message)...)
		}
	}
	for _, i := range issues {
		if !slices.Contains(c.Issues, i) && len(c.Issues) < 8 {
			c.Issues = append(c.Issues, i)
		}
	}
	return c, nil
}

// shorten keeps the reply within its tokens: the bodies of the last commits are
// clipped first.
func (r *WhyReply) shorten() {
	for _, most := range []int{1200, 600, 300, 120, 0} {
		for i := len(r.Commits) - 1; i >= 0; i-- {
			if r.size() <= whyTokens {
				return
			}
			limit := most
			if i == 0 {
				limit = max(most, 400)
			}
			r.Commits[i].Body = kb.Clip(r.Commits[i].Body, limit)
			if limit == 0 {
				r.Commits[i].Body = ""
			}
		}
	}
	for len(r.Commits) > 1 && r.size() > whyTokens {
		r.Commits = r.Commits[:len(r.Commits)-1]
		r.More++
	}
}

func (r *WhyReply) size() int {
	n := 60
	for _, c := range r.Commits {
		n += 40 + tokens.Estimate(c.Subject) + tokens.Estimate(c.Body) + tokens.Estimate(c.Merge) + tokens.Estimate(c.Lines) + 6*len(c.Issues)
	}
	return n
}

// ranges writes numbers as "3-7,9"; a long list is cut.
func ranges(lines []int) string {
	slices.Sort(lines)
	lines = slices.Compact(lines)
	var out []string
	for i := 0; i < len(lines); {
		j := i
		for j+1 < len(lines) && lines[j+1] == lines[j]+1 {
			j++
		}
		if len(out) == 12 {
			return strings.Join(out, ",") + fmt.Sprintf(" and %d more lines", len(lines)-i)
		}
		s := strconv.Itoa(lines[i])
		if j > i {
			s += "-" + strconv.Itoa(lines[j])
		}
		out = append(out, s)
		i = j + 1
	}
	return strings.Join(out, ",")
}
