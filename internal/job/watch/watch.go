// Package watch follows a folder: it calls back soon after something in it has
// changed that matters, once for a burst of changes, and again until nothing
// changes any more.
//
// What the operating system tells is only a reason to look: the callback finds
// out by a walk what has changed, so that no event that is lost, doubled or
// out of order can leave an index behind. Directories are watched before the
// walk begins; what happens in one that is not watched yet is seen by the walk.
//
// Where the system cannot watch (no watches left, a network file system whose
// servers tell nobody), the folder is looked at from time to time instead.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Tree is what there is to watch; see source.Tree.
type Tree interface {
	Dirs() []string // absolute, parents before children
	Wants(name string, isDir bool) bool
}

// Timing are the times that a Folder goes by; zero fields stand for the
// constants of the same name.
type Timing struct {
	Settle, Longest, Look, Busy, MissingLook time.Duration
}

// How long is waited, and why so long.
const (
	// settle is how long it must be quiet before a burst counts as over:
	// longer than an editor takes between the steps of saving a file.
	settle = 150 * time.Millisecond
	// longest is when a burst that does not end is looked at all the same.
	longest = time.Second
	// look is the shortest time between two looks at a folder that cannot be
	// watched. A look that takes long is followed by fifty times as long a
	// rest, so that looking costs at most a fiftieth of one processor.
	look = 2 * time.Second
	// busy bounds how long a version control program is waited for.
	busy = 3 * time.Second
	// missingLook is how often it is looked whether the folder still is where
	// it was: that it goes, its own watch tells on no system for certain.
	missingLook = 2 * time.Second
)

// Event is what a reader may want to know of how watching goes.
type Event struct {
	// Kind is "watching", "polling", "missing", "back" or "failed".
	Kind string
	Text string // one sentence
	Hint string // what to do about it; may be empty
	Dirs int    // watched
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
	Update func(ctx context.Context) error
	// Settling reports whether a program is in the middle of changing many files; may be nil.
	Settling func() bool
	// Remote says which network file system the folder is on, "" for none; nil never does.
	Remote func(root string) string
	// Probes is a directory of the caller's, outside Root, that is there while
	// the folder is watched; "" for none. Whoever puts a file into it asks
	// whether the index is up to date: the file is removed as soon as all that
	// happened before it is in the index. That it was told of before, the queue
	// of events being one, is certain on Linux and very likely elsewhere.
	Probes string
	// Tell is told what Event says; may be nil.
	Tell   func(Event)
	Timing Timing

	// newWatcher stands in for fsnotify.NewWatcher in tests.
	newWatcher func() (*fsnotify.Watcher, error)
	// add stands in for (*fsnotify.Watcher).Add in tests.
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
	begun   bool   // it has been told how the folder is followed
	failed  int    // updates that failed one after the other
	retry   time.Time
	said    string   // the failure that was told last
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
			// What is left when a file system is unmounted, too: its documents are
			// not gone, they are elsewhere.
			err = fmt.Errorf("%s is another folder now, and empty", f.Root)
		}
		if err != nil {
			if !missing {
				f.tell(Event{Kind: "missing", Text: err.Error(), Hint: "it is watched again as soon as it is back; what is indexed stays searchable"})
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
	for _, d := range []struct {
		at    *time.Duration
		usual time.Duration
	}{{&f.Timing.Settle, settle}, {&f.Timing.Longest, longest}, {&f.Timing.Look, look}, {&f.Timing.Busy, busy}, {&f.Timing.MissingLook, missingLook}} {
		if *d.at <= 0 {
			*d.at = d.usual
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

// present returns the folder's identity. With the identity that it had, it is
// an error that another folder stands there now.
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
	s.update(ctx, false) // what changed while nobody watched
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

func (s *state) tellPolling() {
	s.tell(Event{Kind: "polling", Text: s.why + fmt.Sprintf("; it is looked at every %v or less often instead", s.Timing.Look), Hint: hintOf(s.why)})
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
				return s.update(ctx, true)
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
				return s.settleThenUpdate(ctx)
			}
		}
	}
}

// matters reports whether an event can change the documents. A directory that
// came is watched at once, with all that is below it.
func (s *state) matters(ctx context.Context, e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		// The modification time was set, or permissions were: a walk tells.
		return s.tree.Wants(e.Name, s.watched[e.Name])
	}
	dir := s.watched[e.Name]
	if dir && (e.Has(fsnotify.Rename) || e.Has(fsnotify.Remove)) {
		if !s.inside(e.Name) { // a folder around it, watched for the rules in it
			delete(s.watched, e.Name)
			return true
		}
		s.forgetBelow(e.Name)
	}
	if e.Has(fsnotify.Create) {
		fi, err := os.Lstat(e.Name)
		dir = err == nil && fi.IsDir()
		if dir && s.tree.Wants(e.Name, true) {
			s.watchBelow(ctx, e.Name)
		}
	}
	return s.tree.Wants(e.Name, dir)
}

// inside reports whether a name is that of the folder or of something in it.
func (s *state) inside(name string) bool {
	return name == s.Root || strings.HasPrefix(name, strings.TrimSuffix(s.Root, string(filepath.Separator))+string(filepath.Separator))
}

// forgetBelow takes the watches of a directory that went back. inotify's
// follow a directory to its new name: one that is taken back later, by the old
// name, would be that of the new name by then.
func (s *state) forgetBelow(dir string) {
	for name := range s.watched {
		if name == dir || strings.HasPrefix(name, dir+string(filepath.Separator)) {
			_ = s.w.Remove(name) // fails when it went by itself
			delete(s.watched, name)
		}
	}
}

// watchBelow watches a new directory before it is known what in it matters;
// sync takes back what does not.
func (s *state) watchBelow(ctx context.Context, dir string) {
	const most = 1000 // of them; a larger tree waits for sync, which knows the rules
	n := 0
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() || ctx.Err() != nil {
			return nil
		}
		if name != dir && !s.tree.Wants(name, true) {
			return fs.SkipDir
		}
		if n++; n > most {
			return fs.SkipAll
		}
		if !s.watched[name] && s.add(s.w, name) == nil {
			s.watched[name] = true
		}
		return nil
	})
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
				quiet.Reset(0) // somebody wants it as it is now
			} else if s.matters(ctx, e) && time.Since(began) < s.Timing.Longest && len(s.asked) == 0 {
				quiet.Reset(s.Timing.Settle)
			}
			continue
		case _, ok := <-s.w.Errors:
			if !ok {
				return false
			}
			continue
		case <-quiet.C:
		}
		if s.Settling != nil && s.Settling() && time.Since(began) < s.Timing.Busy {
			quiet.Reset(s.Timing.Settle / 2)
			continue
		}
		return s.update(ctx, true)
	}
}

// update watches what is there now and brings the index up to date; false
// when the folder is gone. Events of meanwhile are still in the queue.
func (s *state) update(ctx context.Context, relist bool) bool {
	if _, err := s.present(s.id); err != nil {
		return false
	}
	if relist {
		if err := s.sync(ctx); err != nil && ctx.Err() == nil {
			s.trouble(err)
		}
	}
	if ctx.Err() != nil {
		return false
	}
	if err := s.Update(ctx); err == nil {
		s.failed, s.said = 0, ""
		s.answer(true)
	} else if ctx.Err() == nil {
		// What it was for is still to be done, but not all the time.
		s.retry = time.Now().Add(min(s.Timing.MissingLook<<min(s.failed, 10), 5*time.Minute))
		s.failed++
		s.trouble(err)
		s.answer(false)
	}
	return ctx.Err() == nil
}

// trouble tells a failure, once as long as it stays the same.
func (s *state) trouble(err error) {
	if s.said != err.Error() {
		s.said = err.Error()
		s.tell(Event{Kind: "failed", Text: s.said})
	}
}

// sync lists the directories and watches exactly them. When the system has no
// watches left the folder is polled from now on.
func (s *state) sync(ctx context.Context) error {
	tree, err := s.List(ctx)
	if err != nil {
		return err
	}
	s.tree = tree
	if s.w == nil {
		return nil
	}
	want := map[string]bool{}
	for _, dir := range tree.Dirs() {
		want[dir] = true
	}
	for _, dir := range slices.Collect(maps.Keys(s.watched)) {
		if !want[dir] {
			_ = s.w.Remove(dir)
			clear(s.watched) // one of them may have had the same watch: see forgetBelow
		}
	}
	for _, dir := range tree.Dirs() {
		if s.watched[dir] {
			continue
		}
		switch err := s.add(s.w, dir); {
		case err == nil:
			s.watched[dir] = true
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR):
			// Gone meanwhile, or not ours to read: nothing in it is indexed.
		default:
			n := s.giveUp()
			s.why = fmt.Sprintf("%d directories can be watched and no more (%v)", n, err)
			if s.begun {
				s.tellPolling()
			}
			return nil
		}
	}
	return nil
}

// giveUp goes over to polling and gives the watches back.
func (s *state) giveUp() (watched int) {
	watched = len(s.watched)
	s.close()
	s.w, s.watched = nil, map[string]bool{}
	return watched
}

// poll rests, and looks; false ends the life.
func (s *state) poll(ctx context.Context) bool {
	began := time.Now()
	changed, err := s.Changed(ctx)
	took := time.Since(began)
	if err == nil && (changed || s.failed > 0 && began.After(s.retry)) {
		if s.Settling != nil && s.Settling() {
			sleep(ctx, s.Timing.Settle)
		}
		if !s.update(ctx, false) {
			return false
		}
	}
	sleep(ctx, max(s.Timing.Look, min(50*took, time.Minute)))
	_, err = s.present(s.id)
	return err == nil && ctx.Err() == nil
}

func (s *state) close() {
	if s.w != nil {
		s.w.Close()
		if s.Probes != "" {
			_ = os.RemoveAll(s.Probes) // who asks waits in vain, a moment, and looks itself
		}
	}
}

// takeProbes makes the directory of probes and watches it. Where that fails
// there is none, and nobody asks.
func (s *state) takeProbes() {
	if s.Probes == "" {
		return
	}
	_ = os.RemoveAll(s.Probes) // of a process that died
	if os.MkdirAll(s.Probes, 0o700) != nil || s.add(s.w, s.Probes) != nil {
		_ = os.RemoveAll(s.Probes)
	}
}

// probe reports whether an event is about a probe, and notes a new one.
func (s *state) probe(e fsnotify.Event) bool {
	if s.Probes == "" || filepath.Dir(e.Name) != s.Probes && e.Name != s.Probes {
		return false
	}
	if e.Has(fsnotify.Create) {
		s.asked = append(s.asked, e.Name)
	}
	return true
}

// answer removes the probes that were seen, when the index is up to date; the
// others their owners remove.
func (s *state) answer(current bool) {
	for _, name := range s.asked {
		if current {
			_ = os.Remove(name)
		}
	}
	s.asked = nil
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
