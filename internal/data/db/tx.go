package db

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Write runs f in a transaction that holds the write lock from its start and
// is durable when Write returns nil. f may run more than once, uses only tx,
// and does nothing slow. Its error rolls back and is returned, translated if
// it is SQLite's own.
func (d *DB) Write(ctx context.Context, f func(tx *sql.Tx) error) error {
	return d.writeThrough(ctx, func(c *conns) *sql.DB { return c.full }, f)
}

// WriteSoon is Write for what a power cut may lose, though no end of the process:
// progress.
func (d *DB) WriteSoon(ctx context.Context, f func(tx *sql.Tx) error) error {
	return d.writeThrough(ctx, func(c *conns) *sql.DB { return c.soon }, f)
}

// Read runs f in a read-only transaction that sees one state throughout. It
// never waits for writers.
func (d *DB) Read(ctx context.Context, f func(tx *sql.Tx) error) error {
	c, done := d.use(ctx, false)
	defer done()
	return d.read(ctx, c, f)
}

func (d *DB) read(ctx context.Context, c *conns, f func(tx *sql.Tx) error) error {
	return d.retry(ctx, func() error {
		tx, err := c.reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return f(tx)
	})
}

// Querier is what a statement is asked of: a transaction, or the database.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// One is Read for a single statement, which sees one state without a transaction
// around it, and takes half as long. Such a statement is short and is not
// interrupted: what would do that costs more than most of them.
func (d *DB) One(ctx context.Context, f func(ctx context.Context, q Querier) error) error {
	c, done := d.use(ctx, false)
	defer done()
	return d.retry(ctx, func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(context.WithoutCancel(ctx), c.reads)
	})
}

// Check reads the whole database and returns kb.Corrupt if its structure is damaged.
func (d *DB) Check(ctx context.Context) error {
	return d.Read(ctx, func(tx *sql.Tx) error {
		var verdict string
		if err := tx.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
			return err
		}
		if verdict != "ok" {
			return d.corrupt(nil)
		}
		return nil
	})
}

func (d *DB) writeThrough(ctx context.Context, pool func(*conns) *sql.DB, f func(tx *sql.Tx) error) error {
	c, done := d.use(ctx, true)
	defer done()
	if c.frozen != nil {
		return c.frozen
	}
	return d.write(ctx, pool(c), current(), f)
}

func (d *DB) write(ctx context.Context, pool *sql.DB, known int, f func(tx *sql.Tx) error) error {
	// Writers of this process queue here, where waiting is fair and ends with
	// the context, instead of polling each other's locks.
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return d.retry(ctx, func() error {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var v int
		if err := version(ctx, tx, &v); err != nil {
			return err
		}
		if v > known {
			d.newer.Store(true)
			return kb.Errorf(kb.Newer, "a newer version of this program has taken over %q, so this one only reads it", d.path).
				WithHint("restart this session to use the newer version")
		}
		if err := f(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// retry repeats f while others keep the database locked, and translates its error.
func (d *DB) retry(ctx context.Context, f func() error) error {
	start := time.Now()
	for {
		err := f()
		if err == nil {
			return nil
		}
		if !isBusy(err) || time.Since(start) > patience {
			return d.translate(ctx, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond + rand.N(20*time.Millisecond)):
		}
	}
}

// Exec runs one statement in a Write and returns how many rows it changed.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return execute(ctx, d.Write, query, args)
}

// ExecSoon is Exec in a WriteSoon.
func (d *DB) ExecSoon(ctx context.Context, query string, args ...any) (int64, error) {
	return execute(ctx, d.WriteSoon, query, args)
}

type writer func(context.Context, func(*sql.Tx) error) error

func execute(ctx context.Context, write writer, query string, args []any) (n int64, err error) {
	err = write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	return n, err
}

// Rows returns what scan makes of each row of a query.
func Rows[T any](ctx context.Context, q Querier, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// Column returns the only column of a query's rows.
func Column[T any](ctx context.Context, q Querier, query string, args ...any) ([]T, error) {
	return Rows(ctx, q, value[T], query, args...)
}

func value[T any](r *sql.Rows) (v T, err error) {
	err = r.Scan(&v)
	return v, err
}

// List is Rows in a One.
func List[T any](ctx context.Context, d *DB, scan func(*sql.Rows) (T, error), query string, args ...any) (out []T, err error) {
	err = d.One(ctx, func(ctx context.Context, q Querier) error {
		out, err = Rows(ctx, q, scan, query, args...)
		return err
	})
	return out, err
}

// Values is Column in a One.
func Values[T any](ctx context.Context, d *DB, query string, args ...any) ([]T, error) {
	return List(ctx, d, value[T], query, args...)
}

// Value returns the only value of a query, in a One.
func Value[T any](ctx context.Context, d *DB, query string, args ...any) (v T, err error) {
	err = d.One(ctx, func(ctx context.Context, q Querier) error { return q.QueryRowContext(ctx, query, args...).Scan(&v) })
	return v, err
}
