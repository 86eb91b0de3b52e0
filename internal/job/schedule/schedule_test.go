package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/job/schedule"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// fakeLock is held by at most one clock.
type fakeLock struct {
	mu    sync.Mutex
	owner string
}

func (l *fakeLock) take(who string) func() (schedule.Lock, error) {
	return func() (schedule.Lock, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.owner != "" {
			return nil, errors.New("held by " + l.owner)
		}
		l.owner = who
		return &held{l, who}, nil
	}
}

type held struct {
	l   *fakeLock
	who string
}

func (h *held) Unlock() error {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	h.l.owner = ""
	return nil
}

// world is a table and several clocks in one bubble of fake time.
type world struct {
	t     *testing.T
	table schedule.Table
	lock  fakeLock

	mu   sync.Mutex
	runs []string // "who store 15:04:05"
}

func newWorld(t *testing.T) *world {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "knowledge.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return &world{t: t, table: schedule.Table{DB: d}}
}

func (w *world) clock(who string) *schedule.Clock {
	return &schedule.Clock{Table: w.table, Take: w.lock.take(who), Start: func(_ context.Context, store kb.StoreID) (string, string, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.runs = append(w.runs, fmt.Sprintf("%s %s %s", who, store, time.Now().Format("15:04")))
		return "job1", "", nil
	}}
}

func (w *world) start(who string) (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.clock(who).Run(ctx) }()
	return func() { cancel(); <-done }
}

func (w *world) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.runs
	w.runs = nil
	return out
}

func (w *world) set(store kb.StoreID, expr string) {
	w.t.Helper()
	if err := w.table.Set(w.t.Context(), store, expr, "", time.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// The bubble's clock begins at midnight UTC of 2000-01-01.

func TestOneRunPerTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set("s", "CRON_TZ=UTC 0 * * * *")
		var stops []func()
		for i := range 3 {
			stops = append(stops, w.start(fmt.Sprintf("p%d", i)))
		}
		time.Sleep(5*time.Hour + time.Minute)
		runs := w.taken()
		for _, stop := range stops {
			stop()
		}
		if len(runs) != 5 {
			t.Fatalf("five hours made %d runs: %v", len(runs), runs)
		}
		for _, r := range runs[1:] {
			if r[:2] != runs[0][:2] {
				t.Errorf("the clock changed hands without need: %v", runs)
			}
		}
	})
}

// Two processes that both believe that they own the clock still make one run.
func TestOneRunWithoutLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set("s", "@every 10m")
		var stops []func()
		for i := range 3 {
			w.lock.owner = "" // whoever asks gets it
			stops = append(stops, w.start(fmt.Sprintf("p%d", i)))
			synctest.Wait()
		}
		time.Sleep(61 * time.Minute)
		runs := w.taken()
		for _, stop := range stops {
			stop()
		}
		if len(runs) != 6 {
			t.Errorf("an hour made %d runs: %v", len(runs), runs)
		}
	})
}

func TestMissedTicksMakeOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set("s", "CRON_TZ=UTC 0 * * * *")
		time.Sleep(5*time.Hour + 30*time.Minute) // no process keeps the clock
		stop := w.start("late")
		time.Sleep(time.Second)
		if runs := w.taken(); len(runs) != 1 {
			t.Errorf("five missed ticks made %v", runs)
		}
		time.Sleep(31 * time.Minute)
		if runs := w.taken(); len(runs) != 1 || runs[0] != "late s 06:00" {
			t.Errorf("the next tick made %v", runs)
		}
		stop()
	})
}

func TestAnotherTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set("s", "CRON_TZ=UTC * * * * *")
		stopA := w.start("a")
		time.Sleep(time.Second)
		stopB := w.start("b")
		time.Sleep(90 * time.Second)
		stopA()
		time.Sleep(2 * time.Minute)
		stopB()
		seen := map[string]int{}
		for _, r := range w.taken() {
			seen[r[:1]]++
		}
		if seen["a"] != 1 || seen["b"] != 2 {
			t.Errorf("runs by owner: %v, want a 1, b 2", seen)
		}
	})
}

// A clock that is put back by hours does not stop the schedules for as long.
func TestClockPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if err := w.table.Set(t.Context(), "s", "@every 10m", "", time.Now().Add(6*time.Hour)); err != nil {
			t.Fatal(err)
		}
		stop := w.start("a")
		time.Sleep(25 * time.Minute)
		stop()
		if runs := w.taken(); len(runs) != 2 {
			t.Errorf("25 minutes made %v", runs)
		}
	})
}

func TestOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, s := range []kb.StoreID{"busy", "gone", "broken"} {
			w.set(s, "@every 5m")
		}
		c := w.clock("a")
		c.Start = func(_ context.Context, store kb.StoreID) (string, string, error) {
			switch store {
			case "busy":
				return "", "job x was at it already", nil
			case "gone":
				return "", "", kb.Errorf(kb.NotFound, "no store")
			}
			return "", "", kb.Errorf(kb.Full, "the disk is full")
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = c.Run(ctx) }()
		time.Sleep(6 * time.Minute)
		cancel()
		<-done
		list, err := w.table.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[kb.StoreID]string{}
		for _, e := range list {
			got[e.Store] = e.Note
		}
		if len(got) != 2 || got["busy"] != "job x was at it already" || got["broken"] != "the disk is full" {
			t.Errorf("notes: %v", got)
		}
	})
}

func TestSetAgainKeepsItsTime(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	set := func(expr string, at time.Time) {
		t.Helper()
		if err := w.table.Set(t.Context(), "s", expr, "", at); err != nil {
			t.Fatal(err)
		}
	}
	since := func() int64 {
		list, err := w.table.List(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0].Since.Unix()
	}
	set("@daily", now)
	set("@daily", now.Add(time.Hour))
	if since() != now.Unix() {
		t.Error("the same schedule again begins anew: a sync each hour would put off a daily run for ever")
	}
	set("@weekly", now.Add(time.Hour))
	if since() != now.Add(time.Hour).Unix() {
		t.Error("another schedule counts from when it was set")
	}
}

func TestCheck(t *testing.T) {
	for _, ok := range []string{"0 3 * * *", "@daily", "@every 6h", "CRON_TZ=Europe/Madrid 30 2 * * 1-5", "*/5 * * * *"} {
		if err := schedule.Check(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "daily", "99 * * * *", "0 3 * *", "@every 1s", "@every banana", "0 0 30 2 *", "* * * * * *", "CRON_TZ=Nowhere/Place 0 0 * * *"} {
		if err := schedule.Check(bad); kb.CodeOf(err) != kb.Invalid || kb.HintOf(err) == "" {
			t.Errorf("%q: %v, want kb.Invalid with a hint", bad, err)
		}
	}
}
