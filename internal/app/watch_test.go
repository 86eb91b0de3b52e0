package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// follow runs a.Watch until stop, collecting what it tells.
func follow(t *testing.T, a *App, stores ...string) (told func(kind string) []WatchEvent, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var events []WatchEvent
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := a.Watch(ctx, stores, false, func(e WatchEvent) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
		})
		if ctx.Err() == nil {
			t.Errorf("watching ended by itself: %v", err)
		}
	}()
	return func(kind string) []WatchEvent {
		mu.Lock()
		defer mu.Unlock()
		var out []WatchEvent
		for _, e := range events {
			if e.Kind == kind {
				out = append(out, e)
			}
		}
		return out
	}, func() { cancel(); <-done }
}

// eventually waits for what takes other processes or goroutines a while.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("it never happened that " + what)
}

// has reports whether the index, as it is, knows a word. It does not look at the folder.
func has(t *testing.T, a *App, store, word string) bool {
	t.Helper()
	c, st, err := a.lookup(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.targets(t.Context(), []kb.Store{st})
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	reply, err := search.Run(t.Context(), s.targets, c.embedder, search.Request{Query: word, Mode: "fts"})
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(reply.Hits, func(h Hit) bool { return strings.Contains(h.Code, word) })
}

func TestWatchFollowsTheFolder(t *testing.T) {
	s := newSite(t)
	s.write("p/a.txt", "the walrus\n")
	watcher, other := s.in("p", true), s.in("p", true)
	told, stop := follow(t, watcher)
	defer stop()
	eventually(t, "the folder is indexed", func() bool { return len(told("updated")) > 0 })
	if !has(t, other, ".", "walrus") {
		t.Fatal("another process does not see what was indexed")
	}
	s.write("p/new/b.txt", "the okapi\n")
	eventually(t, "a new file is found by another process", func() bool { return has(t, other, ".", "okapi") })
	if err := os.Remove(filepath.Join(s.root, "p", "a.txt")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a deleted file is found no more", func() bool { return !has(t, other, ".", "walrus") })

	d, err := other.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range d.Findings {
		found = found || strings.Contains(f.Text, "follows the folder")
	}
	if !found || d.Wrong != 0 {
		t.Errorf("the doctor does not see who follows, or sees what is not: %+v", d.Findings)
	}

	// A second watcher waits, and takes over.
	told2, stop2 := follow(t, other)
	defer stop2()
	eventually(t, "the second says that it waits", func() bool { return len(told2("waiting")) == 1 })
	stop()
	eventually(t, "the second takes over", func() bool { return len(told2("watching")) == 1 })
	s.write("p/c.txt", "the quagga\n")
	eventually(t, "the second follows", func() bool { return has(t, other, ".", "quagga") })
}

// A folder in a repository follows the rules above it.
func TestWatchFollowsRulesFromElsewhere(t *testing.T) {
	s := newSite(t)
	s.write("r/.git/HEAD", "ref: refs/heads/main\n")
	s.write("r/.git/info/exclude", "")
	s.write("r/docs/a.md", "the walrus\n")
	s.write("r/docs/b.md", "the okapi\n")
	a := s.in("p", true)
	s.create(a, CreateStore{Name: "docs", Kind: kb.KindFolder, Source: filepath.Join(s.root, "r", "docs")})
	told, stop := follow(t, a, "docs")
	defer stop()
	eventually(t, "it is watched", func() bool { return len(told("watching")) > 0 })
	s.write("r/.gitignore", "b.md\n")
	eventually(t, "a rule above holds", func() bool { return !has(t, a, "docs", "okapi") })
	s.write("r/.git/info/exclude", "a.md\n")
	eventually(t, "a rule of the repository holds", func() bool { return !has(t, a, "docs", "walrus") })
}

func TestWatchEndsWithItsStore(t *testing.T) {
	s := newSite(t)
	s.write("p/a.txt", "the walrus\n")
	a := s.in("p", true)
	s.create(a, CreateStore{Name: "notes", Kind: kb.KindFolder, Source: filepath.Join(s.root, "p")})
	done := make(chan error, 1)
	watching := make(chan bool, 10)
	go func() {
		done <- a.Watch(t.Context(), []string{"notes"}, false, func(e WatchEvent) { watching <- e.Kind == "watching" })
	}()
	<-watching
	if _, err := a.DeleteStore(t.Context(), "notes", false); err != nil {
		t.Fatal(err)
	}
	s.write("p/b.txt", "the okapi\n")
	if err := <-done; kb.CodeOf(err) != kb.NotFound {
		t.Errorf("watching a store that was deleted ended with %v", err)
	}
	jobs, err := a.Jobs(t.Context(), JobFilter{Active: true, All: true})
	if err != nil || len(jobs.Jobs) != 0 {
		t.Errorf("jobs of a store that is gone: %+v, %v", jobs.Jobs, err)
	}
}

func TestWatchRefusesWhatIsNoFolder(t *testing.T) {
	s := newSite(t)
	a := s.in("p", true)
	if err := a.Watch(t.Context(), []string{"nothing"}, false, nil); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("a store that is not there: %v", err)
	}
}

func TestScheduleOfAStore(t *testing.T) {
	s := newSite(t)
	s.write("p/a.txt", "the walrus\n")
	a := s.in("p", true)
	ctx := t.Context()
	s.create(a, CreateStore{Name: "notes", Kind: kb.KindFolder, Source: filepath.Join(s.root, "p")})
	row, err := a.SetSchedule(ctx, "notes", "@every 1h")
	if err != nil || row.Store != "notes" || row.Next.IsZero() || row.Note == "" {
		t.Errorf("set: %+v, %v; the note must say that nobody keeps the clock", row, err)
	}
	s.write("p/b.txt", "the okapi\n")
	c, err := a.open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id, note, err := c.scheduled(ctx, kb.StoreID(row.ID))
	if err != nil || note != "" {
		t.Fatal(id, note, err)
	}
	if _, err := a.WaitJob(ctx, id); err != nil {
		t.Fatal(err)
	}
	if !has(t, a, "notes", "okapi") {
		t.Error("a scheduled run did not bring the store up to date")
	}
	if _, _, err := c.scheduled(ctx, "nostore"); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("a store that is gone: %v", err)
	}
	if _, err := a.DeleteStore(ctx, "notes", false); err != nil {
		t.Fatal(err)
	}
	if list, err := schedulesOf(c).List(ctx); err != nil || len(list) != 0 {
		t.Errorf("the schedule of a store that was deleted: %+v, %v", list, err)
	}
	s.create(a, CreateStore{Name: "notes", Kind: kb.KindFolder, Source: filepath.Join(s.root, "p")})
	if _, err := a.SetSchedule(ctx, "notes", "@daily"); err != nil {
		t.Fatal(err)
	}
	if row, err = a.SetSchedule(ctx, "notes", "off"); err != nil || row.Cron != "off" {
		t.Errorf("off: %+v, %v", row, err)
	}
	if list, err := a.Schedules(ctx); err != nil || len(list.Schedules) != 0 {
		t.Errorf("after off: %+v, %v", list, err)
	}
	if _, err := a.SetSchedule(ctx, "notes", "every day"); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
		t.Errorf("no schedule: %v", err)
	}
}
