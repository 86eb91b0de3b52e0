package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-4f2d999b/knowledge/internal/kb"
)

// Open opens a plain file for reading. The error is kb.Corrupt for anything
// else: opening a pipe would wait for who writes into it, with no end.
func Open(path string) (*os.File, error) {
	if err := Plain(path); err != nil {
		return nil, err
	}
	if err := fault(OpOpen, path); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.Open(path)
}

// ReadFile reads a plain file, as Open opens it.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Plain returns kb.Corrupt if something else than a plain file lies at path. No file
// is no error.
func Plain(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, syscall.ENOTDIR) {
		dir := filepath.Dir(path)
		return kb.Errorf(kb.Corrupt, "%q is a file where a folder belongs", dir).
			WithHint("move it away with mv %s %s and then run: knowledge verify --repair", kb.ShellWord(dir), kb.ShellWord(dir+"-aside"))
	}
	if err != nil || info.Mode().IsRegular() {
		return err
	}
	what := "no plain file"
	if info.IsDir() {
		what = "a folder where a file belongs"
	}
	return kb.Errorf(kb.Corrupt, "%q is %s", path, what).
		WithHint("move it away with mv %s %s and then run: knowledge verify --repair", kb.ShellWord(path), kb.ShellWord(path+"-aside"))
}
