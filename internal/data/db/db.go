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
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
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
	path  string
	turn  chan struct{} // holds a token while a writer of this process is at work
	newer atomic.Bool
	looks bool // nothing may be made

	mu    sync.Mutex
	conns *conns
	tried time.Time // when a database that could not be written was last opened anew
}

// conns are the connections to one file, or to a snapshot of it.
type conns struct {
	path   string
	reads  *sql.DB
	full   *sql.DB // one connection, synchronous=FULL
	soon   *sql.DB // one connection, synchronous=NORMAL
	frozen error   // why nothing can be written through them; nil when it can
	snap   *snapshot
	users  int  // transactions under way; DB.mu
	done   bool // they go with their last user; DB.mu
}

// Open opens the database at path, making it (0600) and its directory (0700)
// when absent, and brings the schema up to date. Errors: kb.Corrupt for what
// is not a database, kb.Busy, kb.Full, kb.Denied. A database of a newer
// version opens; see Newer. One that cannot be used as SQLite needs it, for
// want of space, of permission or of a sound disk, opens too: what was
// committed is read (see snapshot), every Write is answered with why, and the
// database is used as ever once that is possible again.
func Open(ctx context.Context, path string) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, kb.Errorf(kb.Invalid, "cannot resolve %q: %w", path, err)
	}
	if err := create(path); err != nil {
		return nil, err
	}
	d := &DB{path: path, turn: make(chan struct{}, 1), conns: open(path, "")}
	if err = d.prepare(ctx, d.conns); err == nil {
		return d, nil
	}
	d.conns.close()
	if !d.freeze(ctx, err) {
		return nil, err
	}
	return d, nil
}

// freeze reads the database into memory after opening it has failed with why, and
// reports whether it can be read there. A damaged or locked one is not tried, nor
// after a cancellation.
func (d *DB) freeze(ctx context.Context, why error) bool {
	switch kb.CodeOf(why) {
	case kb.Full, kb.Denied, kb.Internal:
	default:
		return false
	}
	s, err := take(d.path)
	if err != nil {
		return false
	}
	c := open("/"+memoryName, "immutable=1&mode=ro&vfs="+s.name)
	c.frozen, c.snap = why, s
	if err := d.prepare(ctx, c); err != nil {
		c.close()
		return false
	}
	d.conns, d.tried = c, time.Now()
	return true
}

const (
	// thawAfter is how long a snapshot serves until the database is tried again.
	thawAfter = time.Second
	// thawFor bounds that try; others may keep the database locked.
	thawFor = 2 * time.Second
)

// use returns the connections for one transaction, and a function that ends their
// use. To write, a frozen database is tried again at once.
func (d *DB) use(ctx context.Context, write bool) (*conns, func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conns.snap != nil && (write || time.Since(d.tried) > thawAfter) {
		d.thaw(ctx)
	}
	c := d.conns
	c.users++
	return c, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if c.users--; c.users == 0 && c.done {
			c.close()
		}
	}
}

// thaw opens a frozen database anew; d.mu is held.
func (d *DB) thaw(ctx context.Context) {
	d.tried = time.Now()
	if _, err := os.Lstat(d.path); err != nil || d.looks {
		return // it is gone: only the snapshot is left
	}
	ctx, cancel := context.WithTimeout(ctx, thawFor)
	defer cancel()
	old := d.conns
	c := open(d.path, "")
	err := d.prepare(ctx, c)
	if err == nil {
		d.conns = c
	} else {
		c.close()
		if ctx.Err() != nil {
			return
		}
		if states(d.path) == old.snap.of {
			switch kb.CodeOf(err) {
			case kb.Full, kb.Denied, kb.Internal:
				old.frozen = err
			}
			return
		}
		if !d.freeze(ctx, err) {
			return
		}
	}
	if old.done = true; old.users == 0 {
		old.close()
	}
}

// Frozen returns why nothing can be written to the database, which is then read
// from its last snapshot; nil when all is well.
func (d *DB) Frozen() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conns.frozen
}

// Look opens the database at path for a short look: nothing is made, changed
// or migrated, and no writer waits. Without a log beside it, the file alone is
// read, because SQLite would make a log. Errors: kb.NotFound when there is no
// database, else those of Open.
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
	d := &DB{path: path, looks: true, turn: make(chan struct{}, 1), conns: open(path, mode)}
	looked := d.conns
	looked.frozen = d.denied()
	if err := d.read(ctx, looked, func(tx *sql.Tx) error { return version(ctx, tx, new(int)) }); err != nil {
		looked.close()
		if !d.freeze(ctx, err) {
			return nil, err
		}
	}
	return d, nil
}

// creating keeps a second Open of this process from using the file while it
// is being made: closing any descriptor of a file drops the POSIX locks that
// SQLite holds on it. For the same reason a file that exists is not touched.
var creating sync.Mutex

// inUse counts the connections of this process to each file, for readers of a file
// beside SQLite; creating is held.
var inUse = map[string]int{}

func create(path string) error {
	creating.Lock()
	defer creating.Unlock()
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return osError(err, path)
	}
	if done, err := dropOrphans(path); err != nil {
		return osError(err, path)
	} else {
		defer done()
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

// sidecars are what SQLite keeps beside a database.
var sidecars = []string{"-wal", "-shm", "-journal"}

// dropOrphans deletes the sidecars of a database that is not there: they belong to
// a deleted one, and the next would read them. It holds a lock, because a moment
// later they may be the new one's; done releases it, once that is made.
func dropOrphans(path string) (done func(), err error) {
	orphan := func() bool {
		return slices.ContainsFunc(sidecars, func(ext string) bool {
			_, err := os.Lstat(path + ext)
			return err == nil
		})
	}
	if !orphan() {
		return func() {}, nil
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return nil, err
	}
	done = func() {
		_ = os.Remove(lock.Path()) // a waiting process finds the database made
		_ = lock.Unlock()
	}
	if _, err := os.Lstat(path); err == nil {
		return done, nil
	}
	for _, ext := range sidecars {
		if err := os.Remove(path + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			done()
			return nil, err
		}
	}
	return done, nil
}

// open makes the pools; connections are opened when first used.
func open(path, extra string) *conns {
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
	// Sorting in memory needs no space on a disk that may be full.
	const writer = "_txlock=immediate&_pragma=" + nap + "&_pragma=foreign_keys(1)&_pragma=fullfsync(1)" +
		"&_pragma=temp_store(2)&_pragma=journal_size_limit(4194304)&_pragma=synchronous"
	creating.Lock()
	defer creating.Unlock()
	inUse[path]++
	return &conns{
		path:  path,
		reads: pool("_pragma=busy_timeout(10000)&_pragma=temp_store(2)&_pragma=query_only(1)", 4),
		full:  pool(writer+"(FULL)", 1),
		soon:  pool(writer+"(NORMAL)", 1),
	}
}

func (c *conns) close() error {
	creating.Lock()
	inUse[c.path]--
	creating.Unlock()
	err := errors.Join(c.reads.Close(), c.full.Close(), c.soon.Close())
	if c.snap != nil {
		err = errors.Join(err, c.snap.fs.Close())
	}
	return err
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
func (d *DB) prepare(ctx context.Context, c *conns) error {
	var v int
	err := d.read(ctx, c, func(tx *sql.Tx) error { return version(ctx, tx, &v) })
	switch {
	case err != nil:
		return err
	case v > current():
		d.newer.Store(true)
		return nil
	case v == current():
		return nil
	case c.frozen != nil:
		return c.frozen
	}
	return d.migrate(ctx, c)
}

// version reads the number of the last migration.
func version(ctx context.Context, tx *sql.Tx, v *int) error {
	return tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(v)
}

// Close releases the connections.
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conns.close()
}

// Path returns the absolute path of the database.
func (d *DB) Path() string { return d.path }

// Newer reports whether a newer version of the program has changed the
// schema: everything is readable and every Write fails with kb.Newer. It may
// become true while the database is open.
func (d *DB) Newer() bool { return d.newer.Load() }
