// Package job runs work in the background that survives the process that
// started it. It owns the table jobs.
//
// The process that runs a job holds the operating system's lock DIR/ID.lock during
// the run, and nothing else shows which process runs what: a job that has not
// ended and whose lock is free has no process, whatever its row says, and the next
// process that looks (Resume, Wait) runs it again from the start. So a process may
// die at any moment.
//
// A run also holds DIR/store-ID.lock, as a store has one writer, and one of
// the slots DIR/slot-CLASS-N.lock, so that all processes of a machine together
// run at most Config.Slots jobs of a class. It takes them in this order: job,
// store, slot; a run that waits for a later one holds no slot.
//
// The Runner decides where a job runs: in a goroutine of the process that submits
// it, or in a process of its own that calls Work.
package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Class determines the slots that a job runs in.
type Class string

// The classes; each has its own slots, two unless Config says otherwise.
const (
	Local   Class = "local"
	Network Class = "network"
	// Linking joins documents after indexing, which does not wait for it.
	Linking Class = "link"
	// Watched follows the edits of a folder: it is short, and does not wait for the
	// first index of another store.
	Watched Class = "watch"
)

// Handler does the work of one type of job. It returns soon after ctx is
// done; it reports through kb.Report. message describes the result. A handler
// may be run again from the start at any time: after an interruption (see
// Interrupted), and once more when a request came during the run.
type Handler func(ctx context.Context, job kb.Job, args json.RawMessage) (message string, details map[string]any, err error)

// Request asks for a job.
type Request struct {
	Type  string
	Store kb.StoreID // "" for a job on no store
	Class Class      // "" means Local
	Args  any        // marshals to a JSON object, or nil
	Needs []string   // environment variables without which no process resumes the job
}

// Config is what a Manager works with.
type Config struct {
	DB       *db.DB
	Dir      string // folder of the lock files: DATA/jobs
	Handlers map[string]Handler
	Runner   func(*Manager) Runner // nil: goroutines of this process
	Now      func() time.Time      // nil: time.Now
	Env      func(string) string   // nil: os.Getenv
	Slots    int                   // per class, of all processes together; 0: 2
}

// Runner decides where jobs run.
type Runner interface {
	// Start has a job run that no process runs, and returns at once. It does
	// nothing about one that is run.
	Start(ctx context.Context, job kb.Job) error
	// Close waits for the runs in this process, whose contexts are done, until
	// ctx ends.
	Close(ctx context.Context) error
}

const (
	// keep is how many ended jobs stay in the table.
	keep = 200
	// tick is how often a run writes its progress and checks for cancellation, and
	// how often a waiter checks the job.
	tick = 250 * time.Millisecond
)

// Why the context of a run is done.
var (
	errCancelled   = kb.Errorf(kb.Canceled, "cancelled on request")
	errInterrupted = kb.Errorf(kb.Canceled, "interrupted, because its process ended").
			WithHint("it goes on when the next command looks at jobs")
)

// Interrupted reports whether a run's context is done because its process
// ends, so that the job will be run again; false when it was cancelled.
func Interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errCancelled)
}

// Manager submits, runs and shows jobs. It is safe for concurrent use.
type Manager struct {
	cfg    Config
	runner Runner
	base   context.Context // of the runs in this process
	stop   context.CancelCauseFunc
	turns  map[Class]chan struct{} // of this process, to ask for a slot

	mu      sync.Mutex
	here    map[string]context.CancelCauseFunc // runs in this process
	broken  map[string]error                   // runs whose end could not be written, and why
	changed chan struct{}                      // closed when a run here changed its job
}

// New returns a manager. It starts nothing.
func New(cfg Config) *Manager {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Env == nil {
		cfg.Env = os.Getenv
	}
	if cfg.Slots == 0 {
		cfg.Slots = 2
	}
	m := &Manager{
		cfg:     cfg,
		turns:   map[Class]chan struct{}{},
		here:    map[string]context.CancelCauseFunc{},
		broken:  map[string]error{},
		changed: make(chan struct{}),
	}
	for _, c := range []Class{Local, Network, Linking, Watched} {
		m.turns[c] = make(chan struct{}, 1)
	}
	m.base, m.stop = context.WithCancelCause(context.Background())
	if cfg.Runner == nil {
		m.runner = &local{m: m}
	} else {
		m.runner = cfg.Runner(m)
	}
	return m
}

func (m *Manager) lockPath(id string) string { return filepath.Join(m.cfg.Dir, id+".lock") }

// orphan reports whether no process runs the job.
func (m *Manager) orphan(id string) bool {
	_, held := lockfile.Held(m.lockPath(id))
	return !held
}

// Get returns one job, or kb.NotFound. One whose process died is shown as interrupted.
func (m *Manager) Get(ctx context.Context, id string) (kb.Job, error) {
	j, err := m.read(ctx, id)
	if err != nil {
		return j, err
	}
	return m.truth(ctx, j), nil
}

func (m *Manager) read(ctx context.Context, id string) (j kb.Job, err error) {
	err = m.cfg.DB.Read(ctx, func(tx *sql.Tx) error {
		j, err = get(ctx, tx, id)
		return err
	})
	return j, err
}

// truth corrects the row of a killed process's job. A run writes its end before it
// releases its lock, so the row of a job whose lock is free is read again.
func (m *Manager) truth(ctx context.Context, j kb.Job) kb.Job {
	if j.State != kb.JobRunning || !m.orphan(j.ID) {
		return j
	}
	if now, err := m.read(ctx, j.ID); err == nil {
		j = now
	}
	if j.State != kb.JobRunning {
		return j
	}
	j.State = kb.JobInterrupted
	if err := m.left(j.ID); err != nil {
		o := outcomeOf(err, nil, "")
		j.State, j.Code, j.Message, j.Hint = kb.JobFailed, o.code, o.message, o.hint
	}
	return j
}

// leave notes why the end of a job's run could not be written; nil takes it back.
func (m *Manager) leave(id string, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if delete(m.broken, id); why != nil {
		m.broken[id] = why
	}
}

// left returns why the end of a job's run could not be written.
func (m *Manager) left(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.broken[id]
}

// probe returns the error of writing the job's row, which changes nothing.
func (m *Manager) probe(ctx context.Context, id string) error {
	return m.cfg.DB.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE jobs SET updated = updated WHERE id = ?", id)
		return err
	})
}

// List returns jobs, newest first: of one state unless state is "", only those
// not ended when active.
func (m *Manager) List(ctx context.Context, state kb.JobState, active bool) ([]kb.Job, error) {
	where := "1"
	if active || state != "" && !state.Ended() {
		where = "state IN ('queued', 'running', 'interrupted')"
	} else if state != "" {
		where = "state = ?1"
	}
	jobs, err := m.query(ctx, where, state)
	if err != nil {
		return nil, err
	}
	out := jobs[:0]
	for _, j := range jobs {
		j = m.truth(ctx, j)
		if (state == "" || j.State == state) && !(active && j.State.Ended()) {
			out = append(out, j)
		}
	}
	return out, nil
}

// Active returns the job of the store that has not ended, the newest if there
// are several.
func (m *Manager) Active(ctx context.Context, store kb.StoreID) (kb.Job, bool, error) {
	jobs, err := m.query(ctx, "store = ?1 AND state IN ('queued', 'running', 'interrupted')", store)
	if err != nil || len(jobs) == 0 {
		return kb.Job{}, false, err
	}
	return m.truth(ctx, jobs[0]), true, nil
}

// Newest returns the job of a type and store that was submitted last, if any is kept.
func (m *Manager) Newest(ctx context.Context, kind string, store kb.StoreID) (kb.Job, bool, error) {
	jobs, err := m.query(ctx, "store = ?1 AND type = ?2", store, kind)
	if err != nil || len(jobs) == 0 {
		return kb.Job{}, false, err
	}
	return m.truth(ctx, jobs[0]), true, nil
}

// Failures returns how many jobs of a type and store have failed since the last
// one that completed, as far as they are kept, and the newest of them; 0 while
// one has not ended.
func (m *Manager) Failures(ctx context.Context, kind string, store kb.StoreID) (n int, newest kb.Job, err error) {
	jobs, err := m.query(ctx, "store = ?1 AND type = ?2", store, kind)
	for _, j := range jobs {
		switch j.State {
		case kb.JobFailed:
			if n++; n == 1 {
				newest = j
			}
		case kb.JobCancelled: // says nothing of whether it would have failed
		case kb.JobCompleted:
			return n, newest, err
		default:
			return 0, kb.Job{}, err
		}
	}
	return n, newest, err
}

// Args returns the arguments of a job, or kb.NotFound.
func (m *Manager) Args(ctx context.Context, id string) (args json.RawMessage, err error) {
	err = m.cfg.DB.Read(ctx, func(tx *sql.Tx) error {
		if _, err := get(ctx, tx, id); err != nil {
			return err
		}
		var have string
		err := tx.QueryRowContext(ctx, "SELECT args FROM jobs WHERE id = ?", id).Scan(&have)
		args = json.RawMessage(have)
		return err
	})
	return args, err
}

// Cancel asks a job to stop, wherever it runs, and returns it: cancelled, or still
// running for up to a second. kb.Invalid when it has ended otherwise already.
func (m *Manager) Cancel(ctx context.Context, id string) (j kb.Job, err error) {
	err = m.cfg.DB.Write(ctx, func(tx *sql.Tx) error {
		if j, err = get(ctx, tx, id); err != nil || j.State == kb.JobCancelled {
			return err
		}
		if j.State.Ended() {
			return kb.Errorf(kb.Invalid, "job %q has %s already", id, j.State).
				WithHint("look at it with: job:status %s", id)
		}
		// Its process notices the flag. A job without one, or not begun, ends here.
		_, err := tx.ExecContext(ctx, "UPDATE jobs SET cancel = 1, updated = ? WHERE id = ?", m.cfg.Now().UnixMicro(), id)
		if err == nil && (j.State != kb.JobRunning || m.orphan(id)) {
			err = m.end(ctx, tx, id, kb.JobCancelled, outcome{message: errCancelled.Message})
		}
		if err == nil {
			j, err = get(ctx, tx, id)
		}
		return err
	})
	if err != nil {
		return kb.Job{}, err
	}
	m.mu.Lock()
	stop := m.here[id]
	m.mu.Unlock()
	if stop != nil {
		stop(errCancelled)
	}
	m.announce()
	return j, nil
}

// Close stops what runs in this process and waits for it until ctx ends;
// those jobs become interrupted and are resumed by the next process that looks.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.stop(errInterrupted)
	m.mu.Unlock()
	return m.runner.Close(ctx)
}

// Waiting returns the stores with a job that has not ended by its row, whether or
// not a process runs it.
func Waiting(ctx context.Context, d *db.DB) (map[kb.StoreID]bool, error) {
	ids, err := db.Values[kb.StoreID](ctx, d, `SELECT DISTINCT store FROM jobs
		WHERE type = 'index' AND state IN ('queued', 'running', 'interrupted')`)
	stores := map[kb.StoreID]bool{}
	for _, id := range ids {
		stores[id] = true
	}
	return stores, err
}
