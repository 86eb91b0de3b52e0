package follow_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-4f2d999b/knowledge/internal/app"
	"github.com/seed-4f2d999b/knowledge/internal/care"
	"github.com/seed-4f2d999b/knowledge/internal/find"
	"github.com/seed-4f2d999b/knowledge/internal/follow"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
	"github.com/seed-4f2d999b/knowledge/internal/product/producttest"
	"github.com/seed-4f2d999b/knowledge/internal/search"
)

// followed runs a.Watch until stop, collecting what it tells.
func followed(t *testing.T, a *app.App, stores ...string) (told func(kind string) []follow.WatchEvent, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var events []follow.WatchEvent
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := follow.Watch(ctx, a, stores, false, func(e follow.WatchEvent) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
		})
		if ctx.Err() == nil {
			t.Errorf("watching ended by itself: %v", err)
		}
	}()
	return func(kind string) []follow.WatchEvent {
		mu.Lock()
		defer mu.Unlock()
		var out []follow.WatchEvent
		for _, e := range events {
			if e.Kind == kind {
				out = append(out, e)
			}
		}
		return out
	}, func() { cancel(); <-done }
}

// has reports whether the index, as it is, knows a word. It does not look at the folder.
func has(t *testing.T, a *app.App, store, word string) bool {
	t.Helper()
	c, st, err := a.Lookup(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Targets(t.Context(), []kb.Store{st})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	reply, err := search.Run(t.Context(), s.Targets, c.Embedder, search.Request{Query: word, Mode: "fts"})
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(reply.Hits, func(h find.Hit) bool { return strings.Contains(h.Code, word) })
}

func TestWatchFollowsTheFolder(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.txt", "the walrus\n")
	watcher, other := s.In("p", true), s.In("p", true)
	told, stop := followed(t, watcher)
	defer stop()
	producttest.Eventually(t, "the folder is indexed", func() bool { return len(told("updated")) > 0 })
	if !has(t, other, ".", "walrus") {
		t.Fatal("another process does not see what was indexed")
	}
	s.Write("p/new/b.txt", "the okapi\n")
	producttest.Eventually(t, "a new file is found by another process", func() bool { return has(t, other, ".", "okapi") })
	if err := os.Remove(filepath.Join(s.Root, "p", "a.txt")); err != nil {
		t.Fatal(err)
	}
	producttest.Eventually(t, "a deleted file is found no more", func() bool { return !has(t, other, ".", "walrus") })

	d, err := care.Doctor(t.Context(), other)
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
	told2, stop2 := followed(t, other)
	defer stop2()
	producttest.Eventually(t, "the second says that it waits", func() bool { return len(told2("waiting")) == 1 })
	stop()
	producttest.Eventually(t, "the second takes over", func() bool { return len(told2("watching")) == 1 })
	s.Write("p/c.txt", "the quagga\n")
	producttest.Eventually(t, "the second follows", func() bool { return has(t, other, ".", "quagga") })
}

// A folder in a repository follows the rules above it.
func TestWatchFollowsRulesFromElsewhere(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("r/.git/HEAD", "ref: refs/heads/main\n")
	s.Write("r/.git/info/exclude", "")
	s.Write("r/docs/a.md", "the walrus\n")
	s.Write("r/docs/b.md", "the okapi\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "docs", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "r", "docs")})
	told, stop := followed(t, a, "docs")
	defer stop()
	producttest.Eventually(t, "it is watched", func() bool { return len(told("watching")) > 0 })
	s.Write("r/.gitignore", "b.md\n")
	producttest.Eventually(t, "a rule above holds", func() bool { return !has(t, a, "docs", "okapi") })
	s.Write("r/.git/info/exclude", "a.md\n")
	producttest.Eventually(t, "a rule of the repository holds", func() bool { return !has(t, a, "docs", "walrus") })
}

func TestWatchEndsWithItsStore(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.txt", "the walrus\n")
	a := s.In("p", true)
	s.Create(a, app.CreateStore{Name: "notes", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "p")})
	done := make(chan error, 1)
	watching := make(chan bool, 10)
	go func() {
		done <- follow.Watch(t.Context(), a, []string{"notes"}, false, func(e follow.WatchEvent) { watching <- e.Kind == "watching" })
	}()
	<-watching
	if _, err := a.DeleteStore(t.Context(), "notes", false); err != nil {
		t.Fatal(err)
	}
	s.Write("p/b.txt", "the okapi\n")
	if err := <-done; kb.CodeOf(err) != kb.NotFound {
		t.Errorf("watching a store that was deleted ended with %v", err)
	}
	jobs, err := a.Jobs(t.Context(), app.JobFilter{Active: true, All: true})
	if err != nil || len(jobs.Jobs) != 0 {
		t.Errorf("jobs of a store that is gone: %+v, %v", jobs.Jobs, err)
	}
}

func TestWatchRefusesWhatIsNoFolder(t *testing.T) {
	s := producttest.NewSite(t)
	a := s.In("p", true)
	if err := follow.Watch(t.Context(), a, []string{"nothing"}, false, nil); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("a store that is not there: %v", err)
	}
}

func TestScheduleOfAStore(t *testing.T) {
	s := producttest.NewSite(t)
	s.Write("p/a.txt", "the walrus\n")
	a := s.In("p", true)
	ctx := t.Context()
	s.Create(a, app.CreateStore{Name: "notes", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "p")})
	row, err := follow.SetSchedule(ctx, a, "notes", "@every 1h")
	if err != nil || row.Store != "notes" || row.Next.IsZero() || row.Note == "" {
		t.Errorf("set: %+v, %v; the note must say that nobody keeps the clock", row, err)
	}
	s.Write("p/b.txt", "the okapi\n")
	c, err := a.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id, note, err := follow.Scheduled(ctx, c, kb.StoreID(row.ID))
	if err != nil || note != "" {
		t.Fatal(id, note, err)
	}
	if _, err := a.WaitJob(ctx, id); err != nil {
		t.Fatal(err)
	}
	if !has(t, a, "notes", "okapi") {
		t.Error("a scheduled run did not bring the store up to date")
	}
	if _, _, err := follow.Scheduled(ctx, c, "nostore"); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("a store that is gone: %v", err)
	}
	if _, err := a.DeleteStore(ctx, "notes", false); err != nil {
		t.Fatal(err)
	}
	if list, err := follow.SchedulesOf(c).List(ctx); err != nil || len(list) != 0 {
		t.Errorf("the schedule of a store that was deleted: %+v, %v", list, err)
	}
	s.Create(a, app.CreateStore{Name: "notes", Kind: kb.KindFolder, Source: filepath.Join(s.Root, "p")})
	if _, err := follow.SetSchedule(ctx, a, "notes", "@daily"); err != nil {
		t.Fatal(err)
	}
	if row, err = follow.SetSchedule(ctx, a, "notes", "off"); err != nil || row.Cron != "off" {
		t.Errorf("off: %+v, %v", row, err)
	}
	if list, err := follow.ListSchedules(ctx, a, true); err != nil || len(list.Schedules) != 0 {
		t.Errorf("after off: %+v, %v", list, err)
	}
	if _, err := follow.SetSchedule(ctx, a, "notes", "every day"); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
		t.Errorf("no schedule: %v", err)
	}
}
