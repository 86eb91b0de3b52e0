package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/history/gitlog"
	"github.com/seed-4f2d999b/knowledge/internal/history/message"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// ChangedReply says what changed.
type ChangedReply struct {
	From    string    `json:"from"` // what is compared: a commit or a time, "abc1234 of 2026-11-01"
	To      string    `json:"to"`   // a commit, or "the work tree"
	Files   []File    `json:"files,omitempty"`
	Total   int       `json:"total"` // of files
	Commits []Subject `json:"commits,omitempty"`
	Count   int       `json:"count"`          // of commits, merges left out
	Hits    []Hit     `json:"hits,omitempty"` // with a query: what lies in changed lines
	Notes   []string  `json:"notes,omitempty"`
}

// File is a file that differs.
type File struct {
	Path    string   `json:"path"`
	Status  string   `json:"status"` // added, changed, deleted
	Added   int      `json:"added"`  // lines
	Removed int      `json:"removed"`
	Symbols []string `json:"symbols,omitempty"` // "Server.Serve L12-40", those whose lines differ
	More    int      `json:"more,omitempty"`    // symbols that are not shown
	Commits int      `json:"commits"`
	lines   []gitlog.Span
}

// Subject is one line about a commit.
type Subject struct {
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Author  string `json:"author"`
	Subject string `json:"subject"`
}

// Hit is a hit of the search in changed lines.
type Hit struct {
	ID     string  `json:"id"`
	At     string  `json:"at"`
	Symbol string  `json:"symbol,omitempty"`
	Score  float64 `json:"score"`
	Line   int     `json:"line,omitempty"` // of the first line of Code
	Code   string  `json:"code,omitempty"`
	Lines  string  `json:"changed"` // its lines that differ
}

const (
	defaultSince = "7d"
	defaultFiles = 20
	shownCommits = 8
	shownSymbols = 5
	mostCompared = 5000
	mostSearched = 100 // hits, of which those in changed lines are kept
)

// period is what is compared.
type period struct {
	base, head plumbing.Hash
	since      time.Time
	from, to   string
	tree       bool // the work tree is the newer side
}

// ChangedRequest asks what changed since a time or a revision, "7d" where Since is
// empty, or between two, "v1..v2".
type ChangedRequest struct {
	Since string
	Query string // only what answers it
	In    string // only at or below this path
	Limit int
	app.Waiting
}

// Changed returns what differs between two states of the project.
func Changed(ctx context.Context, a *app.App, in ChangedRequest) (ChangedReply, error) {
	limit, err := app.CheckLimit(in.Limit, defaultFiles)
	if err != nil {
		return ChangedReply{}, err
	}
	p, err := open(ctx, a, in.Waiting)
	if err != nil {
		return ChangedReply{}, err
	}
	defer p.Close()
	in = p.split(in)
	when, err := p.period(cmp.Or(in.Since, defaultSince), time.Now())
	if err != nil {
		return ChangedReply{}, err
	}
	reply := ChangedReply{From: when.from, To: when.to}
	below := strings.Trim(path.Clean("/"+strings.ReplaceAll(in.In, `\`, "/")), "/")
	touched := p.commits(when, below, &reply)
	s, err := a.ScopeFromHere(ctx, in.Waiting)
	if err != nil {
		return ChangedReply{}, err
	}
	defer s.Release()
	var files []File
	err = s.Serve(ctx, func(targets []search.Target) error {
		own := slices.IndexFunc(targets, func(t search.Target) bool { return t.Own })
		if own < 0 {
			own = 0
		}
		var t *search.Target
		if own < len(targets) {
			t = &targets[own]
		}
		files, err = p.files(ctx, t, when, touched, below)
		return err
	})
	if err != nil {
		return ChangedReply{}, err
	}
	if p.note != "" {
		reply.Notes = append(reply.Notes, p.note)
	}
	reply.Notes = append(reply.Notes, s.Notes...)
	reply.Total = len(files)
	if in.Query != "" {
		return reply, p.search(ctx, a, in, limit, files, &reply)
	}
	kb.SortFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(b.Added+b.Removed, a.Added+a.Removed), cmp.Compare(a.Path, b.Path))
	})
	reply.Files = files[:min(limit, len(files))]
	return reply, nil
}

// split takes a time before the words, where both are one text.
func (p *past) split(in ChangedRequest) ChangedRequest {
	first, rest, _ := strings.Cut(strings.TrimSpace(in.Query), " ")
	if in.Since != "" || !strings.ContainsAny(first, "0123456789~^") && !strings.Contains(first, "..") {
		return in
	}
	if _, err := p.period(first, time.Now()); err == nil {
		in.Since, in.Query = first, strings.TrimSpace(rest)
	}
	return in
}

// commits adds the commits of a period to a reply, and returns how many changed
// each path at or below a folder.
func (p *past) commits(when period, below string, reply *ChangedReply) map[string]int {
	touched := map[string]int{}
	p.log.Since(when.head, when.base, when.since, func(c gitlog.Commit) bool {
		if c.Merge {
			for _, f := range c.Paths {
				touched[f] += 0
			}
			return true
		}
		inside := false
		for _, f := range c.Paths {
			if under(f, below) {
				touched[f]++
				inside = true
			}
		}
		if !inside {
			return true
		}
		if reply.Count++; len(reply.Commits) < shownCommits {
			if x, err := p.repo.Commit(c.Hash); err == nil {
				subject, _ := message.Split(x.Message)
				reply.Commits = append(reply.Commits, Subject{c.Hash.String()[:10], c.When.Format(time.DateOnly), kb.Clip(x.Author.Name, 60), kb.Clip(subject, 120)})
			}
		}
		return true
	})
	return touched
}

func under(path, folder string) bool {
	return folder == "" || path == folder || strings.HasPrefix(path, folder+"/")
}

// period reads what is asked about: a time, a revision, or two.
func (p *past) period(since string, now time.Time) (period, error) {
	out := period{head: p.head, to: "the work tree", tree: true}
	if a, b, two := strings.Cut(strings.ReplaceAll(since, "...", ".."), ".."); two {
		var err error
		if out.base, err = p.repo.Revision(cmp.Or(a, "HEAD")); err != nil {
			return out, err
		}
		if out.head, err = p.repo.Revision(cmp.Or(b, "HEAD")); err != nil {
			return out, err
		}
		if _, err := p.log.Extend(context.Background(), p.repo, out.head); err != nil {
			return out, err
		}
		out.from, out.to, out.tree = p.named(out.base), p.named(out.head), false
		return out, nil
	}
	if t, ok := source.ParseTime(since, now); ok {
		out.since = t
		out.from = out.since.UTC().Format("2006-01-02 15:04") + " UTC"
		out.base = p.log.At(p.head, out.since)
		return out, nil
	}
	base, err := p.repo.Revision(since)
	if kb.CodeOf(err) == kb.NotFound && err != nil {
		return out, kb.Errorf(kb.NotFound, "%q is no time, and no revision of the repository", kb.Clip(since, 80)).
			WithHint("ask for a time, as in: changed {\"since\":\"7d\"}, for a day, 2026-11-01, or for what git log --oneline, git branch --all and git tag list").About("since")
	}
	if err != nil {
		return out, err
	}
	out.base, out.from = base, p.named(base)
	return out, nil
}

func (p *past) named(h plumbing.Hash) string {
	c, err := p.repo.Commit(h)
	if err != nil {
		return h.String()[:10]
	}
	return h.String()[:10] + " of " + c.Committer.When.UTC().Format(time.DateOnly)
}

// files compares the files that commits changed, and those of the work tree.
func (p *past) files(ctx context.Context, t *search.Target, when period, touched map[string]int, below string) ([]File, error) {
	var indexed []string
	if when.tree && t != nil {
		var err error
		if indexed, err = t.Index.Documents(ctx, ""); err != nil {
			return nil, err
		}
		slices.Sort(indexed)
		dirty, err := p.log.Uncommitted(ctx, p.repo, p.head, indexed, p.root)
		if err != nil {
			return nil, err
		}
		for _, f := range dirty {
			touched[f] += 0
		}
	}
	var names []string
	for f := range touched {
		if under(f, below) {
			names = append(names, f)
		}
	}
	slices.Sort(names)
	if len(names) > mostCompared {
		names = names[:mostCompared]
		p.note = strings.TrimPrefix(p.note+fmt.Sprintf("; only the first %d of the paths that changed are compared: name a folder with in", mostCompared), "; ")
	}
	var out []File
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, differs, err := p.compare(when, name)
		if err != nil {
			return nil, err
		}
		if !differs {
			continue
		}
		f.Commits = touched[name]
		if _, known := slices.BinarySearch(indexed, name); known {
			if err := declared(ctx, t, &f); err != nil {
				return nil, err
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// compare compares a file on both sides.
func (p *past) compare(when period, name string) (f File, differs bool, err error) {
	before, had, err := p.log.File(p.repo, when.base, name)
	if err != nil {
		return f, false, err
	}
	var now []byte
	has := true
	if when.tree {
		if now, err = p.body(name); errors.Is(err, fs.ErrNotExist) {
			has = false
		} else if err != nil {
			return f, false, nil // too large, or no file any more
		}
	} else if now, has, err = p.log.File(p.repo, when.head, name); err != nil {
		return f, false, err
	}
	if had == has && bytes.Equal(unixLines(before), unixLines(now)) { // a work tree may have CR LF where git has LF
		return f, false, nil
	}
	f = File{Path: name, Status: "changed"}
	switch {
	case !had:
		f.Status = "added"
	case !has:
		f.Status = "deleted"
	}
	if bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(now, 0) >= 0 {
		return f, true, nil
	}
	f.lines, f.Removed = gitlog.Compare(before, now)
	for _, s := range f.lines {
		f.Added += s.To - s.From + 1
	}
	return f, true, nil
}

func unixLines(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

// declared adds the declarations whose lines differ, the innermost of each.
func declared(ctx context.Context, t *search.Target, f *File) error {
	list, err := t.Index.Outlines(ctx, []string{f.Path})
	if err != nil || len(list) == 0 {
		return err
	}
	seen := map[string]bool{}
	for _, s := range f.lines {
		best := -1
		for i, sym := range list[0].Symbols {
			if sym.Start <= s.To && sym.End >= s.From && (best < 0 || sym.End-sym.Start <= list[0].Symbols[best].End-list[0].Symbols[best].Start) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		sym := list[0].Symbols[best]
		text := fmt.Sprintf("%s L%d-%d", sym.Name, sym.Start, sym.End)
		if seen[text] {
			continue
		}
		seen[text] = true
		if len(f.Symbols) == shownSymbols {
			f.More++
			continue
		}
		f.Symbols = append(f.Symbols, text)
	}
	return nil
}
