// Package ui is the face for people who look for something: a full screen in
// which they type, see hits and the code beside, and open what they chose in
// their editor. Keys are those of fzf.
//
// One goroutine owns the screen and all state. Searches and previews run beside
// it and come back as events; what answers an older question is dropped.
package ui

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/gdamore/tcell/v3"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/command/printer"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// Options are the arguments of the finder.
type Options struct {
	Query  string
	Stores []string // empty: all in scope
	Print  bool     // enter ends with the place instead of opening it
	Color  bool
	Stdout io.Writer // where a chosen place is printed
	Getenv func(string) string
}

const (
	typing = 80 * time.Millisecond // without a key, before a search begins
	limit  = 50                    // hits
	around = 400                   // lines of a document before and after a hit
)

// Run shows the finder on the terminal of this process until the user leaves.
// The terminal is then as it was.
func Run(ctx context.Context, a *app.App, o Options) error {
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return kb.Errorf(kb.Unsupported, "the finder cannot draw here: %w", err).WithHint("without a screen: knowledge search WORDS")
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &finder{app: a, o: o, screen: screen, events: make(chan func(), 16), query: []rune(o.Query)}
	f.cursor = len(f.query)
	err = func() error {
		defer screen.Fini() // also when something here is wrong: the terminal is the user's
		defer cancel()
		return f.run(ctx)
	}()
	if err == nil && f.chosen != "" {
		_, err = io.WriteString(o.Stdout, printer.Clean(f.chosen)+"\n")
	}
	return err
}

// finder is what the screen shows. Its methods run on the goroutine of run.
type finder struct {
	app    *app.App
	o      Options
	screen tcell.Screen
	events chan func() // what other goroutines want done

	query  []rune
	cursor int // in query

	stores []string // names to choose from; the first choice is all of o.Stores
	store  int      // 0 for all, else stores[store-1]

	asked    string // for which the search runs, or ran
	stop     context.CancelFunc
	serial   int
	reply    find.SearchReply
	mark     printer.Marker
	selected int
	top      int // first hit that is shown
	busy     bool
	status   string // what went wrong, or goes on

	preview preview
	chosen  string // printed at the end
	done    bool
}

func (f *finder) run(ctx context.Context) error {
	f.screen.EnablePaste()
	var err error
	if f.stores, err = f.names(ctx); err != nil {
		return err
	}
	timer := time.NewTimer(0) // the query of the command line
	for !f.done {
		f.draw()
		select {
		case <-ctx.Done():
			return nil // asked to end
		case <-timer.C:
			f.search(ctx)
		case do := <-f.events:
			do()
		case e, ok := <-f.screen.EventQ():
			if !ok {
				return nil
			}
			before := f.wanted()
			f.handle(ctx, e)
			if f.wanted() != before {
				timer.Reset(typing)
			}
		}
		f.load(ctx)
	}
	return nil
}

// names are those of the stores that can be asked.
func (f *finder) names(ctx context.Context) (names []string, err error) {
	list, err := f.app.Stores(ctx, "", false)
	for _, r := range list.Stores {
		names = append(names, r.Name)
	}
	return names, err
}

// wanted is what is asked now: a question and the stores that are asked.
func (f *finder) wanted() string { return strings.Join(f.scope(), ",") + "\n" + string(f.query) }

func (f *finder) scope() []string {
	if f.store > 0 {
		return f.stores[f.store-1 : f.store]
	}
	return f.o.Stores
}

// later has do run on the finder's goroutine, unless it has ended.
func (f *finder) later(ctx context.Context, do func()) {
	select {
	case f.events <- do:
	case <-ctx.Done():
	}
}

// search asks what is typed, in place of what was asked before.
func (f *finder) search(ctx context.Context) {
	if f.asked == f.wanted() {
		return
	}
	if f.stop != nil {
		f.stop()
	}
	f.asked = f.wanted()
	f.serial++
	serial, query := f.serial, strings.TrimSpace(string(f.query))
	if query == "" {
		f.found(find.SearchReply{}, nil)
		return
	}
	sctx, stop := context.WithCancel(ctx)
	f.stop, f.busy = stop, true
	sctx = kb.WithProgress(sctx, func(at kb.Progress) {
		go f.later(sctx, func() {
			if serial == f.serial && f.busy && at.Phase != "" {
				f.status = printer.Doing(at, 0)
			}
		})
	})
	scope := app.Scope{Stores: f.scope(), Waiting: app.Waiting{Wait: 24 * time.Hour, Person: true}}
	go func() {
		r, err := find.Search(sctx, f.app, search.Request{Query: query, Limit: limit}, scope)
		names, e := f.names(sctx) // the search may have made the first
		f.later(ctx, func() {
			if serial == f.serial {
				if e == nil && f.store == 0 {
					f.stores = names
				}
				f.found(r, err)
			}
		})
	}()
}

// found shows what a search came to.
func (f *finder) found(r find.SearchReply, err error) {
	f.busy, f.status = false, ""
	f.reply, f.selected, f.top = r, 0, 0
	f.mark = printer.Words(r.Words)
	f.preview = preview{}
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		f.status = err.Error()
	case len(r.Notes) > 0:
		f.status = r.Notes[0]
	case len(r.Hits) == 0 && len(f.query) > 0:
		f.status = "nothing found"
	}
}

// move selects another hit.
func (f *finder) move(by int) {
	if n := len(f.reply.Hits); n > 0 {
		f.selected = min(max(f.selected+by, 0), n-1)
	}
}

// hit is the selected one, nil for none.
func (f *finder) hit() *find.Hit {
	if f.selected >= len(f.reply.Hits) {
		return nil
	}
	return &f.reply.Hits[f.selected]
}
