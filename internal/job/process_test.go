package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const workerEnv = "JOB_TEST_WORKER"

// worker is a worker process: it drains the queue of the data directory dir.
func worker(dir string) {
	d, err := db.Open(context.Background(), filepath.Join(dir, "knowledge.db"))
	if err == nil {
		m := New(Config{DB: d, Dir: filepath.Join(dir, "jobs"), Handlers: map[string]Handler{"index": tellPid(dir)}})
		err = m.Drain(context.Background(), os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// tellPid says which process runs it. The first run of a job on the store
// "hang" never ends.
func tellPid(dir string) Handler {
	return func(ctx context.Context, j kb.Job, _ json.RawMessage) (string, map[string]any, error) {
		if j.Store == "hang" {
			mark := filepath.Join(dir, "hanging")
			if _, err := os.Stat(mark); err != nil {
				if err := os.WriteFile(mark, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
					return "", nil, err
				}
				<-ctx.Done()
				return "", nil, ctx.Err()
			}
		}
		return strconv.Itoa(os.Getpid()), nil, nil
	}
}

func workers(t *testing.T) (world, *Manager) {
	t.Helper()
	w := world{t.TempDir()}
	t.Setenv(workerEnv, w.dir)
	m := w.manager(t, map[string]Handler{}, func(c *Config) {
		c.Handlers = map[string]Handler{"index": tellPid(w.dir)}
		c.Runner = Processes([]string{os.Args[0]}, filepath.Join(w.dir, "worker.log"))
	})
	t.Cleanup(func() { // a worker that ends still writes in the folder
		p := m.runner.(*processes)
		for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			p.mu.Lock()
			n := len(p.alive)
			p.mu.Unlock()
			if n == 0 {
				return
			}
		}
		t.Error("a worker does not end")
	})
	return w, m
}

func TestProcessesRunEveryJobElsewhere(t *testing.T) {
	_, m := workers(t)
	var ids []string
	for i := range 7 {
		ids = append(ids, submit(t, m, Request{Type: "index", Store: kb.StoreID(fmt.Sprint("s", i))}).ID)
	}
	for _, id := range ids {
		j := wait(t, m, id)
		if j.State != kb.JobCompleted || j.Message == strconv.Itoa(os.Getpid()) {
			t.Errorf("got %+v", j)
		}
	}
}

func TestAKilledWorkerIsReplaced(t *testing.T) {
	w, m := workers(t)
	j := submit(t, m, Request{Type: "index", Store: "hang"})
	var pid int
	for pid == 0 {
		time.Sleep(5 * time.Millisecond)
		b, _ := os.ReadFile(filepath.Join(w.dir, "hanging"))
		pid, _ = strconv.Atoi(string(b))
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if j := wait(t, m, j.ID); j.State != kb.JobCompleted || j.Message == strconv.Itoa(pid) {
		t.Errorf("got %+v", j)
	}
}

func TestAProgramThatCannotRunJobsIsNamed(t *testing.T) {
	w := world{t.TempDir()}
	t.Setenv(workerEnv, filepath.Join(w.dir, "elsewhere")) // the job is not there
	m := w.manager(t, map[string]Handler{"index": tellPid(w.dir)}, func(c *Config) {
		c.Runner = Processes([]string{os.Args[0], "--no-such-flag"}, filepath.Join(w.dir, "worker.log"))
	})
	j := submit(t, m, Request{Type: "index", Store: "s"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := m.Wait(ctx, j.ID, nil)
	if kb.CodeOf(err) != kb.Internal || !strings.Contains(kb.HintOf(err), "worker.log") {
		t.Errorf("got %v (%s)", err, kb.HintOf(err))
	}
}

// TestWorkersFindNoSpace lets every worker end before its job begins, on a disk
// that is full: the reason is the disk, and the job is run once there is space.
func TestWorkersFindNoSpace(t *testing.T) {
	w, m := workers(t)
	t.Setenv(workerEnv, filepath.Join(w.dir, "elsewhere")) // no worker can open the database
	restore := atomicfile.Inject(func(op atomicfile.Op, path string) error {
		if op == atomicfile.OpWrite && filepath.Base(path) == "room" {
			return syscall.ENOSPC
		}
		return nil
	})
	defer restore()
	j := submit(t, m, Request{Type: "index", Store: "s"})
	for range 2 {
		if _, err := m.Wait(t.Context(), j.ID, nil); kb.CodeOf(err) != kb.Full {
			t.Errorf("got %v (%s)", err, kb.CodeOf(err))
		}
	}
	restore()
	t.Setenv(workerEnv, w.dir)
	if _, err := m.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if j := wait(t, m, j.ID); j.State != kb.JobCompleted {
		t.Errorf("got %+v", j)
	}
}

// TestTheEndOfAJobCannotBeWritten lets no row of a running job change, as on a
// disk that is full: the job is shown as failed, is not run again and again, and
// is run once its row can be written.
func TestTheEndOfAJobCannotBeWritten(t *testing.T) {
	w, m := workers(t)
	d, err := db.Open(t.Context(), filepath.Join(w.dir, "knowledge.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	change := func(statement string) {
		t.Helper()
		err := d.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), statement)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change("CREATE TRIGGER stuck BEFORE UPDATE ON jobs WHEN OLD.state = 'running' BEGIN SELECT RAISE(ABORT, 'stuck'); END")
	id := submit(t, m, Request{Type: "index", Store: "s"}).ID
	poll := func(state kb.JobState) (j kb.Job) {
		t.Helper()
		for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			if _, err := m.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			if j, err = m.Get(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if j.State == state {
				return j
			}
		}
		t.Fatalf("got %+v", j)
		return j
	}
	if j := poll(kb.JobFailed); j.Message == "" || j.Code == "" {
		t.Errorf("got %+v", j)
	}
	change("DROP TRIGGER stuck")
	if j := poll(kb.JobCompleted); j.Deaths == 0 {
		t.Errorf("got %+v", j)
	}
}
