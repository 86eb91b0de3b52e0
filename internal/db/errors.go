package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// primary returns SQLite's primary result code, -1 for other errors.
func primary(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return -1
	}
	return e.Code() & 0xff
}

func isBusy(err error) bool {
	var known *kb.Error
	if errors.As(err, &known) {
		return false
	}
	c := primary(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED
}

// translate says for a reader what SQLite means. Errors of our own pass.
func (d *DB) translate(ctx context.Context, err error) error {
	var known *kb.Error
	if errors.As(err, &known) {
		return err
	}
	code := primary(err)
	// A canceled context rolls the transaction back from another goroutine, so
	// the next use of it, be it the commit, may find it gone.
	if ctx.Err() != nil && (code != -1 || errors.Is(err, sql.ErrTxDone)) {
		return ctx.Err()
	}
	if code == -1 {
		return err
	}
	switch code {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return kb.Errorf(kb.Busy, "other processes have kept %q locked for %v: %w", filepath.Base(d.path), patience, err).
			WithHint("try again in a moment")
	case lib.SQLITE_FULL:
		return d.noSpace(err)
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return d.corrupt(err)
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN, lib.SQLITE_AUTH:
		return d.denied()
	case lib.SQLITE_INTERRUPT:
		return kb.Errorf(kb.Canceled, "stopped while using %q: %w", filepath.Base(d.path), err)
	case lib.SQLITE_IOERR:
		if isFull(d.room()) {
			return d.noSpace(err)
		}
		return kb.Errorf(kb.Internal, "cannot read or write %q: %w", d.path, err).
			WithHint("check that disk; nothing was changed")
	}
	return kb.Errorf(kb.Internal, "database %q: %w", filepath.Base(d.path), err)
}

func (d *DB) noSpace(err error) error {
	return kb.Errorf(kb.Full, "no space left to write %q: %w", d.path, err).
		WithHint("free some space on that disk, then try again; nothing was changed")
}

// room says what keeps a file of the size of SQLite's shared memory from being
// written beside the database. On a full disk SQLite answers the first access
// of all with SQLITE_IOERR_SHMSIZE, later ones with other kinds of
// SQLITE_IOERR, and keeps the cause to itself.
func (d *DB) room() error {
	f, err := os.CreateTemp(filepath.Dir(d.path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10))
	err = errors.Join(err, f.Close())
	os.Remove(f.Name())
	return err
}

// isFull reports whether a file could not be written for lack of space.
func isFull(err error) bool {
	const diskFull = syscall.Errno(112) // ERROR_DISK_FULL of Windows
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" && errors.Is(err, diskFull)
}

func (d *DB) corrupt(err error) error {
	e := kb.Errorf(kb.Corrupt, "the database %q is damaged", d.path)
	e.Err = err
	return e.WithHint("move it away (with its -wal and -shm files) and create the stores again; indexed text that is still on disk is used again")
}

func (d *DB) denied() error {
	return kb.Errorf(kb.Denied, "no permission to write %q", d.path).
		WithHint("make the file and its directory writable for you, or choose another directory with --data-dir")
}

func osError(err error, path string) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return (&DB{path: path}).denied()
	case isFull(err):
		return kb.Errorf(kb.Full, "no space left to make %q: %w", path, err).
			WithHint("free some space on that disk, then try again")
	}
	return kb.Errorf(kb.Internal, "cannot make %q: %w", path, err).
		WithHint("choose another directory with --data-dir")
}
