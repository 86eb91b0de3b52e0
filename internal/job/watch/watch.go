// Package watch follows a folder: it calls back soon after a relevant change in it,
// once for a burst of changes, and again until nothing changes any more.
//
// An event of the operating system only starts a check: the callback finds the
// changes by a walk, so that no lost, doubled or misordered event can leave an
// index behind. Directories are watched before the walk begins; the walk sees the
// changes in one that is not watched yet.
//
// Where the system cannot watch (no watches left, a network file system without
// events), the folder is checked from time to time instead.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Tree is what there is to watch; see source.Tree.
type Tree interface {
	Dirs() []string // absolute, parents before children
	Wants(name string, isDir bool) bool
	Shapes(name string) bool
}

// Timing are the times of a Folder. The constants of the same name replace zero
// fields.
type Timing struct {
	Settle, Longest, Look, Busy, MissingLook time.Duration
}

// How long is waited, and why so long.
const (
	// settle is the quiet time after which a burst is over: longer than an editor
	// takes between the steps of saving a file.
	settle = 150 * time.Millisecond
	// longest bounds a burst that does not end.
	longest = time.Second
	// look is the shortest time between two checks of a folder that cannot be
	// watched. A rest of fifty times its duration follows each, so that checks cost
	// at most a fiftieth of one processor.
	look = 2 * time.Second
	// busy bounds the wait for a version control program.
	busy = 3 * time.Second
	// relistAfter is the time after which an update lists the directories although no
	// event says that they are others.
	relistAfter = time.Minute
	// missingLook is the time between checks that the folder is still there: no
	// system reports its removal for certain.
	missingLook = 2 * time.Second
)

// Event is news about the watch, for a reader.
type Event struct {
	// Kind is "watching", "polling", "missing", "back" or "failed".
	Kind string
	Text string // one sentence
	Hint string // what to do about it; may be empty
	Dirs int    // watched
}

// Behind ends the name of the file that answers a probe of an index that is not up to
// date.
const Behind = ".behind"

// Due is what an update is for.
type Due struct {
	// Since is when the last event was seen that matters: an index of what was there then
	// is up to date. It is zero where no event has said that anything was changed.
	Since time.Time
	Asked bool // a probe waits
}

// Folder follows one folder.
type Folder struct {
	Root string
	// List lists the directories.
	List func(ctx context.Context) (Tree, error)
	// Changed reports whether the index is behind the folder; for folders that
	// cannot be watched.
	Changed func(ctx context.Context) (bool, error)
	// Update brings the index up to date. It is called by one goroutine.
	Update func(ctx context.Context, d Due) error
	// Settling reports whether a program is changing many files; may be nil.
	Settling func() bool
	// Remote returns the kind of network file system of the folder, "" for none; may
	// be nil.
	Remote func(root string) string
	// Probes is a directory outside Root that exists while the folder is watched; ""
	// for none. A file in it asks whether the index is up to date: it is removed as
	// soon as all earlier changes are in the index. When that has to be brought up to
	// date first, a file of its name and Behind says so meanwhile. Their events come before its own,
	// as the queue of events is one: for certain on Linux, very likely elsewhere.
	Probes string
	// Tell is called with each Event; may be nil.
	Tell   func(Event)
	Timing Timing

	// newWatcher replaces fsnotify.NewWatcher in tests.
	newWatcher func() (*fsnotify.Watcher, error)
	// add replaces (*fsnotify.Watcher).Add in tests.
	add func(w *fsnotify.Watcher, dir string) error
}

// state is one life of the folder: from finding it to losing it.
type state struct {
	*Folder
	w       *fsnotify.Watcher // nil when polling
	tree    Tree
	watched map[string]bool
	id      os.FileInfo
	why     string // why it is polled
	begun   bool   // the kind of watch was reported
	failed  int    // updates that failed one after the other
	retry   time.Time
	since   time.Time // of the last event that matters, until an update is done
	listed  time.Time
	relist  bool     // the directories may be others by now
	said    string   // the failure that was reported last
	asked   []string // probes that were seen and not answered
}

// Run follows the folder until ctx ends, whose error it returns. A folder that
// is missing, at the beginning or later, is waited for.
func (f *Folder) Run(ctx context.Context) error {
	f.defaults()
	missing := false
	var before os.FileInfo
	for ctx.Err() == nil {
		id, err := f.present(nil)
		if err == nil && before != nil && !os.SameFile(before, id) && empty(f.Root) {
			// An unmounted file system leaves such a folder: its documents are not gone.
			err = fmt.Errorf("%s is another folder now, and empty", f.Root)
		}
		if err != nil {
			if !missing {
				f.tell(Event{Kind: "missing", Text: err.Error(),
					Hint: "it is watched again as soon as it is back; what is indexed stays searchable"})
			}
			missing = true
			sleep(ctx, f.Timing.MissingLook)
			continue
		}
		if missing {
			f.tell(Event{Kind: "back", Text: f.Root + " is back"})
		}
		missing, before = false, id
		s := &state{Folder: f, id: id, watched: map[string]bool{}}
		s.live(ctx)
		s.close()
	}
	return ctx.Err()
}

func (f *Folder) defaults() {
	t := &f.Timing
	for at, usual := range map[*time.Duration]time.Duration{
		&t.Settle: settle, &t.Longest: longest, &t.Look: look, &t.Busy: busy, &t.MissingLook: missingLook,
	} {
		if *at <= 0 {
			*at = usual
		}
	}
	if f.newWatcher == nil {
		f.newWatcher = fsnotify.NewWatcher
	}
	if f.add == nil {
		f.add = (*fsnotify.Watcher).Add
	}
}

func (f *Folder) tell(e Event) {
	if f.Tell != nil {
		f.Tell(e)
	}
}

// present returns the folder's identity. It is an error if another folder has
// replaced the one that was there.
func (f *Folder) present(was os.FileInfo) (os.FileInfo, error) {
	id, err := os.Lstat(f.Root)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is gone", f.Root)
	case id.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a link now, and links are not followed", f.Root)
	case !id.IsDir():
		return nil, fmt.Errorf("%s is no folder any more", f.Root)
	case was != nil && !os.SameFile(was, id):
		return nil, errReplaced
	}
	return id, nil
}

func empty(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(1)
	return len(names) == 0
}

var errReplaced = errors.New("another folder stands there now")

// live watches until ctx ends or the folder is gone or another.
func (s *state) live(ctx context.Context) {
	if s.Remote != nil {
		if kind := s.Remote(s.Root); kind != "" {
			s.why = fmt.Sprintf("%s is on a network file system (%s), which does not tell of changes", s.Root, kind)
		}
	}
	if s.why == "" {
		w, err := s.newWatcher()
		if err != nil {
			s.why = "the system gives out no more watchers: " + err.Error()
		} else {
			s.w = w
			s.takeProbes()
		}
	}
	if err := s.sync(ctx); err != nil {
		if ctx.Err() == nil {
			s.tell(Event{Kind: "failed", Text: err.Error()})
			sleep(ctx, s.Timing.MissingLook)
		}
		return
	}
	s.begun = true
	if s.w != nil {
		s.tell(Event{Kind: "watching", Text: fmt.Sprintf("watching %s", s.Root), Dirs: len(s.watched)})
	} else {
		s.tellPolling()
	}
	s.update(ctx) // with the changes before the watch
	for ctx.Err() == nil {
		var again bool
		if s.w != nil {
			again = s.await(ctx)
		} else {
			again = s.poll(ctx)
		}
		if !again {
			return
		}
	}
}

// await waits for a change and handles it; false ends the life.
func (s *state) await(ctx context.Context) bool {
	tick := time.NewTimer(s.Timing.MissingLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
			if _, err := s.present(s.id); err != nil {
				return false
			}
			if s.failed > 0 && time.Now().After(s.retry) {
				return s.update(ctx)
			}
			tick.Reset(s.Timing.MissingLook)
		case e, ok := <-s.w.Events:
			if !ok {
				return false
			}
			if s.probe(e) {
				if _, err := s.present(s.id); err != nil {
					return false
				}
				s.answer(s.failed == 0)
			} else if s.matters(ctx, e) {
				return s.settleThenUpdate(ctx)
			}
		case err, ok := <-s.w.Errors:
			if !ok {
				return false
			}
			if err != nil { // an overflow above all: anything may have changed
				s.relist, s.since = true, time.Now()
				return s.settleThenUpdate(ctx)
			}
		}
	}
}

// settleThenUpdate waits for the end of a burst and brings the index up to date.
func (s *state) settleThenUpdate(ctx context.Context) bool {
	began := time.Now()
	quiet := time.NewTimer(s.Timing.Settle)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case e, ok := <-s.w.Events:
			if !ok {
				return false
			}
			if s.probe(e) {
				s.putOff()
				quiet.Reset(0) // a caller waits for the update
			} else if s.matters(ctx, e) && time.Since(began) < s.Timing.Longest && len(s.asked) == 0 {
				quiet.Reset(s.Timing.Settle)
			}
			continue
		case _, ok := <-s.w.Errors:
			if !ok {
				return false
			}
			s.relist, s.since = true, time.Now()
			continue
		case <-quiet.C:
		}
		if s.Settling != nil && s.Settling() && time.Since(began) < s.Timing.Busy {
			quiet.Reset(s.Timing.Settle / 2)
			continue
		}
		return s.update(ctx)
	}
}

// update watches the present directories and brings the index up to date; false
// when the folder is gone. Later events stay in the queue.
func (s *state) update(ctx context.Context) bool {
	if _, err := s.present(s.id); err != nil {
		return false
	}
	if s.w != nil && (s.relist || time.Since(s.listed) > relistAfter) {
		s.relist = false
		if err := s.sync(ctx); err != nil && ctx.Err() == nil {
			s.relist = true
			s.trouble(err)
		}
	}
	if ctx.Err() != nil {
		return false
	}
	if err := s.Update(ctx, Due{s.since, len(s.asked) > 0}); err == nil {
		s.failed, s.said, s.since = 0, "", time.Time{}
		s.answer(true)
	} else if ctx.Err() == nil {
		// It is tried again, less and less often.
		s.retry = time.Now().Add(min(s.Timing.MissingLook<<min(s.failed, 10), 5*time.Minute))
		s.failed++
		s.trouble(err)
		s.answer(false)
	}
	return ctx.Err() == nil
}

// trouble reports a failure, once as long as it stays the same.
func (s *state) trouble(err error) {
	if s.said != err.Error() {
		s.said = err.Error()
		s.tell(Event{Kind: "failed", Text: s.said})
	}
}

func (s *state) close() {
	if s.w != nil {
		s.w.Close()
		if s.Probes != "" {
			_ = os.RemoveAll(s.Probes) // a waiting caller gives up after a moment
		}
	}
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
