package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/job"
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
func (a *App) Background(ctx context.Context) {
	if !pause(ctx, backgroundAfter) {
		return
	}
	for ctx.Err() == nil {
		c, err := a.open(ctx)
		if err != nil { // newer, not ours: requests say what is wrong
			pause(ctx, time.Minute)
			continue
		}
		a.serveFrom(ctx, c)
	}
}

// serveFrom does what Background does until ctx ends or the data directory is
// taken away, which a request may be the first to see.
func (a *App) serveFrom(ctx context.Context, c *core) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer c.present()()
	var all sync.WaitGroup
	all.Go(func() {
		defer stop()
		for c.there() {
			select {
			case <-ctx.Done():
				return
			case <-c.gone:
				return
			case <-time.After(ownEvery):
			}
		}
	})
	all.Go(func() { _ = c.clock().Run(ctx) })
	all.Go(func() { a.followAll(ctx, c) })
	all.Wait()
}

// present holds a lock that shows that this process serves from the data
// directory, also when another keeps the clock and follows its folder; what it
// returns gives it up. Files of processes that are gone go.
func (c *core) present() (leave func()) {
	old, _ := filepath.Glob(filepath.Join(c.dir, "jobs", "server-*.lock"))
	for _, l := range old {
		if _, held := lockfile.Held(l); !held {
			_ = os.Remove(l) // one that cannot be removed does no harm
		}
	}
	path := filepath.Join(c.dir, "jobs", fmt.Sprintf("server-%d.lock", os.Getpid()))
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
func (c *core) clock() *schedule.Clock {
	return &schedule.Clock{
		Table: schedulesOf(c),
		Take: func() (schedule.Lock, error) {
			return lockfile.TryLock(filepath.Join(c.dir, "jobs", "clock.lock"))
		},
		Start: c.scheduled,
	}
}

// scheduled starts the run of a store that is due, unless one is under way.
func (c *core) scheduled(ctx context.Context, id kb.StoreID) (string, string, error) {
	st, err := c.catalog.Get(ctx, id)
	if err != nil {
		return "", "", err
	}
	j, active, err := c.jobs.Active(ctx, id)
	if err != nil {
		return "", "", err
	}
	if active {
		return "", "job " + j.ID + " was at it already", nil
	}
	if j, err = c.submit(ctx, st, indexArgs{}); err != nil {
		return "", "", err
	}
	return j.ID, "", nil
}

// mostFollowed is how many folders besides its own a process follows: each
// takes one of the watchers that the system gives to all programs of a user.
// Of the others a search finds out by looking.
const mostFollowed = 16

// mostDirs is how many directories a folder may have that is followed by the
// way: each takes one of the watches, which the own folder needs.
const mostDirs = 5000

// followAll follows the folder that this process stands for, and those of the
// other stores that are searched here.
func (a *App) followAll(ctx context.Context, c *core) {
	p, err := a.where()
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
			if gone := a.follow(ctx, c, st, !own, nil); gone {
				c.library.forget(st.ID)
				mu.Lock()
				defer mu.Unlock()
				delete(busy, st.ID)
			}
		})
	}
	for ctx.Err() == nil {
		own, ok := c.folderAt(ctx, p.ID, p.Root)
		if ok = ok && !p.None && p.Root != "" && own.Head != nil; ok {
			start(own, true)
		}
		others := c.library.wanted()
		if entries, err := c.catalog.List(ctx, p.ID); err == nil {
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
func (a *App) follow(ctx context.Context, c *core, st kb.Store, byTheWay bool, tell func(WatchEvent)) (gone bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	every, timing := lockEvery, watch.Timing{}
	if byTheWay {
		every, timing = lockOthers, atLeisure
	}
	say := func(kind, text, hint string, dirs int) {
		e := WatchEvent{Store: st.Label(), Kind: kind, Text: text, Hint: hint, Dirs: dirs, Time: time.Now()}
		c.noteWatch(st.ID, e)
		if tell != nil {
			tell(e)
		}
	}
	var lock *lockfile.Lock
	for said := false; lock == nil; {
		var err error
		if lock, err = lockfile.TryLock(c.watchLock(st.ID)); err == nil {
			break
		}
		if !said {
			said = true
			who, _ := lockfile.Held(c.watchLock(st.ID))
			say("waiting", fmt.Sprintf("process %d follows %s already; this one takes over when it ends", who.PID, st.Spec.Source), "", 0)
		}
		if !pause(ctx, every) {
			return false
		}
	}
	defer lock.Unlock()
	defer os.Remove(c.watchState(st.ID))
	f := &watch.Folder{
		Root: st.Spec.Source,
		List: func(ctx context.Context) (watch.Tree, error) {
			tree, err := source.ListTree(ctx, st.Spec)
			if err == nil && byTheWay && len(tree.Dirs()) > mostDirs {
				stop()
				err = ctx.Err()
			}
			return tree, err
		},
		Changed: func(ctx context.Context) (bool, error) {
			now, err := c.catalog.Get(ctx, st.ID)
			if err != nil {
				return false, err
			}
			return c.indexer.Changed(ctx, now, c.opener)
		},
		Update: func(ctx context.Context) error {
			said, err := c.catchUp(ctx, st.ID)
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
		Probes:   c.watchProbes(st.ID),
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

// catchUp brings a followed folder's index up to date, and says what was done;
// "" when there was nothing to do.
func (c *core) catchUp(ctx context.Context, id kb.StoreID) (string, error) {
	st, err := c.catalog.Get(ctx, id)
	if err != nil {
		return "", err
	}
	changed, err := c.indexer.Changed(ctx, st, c.opener)
	if err != nil || !changed {
		return "", err
	}
	class := job.Watched
	if st.Head == nil || st.Head.Partial {
		class = job.Local // a first index waits its turn
	}
	j, err := c.jobs.Submit(ctx, job.Request{Type: "index", Store: id, Class: class, Args: indexArgs{}})
	if err == nil {
		j, err = c.jobs.Wait(ctx, j.ID, nil)
	}
	switch {
	case err != nil:
		return "", err
	case j.State != kb.JobCompleted: // of one that was cancelled, what it was for is still to be done
		return "", kb.Errorf(cmp.Or(j.Code, kb.Canceled), "%s", j.Message).WithHint("%s", j.Hint)
	}
	return j.Message, nil
}

// watchState is where the process that follows a store's folder says how it
// goes; it means something only while the lock is held.
func (c *core) watchState(id kb.StoreID) string {
	return filepath.Join(c.dir, "jobs", "watch-"+string(id)+".json")
}

// noteWatch keeps the newest event that says how the folder is followed.
func (c *core) noteWatch(id kb.StoreID, e WatchEvent) {
	if e.Kind == "updated" || e.Kind == "waiting" {
		return
	}
	if raw, err := json.Marshal(e); err == nil {
		_ = atomicfile.Write(c.watchState(id), raw) // only doctor misses it
	}
}

// watchNote is what noteWatch kept last.
func (c *core) watchNote(id kb.StoreID) (e WatchEvent, ok bool) {
	raw, err := os.ReadFile(c.watchState(id))
	return e, err == nil && json.Unmarshal(raw, &e) == nil
}

// Watch follows the folders of stores, by name or id, or without any the own
// folder of the work tree, which is indexed first if it never was; until ctx ends.
// yes allows a very large own folder.
func (a *App) Watch(ctx context.Context, names []string, yes bool, tell func(WatchEvent)) error {
	c, err := a.open(ctx)
	if err != nil {
		return err
	}
	var stores []kb.Store
	if len(names) > 0 {
		if stores, err = a.named(ctx, c, names); err != nil {
			return err
		}
	} else {
		p, err := a.where()
		if err != nil {
			return err
		}
		st, ok := c.folderAt(ctx, p.ID, p.Root)
		if !ok {
			spec := kb.Spec{Kind: kb.KindFolder, Source: p.Root}
			if !yes {
				if err := refuseLarge(ctx, spec); err != nil {
					return err
				}
			}
			if st, err = c.catalog.SetOwn(ctx, p.ID, p.Root, spec); err != nil {
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
	var clock, all sync.WaitGroup
	clock.Go(func() { _ = c.clock().Run(timed) })
	var order sync.Mutex
	for _, st := range stores {
		all.Go(func() {
			a.follow(ctx, c, st, false, func(e WatchEvent) {
				order.Lock()
				defer order.Unlock()
				tell(e)
			})
		})
	}
	all.Wait()
	stop()
	clock.Wait()
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
