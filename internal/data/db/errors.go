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

	lib "modernc.org/sqlite/lib"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// meaning is what a result code of SQLite means for who uses the program.
type meaning int

const (
	ours    meaning = iota // a statement, or a use of SQLite, that is wrong: a defect of ours
	busy                   // others have it locked
	full                   // no space left
	damaged                // what was read is no database, or not all of it
	denied                 // it may not be written
	closed                 // it cannot be opened, and SQLite does not say why
	stopped                // the caller gave up waiting
	device                 // the disk, or the system, failed; it may have been full
	moved                  // another file has its name, or none
	tooBig
	noMemory
)

// meanings are those of all result codes that SQLite defines, so that none is taken
// for another by accident. An extended code is listed even where it means the same
// as its primary code.
// See https://www.sqlite.org/rescode.html.
var meanings = map[int]meaning{
	lib.SQLITE_ERROR: ours, lib.SQLITE_ERROR_MISSING_COLLSEQ: ours, lib.SQLITE_ERROR_RETRY: ours, lib.SQLITE_ERROR_SNAPSHOT: ours,
	lib.SQLITE_ERROR_RESERVESIZE: ours, lib.SQLITE_ERROR_KEY: ours, lib.SQLITE_ERROR_UNABLE: ours,
	lib.SQLITE_INTERNAL: ours, lib.SQLITE_NOTFOUND: ours, lib.SQLITE_EMPTY: ours, lib.SQLITE_MISMATCH: ours, lib.SQLITE_MISUSE: ours,
	lib.SQLITE_FORMAT: ours, lib.SQLITE_RANGE: ours,
	lib.SQLITE_AUTH: ours, lib.SQLITE_AUTH_USER: ours, // nothing here asks SQLite for leave
	lib.SQLITE_CONSTRAINT: ours, lib.SQLITE_CONSTRAINT_CHECK: ours, lib.SQLITE_CONSTRAINT_COMMITHOOK: ours, lib.SQLITE_CONSTRAINT_FOREIGNKEY: ours,
	lib.SQLITE_CONSTRAINT_FUNCTION: ours, lib.SQLITE_CONSTRAINT_NOTNULL: ours, lib.SQLITE_CONSTRAINT_PRIMARYKEY: ours, lib.SQLITE_CONSTRAINT_TRIGGER: ours,
	lib.SQLITE_CONSTRAINT_UNIQUE: ours, lib.SQLITE_CONSTRAINT_VTAB: ours, lib.SQLITE_CONSTRAINT_ROWID: ours, lib.SQLITE_CONSTRAINT_PINNED: ours,
	lib.SQLITE_CONSTRAINT_DATATYPE: ours,
	lib.SQLITE_NOTICE:              ours, lib.SQLITE_NOTICE_RECOVER_WAL: ours, lib.SQLITE_NOTICE_RECOVER_ROLLBACK: ours, lib.SQLITE_NOTICE_RBU: ours,
	lib.SQLITE_WARNING: ours, lib.SQLITE_WARNING_AUTOINDEX: ours,
	lib.SQLITE_ROW: ours, lib.SQLITE_DONE: ours, lib.SQLITE_OK_LOAD_PERMANENTLY: ours, lib.SQLITE_OK_SYMLINK: ours, // not failures at all

	lib.SQLITE_BUSY: busy, lib.SQLITE_BUSY_RECOVERY: busy, lib.SQLITE_BUSY_SNAPSHOT: busy, lib.SQLITE_BUSY_TIMEOUT: busy,
	lib.SQLITE_LOCKED: busy, lib.SQLITE_LOCKED_SHAREDCACHE: busy, lib.SQLITE_LOCKED_VTAB: busy,
	lib.SQLITE_SCHEMA:        busy, // another process has migrated while a statement was prepared
	lib.SQLITE_IOERR_BLOCKED: busy,

	lib.SQLITE_FULL: full,

	lib.SQLITE_CORRUPT: damaged, lib.SQLITE_CORRUPT_VTAB: damaged, lib.SQLITE_CORRUPT_SEQUENCE: damaged, lib.SQLITE_CORRUPT_INDEX: damaged,
	lib.SQLITE_NOTADB: damaged, lib.SQLITE_CANTOPEN_DIRTYWAL: damaged,
	lib.SQLITE_IOERR_SHORT_READ: damaged, // a page that should be there is not: the file was cut, or its log is another's
	lib.SQLITE_IOERR_DATA:       damaged, lib.SQLITE_IOERR_CORRUPTFS: damaged, lib.SQLITE_IOERR_BADKEY: damaged, lib.SQLITE_IOERR_CODEC: damaged,

	lib.SQLITE_PERM: denied, lib.SQLITE_READONLY: denied, lib.SQLITE_READONLY_RECOVERY: denied, lib.SQLITE_READONLY_CANTLOCK: denied,
	lib.SQLITE_READONLY_ROLLBACK: denied, lib.SQLITE_READONLY_CANTINIT: denied, lib.SQLITE_READONLY_DIRECTORY: denied,
	lib.SQLITE_IOERR_AUTH: denied,

	lib.SQLITE_READONLY_DBMOVED: moved, lib.SQLITE_IOERR_VNODE: moved,

	lib.SQLITE_CANTOPEN: closed, lib.SQLITE_CANTOPEN_NOTEMPDIR: closed, lib.SQLITE_CANTOPEN_ISDIR: closed, lib.SQLITE_CANTOPEN_FULLPATH: closed,
	lib.SQLITE_CANTOPEN_CONVPATH: closed, lib.SQLITE_CANTOPEN_SYMLINK: closed,

	lib.SQLITE_INTERRUPT: stopped, lib.SQLITE_ABORT: stopped, lib.SQLITE_ABORT_ROLLBACK: stopped,

	lib.SQLITE_TOOBIG: tooBig, lib.SQLITE_NOLFS: tooBig,
	lib.SQLITE_NOMEM: noMemory, lib.SQLITE_IOERR_NOMEM: noMemory,

	lib.SQLITE_IOERR: device, lib.SQLITE_IOERR_READ: device, lib.SQLITE_IOERR_WRITE: device, lib.SQLITE_IOERR_FSYNC: device,
	lib.SQLITE_IOERR_DIR_FSYNC: device, lib.SQLITE_IOERR_TRUNCATE: device, lib.SQLITE_IOERR_FSTAT: device, lib.SQLITE_IOERR_UNLOCK: device,
	lib.SQLITE_IOERR_RDLOCK: device, lib.SQLITE_IOERR_DELETE: device, lib.SQLITE_IOERR_ACCESS: device, lib.SQLITE_IOERR_CHECKRESERVEDLOCK: device,
	lib.SQLITE_IOERR_LOCK: device, lib.SQLITE_IOERR_CLOSE: device, lib.SQLITE_IOERR_DIR_CLOSE: device, lib.SQLITE_IOERR_SHMOPEN: device,
	lib.SQLITE_IOERR_SHMSIZE: device, // most often: the shared memory cannot be made on a full disk
	lib.SQLITE_IOERR_SHMLOCK: device, lib.SQLITE_IOERR_SHMMAP: device, lib.SQLITE_IOERR_SEEK: device, lib.SQLITE_IOERR_DELETE_NOENT: device,
	lib.SQLITE_IOERR_MMAP: device, lib.SQLITE_IOERR_GETTEMPPATH: device, lib.SQLITE_IOERR_CONVPATH: device,
	lib.SQLITE_IOERR_BEGIN_ATOMIC: device, lib.SQLITE_IOERR_COMMIT_ATOMIC: device, lib.SQLITE_IOERR_ROLLBACK_ATOMIC: device,
	lib.SQLITE_IOERR_IN_PAGE: device,
	lib.SQLITE_PROTOCOL:      device, // the log's shared memory does not do what it should; SQLite has waited for it
}

// meaningOf returns what an error of SQLite means, and false for other errors.
// A code that is newer than the table means what its primary code does.
func meaningOf(err error) (meaning, bool) {
	var known *kb.Error
	var e interface { // sqlite.Error
		error
		Code() int
	}
	if errors.As(err, &known) || !errors.As(err, &e) {
		return ours, false
	}
	if m, ok := meanings[e.Code()]; ok {
		return m, true
	}
	return meanings[e.Code()&0xff], true
}

func isBusy(err error) bool {
	m, ok := meaningOf(err)
	return ok && m == busy
}

// translate says for a reader what SQLite means. Errors of our own pass.
func (d *DB) translate(ctx context.Context, err error) error {
	var known *kb.Error
	if errors.As(err, &known) {
		return err
	}
	m, ok := meaningOf(err)
	// A canceled context rolls the transaction back from another goroutine, so
	// the next use of it, be it the commit, may find it gone.
	if ctx.Err() != nil && (ok || errors.Is(err, sql.ErrTxDone)) {
		return ctx.Err()
	}
	if !ok {
		return err
	}
	switch m {
	case busy:
		return kb.Errorf(kb.Busy, "other processes have kept %q locked for %v: %w", filepath.Base(d.path), patience, err).
			WithHint("try again in a moment")
	case full:
		return d.noSpace(err)
	case damaged:
		return d.corrupt(err)
	case denied:
		if isFull(d.room()) { // SQLite opens what it cannot make for reading
			return d.noSpace(err)
		}
		return d.denied()
	case moved:
		return kb.Errorf(kb.Corrupt, "the database %q was removed or replaced: %w", d.path, err).
			WithHint("try again: what is there now is opened, or made anew")
	case stopped:
		return kb.Errorf(kb.Canceled, "stopped while using %q: %w", filepath.Base(d.path), err)
	case tooBig:
		return kb.Errorf(kb.TooLarge, "database %q: %w", filepath.Base(d.path), err).
			WithHint("index a smaller part of it, with fewer or shorter names")
	case noMemory:
		return kb.Errorf(kb.Internal, "no memory left to use %q: %w", filepath.Base(d.path), err).
			WithHint("end other programs, then try again; nothing was changed")
	case device, closed:
		return d.failed(err)
	}
	return kb.Errorf(kb.Internal, "database %q: %w", filepath.Base(d.path), err).
		WithHint("this is a defect of the program: report it with what you did; nothing was changed")
}

// failed says why the database cannot be opened, read or written, which SQLite
// keeps to itself.
func (d *DB) failed(err error) error {
	if info, e := os.Stat(d.path); errors.Is(e, fs.ErrNotExist) {
		return kb.Errorf(kb.Corrupt, "the database %q was removed: %w", d.path, err).
			WithHint("try again: it is made anew")
	} else if e == nil && info.IsDir() {
		return kb.Errorf(kb.Corrupt, "there is a folder where the database %q should be", d.path).
			WithHint("move it away, then try again; or choose another directory with --data-dir")
	}
	if limit, limited := sizeLimit(); limited && d.outgrows(limit) {
		return kb.Errorf(kb.Full, "no file may grow beyond %d bytes in this process, and %q has to", limit, d.path).
			WithHint("raise the limit, with ulimit -f unlimited, then try again; nothing was changed")
	}
	room := d.room()
	switch {
	case isFull(room):
		return d.noSpace(err)
	case errors.Is(room, syscall.EMFILE), errors.Is(room, syscall.ENFILE):
		return kb.Errorf(kb.Internal, "too many files are open to use %q: %w", d.path, err).
			WithHint("raise the limit, with ulimit -n 1024, then try again; nothing was changed")
	case errors.Is(room, fs.ErrPermission), errors.Is(room, syscall.EROFS), unreadable(d.path):
		return d.denied()
	}
	return kb.Errorf(kb.Internal, "cannot read or write %q: %w", d.path, err).
		WithHint("check that disk; nothing was changed")
}

// outgrows reports whether one more write may take a file of the database
// beyond a size.
func (d *DB) outgrows(limit int64) bool {
	const write = 128 << 10 // pages of one transaction, or the log's shared memory
	for _, ext := range append([]string{""}, sidecars...) {
		if info, err := os.Stat(d.path + ext); err == nil && info.Size()+write > limit {
			return true
		}
	}
	return false
}

// unreadable reports whether the mode of a file alone keeps everybody like us out.
func unreadable(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrPermission) || err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o600 != 0o600
}

// noSpace leaves out SQLite's words, which may be "disk I/O error": they would
// suggest another cause.
func (d *DB) noSpace(err error) error {
	e := kb.Errorf(kb.Full, "no space left to write %q", d.path)
	e.Err = err
	return e.WithHint("free some space on that disk, then try again; nothing was changed")
}

// room returns what keeps a file of the size of SQLite's shared memory from being
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
		e := kb.Errorf(kb.Full, "no space left to make %q", path)
		e.Err = err
		return e.WithHint("free some space on that disk, then try again")
	}
	return kb.Errorf(kb.Internal, "cannot make %q: %w", path, err).
		WithHint("choose another directory with --data-dir")
}
