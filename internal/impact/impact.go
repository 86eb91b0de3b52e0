package impact

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/history"
	"github.com/seed-4f2d999b/knowledge/internal/impact/reach"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Request asks what a change reaches.
type Request struct {
	Place string // a place or a name; "" for a diff
	Diff  string // a diff, a file with one, or two revisions; "" for the work tree
	Depth int    // of callers that are listed; 0 is 3
	Limit int    // of tests; 0 is 10
	app.Waiting
}

const (
	defaultTests = 10
	defaultDepth = 3
	maxDepth     = 5
	mostDeclared = 200 // changed declarations that are followed
)

// query is one question while it is answered.
type query struct {
	*app.Shelves
	past    *history.Past // nil without
	noPast  error
	unknown []string // what the reply cannot know
	left    []string // files that are not indexed
}

// Impact returns what a change reaches.
func Impact(ctx context.Context, a *app.App, in Request) (Reply, error) {
	limit, err := app.CheckLimit(in.Limit, defaultTests)
	if err != nil {
		return Reply{}, err
	}
	depth := cmp.Or(in.Depth, defaultDepth)
	if depth < 1 || depth > maxDepth {
		return Reply{}, kb.Errorf(kb.Invalid, "depth must lie between 1 and %d, not %d", maxDepth, depth).WithHint("leave it out for %d", defaultDepth)
	}
	s, err := code.Resolved(ctx, a, in.Waiting)
	if err != nil {
		return Reply{}, err
	}
	defer s.Release()
	q := &query{Shelves: s}
	if q.past, q.noPast = history.OpenPast(ctx, a, in.Waiting); q.noPast == nil {
		defer q.past.Close()
	} else if ctx.Err() != nil {
		return Reply{}, ctx.Err()
	}
	var reply Reply
	err = s.Serve(ctx, func([]search.Target) error {
		q.unknown, q.left = nil, nil
		reply, err = q.answer(ctx, a, in, depth, limit)
		return err
	})
	if err != nil {
		return Reply{}, err
	}
	if len(s.Targets) == 0 && reply.About == "" {
		return Reply{}, kb.Errorf(kb.NotFound, "nothing is indexed here").WithHint("index the folder with a first search: search {\"query\":\"main\"}")
	}
	reply.Notes = append(reply.Notes, s.Notes...)
	return reply, nil
}

// part is what changes in one store.
type part struct {
	target  *search.Target
	decls   []reach.Decl
	hunks   []reach.Hunk
	changes []change
}

func (q *query) answer(ctx context.Context, a *app.App, in Request, depth, limit int) (Reply, error) {
	list, about, err := q.changes(ctx, a, in)
	if err != nil {
		return Reply{}, err
	}
	r := Reply{About: about}
	var tests []reach.Ranked
	for i := range q.Targets {
		p := part{target: &q.Targets[i]}
		for _, c := range list {
			if c.target == i {
				p.changes = append(p.changes, c)
			}
		}
		if len(p.changes) == 0 {
			continue
		}
		if err := q.look(ctx, &p, &r); err != nil {
			return Reply{}, &search.TargetError{Target: i, Err: err}
		}
		if p.target.View == nil {
			q.unknown = append(q.unknown, "the references of "+p.target.Label+" are not resolved yet: callers and tests are missing")
			continue
		}
		src := reach.Source{View: p.target.View, Index: p.target.Index}
		web, err := src.Back(ctx, p.decls)
		if err != nil {
			return Reply{}, &search.TargetError{Target: i, Err: err}
		}
		ranked, err := src.Rank(ctx, web, p.hunks, q.pastOf(ctx, &p))
		if err != nil {
			return Reply{}, &search.TargetError{Target: i, Err: err}
		}
		tests = append(tests, ranked...)
		r.callers(web, depth)
		q.doubts(web, ranked)
	}
	kb.SortStableFunc(tests, func(a, b reach.Ranked) int { return cmp.Compare(b.Score, a.Score) })
	r.tests(tests, limit)
	if err := q.named(ctx, a, &r); err != nil {
		return Reply{}, err
	}
	q.say(&r, list)
	return r, nil
}

// look finds the declarations that a part changes, and describes them.
func (q *query) look(ctx context.Context, p *part, r *Reply) error {
	seen := map[kb.Spot]bool{}
	for _, c := range p.changes {
		d, err := p.target.Index.Document(ctx, c.path)
		if kb.CodeOf(err) == kb.NotFound && err != nil {
			r.Changed = append(r.Changed, Changed{At: c.path, What: "deleted"})
			r.api(c, "", nil)
			continue
		}
		if err != nil {
			return err
		}
		body := strings.Split(d.Body, "\n")
		groups, order := map[kb.Spot][]line{}, []reach.Decl{}
		for _, l := range c.lines {
			decl, ok, err := q.declared(p, c.path, min(l.at, len(body)))
			if err != nil {
				return err
			}
			if !ok {
				decl = reach.Decl{Path: c.path}
			}
			if _, known := groups[decl.Spot()]; !known {
				order = append(order, decl)
			}
			groups[decl.Spot()] = append(groups[decl.Spot()], l)
		}
		for _, decl := range order {
			lines := groups[decl.Spot()]
			p.hunks = append(p.hunks, hunkOf(decl, lines, body))
			r.Changed = append(r.Changed, describe(decl, lines, d.Language, p.target))
			if decl.Name == "" && !blank(lines) {
				q.loose(p, c.path, seen)
			}
			if decl.Name != "" && !seen[decl.Spot()] && len(p.decls) < mostDeclared {
				seen[decl.Spot()] = true
				p.decls = append(p.decls, decl)
			}
		}
		r.api(c, d.Language, order)
	}
	return nil
}

// declared returns the declaration that a line of a document is of.
func (q *query) declared(p *part, path string, line int) (reach.Decl, bool, error) {
	if p.target.View == nil {
		return reach.Decl{}, false, nil
	}
	return p.target.View.Declared(path, line)
}

// mostLoose is how many declarations a line outside of all of them may be of.
const mostLoose = 50

// loose adds what a file declares at its top: a line that stands in no
// declaration, an import or a statement, may be of any.
func (q *query) loose(p *part, name string, seen map[kb.Spot]bool) {
	if p.target.View == nil {
		return
	}
	all, err := p.target.View.Symbols(name)
	if err != nil || len(all) == 0 {
		q.unknown = append(q.unknown, fmt.Sprintf("what refers to %s: no declarations are read in files of its kind (%s)", name, cmp.Or(path.Ext(name), "without an ending")))
		return
	}
	for _, d := range all[:min(len(all), mostLoose)] {
		if !strings.Contains(d.Qualified, ".") && !seen[d.Spot()] {
			seen[d.Spot()] = true
			p.decls = append(p.decls, d)
		}
	}
}

func blank(lines []line) bool {
	return !slices.ContainsFunc(lines, func(l line) bool { return strings.TrimSpace(l.text) != "" })
}

// mostAround is how many lines around a change are read for its words.
const mostAround = 12

// hunkOf is the words of a change in a declaration.
func hunkOf(d reach.Decl, lines []line, body []string) reach.Hunk {
	h := reach.Hunk{Path: d.Path, Name: d.Qualified}
	from, to := lines[0].at, lines[0].at
	for _, l := range lines {
		h.Line += l.text + "\n"
		from, to = min(from, l.at), max(to, l.at)
	}
	from, to = max(from-mostAround, d.Start, 1), to+mostAround
	if d.End > 0 {
		to = min(to, d.End)
	}
	h.Around = strings.Join(body[min(from-1, len(body)):min(to, len(body))], "\n")
	return h
}

// doubts says what of the tests is not certain.
func (q *query) doubts(web *reach.Web, ranked []reach.Ranked) {
	if web.Cut {
		q.unknown = append(q.unknown, "the change reaches more than was followed: what is far away is missing")
	}
	guessed, known := 0, 0
	for _, t := range ranked {
		switch {
		case t.Node != nil && t.Node.Guessed:
			guessed++
		case t.Node != nil:
			known++
		}
	}
	if guessed > 0 {
		q.unknown = append(q.unknown, fmt.Sprintf("%s reached by resolved references, %d through interfaces, types or names alone", kb.Count(known, "test")+" "+verb(known), guessed))
	}
}

func verb(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// say adds what cannot be known.
func (q *query) say(r *Reply, list []change) {
	if n := len(q.left); n > 0 {
		names := make([]string, 0, 3)
		for _, f := range q.left[:min(n, 3)] {
			names = append(names, kb.Clip(f, 100))
		}
		q.unknown = append(q.unknown, fmt.Sprintf("%s not indexed, so what they reach is missing: %s", kb.Count(n, "changed file")+" "+verb(n), strings.Join(names, ", ")))
	}
	switch {
	case q.noPast != nil:
		q.unknown = append(q.unknown, "what changed together: "+q.noPast.Error())
	case q.past.Note != "":
		q.unknown = append(q.unknown, "of the history: "+q.past.Note)
	}
	if len(list) > 0 {
		q.unknown = append(q.unknown, "calls through reflection, generated code, configuration and other repositories are not seen")
	}
	r.Unknown = q.unknown
}
