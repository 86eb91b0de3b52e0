package app

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/ingest"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// How much a comparison of folders with their indexes may cost.
const (
	// lookBudget bounds, for all stores together, the look at folders that
	// no process follows, before a question is answered that names none of them.
	// Such a look takes about 5 µs a file.
	lookBudget = 500 * time.Millisecond
	// smallFolder is how many documents a folder may have that is looked at
	// at every question, and to the end (which smallBudget bounds) also where a
	// machine has so much to do that this takes long.
	smallFolder = 2000
	smallBudget = 5 * time.Second
	// cheapLook is how long a look at a larger one takes after which it is
	// looked at again at the next question. After a longer one none is made for
	// restFactor times as long, and replies say so.
	cheapLook   = 10 * time.Millisecond
	restFactor  = 20
	longestRest = time.Minute
	// A store that could not be brought up to date is tried again after
	// firstRetry, and after twice as long each time that it fails again.
	firstRetry = 5 * time.Second
	lastRetry  = 5 * time.Minute
)

// Asking is on whose behalf folders are compared with their indexes.
type Asking struct {
	Waiting
	named  bool // the stores were named: a look may take as long as they wait
	Public bool // a stranger asks: what is to be done is not for them to do
	// mine are the stores that the question may bring up to date; nil is all.
	// Of the others the notes only say that they are behind.
	mine map[kb.StoreID]bool
}

// behind is a store whose folder is not as it was indexed, or may not be.
type behind struct {
	st     kb.Store
	drift  ingest.Drift
	partly bool      // the look did not come to its end
	edited bool      // who follows the folder has seen an edit, or a job is at one: no look was made
	gone   string    // that the folder is, and how; what is indexed serves
	since  time.Time // when it was compared last, if it could not be now
	err    error     // why it cannot be compared
	job    kb.Job    // that brings it up to date; no id without one
	asked  time.Time // when that was asked for
	why    string    // it is not brought up to date
	hint   string    // and what to do about that; "" is to try again

	failures int       // in a row, after which no question tries it
	again    time.Time // before this
}

// Freshen sees to it that folders are answered from as they are now: each is
// compared with its index, and what is behind is brought up to date as far as
// the caller waits for it. The notes say what is behind all the same; there are
// none when nothing is.
func (a *App) Freshen(ctx context.Context, c *Core, stores []kb.Store, by Asking) ([]string, error) {
	var list []*behind
	for _, st := range stores {
		if source.TraitsOf(st.Spec.Kind).Place != "" && st.Head != nil && !st.Head.Partial { // the notes name the others anyway
			list = append(list, &behind{st: st})
		}
	}
	c.compare(ctx, a, list, by)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	list = slices.DeleteFunc(list, func(b *behind) bool {
		return !b.isBehind() && b.gone == "" && b.since.IsZero() && b.err == nil
	})
	for _, b := range list {
		if b.drift.Files == 0 && !a.isHere(b.st) {
			b.drift.Index = false // nothing of the folder is missing; what of the index is, who opens it says
		}
		if b.isBehind() && b.gone == "" && !c.imported(ctx, b.st) && (by.mine == nil || by.mine[b.st.ID]) {
			c.bring(ctx, b)
		}
	}
	if err := c.awaitAll(ctx, list, by.Waiting); err != nil {
		return nil, err
	}
	return a.tellBehind(ctx, list, by), nil
}

// compare fills in how the folders differ, several at a time.
func (c *Core) compare(ctx context.Context, a *App, list []*behind, by Asking) {
	brief, cancel := context.WithTimeout(ctx, lookBudget)
	defer cancel()
	small, cancel := context.WithTimeout(ctx, max(by.Wait, smallBudget))
	defer cancel()
	long, cancel := context.WithTimeout(ctx, max(by.Wait, lookBudget))
	defer cancel()
	var next atomic.Int64
	var all sync.WaitGroup
	var at sights
	for range min(len(list), runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				b := list[i]
				until, own := brief, a.isHere(b.st)
				switch {
				case b.st.Head.Documents <= smallFolder:
					until = small
				case by.named || own:
					until = long
				}
				c.look(until, b, own, &at)
			}
		})
	}
	all.Wait()
}

// look compares one folder with its index; own says that it is the work tree
// that asks, which may well be empty.
func (c *Core) look(ctx context.Context, b *behind, own bool, at *sights) {
	dir := b.st.Spec.Source
	switch real, err := at.real(dir); {
	case errors.Is(err, fs.ErrNotExist) && c.imported(ctx, b.st):
		return // it is of a folder on another machine
	case errors.Is(err, fs.ErrNotExist):
		b.gone = b.its() + " is gone"
		return
	case err != nil:
		b.err = err
		return
	case real != dir:
		b.gone = b.its() + " is reached through a link now, and links are not followed"
		return
	}
	following := c.following(b.st.ID)
	if following == Current {
		return
	}
	c.Library.want(b.st)
	if LargeFolder(b.st) && (following == Edited || c.indexing(ctx, b.st.ID)) {
		b.edited = true // what a look would find, and the job finds it again
		return
	}
	last, rests := c.Library.rests(b.st.ID)
	if rests {
		b.since = last
		return
	}
	began := time.Now()
	if c.Library.alike(ctx, b.st, &at.Sights) {
		took := time.Since(began) * time.Duration(runtime.GOMAXPROCS(0)) // all were at it
		if b.st.Head.Documents <= smallFolder {
			took = 0
		}
		c.Library.Saw(b.st.ID, began, took)
		return
	}
	opener := &tracing{Opener: c.Opener}
	var err error
	b.drift, err = c.Indexer.Drift(ctx, b.st, opener)
	if err == nil && !b.drift.Any() {
		c.Library.keep(b.st, opener.trail.Bytes())
	}
	switch {
	case err == nil:
		took := time.Since(began)
		if b.drift.Found <= smallFolder {
			took = 0
		}
		c.Library.Saw(b.st.ID, began, took)
		if b.drift.Found == 0 && b.drift.Files > 0 && !own {
			// What an unmounted file system leaves, too: its documents are elsewhere.
			b.gone = were(b.drift.Files) + " in " + b.its() + ", and nothing is now"
		}
	case ctx.Err() == nil:
		b.err = err
	default:
		b.partly = true
		if b.since = last; last.IsZero() {
			b.since = b.st.Head.Indexed
		}
	}
}

// LargeFolder reports whether a store has so many documents that a look at its folder
// takes long.
func LargeFolder(st kb.Store) bool { return st.Head != nil && st.Head.Documents > smallFolder }

// following returns what who follows the folder of a store says of it.
func (c *Core) following(id kb.StoreID) Following {
	for _, r := range c.rooms {
		if r.Followed != nil {
			return r.Followed(c, id)
		}
	}
	return Unfollowed
}

// indexing reports whether a job brings a store up to date at this moment.
func (c *Core) indexing(ctx context.Context, id kb.StoreID) bool {
	j, ok, err := c.Jobs.Active(ctx, id)
	return err == nil && ok && j.Type == "index" && j.State == kb.JobRunning
}

// isBehind reports whether a store is known to be behind its folder.
func (b *behind) isBehind() bool { return b.edited || b.drift.Any() }

// imported reports whether a store's index came from another machine, and not
// from a folder of this one.
func (c *Core) imported(ctx context.Context, st kb.Store) bool {
	list, err := c.Indexes.Imported(ctx, st.Head.Segments)
	return err == nil && len(list) > 0
}

// bring has a job bring a store up to date. Where nothing can be written that
// is why not, and what is indexed serves. One that failed just now rests.
func (c *Core) bring(ctx context.Context, b *behind) {
	n, last, err := c.Jobs.Failures(ctx, "index", b.st.ID)
	if err == nil && n > 0 {
		again := last.Updated.Add(retryAfter(n))
		if now := time.Now(); now.Before(again) && !now.Before(last.Updated) { // a clock that was put back holds nothing up
			b.why, b.hint, b.again, b.failures = last.Message, last.Hint, again, n
			return
		}
	}
	b.asked = time.Now()
	j, err := c.SubmitEdits(ctx, b.st.ID, b.drift.Files > muchLeft, true)
	if err != nil {
		b.why, b.hint = err.Error(), kb.HintOf(err)
		return
	}
	b.job = j
}

// retryAfter is how long a store rests that has failed n times in a row.
func retryAfter(n int) time.Duration {
	return min(firstRetry<<min(n-1, 16), lastRetry)
}

// awaitAll waits for the jobs that bring stores up to date, and for as long as
// w says. A store whose job has completed is behind no more, nor is one whose job has
// published what it found after it was asked, and goes on with later edits.
func (c *Core) awaitAll(ctx context.Context, list []*behind, w Waiting) error {
	wctx, cancel := context.WithTimeout(ctx, w.Wait)
	defer cancel()
	began := time.Now()
	for _, b := range list {
		if b.job.ID == "" {
			continue
		}
		j, walked, err := c.AwaitWalk(wctx, b.job, b.st, b.asked, func(j kb.Job) {
			kb.Report(ctx, j.Progress)
			if answersNow(w.Early, time.Since(began), j.Progress) {
				cancel()
			}
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case walked || err == nil && j.State == kb.JobCompleted:
			b.edited, b.drift, b.job = false, ingest.Drift{}, kb.Job{}
			c.Library.Saw(b.st.ID, b.asked, 0)
		case err == nil:
			b.why, b.hint, b.job = j.Message, j.Hint, kb.Job{}
		case wctx.Err() == nil:
			b.why, b.hint, b.job = err.Error(), kb.HintOf(err), kb.Job{}
		default:
			if now, err := c.Jobs.Get(ctx, b.job.ID); err == nil {
				b.job = now
			}
		}
	}
	return nil
}

// AwaitWalk waits for a job of a store until it has ended, or of a large one has
// published what was in the folder after a time, which it reports: it may go on with
// later edits, and with what nobody waits for. f, if not nil, is called with every
// change seen.
func (c *Core) AwaitWalk(ctx context.Context, j kb.Job, st kb.Store, after time.Time, f func(kb.Job)) (last kb.Job, walked bool, err error) {
	if !LargeFolder(st) {
		last, err = c.Jobs.Wait(ctx, j.ID, f)
		return last, false, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan bool, 1)
	go func() {
		defer stop()
		seen <- c.sawWalk(ctx, st.ID, after)
	}()
	last, err = c.Jobs.Wait(ctx, j.ID, f)
	stop()
	return last, <-seen, err
}

// sawWalk waits until what was in a folder after a time is in its index; false when
// ctx ends first.
func (c *Core) sawWalk(ctx context.Context, id kb.StoreID, after time.Time) bool {
	for began := time.Now(); ; {
		head, err := c.Catalog.Head(ctx, id)
		if err == nil && head != nil && head.Walked.After(after) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(min(max(time.Since(began)/10, 10*time.Millisecond), 200*time.Millisecond)):
		}
	}
}
