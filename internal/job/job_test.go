package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// world is one data directory; every manager of it stands for a process.
type world struct{ dir string }

func (w world) manager(t *testing.T, handlers map[string]Handler, change ...func(*Config)) *Manager {
	t.Helper()
	d, err := db.Open(t.Context(), filepath.Join(w.dir, "knowledge.db"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{DB: d, Dir: filepath.Join(w.dir, "jobs"), Handlers: handlers, Env: func(string) string { return "" }}
	for _, f := range change {
		f(&cfg)
	}
	m := New(cfg)
	t.Cleanup(func() {
		closeNow(t, m)
		d.Close()
	})
	return m
}

func closeNow(t *testing.T, m *Manager) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		t.Error(err)
	}
}

func submit(t *testing.T, m *Manager, r Request) kb.Job {
	t.Helper()
	j, err := m.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func wait(t *testing.T, m *Manager, id string) kb.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	j, err := m.Wait(ctx, id, nil)
	if err != nil {
		t.Fatalf("job %s in state %s: %v", id, j.State, err)
	}
	return j
}

// until waits for a condition that other goroutines bring about.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 800 {
		if f() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// gate is a handler that runs until it is let go.
type gate struct {
	entered chan string
	leave   chan struct{}
}

func newGate() gate { return gate{make(chan string, 100), make(chan struct{}, 100)} }

func (g gate) handle(ctx context.Context, j kb.Job, args json.RawMessage) (string, map[string]any, error) {
	g.entered <- string(args)
	select {
	case <-ctx.Done():
		return "", nil, ctx.Err()
	case <-g.leave:
		return "done", nil, nil
	}
}

func TestAJobRunsAndSaysWhatItDid(t *testing.T) {
	m := world{t.TempDir()}.manager(t, map[string]Handler{
		"index": func(ctx context.Context, j kb.Job, args json.RawMessage) (string, map[string]any, error) {
			if j.State != kb.JobRunning || j.Store != "s1" || string(args) != `{"force":true}` {
				t.Errorf("got %+v with %s", j, args)
			}
			kb.Report(ctx, kb.Progress{Phase: "write", Done: 3, Total: 4})
			return "indexed 3 documents", map[string]any{"documents": 3.0}, nil
		},
	})
	j := submit(t, m, Request{Type: "index", Store: "s1", Args: map[string]bool{"force": true}})
	if len(j.ID) != 8 || j.State.Ended() {
		t.Errorf("submitted %+v", j)
	}
	j = wait(t, m, j.ID)
	want := kb.Job{ID: j.ID, Type: "index", Store: "s1", State: kb.JobCompleted, Message: "indexed 3 documents",
		Progress: kb.Progress{Phase: "write", Done: 4, Total: 4, Percent: 100}, Details: map[string]any{"documents": 3.0},
		Created: j.Created, Updated: j.Updated}
	if diff := cmp.Diff(want, j); diff != "" {
		t.Error(diff)
	}
	until(t, "the lock files go", func() bool {
		left, _ := os.ReadDir(filepath.Join(m.cfg.Dir))
		return len(left) == 0
	})
	if _, err := m.Get(t.Context(), "nosuchid"); kb.CodeOf(err) != kb.NotFound || kb.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
	if _, err := m.Submit(t.Context(), Request{Type: "other"}); err == nil {
		t.Error("took a job that nothing handles")
	}
	if _, err := m.Submit(t.Context(), Request{Type: "index", Args: 7}); err == nil {
		t.Error("took arguments that are no object")
	}
}

func TestFailuresKeepCauseAndHint(t *testing.T) {
	m := world{t.TempDir()}.manager(t, map[string]Handler{
		"fail": func(context.Context, kb.Job, json.RawMessage) (string, map[string]any, error) {
			return "", nil, fmt.Errorf("cannot embed: %w", kb.Errorf(kb.Away, "provider says 429").WithHint("wait a minute"))
		},
		"panic": func(context.Context, kb.Job, json.RawMessage) (string, map[string]any, error) {
			panic("something impossible")
		},
	})
	j := submit(t, m, Request{Type: "fail"})
	if j = wait(t, m, j.ID); j.State != kb.JobFailed || j.Message != "cannot embed: provider says 429" || j.Hint != "wait a minute" {
		t.Errorf("got %+v", j)
	}
	j = submit(t, m, Request{Type: "panic"})
	if j = wait(t, m, j.ID); j.State != kb.JobFailed || !strings.Contains(j.Message, "defect") || j.Hint == "" ||
		!strings.Contains(fmt.Sprint(j.Details["at"]), "job_test.go") || strings.Contains(j.Message, "goroutine") {
		t.Errorf("got %+v", j)
	}
	var code kb.Code
	if err := m.cfg.DB.Read(t.Context(), func(tx *sql.Tx) error {
		return tx.QueryRow("SELECT code FROM jobs WHERE id = ?", j.ID).Scan(&code)
	}); err != nil || code != kb.Internal {
		t.Errorf("code %q, %v", code, err)
	}
}

func TestARequestDuringTheRunMakesOneMorePass(t *testing.T) {
	g := newGate()
	w := world{t.TempDir()}
	m := w.manager(t, map[string]Handler{"index": g.handle})
	other := w.manager(t, map[string]Handler{"index": g.handle})
	j := submit(t, m, Request{Type: "index", Store: "s"})
	if args := <-g.entered; args != "{}" {
		t.Errorf("first pass with %s", args)
	}
	for _, by := range []*Manager{m, other, m} { // three requests, one pass; true stays true
		again := submit(t, by, Request{Type: "index", Store: "s", Args: map[string]any{"force": by == other, "n": 1}})
		if again.ID != j.ID || again.State != kb.JobRunning {
			t.Errorf("got %+v instead of job %s", again, j.ID)
		}
	}
	if different := submit(t, m, Request{Type: "index", Store: "s2"}); different.ID == j.ID {
		t.Error("another store got the same job")
	}
	if args := <-g.entered; args != "{}" {
		t.Errorf("other store with %s", args)
	}
	g.leave <- struct{}{}
	g.leave <- struct{}{}
	if args := <-g.entered; args != `{"force":true,"n":1}` {
		t.Errorf("second pass with %s", args)
	}
	g.leave <- struct{}{}
	if j := wait(t, other, j.ID); j.State != kb.JobCompleted {
		t.Errorf("got %+v", j)
	}
	select {
	case <-g.entered:
		t.Error("a third pass")
	default:
	}
	if next := submit(t, m, Request{Type: "index", Store: "s"}); next.ID == j.ID {
		t.Error("an ended job came back")
	}
}

func TestSlotsAreSharedByAllProcesses(t *testing.T) {
	w := world{t.TempDir()}
	var running, most, done atomic.Int32
	busy := func(ctx context.Context, j kb.Job, _ json.RawMessage) (string, map[string]any, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(20 * time.Millisecond)
		done.Add(1)
		return "", nil, nil
	}
	g := newGate()
	handlers := map[string]Handler{"local": busy, "net": g.handle}
	ms := []*Manager{w.manager(t, handlers), w.manager(t, handlers)}
	for range 2 { // full network slots do not hold local jobs up
		submit(t, ms[0], Request{Type: "net", Class: Network})
		<-g.entered
	}
	third := submit(t, ms[1], Request{Type: "net", Class: Network})
	var ids []string
	for i := range 8 {
		ids = append(ids, submit(t, ms[i%2], Request{Type: "local"}).ID)
	}
	for i, id := range ids {
		if j := wait(t, ms[(i+1)%2], id); j.State != kb.JobCompleted {
			t.Errorf("got %+v", j)
		}
	}
	if most.Load() > 2 || done.Load() != 8 {
		t.Errorf("%d at once, %d done", most.Load(), done.Load())
	}
	if j, err := ms[0].Get(t.Context(), third.ID); err != nil || j.State != kb.JobQueued {
		t.Errorf("the third network job: %+v, %v", j, err)
	}
	for range 3 {
		g.leave <- struct{}{}
	}
	wait(t, ms[0], third.ID)
}

func TestAStoreHasOneWriter(t *testing.T) {
	w := world{t.TempDir()}
	var inside atomic.Int32
	alone := func(context.Context, kb.Job, json.RawMessage) (string, map[string]any, error) {
		if inside.Add(1) != 1 {
			t.Error("two at once")
		}
		time.Sleep(5 * time.Millisecond)
		inside.Add(-1)
		return "", nil, nil
	}
	handlers := map[string]Handler{"a": alone, "b": alone, "c": alone}
	ms := []*Manager{w.manager(t, handlers), w.manager(t, handlers)}
	var wg sync.WaitGroup
	for i, typ := range []string{"a", "b", "c", "a", "b", "c"} {
		wg.Go(func() {
			m := ms[i%2]
			j, err := m.Submit(t.Context(), Request{Type: typ, Store: "s"})
			if err == nil {
				_, err = m.Wait(t.Context(), j.ID, nil)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestCancelReachesEveryProcessWithinASecond(t *testing.T) {
	g := newGate()
	w := world{t.TempDir()}
	m := w.manager(t, map[string]Handler{"index": g.handle}, func(c *Config) { c.Slots = 1 })
	other := w.manager(t, nil)
	for _, by := range []*Manager{m, other} {
		running := submit(t, m, Request{Type: "index", Store: "s"})
		<-g.entered
		waiting := submit(t, m, Request{Type: "index", Store: "s2"})
		j, err := by.Cancel(t.Context(), waiting.ID)
		if err != nil || j.State != kb.JobCancelled {
			t.Errorf("queued: %+v, %v", j, err)
		}
		start := time.Now()
		if _, err := by.Cancel(t.Context(), running.ID); err != nil {
			t.Fatal(err)
		}
		// A new request for the store is not swallowed by the job that is stopping.
		next := submit(t, m, Request{Type: "index", Store: "s"})
		if next.ID == running.ID {
			t.Error("joined a cancelled job")
		}
		if j := wait(t, by, running.ID); j.State != kb.JobCancelled || j.Message == "" {
			t.Errorf("running: %+v", j)
		}
		if took := time.Since(start); took > 20*time.Second { // it works until it is asked to leave
			t.Errorf("took %v", took)
		}
		<-g.entered
		g.leave <- struct{}{}
		if j := wait(t, by, next.ID); j.State != kb.JobCompleted {
			t.Errorf("next: %+v", j)
		}
		if _, err := by.Cancel(t.Context(), next.ID); kb.CodeOf(err) != kb.Invalid {
			t.Errorf("cancelled what was completed: %v", err)
		}
		if j, err := by.Cancel(t.Context(), running.ID); err != nil || j.State != kb.JobCancelled {
			t.Errorf("cancelled twice: %+v, %v", j, err)
		}
	}
	if len(g.entered) > 0 {
		t.Error("a cancelled job ran")
	}
}

// TestCancellingUntilItHasStopped: what was asked to stop and has not yet says
// so, wherever it is listed.
func TestCancellingUntilItHasStopped(t *testing.T) {
	g := newGate()
	m := world{t.TempDir()}.manager(t, map[string]Handler{"index": func(ctx context.Context, j kb.Job, args json.RawMessage) (string, map[string]any, error) {
		_, _, err := g.handle(ctx, j, args)
		<-g.leave // what it is at comes to its end
		return "", nil, err
	}})
	j := submit(t, m, Request{Type: "index", Store: "s"})
	<-g.entered
	if j, err := m.Get(t.Context(), j.ID); err != nil || j.Now() != "running" {
		t.Errorf("before: %s, %v", j.Now(), err)
	}
	if _, err := m.Cancel(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	list, err := m.List(t.Context(), "", true)
	if err != nil || len(list) != 1 || list[0].Now() != "cancelling" || list[0].State != kb.JobRunning {
		t.Errorf("meanwhile: %+v, %v", list, err)
	}
	g.leave <- struct{}{}
	if j := wait(t, m, j.ID); j.Now() != "cancelled" {
		t.Errorf("afterwards: %s", j.Now())
	}
}

func TestHistoryIsBounded(t *testing.T) {
	m := world{t.TempDir()}.manager(t, map[string]Handler{"x": func(context.Context, kb.Job, json.RawMessage) (string, map[string]any, error) {
		return "", nil, nil
	}})
	if err := m.cfg.DB.Write(t.Context(), func(tx *sql.Tx) error {
		for i := range keep + 50 {
			state := []kb.JobState{kb.JobCompleted, kb.JobFailed, kb.JobCancelled, kb.JobQueued}[i%4]
			if _, err := tx.Exec("INSERT INTO jobs (id, type, class, state, created, updated) VALUES (?, 'gone', 'local', ?, 0, 0)", fmt.Sprint("old", i), state); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		wait(t, m, submit(t, m, Request{Type: "x"}).ID)
	}
	all, err := m.List(t.Context(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for _, j := range all {
		if j.State.Ended() {
			ended++
		}
	}
	if ended != keep || len(all)-ended != 62 || all[0].Type != "x" {
		t.Errorf("%d ended of %d, newest %+v", ended, len(all), all[0])
	}
	active, err := m.List(t.Context(), "", true)
	if err != nil || len(active) != 62 {
		t.Errorf("%d active, %v", len(active), err)
	}
	if done, err := m.List(t.Context(), kb.JobCompleted, false); err != nil || len(done) == 0 || len(done) >= keep {
		t.Errorf("%d completed, %v", len(done), err)
	}
}

func TestProgressIsWrittenAtMostFourTimesASecond(t *testing.T) {
	w := world{t.TempDir()}
	m := w.manager(t, map[string]Handler{"x": func(ctx context.Context, _ kb.Job, _ json.RawMessage) (string, map[string]any, error) {
		for i := range int64(600) {
			kb.Report(ctx, kb.Progress{Phase: "read", Done: i + 1, Total: 600})
			time.Sleep(time.Millisecond)
		}
		return "", nil, nil
	}})
	j := submit(t, m, Request{Type: "x"})
	var seen []int64
	last, err := m.Wait(t.Context(), j.ID, func(j kb.Job) {
		if j.State == kb.JobRunning && j.Progress.Done > 0 {
			seen = append(seen, j.Progress.Done)
			if p := j.Progress; p.Rate <= 0 || (p.ETA <= 0) != (p.Done == p.Total) { // the last report may be seen too
				t.Errorf("no rate: %+v", p)
			}
		}
	})
	if err != nil || last.Progress.Done != 600 || last.Progress.Percent != 100 {
		t.Errorf("got %+v, %v", last, err)
	}
	if len(seen) < 1 || len(seen) > 20 {
		t.Errorf("saw %v", seen)
	}
}

func TestWaitSaysWhyTheEndCannotBeWritten(t *testing.T) {
	w := world{t.TempDir()}
	entered, leave := make(chan struct{}), make(chan struct{})
	m := w.manager(t, map[string]Handler{"x": func(context.Context, kb.Job, json.RawMessage) (string, map[string]any, error) {
		close(entered)
		<-leave
		return "", nil, nil
	}})
	j := submit(t, m, Request{Type: "x"})
	<-entered
	if err := m.cfg.DB.Write(t.Context(), func(tx *sql.Tx) error { // a newer version takes over
		_, err := tx.Exec("PRAGMA user_version = 1000")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	close(leave)
	if _, err := m.Wait(t.Context(), j.ID, nil); kb.CodeOf(err) != kb.Newer {
		t.Errorf("got %v", err)
	}
	if _, err := m.Wait(t.Context(), "none", nil); kb.CodeOf(err) != kb.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestMerge(t *testing.T) {
	for _, c := range [][3]string{
		{`{}`, `{}`, `{}`},
		{`{"force":true,"paths":["a"]}`, `{}`, `{"force":true}`},
		{`{"force":false}`, `{"force":true}`, `{"force":true}`},
		{`{"force":true}`, `{"force":false,"n":1}`, `{"force":true,"n":1}`},
		{``, `{"n":1}`, `{"n":1}`},
		{`{"made":{"name":"a"}}`, `{}`, `{"made":{"name":"a"}}`},
		{`{"made":{"name":"a"}}`, `{"made":{"name":"b"}}`, `{"made":{"name":"b"}}`},
	} {
		if got := merge(c[0], json.RawMessage(c[1])); got != c[2] {
			t.Errorf("merge(%s, %s) is %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	g := newGate()
	m := world{t.TempDir()}.manager(t, map[string]Handler{"x": g.handle})
	j := submit(t, m, Request{Type: "x"})
	<-g.entered
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// It ends once the job has been seen, however slow the machine is.
	if got, err := m.Wait(ctx, j.ID, func(kb.Job) { cancel() }); !errors.Is(err, context.Canceled) || got.State != kb.JobRunning {
		t.Errorf("got %+v, %v", got, err)
	}
}
