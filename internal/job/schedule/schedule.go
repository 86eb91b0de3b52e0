// Package schedule brings stores up to date at fixed times. It owns the table
// schedules.
//
// Times are cron expressions as robfig/cron reads them: five fields (minute,
// hour, day of month, month, day of week) in local time, "@daily" and its
// like, "@every 6h", and a leading "CRON_TZ=Europe/Madrid".
//
// One process at a time keeps the clock: the one that holds the lock. The others
// try for it every couple of seconds, so that another takes over soon after the
// owner ends, however it ends. A run is noted in the database before it starts,
// by the first process that notes it, so that there is one run for a tick even if
// two processes believed that they own the clock; and however many ticks were
// missed while no process ran, one run makes up for them.
package schedule

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seed-4f2d999b/knowledge/internal/data/db"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Entry is the schedule of one store.
type Entry struct {
	Store kb.StoreID
	Cron  string
	Since time.Time // the next run is the first time after it
	Ran   time.Time // of the last run; zero for none
	Job   string    // of the last run; "" when it has none
	Note  string    // why it has none
	By    string    // project whose definitions set it; "" when a person did
}

// Next returns when the store is due, zero for never.
func (e Entry) Next() time.Time {
	s, err := cron.ParseStandard(e.Cron)
	if err != nil {
		return time.Time{}
	}
	return s.Next(e.Since)
}

// shortest is the shortest time between two runs of one store.
const shortest = time.Minute

// Check reports whether an expression can be kept, kb.Invalid if not.
func Check(expr string) error {
	if len(expr) > 200 {
		return kb.Errorf(kb.Invalid, "the schedule is over 200 characters").WithHint(exampleHint)
	}
	s, err := cron.ParseStandard(expr)
	if err != nil {
		return kb.Errorf(kb.Invalid, "%q is no schedule: %s", expr, strings.ReplaceAll(err.Error(), "\n", " ")).
			WithHint(exampleHint)
	}
	if every, ok := s.(cron.ConstantDelaySchedule); ok && every.Delay < shortest {
		return kb.Errorf(kb.Invalid, "%q is more often than once a minute", expr).
			WithHint("a folder is followed at once by: knowledge watch")
	}
	if s.Next(time.Now()).IsZero() {
		return kb.Errorf(kb.Invalid, "%q names a day that never comes", expr).WithHint(exampleHint)
	}
	return nil
}

const exampleHint = `write minute, hour, day, month, weekday, as in "0 3 * * *" for three o'clock every night, or @daily, @weekly, "@every 6h"`

// Table is the table of schedules.
type Table struct{ DB *db.DB }

// Set gives a store a schedule that counts from now on, in place of the one
// it had. The same expression again changes nothing but who it is by.
func (t Table) Set(ctx context.Context, store kb.StoreID, expr, by string, now time.Time) error {
	if err := Check(expr); err != nil {
		return err
	}
	_, err := t.DB.Exec(ctx, `INSERT INTO schedules (store, cron, since, by) VALUES (?, ?, ?, ?)
		ON CONFLICT (store) DO UPDATE SET since = CASE WHEN cron = excluded.cron THEN since ELSE excluded.since END,
			cron = excluded.cron, by = excluded.by`, store, expr, now.Unix(), by)
	return err
}

// Unset takes a store's schedule away and reports whether it had one.
func (t Table) Unset(ctx context.Context, store kb.StoreID) (had bool, err error) {
	n, err := t.DB.Exec(ctx, "DELETE FROM schedules WHERE store = ?", store)
	return n > 0, err
}

// List returns every schedule, in order of store.
func (t Table) List(ctx context.Context) ([]Entry, error) {
	return db.List(ctx, t.DB, func(r *sql.Rows) (e Entry, err error) {
		var since, ran int64
		err = r.Scan(&e.Store, &e.Cron, &since, &ran, &e.Job, &e.Note, &e.By)
		e.Since = time.Unix(since, 0)
		if ran > 0 {
			e.Ran = time.Unix(ran, 0)
		}
		return e, err
	}, "SELECT store, cron, since, ran, job, note, by FROM schedules ORDER BY store")
}

// claim notes a run of e at now, unless another process has since e was read.
func (t Table) claim(ctx context.Context, e Entry, now time.Time) (mine bool, err error) {
	n, err := t.DB.Exec(ctx, `UPDATE schedules SET since = ?, ran = ?, job = '', note = ''
		WHERE store = ? AND cron = ? AND since = ?`, now.Unix(), now.Unix(), e.Store, e.Cron, e.Since.Unix())
	return n > 0, err
}

// rebase lets the next run of e count from now on.
func (t Table) rebase(ctx context.Context, e Entry, now time.Time) error {
	_, err := t.DB.Exec(ctx, "UPDATE schedules SET since = ? WHERE store = ? AND since = ?", now.Unix(), e.Store, e.Since.Unix())
	return err
}

// outcome notes what became of a run.
func (t Table) outcome(ctx context.Context, store kb.StoreID, job, note string) error {
	_, err := t.DB.Exec(ctx, "UPDATE schedules SET job = ?, note = ? WHERE store = ?", job, note, store)
	return err
}

// Lock is what the owner of the clock holds.
type Lock interface{ Unlock() error }

// Clock runs what is due.
type Clock struct {
	Table Table
	// Take takes the lock of the clock, or fails because it is held.
	Take func() (Lock, error)
	// Start starts a run of a store: the id of its job, or a note why there is
	// none. kb.NotFound means that the store is no more.
	Start func(ctx context.Context, store kb.StoreID) (job, note string, err error)
	// Now and Sleep are time.Now and a wait that ends with ctx, but in tests.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration)
}

const (
	// takeEvery is how often the lock is tried for: another process has taken
	// over at the latest so long after the owner ended.
	takeEvery = 2 * time.Second
	// lookEvery is how often the owner reads the table: a schedule that another
	// process sets is known so soon.
	lookEvery = 10 * time.Second
)

// Run keeps the clock, unless another process does, until ctx ends.
func (c *Clock) Run(ctx context.Context) error {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	for ctx.Err() == nil {
		lock, err := c.Take()
		if err != nil {
			c.Sleep(ctx, takeEvery)
			continue
		}
		for ctx.Err() == nil {
			c.Sleep(ctx, c.tick(ctx))
		}
		return errors.Join(ctx.Err(), lock.Unlock())
	}
	return ctx.Err()
}

// tick starts what is due and returns how long to wait.
func (c *Clock) tick(ctx context.Context) time.Duration {
	list, err := c.Table.List(ctx)
	if err != nil {
		return lookEvery // full, locked, or newer: it may pass
	}
	now := c.Now()
	wait := lookEvery
	for _, e := range list {
		if e.Since.After(now.Add(time.Minute)) {
			// The clock was put back: do not wait until the old time has come again.
			if c.Table.rebase(ctx, e, now) != nil {
				continue
			}
			e.Since = now
		}
		due := e.Next()
		if due.IsZero() {
			continue
		}
		if d := due.Sub(now); d > 0 {
			wait = min(wait, d)
			continue
		}
		c.run(ctx, e, now)
	}
	return max(wait, 10*time.Millisecond)
}

// run makes the run of a store that is due.
func (c *Clock) run(ctx context.Context, e Entry, now time.Time) {
	mine, err := c.Table.claim(ctx, e, now)
	if err != nil || !mine {
		return
	}
	job, note, err := c.Start(ctx, e.Store)
	if err != nil && kb.CodeOf(err) == kb.NotFound {
		_, _ = c.Table.Unset(ctx, e.Store) // its store is gone; if this fails it is tried at the next time
		return
	}
	if err != nil {
		note = err.Error()
	}
	_ = c.Table.outcome(ctx, e.Store, job, note) // the run itself is noted; only what is said of it is lost
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
