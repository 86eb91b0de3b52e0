// Package db is being written.
package db

import (
	"context"
	"database/sql"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

var errStub = kb.Errorf(kb.Unsupported, "not built yet")

// DB is the open database. It is safe for concurrent use.
type DB struct{}

// Open opens the database at path, making it and its directory when absent,
// and brings the schema up to date.
func Open(ctx context.Context, path string) (*DB, error) { return nil, errStub }

// Close releases the connections.
func (d *DB) Close() error { return nil }

// Path returns the path the database was opened with.
func (d *DB) Path() string { return "" }

// Newer reports whether a newer version of the program has changed the
// schema: everything is readable and nothing is written.
func (d *DB) Newer() bool { return false }

// Write runs f in a transaction that holds the write lock from its start and
// is durable when Write returns. f may run more than once, and must use only
// tx. Its error rolls back and is returned, translated when SQLite's own.
func (d *DB) Write(ctx context.Context, f func(tx *sql.Tx) error) error { return errStub }

// WriteSoon is Write for what may be lost with the machine's power, though
// never with the process: progress.
func (d *DB) WriteSoon(ctx context.Context, f func(tx *sql.Tx) error) error { return errStub }

// Read runs f in a read-only transaction that sees one state throughout. It
// never waits for writers.
func (d *DB) Read(ctx context.Context, f func(tx *sql.Tx) error) error { return errStub }
