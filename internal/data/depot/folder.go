package depot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-4f2d999b/knowledge/internal/data/atomicfile"
	"github.com/seed-4f2d999b/knowledge/internal/data/lockfile"
	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// folder is a Target on this machine, or on a disk that others mount or serve.
type folder struct{ dir string }

func (f folder) String() string { return f.dir }

func (f folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// Get implements Target. Only the head's tag says anything: all else is named
// by its content.
func (f folder) Get(_ context.Context, name string, _ int64) (io.ReadCloser, string, error) {
	if name == headName {
		b, err := atomicfile.ReadFile(f.path(name))
		if err != nil {
			return nil, "", f.wrap(err)
		}
		return io.NopCloser(bytes.NewReader(b)), tagOf(b), nil
	}
	in, err := atomicfile.Open(f.path(name))
	if err != nil {
		return nil, "", f.wrap(err)
	}
	return in, "", nil
}

func tagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Has implements Target.
func (f folder) Has(_ context.Context, name string) (bool, error) {
	_, err := os.Lstat(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, f.wrap(err)
}

// Put implements Target. Files can be read by others, as a web server is.
func (f folder) Put(ctx context.Context, name string, body io.ReadSeeker, _ int64, when string) error {
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		return f.wrap(err)
	}
	if when != Always {
		lock, err := lockfile.Acquire(ctx, f.path(name)+".lock")
		if err != nil {
			return err
		}
		defer lock.Remove()
		now, err := atomicfile.ReadFile(f.path(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if when != Absent {
				return kb.Errorf(kb.Busy, "%s is gone", name)
			}
		case err != nil:
			return f.wrap(err)
		case when != tagOf(now):
			return kb.Errorf(kb.Busy, "%s has changed", name)
		}
	}
	out, err := atomicfile.Create(f.path(name))
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := out.Chmod(0o644); err != nil {
		return err
	}
	if _, err := io.Copy(out, body); err != nil {
		return err
	}
	return out.Commit()
}

func (f folder) wrap(err error) error {
	switch {
	case err == nil, kb.CodeOf(err) != kb.Internal:
		return err
	case errors.Is(err, fs.ErrNotExist):
		return kb.Errorf(kb.NotFound, "%w", err)
	case errors.Is(err, fs.ErrPermission):
		return kb.Errorf(kb.Denied, "the folder %q cannot be used: %w", f.dir, err).WithHint("make it yours: ls -ld %s", kb.ShellWord(f.dir))
	}
	return kb.Errorf(kb.Internal, "the folder %q cannot be used: %w", f.dir, err).WithHint("check that disk")
}
