package follow

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/job/schedule"
	"github.com/seed-4f2d999b/knowledge/internal/job/watch"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/source"
)

// WatchEvent is what happens while folders are followed.
type WatchEvent struct {
	Store string    `json:"store"`
	Kind  string    `json:"kind"` // watching, polling, missing, back, failed, updated, waiting
	Text  string    `json:"text"` // one sentence
	Hint  string    `json:"hint,omitempty"`
	Dirs  int       `json:"directories,omitempty"`
	Time  time.Time `json:"time"`
}

const (
	// backgroundAfter lets a server answer its first requests before it looks
	// at what else there is to do.
	backgroundAfter = time.Second
	// ownEvery is how often a server looks whether there are stores to follow
	// that there were not.
	ownEvery = 5 * time.Second
	// lockEvery is how often the lock of a folder that another process follows
	// is tried for; lockOthers, that of a folder that is not the process's own.
	lockEvery  = 2 * time.Second
	lockOthers = 10 * time.Second
)

// atLeisure is when a folder that is not the process's own is indexed after its
// edits: whoever searches it has that done at once.
var atLeisure = watch.Timing{Settle: 2 * time.Second, Longest: 30 * time.Second}

// Background does what a server does beside answering, until ctx ends: it
// follows the folder of its project once that is indexed, and those of the other
// stores that are searched here, and keeps the clock of the schedules, each as
// long as no other process does. It makes no store, and says nothing: how it
// goes is seen with doctor.
func Background(ctx context.Context, a *app.App) {
	if !pause(ctx, backgroundAfter) {
		return
	}
	for ctx.Err() == nil {
		c, err := a.Open(ctx)
		if err != nil { // newer, not ours: requests say what is wrong
			pause(ctx, time.Minute)
			continue
		}
		serveFrom(ctx, a, c)
	}
}

// serveFrom does what Background does until ctx ends or the data directory is
// taken away, which a request may be the first to see.
func serveFrom(ctx context.Context, a *app.App, c *app.Core) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer present(c)()
	var all sync.WaitGroup
	all.Go(func() {
		defer stop()
		for c.There() {
			select {
			case <-ctx.Done():
				return
			case <-c.Gone:
				return
			case <-time.After(ownEvery):
			}
		}
	})
	all.Go(func() { _ = clock(c).Run(ctx) })
	all.Go(func() { followAll(ctx, a, c) })
	all.Wait()
}

// present holds a lock that shows that this process serves from the data
// directory, also when another keeps the clock and follows its folder; what it
// returns gives it up. Files of processes that are gone go.
func present(c *app.Core) (leave func()) {
	old, _ := filepath.Glob(filepath.Join(c.Dir, "jobs", "server-*.lock"))
	for _, l := range old {
		if _, held := lockfile.Held(l); !held {
			_ = os.Remove(l) // one that cannot be removed does no harm
		}
	}
	path := filepath.Join(c.Dir, "jobs", fmt.Sprintf("server-%d.lock", os.Getpid()))
	lock, err := lockfile.TryLock(path)
	if err != nil {
		return func() {} // nothing else depends on it
	}
	return func() {
		lock.Unlock()
		_ = os.Remove(path)
	}
}

// clock is the clock of this data directory.
func clock(c *app.Core) *schedule.Clock {
	return &schedule.Clock{
		Table: SchedulesOf(c),
		Take: func() (schedule.Lock, error) {
			return lockfile.TryLock(filepath.Join(c.Dir, "jobs", "clock.lock"))
		},
		Start: func(ctx context.Context, id kb.StoreID) (string, string, error) { return Scheduled(ctx, c, id) },
	}
}

// Scheduled starts the run of a store that is due, unless one is under way.
func Scheduled(ctx context.Context, c *app.Core, id kb.StoreID) (string, string, error) {
	st, err := c.Catalog.Get(ctx, id)
	if err != nil {
		return "", "", err
	}
	j, active, err := c.Jobs.Active(ctx, id)
	if err != nil {
		return "", "", err
	}
	if active {
		return "", "job " + j.ID + " was at it already", nil
	}
	if j, err = c.Submit(ctx, st, app.IndexArgs{}); err != nil {
		return "", "", err
	}
	return j.ID, "", nil
}

// mostFollowed is how many folders besides its own a process follows: each
// takes one of the watchers that the system gives to all programs of a user.
// Of the others a search finds out by looking.
const mostFollowed = 16

// mostDirs is how many directories a folder may have that is followed by the
// way: each takes one of the watches, which the own folder and other programs need.
// Where the system says how many it gives, an eighth of them may be taken.
func mostDirs() int {
	watches, _ := watch.Limits()
	return max(5000, watches/8)
}

// followAll follows the folder of this process's project, and those of the
// other stores that are searched here.
func followAll(ctx context.Context, a *app.App, c *app.Core) {
	p, err := a.Where()
	if err != nil {
		return
	}
	var mu sync.Mutex
	busy := map[kb.StoreID]bool{} // followed, or not to be
	var all sync.WaitGroup
	start := func(st kb.Store, own bool) {
		mu.Lock()
		defer mu.Unlock()
		if busy[st.ID] || !own && len(busy) > mostFollowed {
			return
		}
		busy[st.ID] = true
		all.Go(func() {
			if gone := follow(ctx, a, c, st, !own, nil); gone {
				c.Library.Forget(st.ID)
				mu.Lock()
				defer mu.Unlock()
				delete(busy, st.ID)
			}
		})
	}
	for ctx.Err() == nil {
		own, ok := c.FolderAt(ctx, p.ID, p.Root)
		if ok = ok && !p.None && p.Root != "" && own.Head != nil; ok {
			start(own, true)
		}
		others := c.Library.Wanted()
		if entries, err := c.Catalog.List(ctx, p.ID); err == nil {
			for _, e := range entries {
				others = append(others, e.Store)
			}
		}
		for _, st := range others {
			if source.Watchable(st.Spec.Kind) && st.Head != nil && !(ok && st.ID == own.ID) {
				start(st, false)
			}
		}
		pause(ctx, ownEvery)
	}
	all.Wait()
}

// follow follows the folder of a store until ctx ends or the store is no more,
// which it reports. While another process does, it waits. One that is followed
// by the way is indexed at leisure, and not at all where it would have to be
// polled: who searches it looks.
func follow(ctx context.Context, a *app.App, c *app.Core, st kb.Store, byTheWay bool, tell func(WatchEvent)) (gone bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	every, timing := lockEvery, watch.Timing{}
	if byTheWay {
		every, timing = lockOthers, atLeisure
	}
	say := func(kind, text, hint string, dirs int) {
		e := WatchEvent{Store: st.Label(), Kind: kind, Text: text, Hint: hint, Dirs: dirs, Time: time.Now()}
		noteWatch(c, st.ID, e)
		if tell != nil {
			tell(e)
		}
	}
	var lock *lockfile.Lock
	for said := false; lock == nil; {
		var err error
		if lock, err = lockfile.TryLock(watchLock(c, st.ID)); err == nil {
			break
		}
		if !said {
			said = true
			who, _ := lockfile.Held(watchLock(c, st.ID))
			say("waiting", fmt.Sprintf("process %d follows %s already; this one takes over when it ends", who.PID, st.Spec.Source), "", 0)
		}
		if !pause(ctx, every) {
			return false
		}
	}
	defer lock.Unlock()
	defer os.Remove(watchState(c, st.ID))
	f := &watch.Folder{
		Root: st.Spec.Source,
		List: func(ctx context.Context) (watch.Tree, error) {
			tree, err := source.ListTree(ctx, st.Spec)
			if err == nil && byTheWay && len(tree.Dirs()) > mostDirs() {
				stop()
				err = ctx.Err()
			}
			return tree, err
		},
		Changed: func(ctx context.Context) (bool, error) {
			now, err := c.Catalog.Get(ctx, st.ID)
			if err != nil {
				return false, err
			}
			return c.Indexer.Changed(ctx, now, c.Opener)
		},
		Update: func(ctx context.Context, due watch.Due) error {
			said, err := CatchUp(ctx, c, st.ID, due)
			if kb.CodeOf(err) == kb.NotFound && err != nil {
				gone = true
				stop()
			}
			if err == nil && said != "" {
				say("updated", said, "", 0)
			}
			return err
		},
		Settling: source.Settling(st.Spec),
		Remote:   watch.Network,
		Probes:   watchProbes(c, st.ID),
		Timing:   timing,
		Tell: func(e watch.Event) {
			say(e.Kind, e.Text, e.Hint, e.Dirs)
			if byTheWay && e.Kind == "polling" {
				stop()
			}
		},
	}
	_ = f.Run(ctx) // the context's error
	return gone
}

// CatchUp brings a followed folder's index up to date, and says what was done;
// "" when there was nothing to do. Where it is known that it was edited, and since when
// nothing more, a large one is not looked at for that.
func CatchUp(ctx context.Context, c *app.Core, id kb.StoreID, due watch.Due) (string, error) {
	st, err := c.Catalog.Get(ctx, id)
	if err != nil {
		return "", err
	}
	if !due.Since.IsZero() && app.LargeFolder(st) {
		// A search may have had it done already.
		if j, ok, err := c.Jobs.Active(ctx, id); err == nil && ok {
			if _, _, err := c.AwaitWalk(ctx, j, st, due.Since, nil); err != nil && ctx.Err() != nil {
				return "", err
			}
		}
		if st, err = c.Catalog.Get(ctx, id); err != nil || st.Head.Walked.After(due.Since) {
			return "", err
		}
	} else if changed, err := c.Indexer.Changed(ctx, st, c.Opener); err != nil || !changed {
		return "", err
	}
	asked := time.Now()
	j, err := c.SubmitEdits(ctx, id, st.Head == nil || st.Head.Partial, due.Asked)
	walked := false
	if err == nil {
		j, walked, err = c.AwaitWalk(ctx, j, st, asked, nil)
	}
	switch {
	case walked:
	case err != nil:
		return "", err
	case j.State != kb.JobCompleted: // of one that was cancelled, what it was for is still to be done
		return "", kb.Errorf(cmp.Or(j.Code, kb.Canceled), "%s", j.Message).WithHint("%s", j.Hint)
	}
	return j.Message, nil
}

// Watch follows the folders of stores, by name or id, or without any the own
// folder of the work tree, which is indexed first if it never was; until ctx ends.
// yes allows a very large own folder.
func Watch(ctx context.Context, a *app.App, names []string, yes bool, tell func(WatchEvent)) error {
	c, err := a.Open(ctx)
	if err != nil {
		return err
	}
	var stores []kb.Store
	if len(names) > 0 {
		if stores, err = a.Named(ctx, c, names); err != nil {
			return err
		}
	} else {
		p, err := a.Where()
		if err != nil {
			return err
		}
		st, ok := c.FolderAt(ctx, p.ID, p.Root)
		if !ok {
			spec := kb.Spec{Kind: kb.KindFolder, Source: p.Root}
			if !yes {
				if err := app.RefuseLarge(ctx, spec); err != nil {
					return err
				}
			}
			if st, err = c.Catalog.SetOwn(ctx, p.ID, p.Root, spec); err != nil {
				return err
			}
		}
		stores = []kb.Store{st}
	}
	for _, st := range stores {
		if !source.Watchable(st.Spec.Kind) {
			return kb.Errorf(kb.Unsupported, "store %q is of kind %s, and only folders can be watched", st.Label(), st.Spec.Kind).
				WithHint("bring it up to date at fixed times: knowledge store:schedule %s @daily", st.Label())
		}
	}
	timed, stop := context.WithCancel(ctx)
	var timer, all sync.WaitGroup
	timer.Go(func() { _ = clock(c).Run(timed) })
	var order sync.Mutex
	for _, st := range stores {
		all.Go(func() {
			follow(ctx, a, c, st, false, func(e WatchEvent) {
				order.Lock()
				defer order.Unlock()
				tell(e)
			})
		})
	}
	all.Wait()
	stop()
	timer.Wait()
	if ctx.Err() == nil {
		return kb.Errorf(kb.NotFound, "what was watched is no store any more").WithHint("see what there is with: knowledge stores")
	}
	return ctx.Err()
}

// pause waits and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
