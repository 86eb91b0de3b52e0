// Package lockfile holds locks of the operating system: they exclude other
// processes and other holders in this one, and vanish with the process that
// holds them, however it ends, so that a dead holder is seen at once.
//
// A lock file holds one space and then, as JSON, who locked it last. The
// space is the byte that Windows locks against reading; the rest is readable
// while locked and names the holder of the lock. For a free lock it means
// nothing. Lock files may be left lying about: only Remove, by the
// holder, deletes one without giving two processes the same lock.
package lockfile

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Holder says who holds a lock. The zero value is an unknown holder.
type Holder struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// Lock is a lock that is held until Unlock or the end of the process.
type Lock struct {
	path string
	mu   sync.Mutex
	f    *flock.Flock // nil when given up
}

// TryLock takes the lock at path, making the file and its directory if
// absent. kb.Busy, naming the holder where known, when it is held.
func TryLock(path string) (*Lock, error) {
	l, err := try(path)
	if l == nil && err == nil {
		return nil, busy(path)
	}
	return l, err
}

// Acquire waits until it holds the lock at path. When ctx ends before, the
// error is kb.Busy for a deadline and the context's own otherwise.
func Acquire(ctx context.Context, path string) (*Lock, error) {
	// The operating system's blocking calls cannot be cancelled, so poll: soon
	// at first for locks held briefly, then at a pace that costs nothing.
	const longest = 50 * time.Millisecond
	for wait := time.Millisecond; ; wait = min(2*wait, longest) {
		if err := ctx.Err(); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return nil, busy(path)
			}
			return nil, err
		}
		if l, err := try(path); l != nil || err != nil {
			return l, err
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
		case <-t.C:
		}
	}
}

// Held reports whether any process holds the lock at path, and which. It disturbs
// no other call of Held, and a concurrent TryLock only for the microseconds that
// it looks.
func Held(path string) (Holder, bool) {
	f := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := f.TryRLock()
	if err != nil {
		return Holder{}, false // there is no file, so it is free
	}
	if ok {
		f.Unlock()
		return Holder{}, false
	}
	h, _ := holder(path)
	return h, true
}

// Path returns the path of the lock file.
func (l *Lock) Path() string { return l.path }

// Unlock gives the lock up. Further calls do nothing.
func (l *Lock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	if err := f.Unlock(); err != nil {
		return kb.Errorf(kb.Internal, "cannot unlock %q: %w", l.path, err)
	}
	return nil
}

// Remove gives the lock up and deletes its file. Who waits for the lock, or
// opened the file before, gets it on a new file.
func (l *Lock) Remove() error {
	l.mu.Lock()
	held := l.f != nil
	l.mu.Unlock()
	if !held {
		return nil
	}
	// Deleting comes first, while no other process can hold the lock: a process that
	// has opened the file locks a nameless one next and notices (see try).
	// Windows refuses to delete an open file; there the file goes after
	// unlocking, unless it is open, which Windows knows.
	removed := os.Remove(l.path) == nil
	err := l.Unlock()
	if !removed {
		os.Remove(l.path)
	}
	return err
}

// try returns nil, nil when another holds the lock.
func try(path string) (*Lock, error) {
	for tries := 1; ; tries++ {
		f := flock.New(path)
		ok, err := f.TryLock()
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
				ok, err = f.TryLock()
			}
		}
		if err != nil {
			now, perhaps := goes(err)
			if now {
				return nil, nil // its holder is not quite done with it
			}
			if perhaps && tries < 20 {
				time.Sleep(5 * time.Millisecond)
				continue
			}
			return nil, wrap(err, path)
		}
		if !ok {
			return nil, nil
		}
		// The file may have been deleted by its last holder between our opening
		// and locking it: then the path is free for others, or already theirs.
		mine, err := f.Stat()
		if err == nil {
			if named, err := os.Stat(path); err == nil && os.SameFile(mine, named) {
				l := &Lock{path: path, f: f}
				l.sign()
				return l, nil
			}
		}
		f.Unlock()
	}
}

// sign writes who holds the lock. Failing to costs only the name in a message.
func (l *Lock) sign() {
	f, err := os.OpenFile(l.path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	b, err := json.Marshal(Holder{PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return
	}
	// Padded to one length, so that no rest of an earlier, longer signature
	// stays behind; readers skip the white space.
	for len(b) < 80 {
		b = append(b, ' ')
	}
	f.WriteAt(append(b, '\n'), 1)
}

func holder(path string) (Holder, error) {
	var h Holder
	f, err := os.Open(path)
	if err != nil {
		return h, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, 1, 1<<10))
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(b, &h)
}

func busy(path string) error {
	const hint = "try again when it has finished"
	h, err := holder(path)
	if err != nil || h.PID == 0 {
		return kb.Errorf(kb.Busy, "%q is held by another process", filepath.Base(path)).WithHint(hint)
	}
	if h.PID == os.Getpid() {
		return kb.Errorf(kb.Busy, "%q is held by this process since %s", filepath.Base(path), h.Since.Format(time.RFC3339)).
			WithHint(hint)
	}
	return kb.Errorf(kb.Busy, "%q is held by process %d since %s", filepath.Base(path), h.PID, h.Since.Format(time.RFC3339)).
		WithHint(hint)
}

func wrap(err error, path string) error {
	switch {
	case errors.Is(err, fs.ErrPermission) || isReadOnly(err):
		return kb.Errorf(kb.Denied, "no permission to lock %q: %w", path, err).
			WithHint("make the directory writable for you, or choose another one with --data-dir")
	case isFull(err):
		return kb.Errorf(kb.Full, "no space left to lock %q: %w", path, err).
			WithHint("free some space on that disk, then try again")
	}
	return kb.Errorf(kb.Internal, "cannot lock %q: %w", path, err).WithHint("check that disk")
}
