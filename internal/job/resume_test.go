package job

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const helperEnv = "JOB_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(workerEnv); dir != "" {
		worker(dir)
	}
	if dir := os.Getenv(helperEnv); dir != "" {
		helper(dir)
	}
	goleak.VerifyTestMain(m)
}

// helper is a process that submits a job, says its id once it runs, and works
// on it until it is killed.
func helper(dir string) {
	d, err := db.Open(context.Background(), filepath.Join(dir, "knowledge.db"))
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	running := make(chan string, 1)
	m := New(Config{DB: d, Dir: filepath.Join(dir, "jobs"), Handlers: map[string]Handler{
		"index": func(ctx context.Context, j kb.Job, _ json.RawMessage) (string, map[string]any, error) {
			running <- j.ID
			<-ctx.Done()
			return "", nil, ctx.Err()
		},
	}})
	if _, err := m.Submit(context.Background(), Request{Type: "index", Store: "s", Args: map[string]any{"force": true}}); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(<-running)
	time.Sleep(time.Hour)
}

func TestCloseInterruptsAndTheNextProcessResumes(t *testing.T) {
	g := newGate()
	w := world{t.TempDir()}
	var interrupted atomic.Bool
	m := w.manager(t, map[string]Handler{"index": func(ctx context.Context, j kb.Job, a json.RawMessage) (string, map[string]any, error) {
		msg, d, err := g.handle(ctx, j, a)
		interrupted.Store(Interrupted(ctx))
		return msg, d, err
	}}, func(c *Config) { c.Slots = 1 })
	running := submit(t, m, Request{Type: "index", Store: "s", Args: map[string]int{"n": 7}})
	<-g.entered
	queued := submit(t, m, Request{Type: "index", Store: "s2"})
	closeNow(t, m)
	if !interrupted.Load() {
		t.Error("the handler was not told why")
	}
	if _, err := m.Submit(t.Context(), Request{Type: "index", Store: "s3"}); kb.CodeOf(err) != kb.Canceled {
		t.Errorf("a closed manager: %v", err)
	}
	next := w.manager(t, map[string]Handler{"index": g.handle})
	for id, want := range map[string]kb.JobState{running.ID: kb.JobInterrupted, queued.ID: kb.JobQueued} {
		if j, err := next.Get(t.Context(), id); err != nil || j.State != want {
			t.Errorf("got %+v, %v", j, err)
		}
	}
	resumed, err := next.Resume(t.Context())
	if err != nil || len(resumed) != 2 || resumed[0].ID != running.ID {
		t.Errorf("resumed %+v, %v", resumed, err)
	}
	if again, err := next.Resume(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("resumed twice: %+v, %v", again, err)
	}
	for range 2 {
		g.leave <- struct{}{}
	}
	for _, j := range resumed {
		if j := wait(t, next, j.ID); j.State != kb.JobCompleted || j.Hint != "" {
			t.Errorf("got %+v", j)
		}
	}
}

func TestAKilledProcessLosesNoJob(t *testing.T) {
	w := world{t.TempDir()}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+w.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	id := strings.TrimSpace(line)

	g := newGate()
	m := w.manager(t, map[string]Handler{"index": g.handle})
	if j, err := m.Get(t.Context(), id); err != nil || j.State != kb.JobRunning {
		t.Fatalf("%s: %+v, %v", line, j, err)
	}
	if _, err := m.Work(t.Context(), id); kb.CodeOf(err) != kb.Busy {
		t.Errorf("took a job that runs: %v", err)
	}
	again := submit(t, m, Request{Type: "index", Store: "s"})
	if again.ID != id {
		t.Errorf("got %+v", again)
	}
	cmd.Process.Kill()
	cmd.Wait()
	j, err := m.Get(t.Context(), id)
	if err != nil || j.State != kb.JobInterrupted {
		t.Errorf("dead: %+v, %v", j, err)
	}
	if list, err := m.List(t.Context(), kb.JobInterrupted, false); err != nil || len(list) != 1 {
		t.Errorf("list: %+v, %v", list, err)
	}
	if list, err := m.List(t.Context(), kb.JobRunning, false); err != nil || len(list) != 0 {
		t.Errorf("list: %+v, %v", list, err)
	}
	if j, ok, err := m.Active(t.Context(), "s"); !ok || err != nil || j.ID != id {
		t.Errorf("active: %+v, %v", j, err)
	}
	g.leave <- struct{}{}
	if j := wait(t, m, id); j.State != kb.JobCompleted { // Wait resumes it
		t.Errorf("got %+v", j)
	}
	if args := <-g.entered; args != `{"force":true}` {
		t.Errorf("resumed with %s", args)
	}
	var runs, deaths int
	if err := m.cfg.DB.Read(t.Context(), func(tx *sql.Tx) error {
		return tx.QueryRow("SELECT runs, deaths FROM jobs WHERE id = ?", id).Scan(&runs, &deaths)
	}); err != nil || runs != 2 || deaths != 1 {
		t.Errorf("%d runs, %d deaths, %v", runs, deaths, err)
	}
}

func TestADeadProcessesJobIsCancelledAtOnce(t *testing.T) {
	w := world{t.TempDir()}
	m := w.manager(t, map[string]Handler{"index": nil})
	if err := m.cfg.DB.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO jobs (id, type, class, state, pid, created, updated) VALUES ('deadbeef', 'index', 'local', 'running', 1, 0, 0)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if j, err := m.Cancel(t.Context(), "deadbeef"); err != nil || j.State != kb.JobCancelled {
		t.Errorf("got %+v, %v", j, err)
	}
}

func TestOnlyAProcessWithTheEnvironmentResumes(t *testing.T) {
	g := newGate()
	w := world{t.TempDir()}
	handlers := map[string]Handler{"index": g.handle}
	m := w.manager(t, handlers)
	j := submit(t, m, Request{Type: "index", Needs: []string{"API_KEY"}})
	<-g.entered
	closeNow(t, m)
	without := w.manager(t, handlers)
	if got, err := without.Resume(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("resumed %+v, %v", got, err)
	}
	if _, err := without.Wait(t.Context(), j.ID, nil); kb.CodeOf(err) != kb.Unsupported || kb.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
	with := w.manager(t, handlers, func(c *Config) { c.Env = func(string) string { return "x" } })
	if got, err := with.Resume(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("resumed %+v, %v", got, err)
	}
	g.leave <- struct{}{}
	wait(t, without, j.ID)
}

func TestWorkRunsAJobOfAnotherProcess(t *testing.T) {
	w := world{t.TempDir()}
	var started []string
	spawn := func(*Manager) Runner { return spawner{&started} }
	front := w.manager(t, map[string]Handler{"index": func(context.Context, kb.Job, json.RawMessage) (string, map[string]any, error) {
		t.Error("ran in the submitting process")
		return "", nil, nil
	}}, func(c *Config) { c.Runner = spawn })
	worker := w.manager(t, map[string]Handler{"index": func(context.Context, kb.Job, json.RawMessage) (string, map[string]any, error) {
		return "worked", nil, nil
	}})
	j := submit(t, front, Request{Type: "index", Store: "s"})
	if diff := cmp.Diff([]string{j.ID}, started); diff != "" {
		t.Error(diff)
	}
	got, err := worker.Work(t.Context(), j.ID)
	if err != nil || got.State != kb.JobCompleted || got.Message != "worked" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := front.Get(t.Context(), j.ID); err != nil || got.State != kb.JobCompleted {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := worker.Work(t.Context(), j.ID); err != nil || got.State != kb.JobCompleted {
		t.Errorf("again: %+v, %v", got, err)
	}
}

type spawner struct{ ids *[]string }

func (s spawner) Start(_ context.Context, j kb.Job) error {
	*s.ids = append(*s.ids, j.ID)
	return nil
}
func (s spawner) Close(context.Context) error { return nil }
