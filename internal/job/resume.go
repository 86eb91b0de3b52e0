package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Wait returns when the job has ended, or with ctx's error. f, if not nil, is
// called with every change seen. A job whose process died is resumed here; if
// the end of a run could not be written, the error says why.
func (m *Manager) Wait(ctx context.Context, id string, f func(kb.Job)) (kb.Job, error) {
	var seen kb.Job
	began := time.Now()
	for {
		// What is short is not held up by much.
		wait := min(max(time.Since(began)/10, tick/16), tick)
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		j, err := m.Get(ctx, id)
		if err != nil {
			return j, err
		}
		if f != nil && (j.State != seen.State || j.Progress != seen.Progress || j.Message != seen.Message) {
			f(j)
		}
		seen = j
		if err := m.left(id); err != nil && m.orphan(id) && (j.State == kb.JobFailed || !j.State.Ended()) {
			return j, err
		}
		if j.State.Ended() {
			return j, nil
		}
		if m.orphan(id) {
			if err := m.revive(ctx, j); err != nil {
				return j, err
			}
		}
		select {
		case <-ctx.Done():
			return j, ctx.Err()
		case <-m.base.Done():
			return j, context.Cause(m.base)
		case <-changed:
		case <-time.After(wait):
		}
	}
}

// announce wakes the waiters of this process.
func (m *Manager) announce() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.changed)
	m.changed = make(chan struct{})
}

// Resume starts the jobs that no process runs: queued, interrupted, or running in
// a process that died. It returns them. Jobs that need environment variables
// that this process lacks, or of a type it does not know, are left to others.
func (m *Manager) Resume(ctx context.Context) ([]kb.Job, error) {
	jobs, err := m.query(ctx, "state IN ('queued', 'running', 'interrupted')")
	if err != nil {
		return nil, err
	}
	var out []kb.Job
	for i := len(jobs) - 1; i >= 0; i-- { // in the order of submission
		j := jobs[i]
		if !m.orphan(j.ID) || m.cfg.Handlers[j.Type] == nil {
			continue
		}
		able, err := m.able(ctx, j.ID)
		if err != nil {
			return out, err
		}
		if !able {
			continue
		}
		if m.left(j.ID) != nil { // it would end as it did, until its row can be written
			if m.probe(ctx, j.ID) != nil {
				continue
			}
			m.leave(j.ID, nil)
		}
		if err := m.runner.Start(ctx, j); err != nil {
			return out, err
		}
		out = append(out, j)
	}
	return out, nil
}

// revive starts a job that its process left behind, or says why it cannot.
func (m *Manager) revive(ctx context.Context, j kb.Job) error {
	able, err := m.able(ctx, j.ID)
	if err != nil {
		return err
	}
	if m.cfg.Handlers[j.Type] == nil {
		return kb.Errorf(kb.Unsupported, "job %q was interrupted, and this version of the program knows no jobs of type %q", j.ID, j.Type).
			WithHint("restart this session to use a newer version; its commands resume the job")
	}
	if !able {
		return kb.Errorf(kb.Unsupported, "job %q was interrupted and cannot be resumed here", j.ID).
			WithHint("run a command where it was started, with the same environment variables")
	}
	return m.runner.Start(ctx, j)
}

// able reports whether the environment has what the job needs.
func (m *Manager) able(ctx context.Context, id string) (bool, error) {
	var raw string
	err := m.cfg.DB.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT needs FROM jobs WHERE id = ?", id).Scan(&raw)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var needs []string
	if err := json.Unmarshal([]byte(raw), &needs); err != nil {
		return false, nil
	}
	for _, n := range needs {
		if m.cfg.Env(n) == "" {
			return false, nil
		}
	}
	return true, nil
}
