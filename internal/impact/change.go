package impact

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/history"
	"github.com/seed-4f2d999b/knowledge/internal/impact/reach"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// change is what differs in one file.
type change struct {
	path   string
	target int // the number of the store
	lines  []line
	place  bool // nothing differs: it is asked what would follow
}

// line is one line that a change touches.
type line struct {
	at   int // where it is, or was, in the file as it is indexed
	old  int // of a line that is gone: where it was in the file before; else 0
	text string
}

// mostDiff bounds the text of a diff, in bytes.
const mostDiff = 4 << 20

// changes reads what is asked about, and says what it is.
func (q *query) changes(ctx context.Context, a *app.App, in Request) (list []change, about string, err error) {
	place, diff := strings.TrimSpace(in.Place), strings.TrimSpace(in.Diff)
	switch {
	case place != "" && diff != "":
		return nil, "", kb.Errorf(kb.Invalid, "both a place and a diff are given").WithHint("ask about one of them")
	case place != "" && (isDiff(in.Place) || revisions(place)):
		place, diff = "", in.Place
	}
	switch {
	case place != "":
		c, err := q.atPlace(ctx, a, place, in.Waiting)
		return []change{c}, "a change of " + place, err
	case diff == "":
		return q.differing(ctx, "")
	case len(diff) > mostDiff:
		return nil, "", kb.Errorf(kb.TooLarge, "the diff has %d bytes, more than 4 MB", len(diff)).WithHint("name two revisions, as in: impact {\"diff\":\"HEAD~1..HEAD\"}")
	case isDiff(diff):
		return q.patched(ctx, in.Diff)
	case revisions(diff):
		return q.differing(ctx, strings.TrimSpace(diff))
	}
	text, err := readFile(a, diff)
	if err != nil {
		return nil, "", err
	}
	return q.patched(ctx, text)
}

// revisions reports whether a text names two revisions.
func revisions(s string) bool {
	s = strings.TrimSpace(s)
	return strings.Contains(s, "..") && !strings.ContainsAny(s, " \n\t/:\\") || strings.Contains(s, "..") && !strings.Contains(s, "../") && !strings.ContainsAny(s, " \n\t:\\")
}

// readFile reads a diff from a file of the project.
func readFile(a *app.App, name string) (string, error) {
	where, err := a.Where()
	if err != nil {
		return "", err
	}
	missing := kb.Errorf(kb.NotFound, "%q is no diff, no two revisions and no file of the project", kb.Clip(name, 80)).
		WithHint("name two revisions, as in: impact {\"diff\":\"HEAD~1..HEAD\"}").About("diff")
	if where.None {
		return "", missing
	}
	root, err := os.OpenRoot(where.Root)
	if err != nil {
		return "", missing
	}
	defer root.Close()
	if filepath.IsAbs(name) {
		if name, err = filepath.Rel(where.Root, name); err != nil {
			return "", missing
		}
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", missing
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return "", missing
	}
	b, err := io.ReadAll(io.LimitReader(f, mostDiff+1))
	switch {
	case err != nil:
		return "", kb.Errorf(kb.Denied, "read %q: %w", name, err).WithHint("give the diff itself")
	case len(b) > mostDiff:
		return "", kb.Errorf(kb.TooLarge, "%q has more than 4 MB", name).WithHint("name two revisions, as in: impact {\"diff\":\"HEAD~1..HEAD\"}")
	case !isDiff(string(b)):
		return "", kb.Errorf(kb.Invalid, "%q holds no unified diff", name).WithHint("ask about a place in it: impact {\"place\":%q}", name+":1")
	}
	return string(b), nil
}

// atPlace is a change of what stands at a place.
func (q *query) atPlace(ctx context.Context, a *app.App, place string, w app.Waiting) (change, error) {
	if c, ok, err := q.called(ctx, place); ok || err != nil {
		return c, err
	}
	at, err := find.Show(ctx, a, place, w)
	if err != nil {
		return change{}, err
	}
	from, to := at.Start, at.End
	if _, f, t, ok := search.ParseRange(place); ok {
		from, to = f, t
	}
	i := slices.IndexFunc(q.Targets, func(t search.Target) bool { return t.Label == at.Store })
	if i < 0 && len(q.Targets) == 1 {
		i = 0
	}
	if i < 0 {
		return change{}, kb.Errorf(kb.NotFound, "%q lies in the store %s, which is not in scope here", place, at.Store).
			WithHint("list what is in scope with: stores")
	}
	return q.whole(ctx, i, at.Path, from, to)
}

// called is a change of the one declaration of a name; false where there is none,
// or more than one.
func (q *query) called(ctx context.Context, name string) (change, bool, error) {
	if _, _, _, ok := search.ParseRange(name); ok {
		return change{}, false, nil
	}
	at, found := -1, reach.Decl{}
	for i, t := range q.Targets {
		if t.View == nil {
			continue
		}
		all, err := t.View.Find(name)
		if err != nil {
			return change{}, false, &search.TargetError{Target: i, Err: err}
		}
		if len(all) > 1 || len(all) == 1 && at >= 0 {
			return change{}, false, nil
		}
		if len(all) == 1 {
			at, found = i, all[0]
		}
	}
	if at < 0 {
		return change{}, false, nil
	}
	c, err := q.whole(ctx, at, found.Path, found.Start, found.End)
	return c, true, err
}

// whole is a change of all that stands from one line to another.
func (q *query) whole(ctx context.Context, i int, path string, from, to int) (change, error) {
	c := change{path: path, target: i, place: true}
	d, err := q.Targets[i].Index.Document(ctx, path)
	if err != nil {
		return change{}, err
	}
	body := strings.Split(d.Body, "\n")
	for l := from; l <= min(to, len(body)); l++ {
		c.lines = append(c.lines, line{at: l, text: body[l-1]})
	}
	return c, nil
}

// differing is what differs between two revisions, or since the last commit.
func (q *query) differing(ctx context.Context, between string) ([]change, string, error) {
	if q.past == nil {
		return nil, "", q.noPast
	}
	own := q.own()
	if own < 0 {
		return nil, "", kb.Errorf(kb.NotFound, "the folder of this project is not indexed").WithHint("index it with a first search: search {\"query\":\"main\"}")
	}
	indexed, err := q.Targets[own].Index.Documents(ctx, "")
	if err != nil {
		return nil, "", err
	}
	slices.Sort(indexed)
	list, names, more, err := q.past.Differing(ctx, between, indexed)
	if err != nil {
		return nil, "", err
	}
	if more > 0 {
		q.unknown = append(q.unknown, fmt.Sprintf("%d more files differ, which are not looked at", more))
	}
	var out []change
	for _, d := range list {
		if _, known := slices.BinarySearch(indexed, d.Path); !known && d.Now != nil {
			q.left = append(q.left, d.Path)
			continue
		}
		c := compared(d, own)
		if between != "" && d.Now != nil { // the index has the work tree
			text, err := q.Targets[own].Index.Document(ctx, d.Path)
			if err != nil {
				return nil, "", err
			}
			at := history.Carried([]byte(text.Body), d.Now)
			for i := range c.lines {
				c.lines[i].at = at(c.lines[i].at)
			}
		}
		out = append(out, c)
	}
	return out, names, nil
}

// compared makes a change of a file that differs. Lines are those of the newer
// state.
func compared(d history.Differing, own int) change {
	c := change{path: d.Path, target: own}
	carried := history.Carried(d.Now, d.Before)
	before, now := strings.Split(string(d.Before), "\n"), strings.Split(string(d.Now), "\n")
	for _, s := range d.Added {
		for l := s.From; l <= s.To; l++ {
			c.lines = append(c.lines, line{at: l, text: now[l-1]})
		}
	}
	for _, s := range d.Removed {
		for l := s.From; l <= s.To; l++ {
			at := carried(l)
			if text := before[l-1]; at > 1 && strings.TrimLeft(text, " \t") != text {
				at-- // the line after it may be of the next declaration
			}
			c.lines = append(c.lines, line{at: at, old: l, text: before[l-1]})
		}
	}
	return c
}

// patched is what a diff changes in the files as they are.
func (q *query) patched(ctx context.Context, text string) ([]change, string, error) {
	own := q.own()
	var out []change
	for _, p := range parseDiff(text) {
		name := p.now
		if name == "" {
			name = p.old
		}
		i, d, err := q.document(ctx, own, []string{p.now, p.old})
		if err != nil {
			return nil, "", err
		}
		if i < 0 {
			q.left = append(q.left, name)
			continue
		}
		body := strings.Split(d.Body, "\n")
		now, of := p.fits(body, '-')
		old, _ := p.fits(body, '+')
		if 2*max(now, old) < of {
			q.unknown = append(q.unknown, fmt.Sprintf("the diff of %s does not fit the file as it is: what it changes is told by its line numbers", name))
		}
		c := p.change(d.Path, now >= old)
		c.target = i
		out = append(out, c)
	}
	if len(out) == 0 && len(q.left) == 0 {
		return nil, "", kb.Errorf(kb.Invalid, "the diff names no file").WithHint("give it with its heads, --- and +++, as git diff writes it").About("diff")
	}
	return out, "a diff of " + kb.Count(len(out)+len(q.left), "file"), nil
}

// document returns the first of some paths that a store has, the own folder first.
func (q *query) document(ctx context.Context, own int, names []string) (int, kb.DocumentText, error) {
	order := []int{}
	if own >= 0 {
		order = append(order, own)
	}
	for i := range q.Targets {
		if i != own {
			order = append(order, i)
		}
	}
	for _, i := range order {
		for _, n := range names {
			if n == "" {
				continue
			}
			d, err := q.Targets[i].Index.Document(ctx, n)
			if err == nil {
				return i, d, nil
			}
			if kb.CodeOf(err) != kb.NotFound {
				return -1, d, err
			}
		}
	}
	return -1, kb.DocumentText{}, nil
}

// own is the number of the project's own folder, -1 without.
func (q *query) own() int {
	return slices.IndexFunc(q.Targets, func(t search.Target) bool { return t.Own })
}
