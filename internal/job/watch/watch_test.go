package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// dirs is a Tree of all directories but those called "ignored".
type dirs []string

func (d dirs) Dirs() []string          { return d }
func (d dirs) Shapes(name string) bool { return filepath.Base(name) == "shape" }
func (d dirs) Wants(name string, _ bool) bool {
	return !strings.Contains(name, "ignored") && !strings.HasSuffix(name, ".log")
}

func list(root string) (Tree, error) {
	var out dirs
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil
		}
		if e.Name() == "ignored" {
			return fs.SkipDir
		}
		out = append(out, name)
		return nil
	})
	return out, err
}

// seen is what an index would hold: the files' contents by path.
func contents(root string) map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && (dirs{}).Wants(name, false) {
			b, _ := os.ReadFile(name)
			out[name] = string(b)
		}
		return nil
	})
	return out
}

// follower runs a Folder whose index is a map.
type follower struct {
	t    *testing.T
	root string
	f    *Folder

	mu      sync.Mutex
	index   map[string]string
	updates int
	events  []Event
	fail    error
}

var quick = Timing{Settle: 20 * time.Millisecond, Longest: 100 * time.Millisecond, Look: 30 * time.Millisecond, Busy: 300 * time.Millisecond, MissingLook: 30 * time.Millisecond}

func follow(t *testing.T, change func(*Folder)) *follower {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(root, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	x := &follower{t: t, root: root}
	x.f = &Folder{
		Root: root, Timing: quick,
		List: func(context.Context) (Tree, error) { return list(root) },
		Changed: func(context.Context) (bool, error) {
			x.mu.Lock()
			defer x.mu.Unlock()
			return !maps.Equal(x.index, contents(root)), nil
		},
		Update: func(context.Context, Due) error {
			now := contents(root)
			x.mu.Lock()
			defer x.mu.Unlock()
			if x.fail != nil {
				return x.fail
			}
			x.index = now
			x.updates++
			return nil
		},
		Tell: func(e Event) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.events = append(x.events, e)
		},
	}
	if change != nil {
		change(x.f)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = x.f.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	x.settled("at the beginning")
	return x
}

// settled waits until the index is what the folder is.
func (x *follower) settled(after string) {
	x.t.Helper()
	x.until(after+": the index is not what the folder is", func() bool {
		return x.updates > 0 && maps.Equal(x.index, contents(x.root))
	})
}

func (x *follower) until(what string, ok func() bool) {
	x.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		good := ok()
		x.mu.Unlock()
		if good {
			return
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.t.Fatalf("%s (%d updates, %d files known, %d there; events %+v)", what, x.updates, len(x.index), len(contents(x.root)), x.events)
}

func (x *follower) told(kind string) int {
	n := 0
	for _, e := range x.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (x *follower) write(rel, text string) {
	x.t.Helper()
	name := filepath.Join(x.root, rel)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

func TestFollows(t *testing.T) {
	x := follow(t, nil)
	x.write("a.txt", "one")
	x.settled("a new file")
	x.write("a.txt", "two")
	x.settled("an edit")
	x.write("new/deep/er/b.txt", "b")
	x.settled("a file in new directories")
	x.write("new/deep/er/c.txt", "c")
	x.settled("a second file in them")
	if err := os.Rename(filepath.Join(x.root, "new"), filepath.Join(x.root, "renamed")); err != nil {
		t.Fatal(err)
	}
	x.settled("a renamed directory")
	x.write("renamed/deep/er/b.txt", "changed below the new name")
	x.settled("an edit below the new name")
	if err := os.RemoveAll(filepath.Join(x.root, "renamed")); err != nil {
		t.Fatal(err)
	}
	x.settled("a removed directory")
	// Saved as editors do: written beside it and renamed over it.
	x.write("a.txt~", "three")
	if err := os.Rename(filepath.Join(x.root, "a.txt~"), filepath.Join(x.root, "a.txt")); err != nil {
		t.Fatal(err)
	}
	x.settled("a file that was replaced")
}

func TestABurstIsFewUpdatesAndNothingIsLost(t *testing.T) {
	x := follow(t, nil)
	x.mu.Lock()
	before := x.updates
	x.mu.Unlock()
	for i := range 2000 {
		x.write(fmt.Sprintf("d%d/f%d.txt", i%50, i), "x")
	}
	x.settled("two thousand files in fifty new directories")
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.updates - before; n > 200 {
		t.Errorf("%d updates for one burst", n)
	}
}

func TestIgnoredIsQuiet(t *testing.T) {
	x := follow(t, nil)
	x.write("ignored/x.txt", "x")
	x.settled("")
	time.Sleep(150 * time.Millisecond)
	x.mu.Lock()
	before := x.updates
	x.mu.Unlock()
	for i := range 20 {
		x.write("ignored/x.txt", fmt.Sprint(i))
		x.write("build.log", fmt.Sprint(i))
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.updates != before {
		t.Errorf("%d updates for what is ignored", x.updates-before)
	}
}

func TestWaitsForVersionControl(t *testing.T) {
	var mu sync.Mutex
	busy := false
	x := follow(t, func(f *Folder) {
		f.Settling = func() bool { mu.Lock(); defer mu.Unlock(); return busy }
	})
	x.mu.Lock()
	before := x.updates
	x.mu.Unlock()
	set := func(b bool) { mu.Lock(); busy = b; mu.Unlock() }
	set(true)
	for i := range 5 {
		x.write(fmt.Sprintf("f%d", i), "x")
		time.Sleep(30 * time.Millisecond) // longer than it takes to settle
	}
	set(false)
	x.settled("a branch switch")
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.updates - before; n != 1 {
		t.Errorf("%d updates for one branch switch", n)
	}
}

func TestNoWatchesLeft(t *testing.T) {
	n := 0
	x := follow(t, func(f *Folder) {
		f.add = func(w *fsnotify.Watcher, dir string) error {
			if n++; n > 3 {
				return syscall.ENOSPC
			}
			return w.Add(dir)
		}
	})
	for i := range 5 {
		x.write(fmt.Sprintf("d%d/f.txt", i), "x")
	}
	x.settled("when there are no more watches")
	x.write("d4/f.txt", "edited")
	x.settled("an edit that is polled")
	x.until("polling was not told once", func() bool { return x.told("polling") == 1 })
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.events {
		if e.Kind == "polling" && (e.Hint == "" || !strings.Contains(e.Text, "looked at")) {
			t.Errorf("what is told does not help: %+v", e)
		}
	}
}

func TestNoWatchesFromTheBeginning(t *testing.T) {
	x := follow(t, func(f *Folder) {
		f.add = func(*fsnotify.Watcher, string) error { return syscall.ENOSPC }
	})
	x.write("a", "1")
	x.settled("polled")
	x.until("polling was not told once", func() bool { return x.told("polling") == 1 })
}

func TestNoWatcherAtAll(t *testing.T) {
	x := follow(t, func(f *Folder) {
		f.newWatcher = func() (*fsnotify.Watcher, error) { return nil, syscall.EMFILE }
	})
	x.write("a", "1")
	x.settled("polled from the beginning")
}

func TestNetworkFolderIsPolled(t *testing.T) {
	x := follow(t, func(f *Folder) { f.Remote = func(string) string { return "nfs" } })
	x.write("a", "1")
	x.settled("on a network file system")
	x.until("it is not said", func() bool { return x.told("polling") == 1 })
}

func TestOverflowLooksAtEverything(t *testing.T) {
	var w *fsnotify.Watcher
	x := follow(t, func(f *Folder) {
		f.newWatcher = func() (_ *fsnotify.Watcher, err error) { w, err = fsnotify.NewWatcher(); return w, err }
		f.add = func(*fsnotify.Watcher, string) error { return nil } // nothing is reported
	})
	x.write("new/a", "1")
	time.Sleep(50 * time.Millisecond)
	w.Errors <- fsnotify.ErrEventOverflow
	x.settled("an overflow")
}

func TestFolderGoesAndComesBack(t *testing.T) {
	x := follow(t, nil)
	x.write("a", "1")
	x.settled("")
	away := x.root + "-away"
	if err := os.Rename(x.root, away); err != nil {
		t.Fatal(err)
	}
	x.until("not told once that it is gone", func() bool { return x.told("missing") == 1 })
	time.Sleep(100 * time.Millisecond)
	if err := os.Rename(away, x.root); err != nil {
		t.Fatal(err)
	}
	x.until("not told that it is back", func() bool { return x.told("back") == 1 })
	x.write("b", "2")
	x.settled("when it is back")
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.told("missing"); n != 1 {
		t.Errorf("told %d times that it is gone", n)
	}
}

func TestReplacedByALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights on Windows")
	}
	x := follow(t, nil)
	x.write("a", "1")
	x.settled("")
	away := x.root + "-away"
	if err := errors.Join(os.Rename(x.root, away), os.Symlink(away, x.root)); err != nil {
		t.Fatal(err)
	}
	x.until("not told that it is a link", func() bool { return x.told("missing") == 1 && strings.Contains(x.events[len(x.events)-1].Text, "link") })
	if err := errors.Join(os.Remove(x.root), os.Rename(away, x.root)); err != nil {
		t.Fatal(err)
	}
	x.write("b", "2")
	x.settled("when it is a folder again")
}

// An unmounted file system leaves an empty folder behind.
func TestAnEmptyFolderInItsPlaceIsWaitedFor(t *testing.T) {
	x := follow(t, nil)
	x.write("a", "1")
	x.settled("")
	x.mu.Lock()
	before := x.updates
	x.mu.Unlock()
	if err := errors.Join(os.Rename(x.root, x.root+"-old"), os.Mkdir(x.root, 0o755)); err != nil {
		t.Fatal(err)
	}
	x.until("not told", func() bool { return x.told("missing") == 1 })
	x.mu.Lock()
	if x.updates != before {
		t.Error("the empty folder was taken for the state of things")
	}
	x.mu.Unlock()
	if err := errors.Join(os.Remove(x.root), os.Rename(x.root+"-old", x.root)); err != nil {
		t.Fatal(err)
	}
	x.write("b", "2")
	x.settled("when the folder is back")
}

func TestAnotherFolderTakesItsPlace(t *testing.T) {
	x := follow(t, nil)
	x.write("a", "1")
	x.settled("")
	other := x.root + "-other"
	if err := errors.Join(os.Mkdir(other, 0o755), os.WriteFile(filepath.Join(other, "b"), []byte("2"), 0o644),
		os.Rename(x.root, x.root+"-old"), os.Rename(other, x.root)); err != nil {
		t.Fatal(err)
	}
	x.settled("another folder")
	x.write("b", "3")
	x.settled("an edit in it")
}

func TestFailedUpdateIsTriedAgain(t *testing.T) {
	x := follow(t, nil)
	x.mu.Lock()
	x.fail = errors.New("the disk is full")
	x.mu.Unlock()
	x.write("a", "1")
	x.until("the failure is not told", func() bool { return x.told("failed") == 1 })
	x.mu.Lock()
	x.fail = nil
	x.mu.Unlock()
	x.settled("a failure that has passed")
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.told("failed"); n != 1 {
		t.Errorf("told %d times of one failure", n)
	}
}

// Who puts a file among the probes and sees it go knows that what happened
// before is in the index, however long a burst would be waited for.
func TestProbes(t *testing.T) {
	probes := filepath.Join(t.TempDir(), "jobs", "probes")
	x := follow(t, func(f *Folder) {
		f.Probes = probes
		f.Timing.Settle, f.Timing.Longest = time.Hour, time.Hour
	})
	gone := func(name string) bool { _, err := os.Lstat(name); return errors.Is(err, fs.ErrNotExist) }
	probe := func(name string) string {
		t.Helper()
		name = filepath.Join(probes, name)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for i := range 20 {
		x.write(fmt.Sprintf("deep/d%d/a.txt", i), "one")
		asked := probe(fmt.Sprint(i))
		x.until("a probe is not answered", func() bool { return gone(asked) })
		x.mu.Lock()
		if !maps.Equal(x.index, contents(x.root)) {
			t.Errorf("%d: it was answered before what happened was indexed", i)
		}
		x.mu.Unlock()
	}
	asked := probe("quiet")
	x.until("it is not answered when nothing happened", func() bool { return gone(asked) })

	// An index that cannot be brought up to date is not said to be.
	x.mu.Lock()
	x.fail = errors.New("the disk is full")
	x.mu.Unlock()
	x.write("b.txt", "two")
	first := probe("first")
	x.until("the failure is not told", func() bool { return x.told("failed") == 1 })
	if gone(first) {
		t.Error("it was answered though nothing was indexed")
	}
	// A folder that is another one is not answered for.
	if err := os.Rename(x.root, x.root+"-old"); err != nil {
		t.Fatal(err)
	}
	probe("second")
	x.until("there are probes of a folder that is not watched", func() bool { return gone(probes) })
}

// Who asks while something is not in the index yet is told at once.
func TestProbesOfWhatIsBehind(t *testing.T) {
	probes := filepath.Join(t.TempDir(), "jobs", "probes")
	hold := make(chan bool)
	x := follow(t, func(f *Folder) {
		f.Probes = probes
		f.Timing.Settle, f.Timing.Longest = time.Hour, time.Hour
		update := f.Update
		f.Update = func(ctx context.Context, d Due) error {
			if !d.Since.IsZero() {
				if !d.Asked {
					t.Error("it is not said that somebody waits")
				}
				<-hold
			}
			return update(ctx, d)
		}
	})
	there := func(name string) bool { _, err := os.Lstat(name); return err == nil }
	x.write("a.txt", "one")
	asked := filepath.Join(probes, "asked")
	if err := os.WriteFile(asked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x.until("it is not told to be behind", func() bool { return there(asked + Behind) })
	if !there(asked) {
		t.Error("it is told to be up to date")
	}
	close(hold)
	x.until("it is not told to be up to date", func() bool { return !there(asked) && !there(asked+Behind) })
}

// The directories are listed again only when an event says that they may be others.
func TestEditsListNothing(t *testing.T) {
	var mu sync.Mutex
	lists := 0
	x := follow(t, func(f *Folder) {
		list := f.List
		f.List = func(ctx context.Context) (Tree, error) {
			mu.Lock()
			defer mu.Unlock()
			lists++
			return list(ctx)
		}
	})
	listed := func() int {
		mu.Lock()
		defer mu.Unlock()
		return lists
	}
	before := listed()
	for i := range 3 {
		x.write("a.txt", fmt.Sprint(i))
		x.settled("an edit")
	}
	if n := listed() - before; n != 0 {
		t.Errorf("edits of a file listed the directories %d times", n)
	}
	x.write("new/deep/a.txt", "one")
	x.settled("a new directory")
	x.write("new/deep/a.txt", "two")
	x.settled("an edit in it")
	if listed() == before {
		t.Error("a new directory did not")
	}
	before = listed()
	x.write("a.txt", "four")
	x.write("shape", "one")
	x.settled("a file that shapes the tree")
	x.until("the directories are not listed", func() bool { return listed() > before })
}
