package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const columns = "id, type, store, state, progress, code, message, hint, details, deaths, created, updated, cancel"

type row interface{ Scan(dest ...any) error }

func scan(r row) (kb.Job, error) {
	var j kb.Job
	var progress, details string
	var created, updated int64
	err := r.Scan(&j.ID, &j.Type, &j.Store, &j.State, &progress, &j.Code, &j.Message, &j.Hint, &details, &j.Deaths, &created, &updated, &j.Stopping)
	if err != nil {
		return j, err
	}
	j.Stopping = j.Stopping && !j.State.Ended()
	// Both are for show: what does not parse is left out.
	if json.Unmarshal([]byte(progress), &j.Progress) != nil {
		j.Progress = kb.Progress{}
	}
	if json.Unmarshal([]byte(details), &j.Details) != nil || len(j.Details) == 0 {
		j.Details = nil
	}
	j.Created, j.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	return j, nil
}

func get(ctx context.Context, tx *sql.Tx, id string) (kb.Job, error) {
	j, err := scan(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM jobs WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return j, None(id)
	}
	return j, err
}

// None is the error of an id that no job has.
func None(id string) error {
	return kb.Errorf(kb.NotFound, "no job has the id %q", kb.Clip(id, 64)).WithHint("list them with: jobs")
}

// query returns the jobs that a condition selects, newest first.
func (m *Manager) query(ctx context.Context, where string, args ...any) ([]kb.Job, error) {
	return db.List(ctx, m.cfg.DB, func(r *sql.Rows) (kb.Job, error) { return scan(r) },
		"SELECT "+columns+" FROM jobs WHERE "+where+" ORDER BY seq DESC", args...)
}

// outcome is what a pass came to.
type outcome struct {
	code     kb.Code
	message  string
	hint     string
	details  map[string]any
	progress *kb.Progress // nil: unchanged
}

// end writes the state of a job whose run is over, and bounds the history.
func (m *Manager) end(ctx context.Context, tx *sql.Tx, id string, state kb.JobState, o outcome) error {
	details := []byte("{}")
	if len(o.details) > 0 {
		b, err := json.Marshal(o.details)
		if err != nil {
			return kb.Errorf(kb.Internal, "encode what a job did: %w", err)
		}
		details = b
	}
	_, err := tx.ExecContext(ctx, "UPDATE jobs SET state = ?, code = ?, message = ?, hint = ?, details = ?, updated = ? WHERE id = ?",
		state, o.code, o.message, o.hint, string(details), m.cfg.Now().UnixMicro(), id)
	if err != nil {
		return err
	}
	if o.progress != nil {
		if err := writeProgress(ctx, tx, id, *o.progress, m.cfg.Now()); err != nil {
			return err
		}
	}
	if !state.Ended() {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "UPDATE jobs SET ended = (SELECT max(ended) + 1 FROM jobs) WHERE id = ?", id); err != nil {
		return err
	}
	const over = "state IN ('completed', 'failed', 'cancelled') ORDER BY ended DESC, seq DESC LIMIT -1 OFFSET ?"
	_, err = tx.ExecContext(ctx, "DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE "+over+")", keep)
	return err
}

func writeProgress(ctx context.Context, tx *sql.Tx, id string, p kb.Progress, now time.Time) error {
	b, err := json.Marshal(p)
	if err != nil {
		return nil // NaN or infinite rates are for show only
	}
	_, err = tx.ExecContext(ctx, "UPDATE jobs SET progress = ?, updated = ? WHERE id = ?", string(b), now.UnixMicro(), id)
	return err
}
