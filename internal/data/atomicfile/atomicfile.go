// Package atomicfile writes files so that a reader, and the machine after a
// power cut, sees the old content or the new, never a part.
//
// A file is written under a temporary name in its own directory, synced,
// renamed over the target, and the directory is synced so that the rename
// itself is durable (Windows has no such call and journals renames). Files are
// readable by their owner alone (0600), as are directories made on the way (0700).
// A process that dies leaves at most a file named ".tmp-…" behind, which
// CleanTemp removes.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// TempPrefix begins the name of every file that is not complete.
const TempPrefix = ".tmp-"

const (
	fileMode = 0o600
	dirMode  = 0o700
)

// Op names a step that Inject can make fail.
type Op string

// The steps, in the order in which a Write takes them.
const (
	OpMkdir   Op = "mkdir"
	OpCreate  Op = "create"
	OpWrite   Op = "write"
	OpSync    Op = "sync"
	OpClose   Op = "close"
	OpRename  Op = "rename"
	OpSyncDir Op = "syncdir"
	OpOpen    Op = "open" // of a file that is read, see Open
)

var injected atomic.Pointer[func(Op, string) error]

// Inject makes f decide, before each step of every file of this process, with
// the path of the target, whether the step fails: for tests of full disks and
// failing syncs. An injected failure of OpWrite comes after half of the bytes
// were written. restore ends it.
func Inject(f func(op Op, path string) error) (restore func()) {
	old := injected.Swap(&f)
	return func() { injected.Store(old) }
}

func fault(op Op, path string) error {
	if f := injected.Load(); f != nil && *f != nil {
		return (*f)(op, path)
	}
	return nil
}

// Write makes data the content of the file at path.
func Write(path string, data []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// File is a file in the making. It is for one goroutine.
type File struct {
	path string
	f    *os.File // nil when committed or aborted
	err  error    // the first failure; a file that failed cannot be committed
}

// Create begins a file that replaces the one at path when Commit succeeds.
// Missing directories are made.
func Create(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, wrap(err, path)
	}
	dir := filepath.Dir(path)
	if err := MkdirAll(dir); err != nil {
		return nil, err
	}
	if err := fault(OpCreate, path); err != nil {
		return nil, wrap(err, path)
	}
	for {
		name := filepath.Join(dir, TempPrefix+strings.ToLower(rand.Text()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, wrap(err, path)
		}
		hold(f)
		return &File{path: path, f: f}, nil
	}
}

// Path returns the path that Commit gives the file.
func (f *File) Path() string { return f.path }

// Chmod gives the file another mode than 0600: that of the file that it replaces.
func (f *File) Chmod(mode fs.FileMode) error {
	if f.err != nil || f.f == nil {
		return f.err
	}
	if err := f.f.Chmod(mode); err != nil {
		return f.fail(err)
	}
	return nil
}

// Write appends to the file.
func (f *File) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.f == nil {
		return 0, errClosed(f.path)
	}
	if err := fault(OpWrite, f.path); err != nil {
		n, _ := f.f.Write(p[:len(p)/2])
		return n, f.fail(err)
	}
	n, err := f.f.Write(p)
	if err != nil {
		return n, f.fail(err)
	}
	return n, nil
}

// Commit makes the file durable and puts it in its place. After an error the
// old content remains, except that a failure to sync the directory leaves the
// new content in place without a promise that it survives a power cut.
func (f *File) Commit() error { return f.CommitAs(f.path) }

// CommitAs is Commit under another path in the same directory.
func (f *File) CommitAs(path string) error {
	if f.err != nil {
		return f.err
	}
	if f.f == nil {
		return errClosed(f.path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return f.fail(err)
	}
	if filepath.Dir(path) != filepath.Dir(f.path) {
		return kb.Errorf(kb.Internal, "%q is not in the directory of %q", path, f.path)
	}
	f.path = path
	temp := f.f.Name()
	if err := step(OpSync, path, f.f.Sync); err != nil {
		return f.fail(err)
	}
	if err := step(OpClose, path, f.f.Close); err != nil {
		return f.fail(err)
	}
	if err := step(OpRename, path, func() error { return rename(temp, path) }); err != nil {
		return f.fail(over(err, path))
	}
	f.f = nil
	if err := step(OpSyncDir, path, func() error { return syncDir(filepath.Dir(path)) }); err != nil {
		return wrap(err, path)
	}
	return nil
}

// Move gives a complete, synced file another path, over what is there, and
// makes that durable. Both lie on one file system.
func Move(from, to string) error {
	if err := MkdirAll(filepath.Dir(to)); err != nil {
		return err
	}
	if err := step(OpRename, to, func() error { return rename(from, to) }); err != nil {
		return wrap(over(err, to), to)
	}
	if err := step(OpSyncDir, to, func() error { return syncDir(filepath.Dir(to)) }); err != nil {
		return wrap(err, to)
	}
	return nil
}

// over is why nothing could be put at path: a folder is there, or err.
func over(err error, path string) error {
	if info, e := os.Lstat(path); e == nil && info.IsDir() {
		return Plain(path)
	}
	return err
}

// Abort removes what was written. After Commit it does nothing, so that it
// can be deferred.
func (f *File) Abort() error {
	if f.f == nil {
		return nil
	}
	name := f.f.Name()
	f.f.Close()
	f.f = nil
	if f.err == nil {
		f.err = errClosed(f.path)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return wrap(err, f.path)
	}
	return nil
}

func (f *File) fail(err error) error {
	f.err = wrap(err, f.path)
	return f.err
}

func step(op Op, path string, do func() error) error {
	if err := fault(op, path); err != nil {
		return err
	}
	return do()
}

// made remembers directories known to exist, so that writing a thousand files
// does not look up their ancestors a thousand times.
var made sync.Map

// MkdirAll makes dir and its missing ancestors, each 0700 and durable.
func MkdirAll(dir string) error {
	if _, ok := made.Load(dir); ok {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return nil
		}
	}
	if err := fault(OpMkdir, dir); err != nil {
		return wrap(err, dir)
	}
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, d)
		if filepath.Dir(d) == d {
			break
		}
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return wrap(err, dir)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := syncDir(filepath.Dir(missing[i])); err != nil {
			return wrap(err, dir)
		}
	}
	made.Store(dir, nil)
	return nil
}

// CleanTemp removes what writers that died left in dir: temporary files
// without a holder, not written to for olderThan. The age alone is no proof: the
// clock may have been set forward. A missing directory has none.
func CleanTemp(dir string, olderThan time.Duration) (removed int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, wrap(err, dir)
	}
	limit := time.Now().Add(-olderThan)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), TempPrefix) || !e.Type().IsRegular() {
			continue
		}
		st, err := e.Info()
		if err != nil || st.ModTime().After(limit) {
			continue // gone meanwhile, or perhaps alive
		}
		path := filepath.Join(dir, e.Name())
		if !held(path) && os.Remove(path) == nil {
			removed++
		}
	}
	return removed, nil
}

func errClosed(path string) error {
	return kb.Errorf(kb.Internal, "%q was committed or aborted already", path)
}

// wrap says for a reader why writing path failed.
func wrap(err error, path string) error {
	var known *kb.Error
	var pe *fs.PathError
	switch {
	case errors.As(err, &known):
		return err
	case isFull(err):
		return kb.Errorf(kb.Full, "no space left to write %q: %w", path, err).
			WithHint("free some space on that disk, then try again; what was there before is unharmed")
	case errors.Is(err, fs.ErrPermission) || isReadOnly(err):
		return kb.Errorf(kb.Denied, "no permission to write %q: %w", path, err).
			WithHint("make the directory writable for you, or choose another one with --data-dir")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return kb.Errorf(kb.Internal, "too many files are open to write %q: %w", path, err).
			WithHint("raise the limit, with ulimit -n 1024, then try again; what was there before is unharmed")
	case errors.As(err, &pe):
		err = pe.Err
	}
	return kb.Errorf(kb.Internal, "cannot write %q: %w", path, err).
		WithHint("check that disk; what was there before is unharmed")
}
