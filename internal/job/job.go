// Package job runs work in the background that survives the process that
// started it. It owns the table jobs.
//
// Who runs a job holds the operating system's lock DIR/ID.lock for as long as
// the run takes, and nothing else tells who runs what: a job that has not
// ended and whose lock is free is nobody's, whatever its row says, and the
// next process that looks (Resume, Wait) runs it again from the start. So a
// process may die at any moment without anybody having to notice.
//
// A run also holds DIR/store-ID.lock, as a store has one writer, and one of
// the slots DIR/slot-CLASS-N.lock, so that all processes of a machine together
// run at most Config.Slots jobs of a class. It takes them in this order: job,
// store, slot; who waits for a later one holds no slot.
//
// Where a job runs is the Runner's affair: in a goroutine of the process that
// submits it, or in a process of its own that calls Work.
package job

import (
	"context"
	"crypto/rand"
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

// Class says which slots a job runs in.
type Class string

// The classes; each has its own slots, two unless Config says otherwise.
const (
	Local   Class = "local"
	Network Class = "network"
	// Linking is what joins documents after indexing, which waits for nothing of it.
	Linking Class = "link"
	// Watched is what follows the edits of a folder: short, and waits for no
	// first index of another store.
	Watched Class = "watch"
)

// Handler does the work of one type of job. It returns soon after ctx is
// done; it reports through kb.Report. message says what was done. A handler
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
	// Start sees to it that a job that nobody runs is run, and returns at once.
	// Starting one that somebody runs does nothing.
	Start(ctx context.Context, job kb.Job) error
	// Close waits for the runs in this process, whose contexts are done, until
	// ctx ends.
	Close(ctx context.Context) error
}

const (
	// keep is how many ended jobs stay in the table.
	keep = 200
	// tick is how often a run writes its progress and looks whether it was
	// cancelled, and how often a waiter looks.
	tick = 250 * time.Millisecond
)

// Why the context of a run is done.
var (
	errCancelled   = kb.Errorf(kb.Canceled, "cancelled on request")
	errInterrupted = kb.Errorf(kb.Canceled, "interrupted, because its process ended").WithHint("it goes on when the next command looks at jobs")
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
	turns  map[Class]chan struct{} // who of this process asks for a slot next

	mu      sync.Mutex
	here    map[string]context.CancelCauseFunc // runs in this process
	broken  map[string]error                   // runs here whose end could not be written, and why
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
		turns:   map[Class]chan struct{}{Local: make(chan struct{}, 1), Network: make(chan struct{}, 1), Linking: make(chan struct{}, 1), Watched: make(chan struct{}, 1)},
		here:    map[string]context.CancelCauseFunc{},
		broken:  map[string]error{},
		changed: make(chan struct{}),
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

// orphan reports whether nobody runs the job.
func (m *Manager) orphan(id string) bool {
	_, held := lockfile.Held(m.lockPath(id))
	return !held
}

// Submit queues a job and sees to it that it runs. One of the same type and
// store that has not ended is returned instead, and makes one more pass before
// it completes if it has begun. The arguments of the two requests become one:
// those of the newer, except that what the older one had true stays true, and
// an object that only the older one names stays.
func (m *Manager) Submit(ctx context.Context, r Request) (kb.Job, error) {
	if m.cfg.Handlers[r.Type] == nil {
		return kb.Job{}, kb.Errorf(kb.Internal, "nothing handles jobs of type %q", r.Type)
	}
	if m.base.Err() != nil {
		return kb.Job{}, context.Cause(m.base)
	}
	if r.Class == "" {
		r.Class = Local
	}
	if m.turns[r.Class] == nil {
		return kb.Job{}, kb.Errorf(kb.Internal, "there is no class of jobs %q", r.Class)
	}
	args, err := encodeArgs(r.Args)
	if err != nil {
		return kb.Job{}, err
	}
	needs, err := json.Marshal(append([]string{}, r.Needs...))
	if err != nil {
		return kb.Job{}, kb.Errorf(kb.Internal, "encode a job: %w", err)
	}
	var j kb.Job
	err = m.cfg.DB.Write(ctx, func(tx *sql.Tx) error {
		if r.Store != "" {
			old, err := m.coalesce(ctx, tx, r, args)
			if err == nil {
				j = old
				return nil
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		now := m.cfg.Now().UnixMicro()
		for {
			id := newID()
			res, err := tx.ExecContext(ctx, `INSERT INTO jobs (id, type, store, class, args, needs, state, created, updated)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
				id, r.Type, r.Store, r.Class, string(args), string(needs), kb.JobQueued, now, now)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n > 0 {
				if err == nil {
					j, err = get(ctx, tx, id)
				}
				return err
			}
		}
	})
	if err != nil {
		return kb.Job{}, err
	}
	return j, m.runner.Start(ctx, j)
}

// coalesce adds the request to a job of the same type and store, or returns
// sql.ErrNoRows.
func (m *Manager) coalesce(ctx context.Context, tx *sql.Tx, r Request, args json.RawMessage) (kb.Job, error) {
	var id, state, have string
	var again sql.NullString
	err := tx.QueryRowContext(ctx, `SELECT id, state, args, again FROM jobs
		WHERE type = ? AND store = ? AND NOT cancel AND state IN ('queued', 'running', 'interrupted')
		ORDER BY seq DESC LIMIT 1`, r.Type, r.Store).Scan(&id, &state, &have, &again)
	if err != nil {
		return kb.Job{}, err
	}
	if kb.JobState(state) == kb.JobRunning {
		// It may have read past what changed: one more pass.
		_, err = tx.ExecContext(ctx, "UPDATE jobs SET again = ? WHERE id = ?", merge(again.String, args), id)
	} else {
		_, err = tx.ExecContext(ctx, "UPDATE jobs SET args = ? WHERE id = ?", merge(have, args), id)
	}
	if err != nil {
		return kb.Job{}, err
	}
	return get(ctx, tx, id)
}

func encodeArgs(args any) (json.RawMessage, error) {
	if args == nil {
		return json.RawMessage("{}"), nil
	}
	b, err := json.Marshal(args)
	if err != nil || len(b) == 0 || b[0] != '{' {
		return nil, kb.Errorf(kb.Internal, "the arguments of a job are not an object: %s", b)
	}
	return b, nil
}

// merge returns the arguments of newer, with what was true in older still
// true and the objects that only older names.
func merge(older string, newer json.RawMessage) string {
	var a, b map[string]any
	if json.Unmarshal([]byte(older), &a) != nil || json.Unmarshal(newer, &b) != nil {
		return string(newer)
	}
	for k, v := range a {
		_, object := v.(map[string]any)
		if _, named := b[k]; v == true || object && !named {
			b[k] = v
		}
	}
	out, err := json.Marshal(b)
	if err != nil {
		return string(newer)
	}
	return string(out)
}

// newID returns 8 characters: 40 random bits.
func newID() string {
	var b [5]byte
	rand.Read(b[:]) // never fails
	return kb.IDEncoding.EncodeToString(b[:])
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

// truth corrects what the row of a killed process's job says. A run writes how
// it ended before it gives its lock up, so of a job whose lock is free the row
// is read again.
func (m *Manager) truth(ctx context.Context, j kb.Job) kb.Job {
	if j.State != kb.JobRunning || !m.orphan(j.ID) {
		return j
	}
	if now, err := m.read(ctx, j.ID); err == nil {
		j = now
	}
	if j.State == kb.JobRunning {
		j.State = kb.JobInterrupted
	}
	return j
}

// List returns jobs, newest first: of one state unless state is "", only those not ended when active.
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

// Args returns what a job was asked to do with. kb.NotFound when there is none of that id.
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

// Cancel asks a job to stop, wherever it runs, and returns it as it stands
// then: cancelled, or still running for up to a second. kb.Invalid when it has
// ended otherwise already.
func (m *Manager) Cancel(ctx context.Context, id string) (j kb.Job, err error) {
	err = m.cfg.DB.Write(ctx, func(tx *sql.Tx) error {
		if j, err = get(ctx, tx, id); err != nil || j.State == kb.JobCancelled {
			return err
		}
		if j.State.Ended() {
			return kb.Errorf(kb.Invalid, "job %q has %s already", id, j.State).WithHint("look at it with: job:status %s", id)
		}
		// Who runs it notices the flag. What nobody runs, or has not begun, ends here.
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

// Waiting returns the stores about which a job has not ended, as the rows of
// d say it: whether somebody runs them is not looked at.
func Waiting(ctx context.Context, d *db.DB) (map[kb.StoreID]bool, error) {
	var stores map[kb.StoreID]bool
	err := d.Read(ctx, func(tx *sql.Tx) error {
		stores = map[kb.StoreID]bool{}
		rows, err := tx.QueryContext(ctx, "SELECT DISTINCT store FROM jobs WHERE type = 'index' AND state IN ('queued', 'running', 'interrupted')")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id kb.StoreID
			if err := rows.Scan(&id); err != nil {
				return err
			}
			stores[id] = true
		}
		return rows.Err()
	})
	return stores, err
}
