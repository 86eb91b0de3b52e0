// Package job is being written.
package job

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var errStub = kb.Errorf(kb.Unsupported, "not built yet")

// Class says which slots a job runs in.
type Class string

// The classes; each has its own slots, two unless Config says otherwise.
const (
	Local   Class = "local"
	Network Class = "network"
)

// Handler does the work of one type of job. It returns soon after ctx is
// done; it reports through kb.Report. message says what was done. A handler
// may be run again from the start at any time: after an interruption, and
// once more when a request came during the run.
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
	Slots    int                   // per class; 0: 2
}

// Runner decides where jobs run.
type Runner interface {
	// Start sees to it that a job that nobody runs is run, and returns at once.
	Start(ctx context.Context, job kb.Job) error
	// Close ends what Start began in this process.
	Close(ctx context.Context) error
}

// Manager submits, runs and shows jobs. It is safe for concurrent use.
type Manager struct{}

// New returns a manager. It starts nothing.
func New(cfg Config) *Manager { return nil }

// Submit queues a job and sees to it that it runs. One of the same type and
// store that has not ended is returned instead, and makes one more pass
// before it completes if it has begun.
func (m *Manager) Submit(ctx context.Context, r Request) (kb.Job, error) { return kb.Job{}, errStub }

// Work runs the job in this process and returns when it has ended: kb.Busy
// when somebody else runs it.
func (m *Manager) Work(ctx context.Context, id string) (kb.Job, error) { return kb.Job{}, errStub }

// Get returns one job, or kb.NotFound.
func (m *Manager) Get(ctx context.Context, id string) (kb.Job, error) { return kb.Job{}, errStub }

// List returns jobs, newest first: of one state unless state is "", only those not ended when active.
func (m *Manager) List(ctx context.Context, state kb.JobState, active bool) ([]kb.Job, error) {
	return nil, errStub
}

// Active returns the job of the store that has not ended, newest first, if there is one.
func (m *Manager) Active(ctx context.Context, store kb.StoreID) (kb.Job, bool, error) {
	return kb.Job{}, false, errStub
}

// Cancel asks a job to stop, wherever it runs, and returns it as it stands
// then: cancelled, or still running for up to a second.
func (m *Manager) Cancel(ctx context.Context, id string) (kb.Job, error) { return kb.Job{}, errStub }

// Wait returns when the job has ended, or with ctx's error. f, if not nil, is
// called with every change seen. A job whose process died is resumed here.
func (m *Manager) Wait(ctx context.Context, id string, f func(kb.Job)) (kb.Job, error) {
	return kb.Job{}, errStub
}

// Resume starts the jobs that nobody runs: queued, interrupted, or running in
// a process that died. It returns them.
func (m *Manager) Resume(ctx context.Context) ([]kb.Job, error) { return nil, errStub }

// Close stops what runs in this process; those jobs become interrupted and
// are resumed by the next process that looks.
func (m *Manager) Close(ctx context.Context) error { return nil }
