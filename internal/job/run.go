package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Work runs the job in this process and returns when it has ended, or was
// interrupted because ctx is done: kb.Busy when another process runs it.
func (m *Manager) Work(ctx context.Context, id string) (kb.Job, error) {
	if _, err := m.Get(ctx, id); err != nil {
		return kb.Job{}, err
	}
	// Another process may only be looking whether the lock is held.
	short, cancel := context.WithTimeout(ctx, tick)
	defer cancel()
	lock, err := lockfile.Acquire(short, m.lockPath(id))
	if err != nil {
		return kb.Job{}, err
	}
	err = m.run(ctx, id, lock)
	j, gerr := m.Get(context.WithoutCancel(ctx), id)
	return j, errors.Join(err, gerr)
}

// run takes a job, whose lock the caller took, to its end, and gives the lock up.
func (m *Manager) run(ctx context.Context, id string, lock *lockfile.Lock) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// A caller's context, or the manager's, ends a run as an interruption.
	defer context.AfterFunc(m.base, func() { cancel(errInterrupted) })()

	m.mu.Lock()
	m.here[id] = cancel
	delete(m.broken, id)
	m.mu.Unlock()
	watch := newWatcher(m, id, cancel)
	ended, err := m.passes(ctx, id, watch)
	watch.close()
	m.mu.Lock()
	delete(m.here, id)
	m.mu.Unlock()
	m.leave(id, err)
	if ended {
		err = errors.Join(err, lock.Remove())
	} else {
		err = errors.Join(err, lock.Unlock())
	}
	m.announce()
	return err
}

// passes waits for its turn, then runs the handler until no request is left.
func (m *Manager) passes(ctx context.Context, id string, watch *watcher) (ended bool, err error) {
	release, err := m.turn(ctx, id)
	if err == nil {
		defer release()
		err = context.Cause(ctx)
	}
	if err != nil {
		if ctx.Err() == nil { // the lock files fail: no permission, disk full
			return m.settle(id, watch, outcomeOf(err, nil, ""), kb.JobFailed)
		}
		if Interrupted(ctx) {
			return false, nil // not begun: the row stays as it is
		}
		return m.settleDone(ctx, id, watch, outcome{})
	}
	for {
		j, args, died, ok, err := m.begin(ctx, id)
		if err != nil && ctx.Err() == nil {
			return m.settle(id, watch, outcomeOf(err, nil, ""), kb.JobFailed)
		}
		if err != nil {
			return m.settleDone(ctx, id, watch, outcome{})
		}
		if !ok {
			return true, nil
		}
		m.announce()
		watch.reset()
		run := kb.WithProgress(ctx, watch.report)
		if died {
			run = context.WithValue(run, diedKey{}, true)
		}
		message, details, err := m.call(run, j, args)
		o := outcomeOf(err, details, message)
		if err != nil && ctx.Err() != nil {
			return m.settleDone(ctx, id, watch, o)
		}
		state := kb.JobCompleted
		if err != nil {
			state = kb.JobFailed
		}
		if ended, err = m.settle(id, watch, o, state); ended || err != nil {
			return ended, err
		}
	}
}

// begin marks the job running and returns what to do; ok is false when it
// has ended meanwhile.
func (m *Manager) begin(ctx context.Context, id string) (j kb.Job, args json.RawMessage, died, ok bool, err error) {
	err = m.cfg.DB.Write(ctx, func(tx *sql.Tx) error {
		ok = false
		var state, have string
		var again sql.NullString
		var cancelled bool
		var pid int
		err := tx.QueryRowContext(ctx, "SELECT state, args, again, cancel, pid FROM jobs WHERE id = ?", id).Scan(&state, &have, &again, &cancelled, &pid)
		switch {
		case errors.Is(err, sql.ErrNoRows) || err == nil && kb.JobState(state).Ended():
			return nil
		case err != nil:
			return err
		case cancelled:
			return m.end(ctx, tx, id, kb.JobCancelled, outcome{message: errCancelled.Message})
		}
		// The lock is ours, so a row that says running was left by a process
		// that died. pid is 0 between two passes of ours.
		died = kb.JobState(state) == kb.JobRunning && pid != 0
		if again.Valid { // this pass begins after that request, so it serves both
			have = merge(have, json.RawMessage(again.String))
		}
		_, err = tx.ExecContext(ctx, `UPDATE jobs SET state = 'running', args = ?, again = NULL, progress = '{}', code = '', message = '', hint = '',
			details = '{}', runs = runs + 1, deaths = deaths + ?, pid = ?, updated = ? WHERE id = ?`,
			have, died, os.Getpid(), m.cfg.Now().UnixMicro(), id)
		if err != nil {
			return err
		}
		args, ok = json.RawMessage(have), true
		j, err = get(ctx, tx, id)
		return err
	})
	return j, args, died, ok, err
}

// settleDone ends a run whose context is done: cancelled, or interrupted.
func (m *Manager) settleDone(ctx context.Context, id string, watch *watcher, o outcome) (ended bool, err error) {
	if !Interrupted(ctx) {
		return m.settle(id, watch, outcome{message: errCancelled.Message, details: o.details}, kb.JobCancelled)
	}
	return m.settle(id, watch, outcome{message: errInterrupted.Message, hint: errInterrupted.Hint}, kb.JobInterrupted)
}

// settle writes what a run came to. ended is false when a request came
// meanwhile, so that another pass is due, and when the job was interrupted.
func (m *Manager) settle(id string, watch *watcher, o outcome, state kb.JobState) (ended bool, err error) {
	// The context of the run may be done. If the database cannot be written
	// now, the row says running while the lock is free, so that the job is run
	// again: nothing is lost.
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if p, ok := watch.last(); ok {
		if state == kb.JobCompleted && p.Total > 0 {
			p.Done, p.Percent, p.ETA = p.Total, 100, 0 // the last report came before the end
		}
		o.progress = &p
	}
	err = m.cfg.DB.Write(ctx, func(tx *sql.Tx) error {
		var again, cancelled bool
		var now string
		err := tx.QueryRowContext(ctx, "SELECT again IS NOT NULL, cancel, state FROM jobs WHERE id = ?", id).Scan(&again, &cancelled, &now)
		if errors.Is(err, sql.ErrNoRows) || err == nil && kb.JobState(now).Ended() {
			ended = true
			return nil
		}
		if err != nil {
			return err
		}
		if again && !cancelled && (state == kb.JobCompleted || state == kb.JobFailed) {
			ended = false
			_, err := tx.ExecContext(ctx, "UPDATE jobs SET args = again, again = NULL, pid = 0 WHERE id = ?", id)
			return err
		}
		if cancelled && state == kb.JobFailed { // why it failed follows from why it was cancelled
			state, o = kb.JobCancelled, outcome{message: errCancelled.Message, details: o.details, progress: o.progress}
		}
		ended = state.Ended()
		return m.end(ctx, tx, id, state, o)
	})
	return ended, err
}

// call runs the handler; a panic is a failure like others.
func (m *Manager) call(ctx context.Context, j kb.Job, args json.RawMessage) (message string, details map[string]any, err error) {
	handler := m.cfg.Handlers[j.Type]
	if handler == nil {
		return "", nil, kb.Errorf(kb.Unsupported, "this version of the program knows no jobs of type %q", j.Type).
			WithHint("restart this session to use a newer version")
	}
	defer func() {
		if v := recover(); v != nil {
			message, details = "", map[string]any{"at": panicSite()}
			said := kb.Clip(fmt.Sprint(v), 200)
			err = kb.Errorf(kb.Internal, "a defect of this program stopped the job: %s", said).
				WithHint("please report it, with this text and what the job was doing")
		}
	}()
	return handler(ctx, j, args)
}

// panicSite returns the function and line that panicked.
func panicSite() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s (%s:%d)", f.Function, filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

func outcomeOf(err error, details map[string]any, message string) outcome {
	if err == nil {
		return outcome{message: message, details: details}
	}
	return outcome{code: kb.CodeOf(err), message: err.Error(), hint: kb.HintOf(err), details: details}
}

// turn waits for the store and for a slot, and returns what gives both back.
func (m *Manager) turn(ctx context.Context, id string) (release func(), err error) {
	var store string
	err = m.cfg.DB.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT store FROM jobs WHERE id = ?", id).Scan(&store)
	})
	if err != nil {
		return nil, err
	}
	class, err := m.class(ctx, id)
	if err != nil {
		return nil, err
	}
	var held []*lockfile.Lock
	release = func() {
		for _, l := range held {
			_ = l.Remove() // a lock file that stays is no harm
		}
	}
	if store != "" {
		l, err := lockfile.Acquire(ctx, filepath.Join(m.cfg.Dir, "store-"+store+".lock"))
		if err != nil {
			return nil, err
		}
		held = append(held, l)
	}
	slot, err := m.slot(ctx, class)
	if err != nil {
		release()
		return nil, err
	}
	held = append(held, slot)
	return release, nil
}

// class returns whose slots a job runs in; one of a newer version runs as local.
func (m *Manager) class(ctx context.Context, id string) (class Class, err error) {
	err = m.cfg.DB.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT class FROM jobs WHERE id = ?", id).Scan(&class)
	})
	if m.turns[class] == nil {
		class = Local
	}
	return class, err
}

// slot waits for one of the class's slots. Within a process the first to wait
// is the first to get one.
func (m *Manager) slot(ctx context.Context, class Class) (*lockfile.Lock, error) {
	turn := m.turns[class]
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		for i := range m.cfg.Slots {
			l, err := lockfile.TryLock(m.slotPath(class, i))
			if err == nil {
				return l, nil
			}
			if kb.CodeOf(err) != kb.Busy {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}
