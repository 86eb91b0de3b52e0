package traces

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/code"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
	"github.com/seed-4f2d999b/knowledge/internal/search/rank"
)

// Request asks what caused a trace.
type Request struct {
	Trace  string // a stack trace, the output of tests or the log of a build
	Stores []string
	Limit  int
	Tuning *Tuning // nil is what the product uses
	app.Waiting
}

const defaultCauses = 8

// Explain resolves the frames of a trace to declarations and ranks which of
// them, and of what they call, most likely caused it.
func Explain(ctx context.Context, a *app.App, r Request) (Reply, error) {
	limit, err := app.CheckLimit(r.Limit, defaultCauses)
	if err != nil {
		return Reply{}, err
	}
	if r.Tuning == nil {
		r.Tuning = &fitted
	}
	if len(r.Trace) > mostText {
		r.Trace = r.Trace[len(r.Trace)-mostText:] // a log says at its end what went wrong
	}
	told := read(r.Trace)
	if len(told.failures) == 0 {
		return Reply{}, kb.Errorf(kb.Invalid, "the text names no place in code: no frame of a stack trace, no failed test, no file with a line").
			WithHint("pass all that was printed, from the first line of the error on; words are searched with: search {\"query\":%q}", kb.Clip(strings.Join(strings.Fields(r.Trace), " "), 80))
	}
	open := func() (*app.Shelves, error) { return a.ScopeFromHere(ctx, r.Waiting) }
	if len(r.Stores) > 0 {
		open = func() (*app.Shelves, error) { return a.ShelvesOf(ctx, r.Stores, r.Waiting) }
	}
	s, err := open()
	if err != nil {
		return Reply{}, err
	}
	defer s.Release()
	s.Wait = max(r.Wait, time.Nanosecond)
	if err := code.Resolve(ctx, s); err != nil {
		return Reply{}, err
	}
	var reply Reply
	err = s.Serve(ctx, func(targets []search.Target) (err error) {
		e := &explainer{app: a, sources: newSources(ctx, targets, r.Tuning), report: told, limit: limit, waiting: r.Waiting}
		reply, err = e.explain()
		return err
	})
	if err != nil {
		return Reply{}, err
	}
	if len(s.Targets) == 0 {
		return Reply{}, kb.Errorf(kb.NotFound, "no store is in scope whose code the trace could be of").
			WithHint("start in the project that it came from, or name a store; list them with: stores")
	}
	for _, t := range s.Targets {
		if t.View == nil {
			reply.Notes = append(reply.Notes, "the references of "+t.Label+" are not resolved yet: calls in it are not followed; ask again soon")
		}
	}
	reply.Notes = append(reply.Notes, s.Notes...)
	return reply, nil
}

// explainer answers one request.
type explainer struct {
	*sources
	app     *app.App
	report  report
	limit   int
	waiting app.Waiting
	steps   [][]step // of each failure, the innermost first
	tests   []*place // that failed; nil where it is not known which function it is
}

func (e *explainer) explain() (Reply, error) {
	if err := e.resolve(); err != nil {
		return Reply{}, err
	}
	w := &walker{sources: e.sources, found: map[*place]*suspect{}}
	n, stack := 0, false
	for i := range e.steps {
		if len(e.steps[i]) > 0 {
			n++
		}
		for _, s := range e.steps[i] {
			stack = stack || !s.at.test
		}
	}
	for i := range e.steps {
		if err := w.failure(&e.report.failures[i], e.steps[i], 1/float64(max(1, n))); err != nil {
			return Reply{}, err
		}
	}
	spectrum, err := e.spectrum(w.order)
	if err != nil {
		return Reply{}, err
	}
	suspects, err := w.weigh(e.report.failures, stack, spectrum)
	if err != nil {
		return Reply{}, err
	}
	if err := e.lately(suspects); err != nil {
		return Reply{}, err
	}
	reply, err := e.reply(w, suspects)
	if err != nil {
		return reply, err
	}
	reply.Missing, err = e.missing(e.ctx)
	return reply, err
}

// resolve finds the functions that the frames of each failure, and the names of
// its test, mean.
func (e *explainer) resolve() error {
	e.steps = make([][]step, len(e.report.failures))
	e.tests = make([]*place, len(e.report.failures))
	for i := range e.report.failures {
		f := &e.report.failures[i]
		frames := slices.Clone(f.frames)
		for k := range frames {
			if frames[k].Symbol == "" && f.test != "" && rank.IsTest(frames[k].Path) && !strings.Contains(f.test, " ") {
				frames[k].Symbol = f.test // go names the file without its folder
			}
		}
		found, err := search.Places(e.ctx, e.targets, frames)
		if err != nil {
			return err
		}
		for k, spots := range found {
			spot, ok := e.choose(frames[k], spots)
			if !ok {
				continue
			}
			at, err := e.around(spot.Target, spot.Path, spot.Line)
			if err != nil {
				return err
			}
			e.steps[i] = append(e.steps[i], step{frame: len(e.steps[i]), raw: k, at: at, line: spot.Line})
			if at.test && (e.tests[i] == nil || at.last() == f.test) {
				e.tests[i] = at
			}
		}
		if err := e.findTest(i); err != nil {
			return err
		}
	}
	return nil
}

// installed are folders of what a project depends on.
var installed = []string{"/site-packages/", "/dist-packages/", "/node_modules/", "/pkg/mod/", "/gems/", "/vendor/", "/registry/src/", "/.m2/"}

// choose takes one of the places that a frame may be: of an installed package the
// one in its store, else the one in the project.
func (e *explainer) choose(f rank.Frame, spots []search.Spot) (search.Spot, bool) {
	if len(spots) == 0 {
		return search.Spot{}, false
	}
	elsewhere := slices.ContainsFunc(installed, func(s string) bool { return strings.Contains(f.Path, s) })
	for _, s := range spots {
		if e.targets[s.Target].Own != elsewhere {
			return s, true
		}
	}
	return spots[0], true
}

// findTest looks for the function of a failed test by its name, where no frame
// is of it.
func (e *explainer) findTest(i int) error {
	f := &e.report.failures[i]
	if e.tests[i] != nil || f.test == "" || strings.Contains(f.test, " ") {
		return nil
	}
	list, err := e.called(f.test)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(p *place) bool { return !p.test })
	if len(list) != 1 {
		return nil
	}
	e.tests[i] = list[0]
	if len(e.steps[i]) == 0 {
		e.steps[i] = []step{{raw: -1, at: list[0]}}
	}
	return nil
}
