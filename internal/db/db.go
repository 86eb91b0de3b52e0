// Package db owns the connection to knowledge.db and its schema. Each part
// owns its tables; their definitions are the numbered files in migrations.
//
// Several processes share the database as a matter of course: it is in WAL
// mode, where readers never wait and see one state throughout a transaction,
// and writers take the write lock when they begin, so that none finds out
// late that its reads are stale. A writer waits up to ten seconds for others.
//
// Durability: Write syncs the log at every commit (synchronous=FULL), because
// what is published must survive a power cut: a head names files that a
// garbage collection would otherwise take away. WriteSoon does not
// (synchronous=NORMAL): a power cut may lose its last transactions, though
// never an earlier one alone and never consistency.
//
// The schema's version is SQLite's user_version: the number of the last
// migration. Migrations only add, so a database that a newer version of the
// program has migrated is read as before; it is never written, as an older
// program cannot know what the newer one keeps true.
package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

const (
	// patience is how long a writer waits for other processes.
	patience = 10 * time.Second
	// SQLite's own waiting does not end with a context, so it is kept short and
	// repeated.
	nap = "busy_timeout(100)"
)

// DB is the open database. It is safe for concurrent use.
type DB struct {
	path   string
	reads  *sql.DB
	full   *sql.DB       // one connection, synchronous=FULL
	soon   *sql.DB       // one connection, synchronous=NORMAL
	turn   chan struct{} // holds a token while a writer of this process is at work
	newer  atomic.Bool
	frozen bool // the file or its directory cannot be written
}

// Open opens the database at path, making it (0600) and its directory (0700)
// when absent, and brings the schema up to date. Errors: kb.Corrupt for what
// is not a database, kb.Busy, kb.Full, kb.Denied. A database of a newer
// version opens; see Newer. One that cannot be written opens too where SQLite
// can read it, and answers every Write with kb.Denied.
func Open(ctx context.Context, path string) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "cannot resolve %q: %w", path, err)
	}
	if err := create(path); err != nil {
		return nil, err
	}
	d := open(path, "")
	err = d.prepare(ctx)
	if kb.CodeOf(err) == kb.Denied {
		// In a directory that cannot be written SQLite cannot make the files of
		// WAL mode. If there is no log to read, the database is all there is.
		if _, serr := os.Stat(path + "-wal"); errors.Is(serr, fs.ErrNotExist) {
			frozen := open(path, "immutable=1&mode=ro")
			frozen.frozen = true
			if ferr := frozen.prepare(ctx); ferr == nil {
				d.Close()
				return frozen, nil
			}
			frozen.Close()
		}
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Look opens the database at path for a short look: nothing is made, changed
// or migrated, and no writer waits. Without a log beside it the file is all
// there is, and is read as it stands, for else SQLite would make one. Errors:
// kb.NotFound when there is no database, else those of Open.
func Look(ctx context.Context, path string) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "cannot resolve %q: %w", path, err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, kb.Errorf(kb.NotFound, "there is no database %q", path)
	}
	mode := "mode=ro"
	if _, err := os.Stat(path + "-wal"); err != nil {
		mode += "&immutable=1"
	}
	d := open(path, mode)
	d.frozen = true
	return d, nil
}

// creating keeps a second Open of this process from using the file while it
// is being made: closing any descriptor of a file drops the POSIX locks that
// SQLite holds on it. For the same reason a file that exists is not touched.
var creating sync.Mutex

func create(path string) error {
	creating.Lock()
	defer creating.Unlock()
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return osError(err, path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return osError(err, path)
	}
	return f.Close()
}

// open makes the pools; connections are opened when first used.
func open(path, extra string) *DB {
	pool := func(params string, conns int) *sql.DB {
		if extra != "" {
			params += "&" + extra
		}
		p, err := sql.Open("sqlite", dsn(path, params))
		if err != nil {
			panic(err) // only an unregistered driver
		}
		p.SetMaxOpenConns(conns)
		p.SetMaxIdleConns(min(conns, 2))
		return p
	}
	const writer = "_txlock=immediate&_pragma=" + nap + "&_pragma=foreign_keys(1)&_pragma=fullfsync(1)" +
		"&_pragma=journal_size_limit(4194304)&_pragma=synchronous"
	return &DB{
		path:  path,
		reads: pool("_pragma=busy_timeout(10000)&_pragma=query_only(1)", 4),
		full:  pool(writer+"(FULL)", 1),
		soon:  pool(writer+"(NORMAL)", 1),
		turn:  make(chan struct{}, 1),
	}
}

func dsn(path, params string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/… on Windows
	}
	u := url.URL{Scheme: "file", Path: p, RawQuery: params}
	return u.String()
}

// prepare migrates if need be. When the schema is current it costs one
// connection and one read.
func (d *DB) prepare(ctx context.Context) error {
	var version int
	err := d.Read(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	})
	switch {
	case err != nil:
		return err
	case version > current():
		d.newer.Store(true)
		return nil
	case version == current():
		return nil
	case d.frozen:
		return d.denied()
	}
	return d.migrate(ctx)
}

// Close releases the connections.
func (d *DB) Close() error {
	return errors.Join(d.reads.Close(), d.full.Close(), d.soon.Close())
}

// Path returns the absolute path of the database.
func (d *DB) Path() string { return d.path }

// Newer reports whether a newer version of the program has changed the
// schema: everything is readable and every Write fails with kb.Newer. It may
// become true while the database is open.
func (d *DB) Newer() bool { return d.newer.Load() }

// Write runs f in a transaction that holds the write lock from its start and
// is durable when Write returns nil. f may run more than once, uses only tx,
// and does nothing slow. Its error rolls back and is returned, translated if
// it is SQLite's own.
func (d *DB) Write(ctx context.Context, f func(tx *sql.Tx) error) error {
	return d.write(ctx, d.full, current(), f)
}

// WriteSoon is Write for what may be lost with the machine's power, though
// never with the process: progress.
func (d *DB) WriteSoon(ctx context.Context, f func(tx *sql.Tx) error) error {
	return d.write(ctx, d.soon, current(), f)
}

// Read runs f in a read-only transaction that sees one state throughout. It
// never waits for writers.
func (d *DB) Read(ctx context.Context, f func(tx *sql.Tx) error) error {
	return d.retry(ctx, func() error {
		tx, err := d.reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return f(tx)
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

func (d *DB) write(ctx context.Context, pool *sql.DB, known int, f func(tx *sql.Tx) error) error {
	if d.frozen {
		return d.denied()
	}
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
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version > known {
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
		t := time.NewTimer(time.Millisecond + rand.N(20*time.Millisecond))
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
	}
}
