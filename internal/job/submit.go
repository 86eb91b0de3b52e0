package job

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Submit queues a job and starts it. A job of the same type and store that has not
// ended is returned instead, and makes one more pass before it completes if it has
// begun. Its arguments become those of the newer request, except that what is true
// in the older one stays true, and an object that only the older one names stays.
func (m *Manager) Submit(ctx context.Context, r Request) (kb.Job, error) {
	if m.cfg.Handlers[r.Type] == nil {
		return kb.Job{}, kb.Errorf(kb.Internal, "nothing handles jobs of type %q", r.Type)
	}
	if m.base.Err() != nil {
		return kb.Job{}, context.Cause(m.base)
	}
	r.Class = cmp.Or(r.Class, Local)
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
	m.leave(j.ID, nil) // the row could be written
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
	set := "UPDATE jobs SET args = ? WHERE id = ?"
	if kb.JobState(state) == kb.JobRunning {
		// It may have read past what changed: one more pass.
		set, have = "UPDATE jobs SET again = ? WHERE id = ?", again.String
	}
	_, err = tx.ExecContext(ctx, set, merge(have, args), id)
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

// merge returns the arguments of newer, with the values that are true in older and
// the objects that only older names.
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
